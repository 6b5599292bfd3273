"""A Dask cluster of two workers in this process, for tests of what runs there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import kernelmean as km

NEEDED = "clusters need the extra 'dask'; install kernelmean[dask]"


@pytest.fixture(scope="session")
def client() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed", reason=NEEDED)
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture
def plan(client: Any) -> km.DaskPlan:
    return km.DaskPlan(client)
