"""What studies of tables share: each has a page, which stands in :mod:`kernelmean.studies.pages`."""

from __future__ import annotations

from functools import singledispatch
from importlib import import_module
from typing import Any

from ..core.array import SILENT, Progress
from ..inference.base_result import Result
from ..report.html import Document


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
