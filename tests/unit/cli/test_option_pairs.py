"""Every pair of options of the commands: both have an effect, or the pair is refused."""

from __future__ import annotations

import contextlib
import hashlib
import io
from pathlib import Path

import numpy as np
import pytest

from kernelmean.cli import run

from ..option_pairs import THIRDS, Alone, Run, Values


def write_table(name: str, rows: int, shift: float) -> None:
    """Write a table of numbers, levels, and groups."""
    rng = np.random.default_rng(rows)
    a, b = rng.normal(size=(2, rows)) * [[1.0], [2.0]] + shift
    lines = [f"{a[k]:.4f},{b[k]:.4f},{k % 3},{'uvw'[k % 3]},{(k * 7 + k // 5) % 2}" for k in range(rows)]
    Path(f"{name}.csv").write_text("a,b,c,d,h\n" + "\n".join(lines) + "\n")
    Path(f"{name}-numbers.csv").write_text("a,b,c\n" + "\n".join(line.rsplit(",", 2)[0] for line in lines) + "\n")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_refits: None) -> Path:
    monkeypatch.chdir(tmp_path)
    write_table("A", 18, 0.0)
    write_table("B", 16, 0.4)
    return tmp_path


def observed(*arguments: str) -> str:
    """Return the exit code of a command, what it printed, and the files that it wrote."""
    before = {path.name for path in Path().iterdir()}
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(arguments)
    made = sorted(path for path in Path().iterdir() if path.name not in before)
    files = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in made}
    for path in made:
        path.unlink()
    if code == 2 and "Traceback" not in err.getvalue():
        raise ValueError(err.getvalue())
    assert code in (0, 1), (arguments, code, err.getvalue())
    return repr((code, out.getvalue(), files))


def command(*always: str) -> Run:
    """Return a run of a command whose options are words."""
    return lambda **options: observed(*always, *(word for option in options.values() for word in option.split()))


def values(text: str) -> Values:
    """Return options from lines of words: the values of one option on one line, separated by |."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return {line.split()[0].lstrip("-"): tuple(one.strip() for one in line.split("|")) for line in lines}


MIXED = """
--columns a,c,d
--drop c
--categorical c
--ordinal d=u,v,w
--no-scale
--seed 1
--csv out.csv
--quiet
"""
COMPARED = (
    MIXED
    + """
--estimator mkme
--bandwidth 0.5
--resamples 19
--fail-on-drift 0.5
"""
)
TESTED = "--max-rows 9"
FITTED = """
--columns a,c
--drop c
--no-scale
--max-rows 9
--seed 1
--quiet
--save mean.npz
"""
JSON = ("--json", "out.json")
COMMANDS: dict[str, tuple[Run, Values]] = {
    "compare": (
        command("compare", "A.csv", "B.csv", "--resamples", "9", "--estimator", "kme", *JSON),
        values(f"{COMPARED}\n{TESTED}\n--stream\n--by h\n--groups 0,1\n--strata h\n--adjust bh"),
    ),
    "compare --by": (
        command("compare", "A.csv", "--by", "h", "--resamples", "9", "--estimator", "kme", *JSON),
        values(f"--groups 1,0\n{TESTED}\n--stream\n--columns a,h\n--drop h\n--keep h\n--categorical h\n--no-scale"),
    ),
    "compare --stream": (
        command("compare", "A.csv", "B.csv", "--stream", "--resamples", "9", *JSON),
        values(f"{MIXED}\n--estimator kme\n--bandwidth 0.5"),
    ),
    "dependence": (
        command("dependence", "A.csv", "--resamples", "9", "--estimator", "kme", "--no-intervals", *JSON),
        values(
            f"{MIXED}\n{TESTED}\n--stream\n--estimator scose\n--resamples 19\n--x a,c\n--y d"
            "\n--strata h\n--at-least 0.2\n--adjust bh"
        ),
    ),
    "describe": (
        command("describe", "A.csv", *JSON),
        values(f"{MIXED}\n{TESTED}".replace("--no-scale\n", "")),
    ),
    "estimate": (
        command("estimate", "A-numbers.csv", *JSON),
        values(f"{FITTED}\n--estimator kme\n--bandwidth 0.5"),
    ),
    "monitor": (
        command("monitor", "A.csv", "B.csv", *JSON),
        values(
            MIXED.replace("--no-scale\n", "")
            + "\n--by h\n--every day\n--checkpoint state.json\n--fail-on-drift 0.5\n--average-run-length 9"
        ),
    ),
}


IDLE = {
    ("dependence", "no-scale"): "pairs of columns alone have the same test in any units; it matters with --x and --y",
    ("describe", "seed"): "nothing is drawn without --max-rows",
    ("estimate", "seed"): "nothing is drawn without --max-rows; the seed stands in the output",
}
"""Options that change nothing alone, and why."""
EXCEPTIONS = {
    ("dependence", "resamples", "columns"): "so few permutations that all pairs are tested again with those Holm needs",
}
"""Pairs of which one leaves the other without effect, and why."""


@THIRDS
@pytest.mark.parametrize("name", COMMANDS)
def test_both_options_have_an_effect_or_the_pair_is_refused(name: str, third: int, place: Path) -> None:
    run, options = COMMANDS[name]
    alone = Alone.of(run, options)
    idle = [option for option in alone.idle_options() if (name, option) not in IDLE]
    found = alone.silent_pairs(third, {frozenset(pair) for case, *pair in EXCEPTIONS if case == name}), idle
    assert found == ([], []), "\n".join(["SILENT", *found[0], "IDLE", *found[1]])


@pytest.mark.parametrize("command_", ["compare", "compare --stream", "dependence", "describe", "monitor"])
@pytest.mark.parametrize("option", ["--keep", "--categorical", "--ordinal", "--missing", "--columns", "--drop"])
def test_an_unknown_column_is_refused(command_: str, option: str, place: Path) -> None:
    name, *more = command_.split()
    tables = ["A.csv"] if name in ("dependence", "describe") else ["A.csv", "B.csv"]
    value = {"--ordinal": "z=u,v", "--missing": "z=drop"}.get(option, "z")
    with pytest.raises(ValueError, match="'z'"):
        observed(name, *tables, *more, option, value)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("compare A.csv B.csv --stream --by h", "write compare A B, or compare DATA --by h, not both"),
        ("compare A.csv B.csv --stream --groups 0,1", "--groups names groups of one column"),
        ("dependence A.csv --stream --max-rows 9", "--stream takes all rows"),
        ("dependence iris --stream", "iris is a built-in table"),
        ("dependence A.csv --stream --estimator scose", "over sums of features"),
        ("estimate A-numbers.csv --estimator kme", "add --save FILE, or leave --estimator out"),
        ("compare A.csv B.csv --keep c --categorical c", "leave it out of --keep"),
    ],
)
def test_an_option_without_effect_is_refused(arguments: str, words: str, place: Path) -> None:
    with pytest.raises(ValueError, match=words):
        observed(*arguments.split())
