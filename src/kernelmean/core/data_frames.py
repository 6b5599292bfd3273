"""What other libraries hold tables in: data frames and Series behind one face, and sparse data, which are refused."""

from __future__ import annotations

import sys
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from scipy.sparse import issparse


def data_frame(data: Any, source: str) -> tuple[nw.DataFrame[Any], bool] | None:
    """Return any library's data frame or Series behind one face, and whether its columns are matched by name.

    Series of pandas and polars and columns of pyarrow are tables of one column, which keeps its name; as the only one
    it is matched with nothing. Anything else is None.

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
        found = nw.from_native(_chunked(data), eager_only=True, allow_series=True, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise ValueError(f"{source} uses a column name twice; give every column its own name") from error
    if isinstance(found, nw.Series):
        return found.alias("x0" if found.name in (None, "") else found.name).to_frame(), False
    return (found, True) if isinstance(found, nw.DataFrame) else None


def as_column(data: Any, name: str) -> Any:
    """Return a Series as an array of one column, and anything else as it is; raise when it is sparse."""
    if isinstance(data, np.ndarray | list | tuple):
        return data
    refuse_sparse(data, name)
    series = nw.from_native(_chunked(data), series_only=True, pass_through=True)
    return series.to_numpy()[:, None] if isinstance(series, nw.Series) else data


def refuse_sparse(data: Any, name: str) -> None:
    """Raise when data are sparse, and say what makes them dense."""
    found = None if isinstance(data, np.ndarray | list | tuple | float | int) else _sparse(data)
    if found is not None:
        what, dense = found
        raise TypeError(f"{name} is {what}, and dense numbers are needed; pass {dense.format(name=name)}")


def _chunked(data: Any) -> Any:
    """Return an Arrow array as the column of a table, and a record batch as a table, which have the same values."""
    arrow = sys.modules.get("pyarrow")
    if arrow is not None and isinstance(data, arrow.RecordBatch):
        return arrow.Table.from_batches([data])
    return arrow.chunked_array([data]) if arrow is not None and isinstance(data, arrow.Array) else data


def _sparse(data: Any) -> tuple[str, str] | None:
    """Return what sparse data are and what makes them dense, None for dense ones."""
    home = type(data).__module__.partition(".")[0]
    if issparse(data):
        return f"a SciPy sparse array ({type(data).__name__})", "{name}.toarray()"
    if home == "torch" and str(getattr(data, "layout", "")).startswith("torch.sparse"):
        return f"a sparse tensor ({data.layout})", "{name}.to_dense()"
    if home == "sparse":
        return f"a sparse array ({type(data).__name__})", "{name}.todense()"
    return _sparse_columns(data) if home == "pandas" else None


def _sparse_columns(data: Any) -> tuple[str, str] | None:
    """Return what is sparse in a table or Series of pandas; tables of both kinds are made dense column by column."""
    types = data.dtypes.items() if data.ndim == 2 else [(None, getattr(data, "dtype", None))]
    sparse = [column for column, dtype in types if type(dtype).__name__ == "SparseDtype"]
    if not sparse:
        return None
    if data.ndim == 2 and len(sparse) < data.shape[1]:
        dense = f"{{name}}.assign(**{{{{c: {{name}}[c].sparse.to_dense() for c in {sparse!r}}}}})"
        return "a pandas table with sparse columns", dense
    return "a sparse pandas table" if data.ndim == 2 else "a sparse pandas Series", "{name}.sparse.to_dense()"
