"""kernelmean compare --by with several groups: what is printed, written, and answered to an automatic check."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kernelmean.cli import main

QUICK = ("--resamples", "99", "--estimator", "kme")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    groups = np.repeat(["u", "v v", "w,1"], 20)
    values = rng.normal(size=(60, 2)) + 3.0 * (groups == "w,1")[:, None]
    pd.DataFrame(values, columns=["a", "b"]).assign(**{"the group": groups}).to_csv("t.csv", index=False)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as exit_:
        main(arguments)
    out, err = capsys.readouterr()
    return int(exit_.value.code or 0), out, err


def test_several_groups_are_answered(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "compare", "t.csv", "--by", "the group", *QUICK)
    assert (code, err) == (0, "")
    assert out.startswith("The 3 groups of the group differ: p = 0.01, at most 0.05.")
    table = out[out.index("Pairs of groups that differ most") :].splitlines()
    assert sorted(line.split()[0] for line in table[2:5]) == ["u", "u", "v"]
    assert "u          v v" in table[4], "the pair that does not differ comes last"


def test_automatic_checks(capsys: pytest.CaptureFixture[str]) -> None:
    how = ("compare", "t.csv", "--by", "the group", "-q", *QUICK, "--fail-on-drift")
    code, out, err = run(capsys, *how, "0.01")
    assert (code, err) == (1, "kernelmean: drift: p = 0.01, at most 0.01\n")
    assert out.endswith("at most 0.01.\n")
    code, _, err = run(capsys, *how, "0.001")
    assert code == 2
    assert "cannot fail with --resamples 99" in err


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("wine --by alcohol", "'alcohol' has 126 groups: "),
        ("wine --by alcohol", "at most 12 are compared at a time: name those that matter with --groups a,b,c"),
        ("wine --by target --groups 0,1,7", "there is no group '7'"),
        ("wine --by target --estimator s-kmse", "write one of kme, mkme, mmkme"),
    ],
)
def test_refusals_are_one_line(words: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "compare", *words.split())
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert text in err
