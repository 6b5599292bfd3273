"""What exits with 2 was refused by a `raise` of the package; what comes out of elsewhere is its own failure: 70."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.utils import check_array

import kernelmean as km
from kernelmean.cli import run


def number() -> None:
    float("twelve")


def nothing_told() -> None:
    raise ValueError("raised outside of the package")


def checked() -> None:
    check_array(np.array([[np.nan]]))


def refused() -> None:
    km.kernels.Gaussian(-1.0)


def refused_in_a_generator() -> None:
    list(km.read([np.array([[np.nan]])]))


def not_there() -> None:
    Path("no-such-file.csv").read_text()


def exit_code(error: Callable[[], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> int:
    def compare(*_: Any, **__: Any) -> None:
        error()

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("kernelmean.studies.comparison.compare", compare)
    Path("t.csv").write_text("a\n1\n2\n3\n")
    return run(["compare", "t.csv", "t.csv"])


FAILURES = (number, nothing_told, checked)
REFUSALS = (refused, refused_in_a_generator, not_there)


@pytest.mark.parametrize("error", FAILURES, ids=lambda error: error.__name__)
def test_an_error_that_the_package_did_not_raise_is_its_failure(
    error: Callable[[], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(error, monkeypatch, tmp_path) == 70
    said = capsys.readouterr().err
    assert "an error of kernelmean itself (" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize("error", REFUSALS, ids=lambda error: error.__name__)
def test_what_the_package_or_the_system_refuses_is_bad_input(
    error: Callable[[], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(error, monkeypatch, tmp_path) == 2
    assert "itself" not in capsys.readouterr().err
