"""Questions about whole tables: compare, changes, dependence, density, estimate; with results, pages and pictures."""

from typing import TYPE_CHECKING

from ..core import lazy as _lazy

if TYPE_CHECKING:
    from .changes import Changes
    from .comparison import Comparison
    from .covariate_shift import MatchedWeights
    from .density import Densities, fit_densities
    from .dependence import Dependence
    from .estimate import fit_all, rescaled
    from .groups import GroupComparison, compare_groups
    from .pages import comparison_page, density_page, dependence_page
    from .pages.evidence import gather
    from .strengths import Strengths

__all__ = [
    "Changes",
    "Comparison",
    "Densities",
    "Dependence",
    "GroupComparison",
    "MatchedWeights",
    "Strengths",
    "changes",
    "compare_groups",
    "comparison",
    "comparison_page",
    "density",
    "density_page",
    "dependence",
    "dependence_page",
    "estimate",
    "fit_all",
    "fit_densities",
    "gather",
    "groups",
    "plots",
    "rescaled",
]

_lazy.attach(
    __name__,
    {
        "changes": "Changes",
        "comparison": "Comparison",
        "covariate_shift": "MatchedWeights",
        "density": "Densities fit_densities",
        "dependence": "Dependence",
        "estimate": "fit_all rescaled",
        "groups": "GroupComparison compare_groups",
        "pages": "comparison_page density_page dependence_page",
        "pages.evidence": "gather",
        "strengths": "Strengths",
    },
)

del TYPE_CHECKING
