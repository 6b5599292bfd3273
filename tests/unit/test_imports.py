"""What importing the package loads, what installing it brings, and that nothing of it asks a network."""

from __future__ import annotations

import ast
import json
import socket
import subprocess
import sys
import tomllib
from contextlib import suppress
from importlib import import_module
from importlib.metadata import PackageNotFoundError, requires
from itertools import permutations
from pathlib import Path
from pkgutil import walk_packages
from types import FunctionType, ModuleType
from typing import Any

import pytest
from packaging.requirements import Requirement

import kernelmean as km
from kernelmean.estimators import saved_kinds

OPTIONAL = {"pandas", "polars", "pyarrow", "matplotlib", "numba", "torch", "dask", "distributed", "typer", "rich"}
OTHERS = OPTIONAL | {"numpy", "scipy", "sklearn", "joblib", "narwhals", "threadpoolctl", "array_api_compat"}
CORE = {"numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl", "narwhals", "array-api-compat"}
BROUGHT = CORE | {"cloudpickle"}  # of joblib
ROOT = Path(__file__).parents[2]
TYPICAL_USE_WITHOUT_NETWORK = """
import json, sys
import sklearn.base, sklearn.utils.validation, sklearn.utils.metaestimators, joblib, narwhals
before = set(sys.modules)
def refuse(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "urllib.Request"):
        raise PermissionError(event)
sys.addaudithook(refuse)
import kernelmean as km
X, Y = [[0.0, 1.0], [1.0, 3.0], [2.0, 0.0], [4.0, 1.0]], [[2.0, 2.0], [5.0, 0.0], [1.0, 1.0], [3.0, 3.0]]
km.MMKME().fit(X)
km.mmd_test(X, Y, n_resamples=9, rng=0)
km.hsic_test(X, Y, n_resamples=9, rng=0)
light = sorted(set(sys.modules) - before)
km.KernelMeanMatching(n_components=1, random_state=0).fit(X)
km.compare(X, Y, n_resamples=9, rng=0)
km.dependence(X, n_resamples=9, rng=0)
km.mmd_test(X, Y, rng=0).effect_size(rng=0)
for name in km.__all__:
    getattr(km, name)
import socket
try:
    socket.create_connection(("127.0.0.1", 9))
except PermissionError:
    print(json.dumps(light))
"""
AS_IN_A_BROWSER = """
import os, sys, threading
sys.modules.update(dict.fromkeys(["_multiprocessing", "jinja2", "matplotlib", "numba", "pyarrow", "rich", "typer"]))
def refuse(*_):
    raise RuntimeError("can't start new thread")
threading.Thread.start = refuse
os.cpu_count = lambda: 1
for name in {"fork", "process_cpu_count", "sched_getaffinity"} & set(dir(os)):
    delattr(os, name)
"""
COMPUTED = """
import io, json
import numpy as np, pandas as pd
import kernelmean as km
first = "size,kind,day\\n" + "".join(f"{k * k % 7},{'ab'[k % 2]},2024-01-{k % 28 + 1:02}\\n" for k in range(40))
A, B = (pd.read_csv(io.StringIO(text), parse_dates=["day"]) for text in (first, first.replace("2,a", "9,b")))
X = np.sin(np.arange(40.0)).reshape(20, 2)
long, moved = np.tile(X, (20, 1)), np.tile(X + 0.1, (20, 1))
compared = km.compare(A, B, n_resamples=19)
found = [compared.pvalue, *([column.name, column.pvalue] for column in compared.columns)]
found += [km.mmd_test(long, moved, estimator="kme", scheme="bins", n_resamples=9, rng=0).pvalue]
found += [km.dependence(A, n_resamples=19).pairs[0].pvalue, km.hsic_test(X, X**2, n_resamples=19, rng=0).pvalue]
found += [km.MMKME().fit(X).loocv_]
"""
FRESH = """
import json, sys, types
from kernelmean.estimators import saved_kinds
names = sorted(saved_kinds())
import kernelmean.studies.dependence, kernelmean.embedding.linear_form, kernelmean.expected
found = [getattr(kernelmean, name) for name in ("dependence", "linear_form", "expected")]
print(json.dumps([names, [type(one).__name__ for one in found]]))
"""


def said_by(code: str) -> Any:
    """Return what a fresh interpreter prints as JSON."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def lazy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the name of a lazy package with the function ``twin`` of the submodule ``twin``, and another one."""
    name = "lazypackage"
    (tmp_path / name).mkdir()
    names = {"twin": "twin other", "rest": "one"}
    top = f"from kernelmean import _lazy\n__all__ = ['one', 'other', 'twin']\n_lazy.attach(__name__, {names})\n"
    files = {"__init__": top, "twin": "def twin(): ...\ndef other(): ...\n", "rest": "from .twin import twin as one\n"}
    for file, text in files.items():
        (tmp_path / name / f"{file}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    forget(name)
    return name


def forget(package: str) -> None:
    for key in [key for key in sys.modules if key.partition(".")[0] == package]:
        del sys.modules[key]


class TestLazyPackage:
    def test_a_function_named_like_its_submodule_is_the_function_in_every_order_of_imports(self, lazy: str) -> None:
        steps = (
            f"import {lazy}.twin",
            f"import {lazy}.rest",
            f"from {lazy} import twin",
            f"{lazy}.twin",
            f"{lazy}.one",
        )
        orders = [order for length in range(1, 5) for order in permutations(steps, length)]
        for order in orders:
            forget(lazy)
            exec("\n".join((f"import {lazy}", *order)), {})
            package = sys.modules[lazy]
            assert isinstance(package.twin, FunctionType), order
            assert isinstance(sys.modules[f"{lazy}.twin"], ModuleType), order

    def test_unknown_names_are_refused(self, lazy: str) -> None:
        with pytest.raises(AttributeError, match="module 'lazypackage' has no attribute 'no_such_name'"):
            import_module(lazy).no_such_name  # noqa: B018 (the access is the test)
        with pytest.raises(ImportError, match="cannot import name 'no_such_name'"):
            exec(f"from {lazy} import no_such_name", {})


class TestImport:
    def test_import_alone_loads_no_other_package_and_lists_all_names(self) -> None:
        loaded, listed = said_by(
            "import sys, json, kernelmean; print(json.dumps([list(sys.modules), dir(kernelmean)]))"
        )
        assert OTHERS.isdisjoint(loaded)
        assert {name for name in loaded if name.startswith("kernelmean")} == {
            "kernelmean",
            "kernelmean.core",
            "kernelmean.core.lazy",
        }
        assert listed == sorted({*listed, *km.__all__})

    def test_main_functions_load_nothing_optional_and_open_no_connection(self) -> None:
        loaded = set(said_by(TYPICAL_USE_WITHOUT_NETWORK))
        assert "kernelmean.inference.permuted_pairs" in loaded
        assert loaded.isdisjoint(OPTIONAL | {"scipy.signal"})

    def test_without_threads_processes_and_optional_packages_the_numbers_are_the_same(self) -> None:
        names: dict[str, Any] = {}
        exec(COMPUTED, names)
        assert said_by(AS_IN_A_BROWSER + COMPUTED + "print(json.dumps(found))") == names["found"]

    def test_help_is_shown_without_loading_what_computes(self) -> None:
        code = "import sys\nfrom kernelmean.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass"
        code += "\nprint(*sorted({'scipy', 'sklearn', 'pandas', 'pyarrow'} & set(sys.modules)))"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
        assert "Questions about tables" in done.stdout
        assert done.stdout.splitlines()[-1] == ""

    def test_names_of_the_library_are_those_that_type_checkers_see(self) -> None:
        tree = ast.parse(Path(km.__file__).read_text(encoding="utf-8"))
        block = next(node for node in tree.body if isinstance(node, ast.If))
        imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
        seen = {alias.name: node.module for node in imports for alias in node.names}
        assert sorted(seen) == sorted(km.__all__)
        for name, module in seen.items():
            home = import_module(f"kernelmean.{module or name}")
            assert getattr(km, name) is (getattr(home, name) if module else home)

    def test_fresh_process_knows_all_kinds_of_saved_objects_and_functions_named_like_modules(self) -> None:
        for one in walk_packages(km.__path__, "kernelmean."):
            with suppress(ImportError):  # of parts whose extra is not installed
                import_module(one.name)
        assert said_by(FRESH) == [sorted(saved_kinds.__wrapped__()), ["function"] * 3]


class TestNetwork:
    def test_tests_that_ask_another_machine_fail(self) -> None:
        with pytest.raises(PermissionError, match="a test asked for the network"):
            socket.create_connection(("192.0.2.1", 80), timeout=0.1)


class TestInstallation:
    def test_core_needs_seven_packages_and_they_bring_next_to_nothing(self) -> None:
        texts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
        assert names_of(texts) == CORE
        try:
            brought = set().union(*(names_of(requires(name) or []) for name in CORE))
        except PackageNotFoundError as error:
            pytest.skip(f"{error.name} is not installed as a distribution")
        assert brought <= BROUGHT


def names_of(texts: list[str]) -> set[str]:
    """Return the names of the requirements that hold without extras."""
    needed = [Requirement(text) for text in texts]
    return {one.name.lower() for one in needed if one.marker is None or one.marker.evaluate({"extra": ""})}


def test_functions_of_a_session_that_use_the_package_travel_to_other_processes():
    """Such as those of a notebook, which are sent with the modules that they name."""
    cloudpickle = pytest.importorskip("cloudpickle")
    code = "import kernelmean as km\nimport cloudpickle\nprint(cloudpickle.dumps(lambda: km.KME()).hex())"
    sent = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert isinstance(cloudpickle.loads(bytes.fromhex(sent))(), km.KernelMean)
