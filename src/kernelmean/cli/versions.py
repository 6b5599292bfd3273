"""kernelmean --version --verbose: what a bug report should say about the machine, without names and paths."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Iterator
from importlib import metadata

from .. import __version__
from ..report.description import Description

NEEDED = ("numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl", "narwhals", "array-api-compat")
OPTIONAL = ("typer", "rich", "pyarrow", "jinja2", "numba", "matplotlib", "torch", "dask", "distributed")
TABLES = ("pandas", "polars")
"""What the package needs, what its extras install, and whose tables it takes."""
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def description() -> Description:
    """Return versions, libraries of linear algebra, threads, and features of the processor."""
    limits = [f"{name}={os.environ[name]}" for name in _THREADS if name in os.environ]
    facts = [
        ("Python", f"{platform.python_version()} ({platform.python_implementation()})"),
        ("system", platform.platform()),
        ("needed", _versions(NEEDED)),
        ("optional", _versions(OPTIONAL)),
        ("tables", _versions(TABLES)),
        *(("BLAS" if k == 0 else "", text) for k, text in enumerate(dict.fromkeys(_pools()))),
        ("threads", ", ".join(limits) or "not limited"),
        ("processor", f"{platform.machine()}, {_cores()} of {os.cpu_count()} cores"),
        ("features", ", ".join(_features()) or "not known"),
    ]
    return Description(f"kernelmean {__version__}", facts=facts)


def _versions(names: Iterable[str]) -> str:
    return ", ".join(f"{name} {_version(name)}" for name in names)


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def _pools() -> Iterator[str]:
    """Yield the threaded libraries that numpy and SciPy load, without their paths."""
    import scipy.linalg
    import threadpoolctl

    assert scipy.linalg is not None, "loads a library of its own"
    for each in threadpoolctl.threadpool_info():
        words = (each.get("internal_api"), each.get("version"), each.get("architecture"))
        yield f"{' '.join(filter(None, words))}, threads: {each.get('num_threads')}"


def _cores() -> int:
    """Return the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _features() -> list[str]:
    """Return the instructions of the processor that numpy uses."""
    import numpy as np

    config = np.show_config(mode="dicts")
    simd = config.get("SIMD Extensions", {})
    return [*simd.get("baseline", []), *simd.get("found", [])]
