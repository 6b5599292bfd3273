"""Data on a Dask cluster: embeddings, estimators and tests run where the rows are, and only sums come back."""

from .dask_plan import DaskPlan
from .rows import Rows

__all__ = ["DaskPlan", "Rows"]
