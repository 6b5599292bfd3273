"""Results as readable pages: comparisons, studies of dependence and densities as documents, the verdict first."""

from __future__ import annotations

from .comparison import comparison_page
from .density import density_page
from .dependence import dependence_page
from .evidence import Evidence, gather

__all__ = ["Evidence", "comparison_page", "density_page", "dependence_page", "gather"]
