"""The scikit-learn interface: a transformer from tables of mixed columns to coordinates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ...core.array import Array
from ...core.table import Frame, named_frame, numbered_frame
from ...core.validate import validated
from ...core.words import listed
from ...noise import Normal
from ..limits import MAX_CATEGORIES
from .agreement import Named, check_types
from .encoded import as_frames, coordinates_of, groups_of, variances_of
from .encoding import Encoding
from .kinds import Coding
from .matching import match_columns
from .missing import Missing, sifted
from .scan import TableScan


@dataclass(eq=False, repr=False)
class TableEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Turn a table of mixed columns into coordinates in which every column has the same weight.

    A Gaussian kernel on the coordinates is a product of one kernel per column: for numbers (and booleans, ordinal
    levels, times), the Gaussian kernel of their standardised values; for categories, 1 if they are equal and otherwise
    :math:`e^{-c^2/θ^2}`. In every column, the mean squared distance between two independent rows is 2.

    Parameters
    ----------
    missing : {"error", "category", "noise"}, or dict from column to one of them
        What to do with a missing cell: raise an error; take it as a value of its own (for numbers: the mean, and an
        indicator coordinate); or, for numbers and times, take it as the mean of the column with Gaussian noise of the
        column's variance, which :meth:`noise` returns. With a dict, all other columns must be complete.
    ordinal : dict from str to sequence, optional
        The levels of ordinal columns, lowest first. You need not name columns of an ordered categorical type.
    categorical : str or sequence of str
        Columns that hold categories although their cells are numbers or dates, or nearly all different.
    scale : bool
        Divide numbers by their standard deviation. False leaves them as they are (times in seconds); categories keep
        their scale.
    max_categories : int
        Of a column with more categories the most frequent ones, so many, are kept, and the others are one category. Of
        equally frequent ones the first by the alphabet is kept. A column is refused if it has more and fewer than two
        rows for each on average, as an identifier has, or more than 65,536.
    keep : str or sequence of str
        Columns of integers to use although they look like identifiers.

    Attributes
    ----------
    kinds_ : dict from str to str
        The kind of every column: "numeric", "boolean", "categorical", "ordinal", "datetime" or "duration".
    groups_ : dict from str to tuple of int
        The coordinates of every column; pass them to ``result.attribute(groups=...)``.
    n_features_in_ : int
    feature_names_in_ : array of str
        The names of the columns, if the tables have names.
    n_rows_ : int
        The number of rows of the fit.

    Notes
    -----
    O(n D) time and memory for D coordinates: one for a column of numbers or of two categories, K for K categories. A
    constant column keeps its coordinate. Booleans are two categories.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"dose": [1.0, 3.0, 1.0, 3.0], "arm": ["a", "b", "c", "b"]})
    >>> encoder = TableEncoder().fit(table)
    >>> encoder.get_feature_names_out().tolist()
    ['dose', 'arm=a', 'arm=b', 'arm=c']
    >>> encoder.transform(table).round(2)[:2]
    array([[1.  , 1.26, 0.  , 0.  ],
           [3.  , 0.  , 1.26, 0.  ]])
    """

    _: KW_ONLY
    missing: Missing = "error"
    ordinal: Mapping[str, Iterable[Any]] | None = None
    categorical: str | Iterable[str] = ()
    scale: bool = True
    max_categories: int = MAX_CATEGORIES
    keep: str | Iterable[str] = ()

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the kind, the scale and the categories of every column.

        Parameters
        ----------
        X : array of shape (n, d), data frame, Table or Frame
            In an array, NaN is a missing cell.
        y : None
            Not used.

        Raises
        ------
        ValueError
            When a cell is missing without a rule or is infinite, or a column has too many categories or looks like an
            identifier.
        TypeError
            When a column holds anything but numbers, categories and times, or holds numbers or times as text.
        """
        del y
        return self._fit((X,), ("X",))

    def fit_tables(self, *tables: Any) -> Self:
        """Fit the rows of several tables together; columns are matched by name.

        Parameters
        ----------
        *tables : arrays, data frames, Tables or Frames
            As for :meth:`fit`.

        Raises
        ------
        ValueError
            As for :meth:`fit`, and when the tables differ in their columns or in the types of these.

        Examples
        --------
        >>> import pandas as pd
        >>> before, after = pd.DataFrame({"kind": ["a", "b"]}), pd.DataFrame({"kind": ["b", "c"]})
        >>> TableEncoder().fit_tables(before, after).transform(before).shape
        (2, 3)
        """
        if not tables:
            raise ValueError("no table was passed; write fit_tables(A, B)")
        return self._fit(tables, [f"table {k}" for k in range(1, len(tables) + 1)])

    def transform(self, X: Any) -> Array:
        """Return the coordinates of the rows, shape (n, D).

        Parameters
        ----------
        X : array, data frame, Table or Frame
            The columns of the fit, in any order if they have names.

        Raises
        ------
        ValueError
            When the columns differ, a cell is missing without a rule, or a category did not occur in the fit.
        """
        return coordinates_of(self._codings, self._frame(X))

    def noise(self, X: Any) -> Normal:
        """Return the noise of every row: the variance of the column at missing cells, 0 elsewhere.

        Parameters
        ----------
        X : array, data frame, Table or Frame
            As for :meth:`transform`.

        Examples
        --------
        >>> import kernelmean as km
        >>> X = np.array([[0.0], [2.0], [np.nan]])
        >>> encoder = TableEncoder(missing="noise").fit(X)
        >>> mean = km.embed(encoder.transform(X), km.kernels.Gaussian(1.0), noise=encoder.noise(X))
        >>> encoder.noise(X).covariance.ravel().tolist()
        [0.0, 0.0, 1.0]
        """
        return Normal.diagonal(variances_of(self._codings, self._frame(X)))

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """Return the names of the coordinates: "age", "arm=b", "age is missing"."""
        check_is_fitted(self)
        if input_features is not None and list(input_features) != list(self.kinds_):
            raise ValueError("input_features is not equal to feature_names_in_")
        return np.array([name for coding in self._codings for name in coding.names], dtype=object)

    def _fit(self, tables: Sequence[Any], names: Sequence[str]) -> Self:
        rules = [self.missing] if isinstance(self.missing, str) else self.missing.values()
        if "drop" in rules:
            raise ValueError(
                "missing='drop' is not for a transformer, which returns as many rows as it takes; drop them first, "
                "or write kernelmean.compare(A, B, missing='drop')"
            )
        for fitted in ("feature_names_in_", "n_features_in_"):
            self.__dict__.pop(fitted, None)
        read = [self._read(X, name, reset=k == 0) for k, (X, name) in enumerate(zip(tables, names, strict=True))]
        frames = as_frames(read, names)
        encoding = Encoding(
            self.missing, self.ordinal, self.categorical, self.scale, self.max_categories, self.keep, drops=False
        )
        encoding.inspect(frames)
        scan, _ = TableScan.of(frames, encoding)
        codings = scan.codings()
        self._codings: tuple[Coding, ...] = codings
        self.kinds_ = {coding.name: coding.type.kind for coding in codings}
        self.groups_ = groups_of(codings)
        if "n_features_in_" not in self.__dict__:  # an array has no names, and scikit-learn has counted its columns
            self.feature_names_in_ = np.array(list(self.kinds_), dtype=object)
            self.n_features_in_ = len(self.kinds_)
        self.n_rows_ = sum(map(len, frames))
        return self

    def _read(self, X: Any, name: str, *, reset: bool) -> Frame:
        """Return a table with names as it is, and an array after scikit-learn's checks."""
        frame = named_frame(X, name)
        if frame is not None:
            return frame
        if not reset and hasattr(self, "feature_names_in_"):
            raise ValueError(
                f"{name} is a {type(X).__name__} without column names, and the columns "
                f"{listed(self.feature_names_in_)} were fitted; pass a data frame"
            )
        return numbered_frame(validated(self, X, reset=reset, ensure_all_finite="allow-nan"), name)

    def _frame(self, X: Any) -> Frame:
        """Return a table with the columns of the fit, in which every missing cell has a rule."""
        check_is_fitted(self)
        frame = as_frames([self._read(X, "X", reset=False)], ["X"])[0]
        fitted = Frame({name: np.zeros(0) for name in self.kinds_}, "the table that was fitted")
        frame, _ = match_columns(fitted, frame)
        types = {coding.name: coding.type for coding in self._codings}
        check_types(frame, types, Named.of(self.ordinal, self.categorical))
        sifted(frame, types, self.missing, drops=False)
        return frame

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        tags.input_tags.categorical = tags.input_tags.string = True
        return tags
