"""Results as readable pages: documents, the verdict first. Importing this registers the page of every study."""

from __future__ import annotations

from . import changes as changes
from . import estimate as estimate
from . import groups as groups
from .comparison import comparison_page
from .density import density_page
from .dependence import dependence_page
from .evidence import Evidence, gather

__all__ = ["Evidence", "comparison_page", "density_page", "dependence_page", "gather"]
