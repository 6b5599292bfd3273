"""The command line: the numbers of --json and the exit codes."""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
from pathlib import Path
from typing import Any

import kernelmean as km
from in_batches import every_table_is_long
from kernelmean.cli import main
from record import data, shown
from record.registry import SEARCHED, Values, recorded

PROSE = (
    "verdict",
    "statistic_name",
    "choice",
    "seconds",
    "notes",
    "version",
    "label",
    "files",
    "missing",
    "kernels",
    "null_quantiles",
    "command",
)


def command(folder: Path, *arguments: str) -> tuple[int, str]:
    """Run a command in a folder; return its exit code and what it printed."""
    out, here = io.StringIO(), Path.cwd()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            main(arguments)
    except SystemExit as end:
        return int(end.code or 0), out.getvalue()
    finally:
        os.chdir(here)
    return 0, out.getvalue()


def asked(folder: Path, *arguments: str) -> Values:
    """Return the exit code of a command and the numbers that it wrote as JSON."""
    code, said = command(folder, *arguments, "--json", "out.json", "--quiet")
    if not (folder / "out.json").exists():
        return {"exit code": code, "lines": len(said.splitlines())}
    content = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    return {"exit code": code, **shown.flat(content, without=PROSE)}


def tables(folder: Path, ending: str = "csv", *, mixed: bool = False) -> None:
    """Write two tables, ``a`` and ``b``, and a third one, ``c``."""
    for number, (name, shift) in enumerate((("a", 0.0), ("b", 0.4), ("c", 1.5))):
        frame = (
            data.mixed(110 + number, 40, blank=True, tilt=0.4 + 0.2 * number)
            if mixed
            else data.numbers(110 + number, 40, shift)
        )
        write(frame, folder / f"{name}.{ending}")


def write(frame: Any, path: Path) -> None:
    if path.name.endswith("jsonl"):
        frame.to_json(path, orient="records", lines=True, date_format="iso")
    elif path.name.endswith("parquet"):
        frame.to_parquet(path, index=False)
    elif path.name.endswith("feather"):
        frame.to_feather(path)
    else:
        frame.to_csv(path, index=False)


QUICK = ("--resamples", "99", "--seed", "3")


@recorded("commands/compare, {estimator}", estimator=["kme", "mkme", "adaptive"])
def compare(folder: Path, estimator: str) -> Values:
    tables(folder)
    return asked(folder, "compare", "a.csv", "b.csv", "--estimator", estimator, *QUICK)


@recorded("commands/compare, files {ending}", ending=["csv.gz", "parquet", "feather", "jsonl"])
def compare_files(folder: Path, ending: str) -> Values:
    tables(folder, ending)
    found = asked(folder, "compare", f"a.{ending}", f"b.{ending}", "--estimator", "kme", *QUICK)
    return {key: found.get(key) for key in ("exit code", "statistic", "pvalue", "scheme")}


@recorded("commands/compare, mixed, {missing}", missing=["drop", "age=drop,city=category"])
def compare_mixed(folder: Path, missing: str) -> Values:
    tables(folder, mixed=True)
    options = ("--estimator", "kme", "--ordinal", "size=low,mid,high", "--missing", missing)
    return asked(folder, "compare", "a.csv", "b.csv", *options, *QUICK)


@recorded("commands/compare, groups of a column")
def compare_groups(folder: Path) -> Values:
    data.numbers(113, 40).assign(side=["u", "v"] * 20).to_csv(folder / "t.csv", index=False)
    return asked(folder, "compare", "t.csv", "--by", "side", "--groups", "u,v", "--estimator", "kme", *QUICK)


@recorded("commands/compare, stream")
def compare_stream(folder: Path) -> Values:
    tables(folder)
    with every_table_is_long():
        found = asked(folder, "compare", "a.csv", "b.csv", "--estimator", "kme", *QUICK)
    return {key: found.get(key) for key in ("exit code", "statistic", "pvalue", "scheme", "sizes", "estimator")}


@recorded("commands/dependence, {estimator}", estimator=["kme", "adaptive"])
def dependence(folder: Path, estimator: str) -> Values:
    tables(folder)
    return asked(folder, "dependence", "a.csv", "--x", "a", "--y", "b,c", "--estimator", estimator, *QUICK)


@recorded("commands/dependence, all pairs of a mixed table")
def dependence_pairs(folder: Path) -> Values:
    tables(folder, mixed=True)
    options = ("--estimator", "kme", "--ordinal", "size=low,mid,high", "--missing", "drop", "--drop", "when")
    return asked(folder, "dependence", "a.csv", *options, *QUICK)


@recorded("commands/density", wider=SEARCHED)
def density(folder: Path) -> Values:
    tables(folder)
    options = ("--components", "2", "--covariance", "spherical", "--estimator", "kme", "--held-out", "0.3")
    found = asked(folder, "density", "a.csv", *options, "--seed", "1", "--save", "mix.npz")
    ours = {key: value for key, value in found.items() if not key.startswith("candidates")}  # others are scikit-learn's
    return {**ours, "norm of what was saved": km.load(folder / "mix.npz").norm()}


@recorded("commands/estimate and info", wider=SEARCHED)
def estimate(folder: Path) -> Values:
    tables(folder)
    found = asked(folder, "estimate", "a.csv", "--bandwidth", "median", "--save", "mean.npz", "--estimator", "mmkme")
    found.pop("estimators vpmkme contraction")  # an optimiser ends at 1e-8, next to its bound 0
    code, said = command(folder, "info", "mean.npz")
    return {
        **found,
        "info, exit code": code,
        "info, columns": "a, b, c" in said,
        "norm": km.load(folder / "mean.npz").norm(),
    }


@recorded(
    "commands/monitor, {options}",
    options={"plain": (), "failing": ("--fail-on-drift", "0.05"), "going on": ("--checkpoint", "state.json")},
)
def monitor(folder: Path, options: tuple[str, ...]) -> Values:
    for name, shift in (("reference", 0.0), ("first", 0.0), ("second", 1.5)):
        data.numbers(len(name), 120, shift).to_csv(folder / f"{name}.csv", index=False)
    files = ("first.csv", "second.csv")
    if "--checkpoint" in options:
        command(folder, "monitor", "reference.csv", "first.csv", *options, "--seed", "1")
        files = ("second.csv",)
    found = asked(folder, "monitor", "reference.csv", *files, *options, "--seed", "1")
    return {"log evidence" if key == "pvalue" else key: _log(key, value) for key, value in found.items()}


def _log(key: str, value: Any) -> Any:
    """Return the logarithm of a p-value, which may be of any size: it is no count."""
    return math.log(value) if key == "pvalue" and value else value


@recorded("commands/exit codes")
def exit_codes(folder: Path) -> Values:
    tables(folder)
    both = ("compare", "a.csv", "c.csv", "--estimator", "kme", *QUICK)
    asked_for: dict[str, tuple[str, ...]] = {
        "they differ": both,
        "they differ, failing": (*both, "--fail-on-drift", "0.05"),
        "no file": ("compare", "a.csv", "nowhere.csv"),
        "no option": ("compare", "a.csv", "b.csv", "--nonsense"),
        "no command": ("nonsense",),
        "version": ("--version",),
        "help": ("--help",),
        "no estimator": ("compare", "a.csv", "b.csv", "--estimator", "nonsense"),
        "no column": ("dependence", "a.csv", "--x", "z"),
    }
    return {name: command(folder, *arguments)[0] for name, arguments in asked_for.items()}
