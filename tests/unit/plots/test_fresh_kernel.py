"""``.plot()`` and pictures of ``plots`` show in a notebook whose kernel has drawn nothing before."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("ipykernel", reason="kernels need the extra notebook")
BEFORE = """
import numpy as np, kernelmean as km
rng = np.random.default_rng(0)
X, Y = rng.normal(size=(20, 2)), rng.normal([0.0, 1.0], size=(25, 2))
"""
CELLS = {
    "compare": "km.compare(X, Y, estimator='kme', n_resamples=19).plot()",
    "dependence": "km.dependence(X, estimator='kme', n_resamples=19).plot()",
    "densities": "from kernelmean.studies.density import fit_densities; fit_densities(X, n_components=[1]).plot()",
    "mmd_test": "km.mmd_test(X, Y, rng=0).plot()",
    "hsic_test": "km.hsic_test(X, Y[:20], rng=0).plot()",
    "column_witness": "km.studies.plots.column_witness(X[:, 1], Y[:, 1])",
}


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Start a kernel of this interpreter, with the backend that notebooks have."""
    from jupyter_client.manager import KernelManager

    monkeypatch.delenv("MPLBACKEND", raising=False)
    manager = KernelManager(kernel_name="python3", transport="ipc")
    manager.kernel_cmd = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    manager.start_kernel(env=dict(os.environ))
    client = manager.blocking_client()
    client.start_channels()
    client.wait_for_ready(timeout=60)
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def outputs(client: Any, cell: str) -> list[dict[str, Any]]:
    """Return what a cell puts under itself, each as a dict from the type of its content to that."""
    found: list[dict[str, Any]] = []

    def keep(message: dict[str, Any]) -> None:
        if message["msg_type"] in ("display_data", "execute_result"):
            found.append(message["content"]["data"])

    reply = client.execute_interactive(cell, timeout=120, output_hook=keep)
    assert reply["content"]["status"] == "ok", reply["content"]
    return found


SELDOM = "compare", "dependence", "densities", "hsic_test", "column_witness"
"""Drawn by the same functions as the others; a kernel takes seconds to start."""


@pytest.mark.parametrize("name", [pytest.param(own, marks=[pytest.mark.slow] * (own in SELDOM)) for own in CELLS])
def test_the_first_picture_of_a_kernel_is_shown_once(name: str, kernel: Any) -> None:
    assert outputs(kernel, BEFORE) == []
    pictures = [data for data in outputs(kernel, CELLS[name]) if {"image/png", "image/svg+xml"} & data.keys()]
    assert len(pictures) == 1
    assert outputs(kernel, "import sys; assert 'kernelmean' in sys.modules") == []
    again = [data for data in outputs(kernel, CELLS[name]) if {"image/png", "image/svg+xml"} & data.keys()]
    assert len(again) == 1
