"""The state of the code of trials: all that they reach changes it, what judges and words them does not."""

from __future__ import annotations

import functools
import importlib
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import kernelmean
import kernelmean_paper
from kernelmean_paper import trial_code
from kernelmean_paper.experiment_names import EXPERIMENTS, load
from kernelmean_paper.trial_code import trial_digest
from kernelmean_paper.versions import LIBRARY, PAGES

pytestmark = pytest.mark.slow

Digest = Callable[[str, str, str], str]
SLOW = pytest.mark.slow


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with copies of both packages; a test that changes a file writes back what was there."""
    folder, ignore = tmp_path_factory.mktemp("packages"), shutil.ignore_patterns("__pycache__")
    for package in (kernelmean, kernelmean_paper):
        shutil.copytree(Path(package.__file__).parent, folder / package.__name__, ignore=ignore)
    return folder


@pytest.fixture
def digest(copies: Path, monkeypatch: pytest.MonkeyPatch) -> Digest:
    """Return a function: the digest of an experiment when in a file of the package a text is replaced."""

    def changed(name: str, file: str = "", old: str = "", new: str = "") -> str:
        kind = type(load(name))
        path = copies / file
        before = path.read_text(encoding="utf-8") if file else ""
        assert old in before
        if file:
            path.write_text(before.replace(old, new), encoding="utf-8")
        caches = [trial_code._module, trial_digest]
        with monkeypatch.context() as patch:
            patch.setattr(trial_code, "LIBRARY", copies / "kernelmean")
            patch.setattr(trial_code, "_FOLDER", copies / "kernelmean_paper")
            if file.startswith("kernelmean/"):  # else as before, which takes a second to find
                patch.setattr(trial_code, "_library", functools.cache(trial_code._library.__wrapped__))
            for each in caches:
                each.cache_clear()
            found = trial_digest(kind)
        for each in caches:
            each.cache_clear()
        if file:
            path.write_text(before, encoding="utf-8")
        return found

    return changed


@pytest.mark.parametrize(
    ("name", "file", "old", "new"),
    [
        ("figure2", "kernelmean_paper/mixtures.py", "DEGREES = ", "DEGREES = 1 + "),
        ("figure2", "kernelmean_paper/figure2.py", "def trial(self, ", "def trial(self, *_, "),
        (
            "figure1",
            "kernelmean/embedding/linear_form.py",
            "import numpy as np",
            "import numpy.linalg\nimport numpy as np",
        ),
        pytest.param(
            "table1",
            "kernelmean_paper/density_table.py",
            "def generator(self, ",
            "def generator(self, *_, ",
            marks=SLOW,
        ),
        ("table3", "kernelmean_paper/originals.py", "_is_number(", "_is_numeral("),
        ("table4", "kernelmean_paper/hsic_tests.py", "PERMUTATIONS = ", "PERMUTATIONS = 1 + "),
        pytest.param("theorems", "kernelmean_paper/theory.py", "def consistency(", "def consistency(*_, ", marks=SLOW),
        ("figure3", "kernelmean_paper/experiment.py", "default_rng([seed", "default_rng([1 + seed"),
        ("figure3", "kernelmean_paper/workers.py", 'simplefilter("default")', 'simplefilter("ignore")'),
    ],
)
def test_what_a_trial_reaches_changes_it(digest: Digest, name: str, file: str, old: str, new: str) -> None:
    assert digest(name, file, old, new) != digest(name, "", "", "")


@pytest.mark.parametrize(
    ("name", "file", "old", "new"),
    [
        ("figure2", "kernelmean_paper/figure2.py", "def section(self, ", "def section(self, *_, "),
        ("figure2", "kernelmean_paper/verdicts.py", "import annotations", "import annotations\n\nassert False"),
        ("figure2", "kernelmean_paper/mixtures.py", '"""The random', '"""Other words. The random'),
        ("figure2", "kernelmean_paper/mixtures.py", "\ndef ", "\n# a comment\n\n\ndef "),
        ("figure1", "kernelmean/report/html.py", "def render(", "def render(*_, "),
        ("table1", "kernelmean_paper/hsic_tests.py", "PERMUTATIONS = ", "PERMUTATIONS = 1 + "),
        pytest.param(
            "table4",
            "kernelmean_paper/hsic_claims.py",
            "import annotations",
            "import annotations\n\nassert False",
            marks=SLOW,
        ),
        pytest.param("theorems", "kernelmean_paper/theorems_report.py", "def report(", "def report(*_, ", marks=SLOW),
    ],
)
def test_what_judges_and_words_does_not(digest: Digest, name: str, file: str, old: str, new: str) -> None:
    assert digest(name, file, old, new) == digest(name, "", "", "")


def test_what_is_left_out_of_the_library_is_there() -> None:
    assert [name for name in PAGES if not (LIBRARY / name).exists()] == []


def test_every_experiment_has_its_own() -> None:
    digests = [trial_digest(type(load(name))) for name in EXPERIMENTS]
    assert len(set(digests)) == len(EXPERIMENTS)
    assert all(len(each) == 12 for each in digests)


def write(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the digest of an experiment outside the package."""
    (folder / "outside_experiment.py").write_text(text)
    monkeypatch.syspath_prepend(folder)
    module = importlib.reload(importlib.import_module("outside_experiment"))
    trial_code._module.cache_clear()
    return trial_digest(module.Own)


def test_an_experiment_outside_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = """
from kernelmean_paper import Experiment, Finding
SCALE = 2.0
WORDS = "words"
class Own(Experiment):
    name = title = "own"
    def settings(self, size): return []
    def trial(self, setting, rng, context): return [Finding("m", "v", self.help() * SCALE)]
    def help(self): return 1.0
    def section(self, findings): return WORDS
"""
    same, *other = (
        write(tmp_path, text.replace(old, new), monkeypatch)
        for old, new in [('"words"', '"others"'), ("2.0", "3.0"), ("return 1.0", "return 1.5")]
    )
    assert same == write(tmp_path, text, monkeypatch)
    assert len({same, *other}) == 3


def test_an_experiment_in_a_function_counts_with_its_whole_module() -> None:
    class Local(type(load("figure1"))):
        pass

    found = trial_code._Reach(Local).found
    assert any(place.name.startswith("test_an_experiment_in_a_function") for place in found)
