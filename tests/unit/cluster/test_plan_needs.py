"""What a plan needs; these run without Dask."""

from __future__ import annotations

import sys

import pytest

import kernelmean as km

ROWS = [[0.0], [1.0], [2.0]]


def test_the_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r'pip install "kernelmean\[dask\]"'):
        km.DaskPlan("tcp://10.0.0.1:8786")


def test_what_is_no_client_is_refused():
    pytest.importorskip("distributed", reason="clusters need the extra 'dask'")
    with pytest.raises(TypeError, match=r"client is 'tcp://10\.0\.0\.1:8786'; pass a dask\.distributed\.Client"):
        km.DaskPlan("tcp://10.0.0.1:8786")


def test_workers_without_kernelmean_or_with_another_one_are_named(monkeypatch):
    distributed = pytest.importorskip("distributed", reason="clusters need the extra 'dask'")

    class Client(distributed.Client):
        asynchronous = False

        def __init__(self, found, version):
            self.found, self.version = found, version

        def __repr__(self):
            return "Client"

        def __del__(self):
            pass

        def run(self, function, *arguments, on_error="raise"):
            return {"tcp://1": self.found if arguments else self.version}

    for found in (None, ModuleNotFoundError("kernelmean")):
        with pytest.raises(ImportError, match=r"the worker at tcp://1 has no kernelmean; install the version"):
            km.DaskPlan(Client(found, ""))
    with pytest.raises(ImportError, match=r"the worker at tcp://1 has kernelmean 0\.0, this process"):
        km.DaskPlan(Client("spec", "0.0"))


@pytest.mark.parametrize("call", [km.MKME().fit, lambda X, plan: km.embed(X, km.kernels.Gaussian(1.0), plan=plan)])
def test_what_is_no_plan_is_refused(call):
    with pytest.raises(TypeError, match=r"plan is 2; pass a Plan, such as .*DaskPlan\(client\)"):
        call(ROWS, plan=2)
