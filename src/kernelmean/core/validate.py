"""Checks of arguments: one interface to data frames, shapes, finiteness, and the texts of errors."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from numbers import Real
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import validate_data

from .array import Array, column_spans, is_foreign, like, namespace, to_numpy
from .cells import loses_digits, plain_numbers
from .words import count

# -- one interface to data frames and Series; sparse data are refused --------------------------------------------------


def data_frame(data: Any, source: str) -> tuple[nw.DataFrame[Any], bool] | None:
    """Return a data frame or Series of any library with one interface, and whether its columns are matched by name.

    Series of pandas and polars and columns of pyarrow are tables of one column. It keeps its name, but is not matched
    by it, because there is no other. Anything else is None.

    Raises
    ------
    TypeError
        When it is sparse.
    ValueError
        When a column name is used twice.
    """
    if isinstance(data, np.ndarray):
        return None
    refuse_sparse(data, source)
    try:
        frame = nw.from_native(_chunked(data), eager_only=True, allow_series=True, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise ValueError(f"{source} uses a column name twice; give every column its own name") from error
    if isinstance(frame, nw.Series):
        return frame.alias("x0" if frame.name in (None, "") else frame.name).to_frame(), False
    return (frame, True) if isinstance(frame, nw.DataFrame) else None


def as_column(data: Any, name: str) -> Any:
    """Return a Series as an array of one column, and anything else as it is; raise when it is sparse."""
    if isinstance(data, np.ndarray | list | tuple):
        return data
    refuse_sparse(data, name)
    series = nw.from_native(_chunked(data), series_only=True, pass_through=True)
    return series.to_numpy()[:, None] if isinstance(series, nw.Series) else data


def refuse_sparse(data: Any, name: str) -> None:
    """Raise when data are sparse, and say how to make them dense."""
    sparse = None if isinstance(data, np.ndarray | list | tuple | float | int) else _sparse(data)
    if sparse is not None:
        what, dense = sparse
        raise TypeError(f"{name} is {what}, and dense numbers are needed; pass {dense.format(name=name)}")


def _chunked(data: Any) -> Any:
    """Return an Arrow array as the column of a table, and a record batch as a table, with the same values."""
    arrow = sys.modules.get("pyarrow")
    if arrow is not None and isinstance(data, arrow.RecordBatch):
        return arrow.Table.from_batches([data])
    return arrow.chunked_array([data]) if arrow is not None and isinstance(data, arrow.Array) else data


def _sparse(data: Any) -> tuple[str, str] | None:
    """Return what kind of sparse data these are and how to make them dense; None for dense data."""
    home = type(data).__module__.partition(".")[0]
    if issparse(data):
        return f"a SciPy sparse array ({type(data).__name__})", "{name}.toarray()"
    if home == "torch" and str(getattr(data, "layout", "")).startswith("torch.sparse"):
        return f"a sparse tensor ({data.layout})", "{name}.to_dense()"
    if home == "sparse":
        return f"a sparse array ({type(data).__name__})", "{name}.todense()"
    if home != "pandas" or not hasattr(data, "ndim"):  # one time or one missing cell
        return None
    types = data.dtypes.items() if data.ndim == 2 else [(None, getattr(data, "dtype", None))]
    sparse = [column for column, dtype in types if type(dtype).__name__ == "SparseDtype"]
    if sparse and data.ndim == 2 and len(sparse) < data.shape[1]:  # some columns only
        dense = f"{{name}}.assign(**{{{{c: {{name}}[c].sparse.to_dense() for c in {sparse!r}}}}})"
        return "a pandas table with sparse columns", dense
    what = "a sparse pandas table" if data.ndim == 2 else "a sparse pandas Series"
    return (what, "{name}.sparse.to_dense()") if sparse else None


# -- arrays and numbers ------------------------------------------------------------------------------------------------


_SMALLEST_SIZE, _LARGEST_SIZE = 1e-150, 1e150
_NO_NUMBERS = (str, bytes, date, timedelta, np.datetime64, np.timedelta64)


def check_cells(X: Any, name: str = "X") -> Any:
    """Return ``X`` as an array; raise where float64 would make up numbers: masked cells, text, dates, big integers.

    Objects and complex numbers pass; the caller may refuse them. Arrays of other libraries are copied to the host.
    """
    refuse_sparse(X, name)
    X = to_numpy(X)
    if np.ma.is_masked(X):
        raise ValueError(f"{name} has masked cells, which would be taken as numbers; drop or fill them first")
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise ValueError(f"{name} has rows of different lengths; pass a table (n, d)") from error
    if array.dtype.kind in "fbc":
        return array
    cells = array.ravel() if array.dtype.kind == "O" else ()
    text = next((type(cell).__name__ for cell in cells if isinstance(cell, _NO_NUMBERS)), None)
    if text or array.dtype.kind not in "iuO":
        raise TypeError(
            f"{name} holds values of type {text or array.dtype}, numbers are needed; "
            "encode text and categories as numbers first"
        )
    large = [int(end) for end in (array.max(), array.min())] if array.dtype.kind in "iu" and array.size else cells
    if any(map(loses_digits, large)):
        raise ValueError(
            f"{name} holds integers beyond 2^53, which float64 cannot tell apart; subtract an offset, "
            "or pass .astype(float) if rounding them is meant"
        )
    return array


def validated(estimator: Any, X: Any, **options: Any) -> Array:
    """Return ``X`` as scikit-learn checks it for an estimator, after the checks of :func:`check_cells`.

    A Series is a table of one column. Column names that are not all text, which scikit-learn ignores, must be those of
    the fit, too.
    """
    if is_foreign(X):
        return _validated_foreign(estimator, X, **options)
    check_has_rows(X, "X")
    frame, _ = data_frame(X, "X") or (None, False)
    if frame is not None and np.ndim(X) == 1:
        X = frame.to_native() if getattr(X, "name", None) else as_column(X, "X")
    check_cells(X)
    as_sklearn = {"ensure_all_finite": False, **options}
    array = np.asarray(validate_data(estimator, X, dtype=np.float64, **as_sklearn))
    if "ensure_all_finite" not in options:
        check_finite(array, "X")
    if frame is not None or hasattr(estimator, "_labels"):
        _check_labels(estimator, () if frame is None else frame.columns, reset=options.get("reset", True))
    return array


def on_host(X: Any) -> Any:
    """Return an array of another library as a NumPy array, anything else as it is."""
    refuse_sparse(X, "X")
    return to_numpy(X)


def name_columns(estimator: Any, names: Sequence[str], *, named: bool) -> None:
    """Set the attributes of an estimator that scikit-learn keeps about the columns of a fit."""
    estimator.__dict__.pop("feature_names_in_", None)
    estimator.n_features_in_ = len(names)
    if named:
        estimator.feature_names_in_ = np.array(names, dtype=object)


def names_in(estimator: Any) -> tuple[str, ...] | None:
    """Return the names of the columns that an estimator was fitted to, None if they had none."""
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else tuple(str(name) for name in names)


def _check_labels(estimator: Any, columns: Sequence[Any], *, reset: bool) -> None:
    """Raise when labels such as numbers differ from those of the fit; scikit-learn checks texts."""
    labels = () if any(isinstance(label, str) for label in columns) else tuple(columns)
    fitted = () if reset else getattr(estimator, "_labels", ())
    if labels and fitted and labels != fitted:
        raise ValueError(
            f"the columns of X are {labels}, {type(estimator).__name__} was fitted to {fitted}; pass them in that order"
        )
    if reset:
        estimator.__dict__.pop("_labels", None)
        estimator.__dict__.update({"_labels": labels} if labels else {})


def _validated_foreign(estimator: Any, X: Any, *, ensure_min_samples: int = 1, reset: bool = True) -> Array:
    """Do the same for an array of another library, which has no column names."""
    X = as_points(X)
    if X.shape[0] < ensure_min_samples:
        raise ValueError(f"X has {count(X.shape[0], 'row')}, at least {ensure_min_samples} are needed")
    if reset:
        estimator.n_features_in_ = X.shape[1]
    elif X.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {count(X.shape[1], 'column')}, {type(estimator).__name__} was fitted to "
            f"{estimator.n_features_in_}; both must describe the same variables"
        )
    return X


_WITH_ROWS = ("__len__", "__array__", "__dataframe__", "__arrow_c_stream__")
"""What arrays, data frames and lists have, one or the other."""


def holds_rows(X: Any) -> bool:
    """Return whether an object is like an array, a data frame or a list."""
    return any(hasattr(type(X), each) for each in _WITH_ROWS)


def check_has_rows(X: Any, name: str) -> None:
    """Raise when one value, a path, a mapping, a function, an open query or nothing was passed instead of rows."""
    if isinstance(X, np.ndarray) and X.ndim:
        return
    if X is None or isinstance(X, int | float | np.number):
        raise TypeError(f"{name} is {X!r}, and this takes rows: an array or a data frame")
    if getattr(X, "shape", None) == ():
        raise ValueError(f"{name} is a single value, and this takes rows: an array or a data frame")
    if hasattr(type(X), "collect"):  # a data frame may have a column of this name
        raise TypeError(f"{name} is a {type(X).__name__}, a query that has not run; pass what collect() returns")
    if isinstance(X, Mapping) and not issparse(X):  # some sparse matrices are dicts
        raise TypeError(f"{name} is a {type(X).__name__}, and this takes rows; pass pandas.DataFrame({name})")
    if isinstance(X, str | os.PathLike):
        path = os.fspath(X)
        raise TypeError(f"{name} is {path!r}, and this takes rows; pass kernelmean.tables.read_table({path!r})")
    if isinstance(X, set | frozenset) or not holds_rows(X):
        call = "; pass what it returns" if callable(X) else ": an array or a data frame"
        raise TypeError(f"{name} is a {type(X).__name__}, and this takes rows{call}")


def check_points(X: Any, name: str = "X", *, finite: bool = True) -> Array:
    """Return ``X`` as a (finite) float64 array of shape (n, d), a Series or plain numbers as one column; or raise."""
    check_has_rows(X, name)
    array = _of_numbers(check_cells(as_column(X, name), name), name)
    if array.ndim > 2:
        raise ValueError(
            f"{name} has shape {array.shape}, a table of shape (n, d) is needed; for one row for each entry of the "
            f"first axis write {name}.reshape({len(array)}, -1)"
        )
    array = array.reshape(len(array), -1) if array.ndim == 1 and len(array) else array
    if 0 in array.shape:
        raise ValueError(f"{name} has shape {array.shape}: at least one row and one column are needed")
    array = np.ascontiguousarray(array, dtype=np.float64)
    if finite:
        check_finite(array, name)
    return array


def _of_numbers(array: Any, name: str) -> Any:
    """Return an array of numbers; objects become float64 where each column holds plain numbers, or truth values."""
    if array.dtype.kind in "fiub":
        return array
    columns = array.reshape(len(array), -1).T if array.dtype.kind == "O" and array.size else ()
    numbers = [plain_numbers(column.tolist()) for column in columns]
    if not numbers or any(column is None for column in numbers):
        raise TypeError(
            f"{name} holds values of type {array.dtype}, numbers are needed; "
            "encode text and categories as numbers first"
        )
    return np.stack(numbers, axis=-1).reshape(array.shape)  # type: ignore[arg-type]


def as_points(X: Any, name: str = "X") -> Array:
    """Return finite points (n, d): float32 or float64 arrays of another library as they are, others as NumPy arrays."""
    if not is_foreign(X):
        return check_points(X, name)
    refuse_sparse(X, name)
    xp = namespace(X)
    if X.ndim != 2 or 0 in X.shape or not xp.isdtype(X.dtype, "real floating"):
        return like(check_points(X, name), X, "float64")  # or raise
    if X.dtype not in (xp.float32, xp.float64):
        raise TypeError(f"{name} holds values of type {X.dtype}; float32 or float64 is needed, such as {name}.float()")
    if not bool(xp.all(xp.isfinite(X))):
        check_finite(to_numpy(X), name)
    return X.detach() if hasattr(X, "detach") else X


def check_finite(array: Array, name: str) -> None:
    """Raise when ``array`` holds NaN or infinity, and give the place of the first one."""
    bad = ~np.isfinite(array)
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        many = count(int(bad.sum()), "NaN or infinite value")
        raise ValueError(f"{name} holds {many} (the first at {where}); drop or impute them first")


def check_range(sizes: Any, name: str) -> None:
    """Raise when squares of positive ``sizes`` (0 passes) would overflow, or lose digits below 1e-308."""
    sizes = np.asarray(sizes)[np.asarray(sizes) > 0]
    if sizes.size and not (sizes.min() >= _SMALLEST_SIZE and sizes.max() <= _LARGEST_SIZE):
        end = sizes.max() if sizes.max() > _LARGEST_SIZE else sizes.min()
        raise ValueError(
            f"{name} {end:.3g}, outside {_SMALLEST_SIZE} to {_LARGEST_SIZE}, where squares neither overflow "
            "nor vanish; rescale the columns"
        )


def check_spread(X: Array, name: str = "X") -> None:
    """Raise when squares of the data, or of their differences, overflow or vanish."""
    check_range(float(namespace(X).max(namespace(X).abs(X))), f"{name} holds values up to")
    check_range(column_spans(X).max(), f"the columns of {name} span")


def check_varying(X: Array, purpose: str, name: str = "X") -> None:
    """Raise when a column of ``X`` is constant up to rounding; ``purpose`` says why it must vary."""
    X = to_numpy(X)
    if len(X) < 2:
        raise ValueError(f"{name} has one row, at least two are needed")
    constant = np.ptp(X, axis=0) <= 4 * np.finfo(np.float64).eps * np.abs(X).max(axis=0)
    if constant.any():
        raise ValueError(f"column {int(np.argmax(constant))} of {name} is constant; {purpose}; drop constant columns")


def check_same_columns(X: Array, Y: Array, names: tuple[str, str] = ("X", "Y")) -> None:
    """Raise when two tables differ in their number of columns."""
    if X.shape[1] != Y.shape[1]:
        raise ValueError(
            f"{names[0]} has {count(X.shape[1], 'column')} and {names[1]} has {Y.shape[1]}; "
            "both must describe the same variables"
        )


def check_weights(weights: Any, n: int, name: str = "weights") -> Array:
    """Return ``weights`` as a finite float64 vector of length ``n`` (any sign)."""
    array = check_numbers(weights, name, finite=False)
    if array.shape != (n,):
        raise ValueError(f"{name} has shape {array.shape}, one number per point, ({n},), is needed")
    check_finite(array, name)
    return array


def check_numbers(value: Any, name: str, *, finite: bool = True) -> Array:
    """Return ``value`` as a non-empty (finite) float64 array, or raise, also for a single truth value."""
    if isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} is {value!r}, and a truth value is no number; pass a number")
    if isinstance(value, str):
        raise TypeError(f"{name} is {value!r}, a number or an array of numbers is needed")
    cells = check_cells(value, name)
    try:
        array = np.asarray(cells, dtype=None if cells.dtype.kind == "c" else np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} is {value!r}, a number or an array of numbers is needed") from error
    if array.dtype.kind == "c":
        raise TypeError(f"{name} holds complex numbers, real ones are needed")
    if not array.size:
        raise ValueError(f"{name} is empty, at least one number is needed")
    if finite and not np.isfinite(array).all():
        raise ValueError(f"{name} is {value!r}, finite numbers are needed")
    return array


def check_positive(value: Any, name: str, *, zero: bool = False) -> Array:
    """Return ``value`` as a float64 array of positive (or, with ``zero``, non-negative) numbers."""
    array = check_numbers(value, name, finite=False)
    low = array >= 0 if zero else array > 0
    if not (np.isfinite(array) & low).all():
        kind = "non-negative" if zero else "positive"
        raise ValueError(f"{name} is {value!r}, a finite {kind} number is needed")
    return array


def check_positive_number(value: Any, name: str, *, zero: bool = False) -> float:
    """Return ``value`` as a positive (or, with ``zero``, non-negative) float, or raise, also for several numbers."""
    array = check_positive(value, name, zero=zero)
    if array.ndim:
        raise TypeError(f"{name} is {value!r}, a single number is needed")
    return float(array)


def check_integer(value: Any, name: str, least: int) -> int:
    """Return ``value`` as an integer of at least ``least``."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} is {value!r}, an integer ≥ {least} is needed")
    return int(value)


def check_fraction(value: Any, name: str, example: float) -> float:
    """Return ``value`` as a float between 0 and 1, neither of them, or raise with an example."""
    if not (isinstance(value, Real) and 0.0 < float(value) < 1.0):
        raise ValueError(f"{name} is {value!r}; a number between 0 and 1 is needed, such as {example}")
    return float(value)


def as_value(array: Any) -> Any:
    """Return a number or a (nested) tuple of numbers, so that kernels and noises compare, hash and print by value."""
    array = np.asarray(array, dtype=np.float64)
    return float(array) if array.ndim == 0 else tuple(as_value(row) for row in array)
