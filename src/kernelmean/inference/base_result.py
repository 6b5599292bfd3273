"""What every result can do: be printed, shown, drawn, written as a page, turned into a table, saved."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, overload

from ..core.array import SILENT, Progress
from ..core.disk import write_file
from ..report.description import Shown
from ..report.html import Document


class Result(Shown):
    """The outcome of a test or a study. Subclasses say what was found; this class shows it."""

    holds: ClassVar[tuple[type[Any], ...] | None] = ()

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return what was found as plain names, numbers and texts: what ``--json`` writes."""

    @abstractmethod
    def rows(self) -> Sequence[dict[str, Any]]:
        """Return one row for each thing tested or fitted, all with the same columns: what ``--csv`` writes."""

    def to_frame(self) -> Any:
        """Return :meth:`rows` as a pandas data frame.

        Raises
        ------
        ImportError
            When pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError:
            raise ImportError("to_frame() returns a pandas data frame; write: pip install pandas") from None
        return pd.DataFrame(list(self.rows()))

    def document(self, *, progress: Progress = SILENT) -> Document:
        """Return the page of the result as a value; you can add sections before you write it.

        Parameters
        ----------
        progress : callable, optional
            Called with the name of the next step, the steps done, and the steps in all, if a page takes long.
        """
        del progress
        return self.describe().document()

    @overload
    def to_html(self) -> str: ...

    @overload
    def to_html(self, path: str | os.PathLike[str]) -> None: ...

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Return the page of the result as HTML that needs no other file, or write it to a path, as ``--html`` does.

        Raises
        ------
        ImportError
            When the extra "plot" is not installed.
        OSError
            When the file cannot be written.
        """
        from ..report.html import render

        page = render(self.document())
        if path is None:
            return page
        write_file(os.fspath(path), page.encode())
        return None

    @abstractmethod
    def plot(self, *args: Any, **options: Any) -> Any:
        """Draw the result with matplotlib, and return the axes or the figure; raises ImportError without matplotlib."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the result to a file that :func:`kernelmean.load` reads; a ``TestResult`` leaves its rows out.

        If the name ends in .json or .html, write what :meth:`to_dict` or :meth:`to_html` returns instead.

        Raises
        ------
        TypeError
            When it holds an object from outside the library, such as a kernel of your own.
        ValueError
            When the name of the file ends as those of another format do, such as .csv.
        OSError
            When the file cannot be written.
        """
        from ..estimators.files import save

        save(self, path)
