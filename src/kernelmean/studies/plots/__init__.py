"""Pictures: each function draws on matplotlib axes and returns them. Raises ImportError without the extra ``plot``.

Pass ``ax=`` to draw on your own axes; by default a new figure is made, which a notebook shows. Colours suit the
colour-blind, and no two lines differ by colour alone. Text and lines take their colours from the style of matplotlib,
also from dark styles. :func:`alt_text` says in words what a picture shows.
"""

from ...inference.null_page import null_distribution
from ...report.palette import COLORS as COLORS
from ...report.palette import FIRST as FIRST
from ...report.palette import QUIET as QUIET
from ...report.palette import SECOND as SECOND
from ...report.pictures import FORMATS as FORMATS
from ...report.pictures import alt_text, check_format, new_figure, save, write
from .density import density_pairs, marginal_density
from .dependence import dependence_map
from .estimators import noise_per_column, scores_below_kme, spectrum_damping
from .groups import groups_map
from .witness import column_witness, column_witnesses, witness_map

__all__ = [
    "alt_text",
    "check_format",
    "column_witness",
    "column_witnesses",
    "density_pairs",
    "dependence_map",
    "groups_map",
    "marginal_density",
    "new_figure",
    "noise_per_column",
    "null_distribution",
    "save",
    "scores_below_kme",
    "spectrum_damping",
    "witness_map",
    "write",
]
