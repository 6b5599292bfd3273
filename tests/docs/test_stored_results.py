"""Stored results of benchmarks: what was measured under a former name is read under the name of today."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch):
    """Load a script of a folder of benchmarks, beside which its own modules are found."""
    kept = set(sys.modules)

    def load(folder: str, name: str) -> ModuleType:
        for file in (BENCHMARKS / folder).glob("*.py"):
            monkeypatch.delitem(sys.modules, file.stem, raising=False)  # another folder may have one of that name
        monkeypatch.syspath_prepend(str(BENCHMARKS / folder))
        found = importlib.util.spec_from_file_location(f"{folder}_{name}", BENCHMARKS / folder / f"{name}.py")
        assert found is not None
        assert found.loader is not None
        module = importlib.util.module_from_spec(found)
        sys.modules[found.name] = module  # dataclasses look for their module there
        found.loader.exec_module(module)
        return module

    yield load
    for name in sys.modules.keys() - kept:
        if str(BENCHMARKS) in str(getattr(sys.modules[name], "__file__", None)):
            del sys.modules[name]


def test_power_of_log_mean_exp_is_stored_for_both_tests(script):
    run = script("power", "run")
    methods = {row["method"] for row in run.read()}
    assert {f"adaptive {test}, log-mean-exp" for test in ("MMD", "HSIC")} < methods
