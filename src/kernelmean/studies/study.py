"""What studies of tables share: up to how many rows they hold, and a page, in :mod:`kernelmean.studies.pages`."""

from __future__ import annotations

from functools import singledispatch
from importlib import import_module
from typing import Any

from ..core.array import SILENT, Progress
from ..inference.adaptive.many_kernels import NAMED
from ..inference.base_result import Result
from ..inference.request import ESTIMATORS
from ..report.html import Document
from ..tables import limits

AUTO = "auto"
"""The estimator of a study without one: the adaptive test."""


def row_limit(estimator: str) -> int | None:
    """Return the number of rows above which a study reads batch by batch; None if it always holds all rows."""
    if estimator in ESTIMATORS:
        return limits.TEST_LIMIT
    return limits.ADAPTIVE_LIMIT if estimator in (AUTO, *NAMED) else None


class Study(Result):
    """The outcome of a study. It knows nothing of its page: pages register themselves in :func:`page`."""

    def document(self, *, progress: Progress = SILENT) -> Document:
        """Return the report as a document; you can add sections before you write it.

        Parameters
        ----------
        progress : callable, optional
            Called with what comes next, the steps done, and the steps in all, if a page takes long.
        """
        import_module(".pages", __package__)  # where every page registers itself
        return page(self, progress)


@singledispatch
def page(result: Any, progress: Progress) -> Document:
    """Return the page of a result."""
    del progress
    raise TypeError(f"{type(result).__name__} has no page")
