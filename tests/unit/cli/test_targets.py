"""Where outputs go: a collision or a file of others stops a command before its work, and nothing is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kernelmean.cli import main

QUICK = ("--estimator", "kme", "--resamples", "19")
COMPARE = ("compare", "a.csv", "b.csv", *QUICK)
COMMANDS = {
    "compare": COMPARE,
    "dependence": ("dependence", "a.csv", *QUICK),
    "describe": ("describe", "a.csv"),
    "density": ("density", "a.csv", "--estimator", "kme", "--components", "1"),
    "estimate": ("estimate", "a.csv"),
    "monitor": ("monitor", "a.csv", "b.csv"),
}
WORK = {
    "compare": "kernelmean.studies.comparison.compare",
    "dependence": "kernelmean.studies.dependence.dependence",
    "describe": "kernelmean.cli.inputs.described",
    "density": "kernelmean.studies.density.fit_densities",
    "estimate": "kernelmean.studies.estimate.fit_all",
    "monitor": "kernelmean.cli.watching.DriftMonitor",
}
OPTIONS = {
    "compare": ("html", "csv", "json"),
    "dependence": ("html", "csv", "json"),
    "describe": ("csv", "json"),
    "density": ("html", "csv", "json", "save", "sample-to"),
    "estimate": ("html", "csv", "json", "save"),
    "monitor": ("html", "csv", "json", "checkpoint"),
}
PAIRS = [(name, one, other) for name, all_ in OPTIONS.items() for one in all_ for other in all_ if one < other]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for shift, name in enumerate("ab"):
        pd.DataFrame(rng.normal(shift, size=(40, 2)), columns=["x", "y"]).to_csv(f"{name}.csv", index=False)
    return tmp_path


Refused = Callable[..., str]


@pytest.fixture
def refused(folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Refused:
    """Run a command that must end with 2 and one line before its work, and leave all files as they were."""

    def check(command: str, *options: str) -> str:
        monkeypatch.setattr(WORK[command], None)
        extra = ("--sample", "5") if "--sample-to" in options else ()
        before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        with pytest.raises(SystemExit) as exit_:
            main([*COMMANDS[command], *extra, *options])
        out, err = capfd.readouterr()
        assert (exit_.value.code, out, err.count("\n")) == (2, "", 1), err
        assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
        return err

    return check


def run(capfd: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as exit_:
        main(words)
    out, err = capfd.readouterr()
    assert exit_.value.code == 0, err
    return out


@pytest.mark.parametrize(("command", "one", "other"), PAIRS)
def test_two_outputs_never_share_a_file(command: str, one: str, other: str, refused: Refused) -> None:
    assert "is named twice" in refused(command, f"--{one}", "out.x", f"--{other}", "out.x")


@pytest.mark.parametrize(("command", "option"), [(name, one) for name, all_ in OPTIONS.items() for one in all_])
def test_no_input_is_written_over(command: str, option: str, refused: Refused) -> None:
    assert "'a.csv', which is read" in refused(command, f"--{option}", "a.csv")


@pytest.mark.parametrize("spelling", ["./a.csv", "sub/../a.csv", "{here}/a.csv", "link.csv", "A.csv", "folder/a.csv"])
def test_other_spellings_of_an_input_are_known(spelling: str, folder: Path, refused: Refused) -> None:
    (folder / "sub").mkdir()
    (folder / "link.csv").symlink_to("a.csv")
    (folder / "folder").symlink_to(folder)
    assert "which is read" in refused("compare", "--csv", spelling.format(here=folder))


@pytest.mark.parametrize("spelling", ["./out", "{here}/out", "link", "OUT"])
def test_other_spellings_of_an_output_that_is_not_there_yet_are_known(
    spelling: str, folder: Path, refused: Refused
) -> None:
    (folder / "link").symlink_to("out")
    assert "is named twice" in refused("compare", "--csv", "out", "--json", spelling.format(here=folder))


def test_names_in_two_unicode_forms_are_one_file(refused: Refused) -> None:
    assert "is named twice" in refused("compare", "--csv", "caf\u00e9", "--json", "cafe\u0301")


def test_nothing_is_written_into_a_folder_that_is_read(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "parts").mkdir()
    pd.read_csv("a.csv").to_parquet(folder / "parts" / "one.parquet")
    with pytest.raises(SystemExit) as exit_:
        main(["compare", "parts", "b.csv", "--csv", "parts/one.parquet"])
    assert exit_.value.code == 2
    assert "--csv parts/one.parquet lies in a folder that is read" in capfd.readouterr().err
    assert len(pd.read_parquet(folder / "parts" / "one.parquet")) == 40


@pytest.mark.parametrize("options", [("--json", "-", "--csv", "-"), ("--save", "-"), ("--sample-to", "-")])
def test_the_screen_is_for_one_output_that_can_be_read(options: tuple[str, ...], refused: Refused) -> None:
    assert "the screen (-)" in refused("density", *options)
