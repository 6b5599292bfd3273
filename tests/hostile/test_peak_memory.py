"""What big calls take at their peak, beyond their data and imports: each in a process of its own, under a hard limit.

A Gram matrix of the 40,000 rows of the first call would take 12 GiB.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

resource = pytest.importorskip("resource", reason="limits of processes are those of Unix")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="the peak is counted in kB on Linux only"),
]

MIB = 2**20
BEFORE = """
import resource
import numpy as np
import kernelmean as km
km.compare(np.arange(40.0).reshape(20, 2) % 7, np.arange(40.0).reshape(20, 2) % 5, n_resamples=9)
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
limit = {limit}
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
rng = np.random.default_rng(0)
{data}
before = peak()
{call}
print(peak() - before)
"""
TABLES = """
import pyarrow as pa, pyarrow.parquet as pq
for name in "AB":
    columns = {f"c{k}": rng.normal(size=ROWS) for k in range(5)}
    pq.write_table(pa.table(columns), f"{name}.parquet", row_group_size=50_000)
    del columns
"""
CALLS = {
    "two samples": ("X, Y = rng.normal(size=(2, 20_000, 3))", 'km.mmd_test(X, Y, estimator="kme", n_resamples=99)', 60),
    "adaptive": ("X, Y = rng.normal(size=(2, 10_000, 3))", "km.mmd_test(X, Y, n_resamples=99)", 300),
    "categories": (
        "import pandas as pd\n"
        "A, B = (pd.DataFrame(rng.integers(40, size=(8000, 2)), columns=['a', 'b']).map('v{}'.format)\n"
        "        for _ in range(2))",
        "km.compare(A, B, n_resamples=99)",
        600,
    ),
    "independence": ("X, Y = rng.normal(size=(2, 10_000, 2))", "km.hsic_test(X, Y, n_resamples=99)", 300),
    "an estimator": ("X = rng.normal(size=(200_000, 5))", "km.MKME().fit(X)", 300),
    "many rows": ("X, Y = rng.normal(size=(2, 1_000_000, 3))", "km.mmd_test(X, Y, n_resamples=99)", 300),
    "files": (
        TABLES.replace("ROWS", "600_000"),
        'km.compare("A.parquet", "B.parquet", n_resamples=99)',
        300,
    ),
}
"""The data, the call, and the MiB that it may take beyond them."""


@pytest.mark.parametrize("name", CALLS)
def test_peak(name: str, tmp_path: Path) -> None:
    data, call, most = CALLS[name]
    program = BEFORE.format(limit=6 * 2**30, data=data, call=call)
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    taken = int(done.stdout) / MIB
    assert taken < most, f"{taken:.0f} MiB beyond its data"
