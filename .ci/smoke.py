"""What an installation without extras can do: the main calls, and errors that name the extra that is missing."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import kernelmean as km

assert "site-packages" in (km.__file__ or ""), km.__file__

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(40, 2)), rng.normal(1.0, 1.0, size=(50, 2))
result = km.compare(X, Y, n_resamples=99, rng=0)
assert result.pvalue == km.compare(X, Y, n_resamples=99, rng=0).pvalue == 0.01, result.pvalue
assert result.differ()
assert km.mmd_test(X, Y, n_resamples=99, rng=0).pvalue == 0.01
assert km.hsic_test(X[:, :1], X[:, :1] ** 2, n_resamples=99, rng=0).pvalue <= 0.01
assert km.dependence(np.column_stack([X, X[:, 0]]), n_resamples=99, rng=0).pairs[0].pvalue <= 0.05
assert km.MMKME().fit(X).loocv_ <= km.KME().fit(X).loocv_
assert km.DriftMonitor(X).update(np.full((200, 2), 9.0)).drift
assert "differ" in str(result)
with tempfile.TemporaryDirectory() as folder:
    km.save(result, Path(folder) / "result.km")
    assert km.load(Path(folder) / "result.km").pvalue == result.pvalue


def without(extra: str, module: str, call: Callable[[], Any]) -> None:
    """Let a call that needs an extra say so, where its module is not there."""
    try:
        __import__(module)
    except ImportError:
        try:
            call()
        except ImportError as error:
            assert f"kernelmean[{extra}]" in str(error), error  # noqa: PT017 (this is no test of pytest)
            return
        raise AssertionError(f"{module} is not there, and nobody missed it") from None


without("plot", "matplotlib", result.plot)
without("plot", "jinja2", result.to_html)
with tempfile.TemporaryDirectory() as folder:
    (Path(folder) / "t.parquet").write_bytes(b"PAR1")
    without("cli", "pyarrow", lambda: km.tables.read_table(Path(folder) / "t.parquet"))
print("kernelmean", km.__version__, "works from its wheel")
