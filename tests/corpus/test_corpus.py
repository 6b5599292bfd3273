"""Messy tables are read right, cell by cell and to the end, or refused in one line that names the mend."""

from __future__ import annotations

import dataclasses
import importlib.util
import io
import json
import shlex
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow.parquet as parquet
import pytest

import kernelmean.tables
from in_batches import every_table_is_long
from kernelmean.cli import run
from kernelmean.tables import Frame, read_frame


def _beside(name: str) -> ModuleType:
    """Return a module of this folder."""
    spec = importlib.util.spec_from_file_location(f"corpus_{name}", Path(__file__).parent / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


make, expectations = _beside("make"), _beside("expectations")
ENTRIES = [(name, entry) for name, entries in expectations.EXPECTED.items() for entry in entries]
READ = [pair for pair in ENTRIES if pair[1].words is None and not pair[1].notes]
NOTED = [pair for pair in ENTRIES if pair[1].notes]
COMMANDED = {(name, entry.options) for name, entry in READ[::4]}
REFUSED = [pair for pair in ENTRIES if pair[1].words is not None]
READING = ("--decimal", "--thousands", "--dates", "--encoding", "--skip")
QUICK = ("--resamples", "9", "--estimator", "kme")
LONGEST_LINE = 700
Printed = Callable[[], tuple[str, str]]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    make.main(folder)
    return folder


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Printed:
    return lambda: tuple(capsys.readouterr())


def named(pairs: list[tuple[str, Any]], *, step: int = 1) -> Any:
    """Return the parameters of a test, called by file and options; all but every ``step``-th wait for ``-m slow``."""
    cells = [
        pytest.param(*pair, id=f"{pair[0]} {pair[1].options}".strip(), marks=[pytest.mark.slow] * (k % step > 0))
        for k, pair in enumerate(pairs)
    ]
    return pytest.mark.parametrize(("name", "entry"), cells)


def split_options(text: str) -> tuple[list[str], list[str]]:
    """Return the options of reading, and the others."""
    words = shlex.split(text)
    pairs = list(zip(words[::2], words[1::2], strict=True))
    return tuple([word for pair in pairs if (pair[0] in READING) is own for word in pair] for own in (True, False))  # type: ignore[return-value]


def text_format(options: str) -> dict[str, Any]:
    """Return what `read_frame` takes for the options of reading."""
    words = shlex.split(options)
    given: dict[str, Any] = {}
    for option, value in zip(words[::2], words[1::2], strict=True):
        if option == "--skip":
            given["skip"] = int(value)
        elif option in READING:
            given[option.removeprefix("--")] = value
        elif option == "--categorical":
            given["categorical"] = (value,)
    if not given:
        return {}
    form = kernelmean.tables.TextFormat
    known = {field.name for field in dataclasses.fields(form)}
    return {"text": form(**{name: value for name, value in given.items() if name in known})}


@cache
def meant(name: str) -> dict[str, dict[str, Any]]:
    """Return the columns of a file in both draws."""
    return {draw: made.columns for draw, made in make.drawn(name).items()}


def test_the_corpus_is_the_same_every_time(corpus: Path, tmp_path: Path) -> None:
    make.main(tmp_path)
    names = {path.name for path in (corpus / "first").iterdir()}
    assert names == set(expectations.EXPECTED)
    assert len(names) >= 60
    for draw in make.DRAWS:
        assert all((corpus / draw / name).read_bytes() == (tmp_path / draw / name).read_bytes() for name in names)


@named(READ)
def test_cells_are_read_right(name: str, entry: Any, corpus: Path) -> None:
    for draw, columns in meant(name).items():
        frame = read_frame(corpus / draw / name, **text_format(entry.options))
        assert list(frame.names) == list(columns)
        for column, own in columns.items():
            if f"--drop {column}" not in entry.options.replace('"', ""):
                check_cells(frame, column, own)


def check_cells(frame: Frame, name: str, own: Any) -> None:
    """Hold every cell of a column to what it means."""
    cells, declared = frame[name], frame.declared.get(name)
    missing = np.array([cell is None for cell in own.cells])
    assert len(cells) == len(own.cells), name
    if missing.all():
        assert all(cell is None or np.isnan(cell) for cell in cells), name
    elif own.kind in ("number", "boolean"):
        assert cells.dtype == np.float64, (name, cells[:3])
        np.testing.assert_array_equal(cells, [np.nan if cell is None else float(cell) for cell in own.cells], name)
        assert (own.kind == "boolean") == (declared is not None and declared.kind == "boolean"), name
    elif own.kind in ("datetime", "duration"):
        assert cells.dtype.kind == {"datetime": "M", "duration": "m"}[own.kind], (name, cells[:3])
        code = f"{cells.dtype.kind}8[us]"
        np.testing.assert_array_equal(cells.astype(code), np.array(own.cells, dtype=code), name)
    else:
        assert cells.dtype == object, (name, cells[:3])
        assert list(cells) == [cell if cell is None else cell.replace("\r\n", "\n") for cell in own.cells], name


def comparison(words: list[str], printed: Printed) -> dict[str, Any]:
    """Run a comparison to its end, and return what it says beside the names of files."""
    code = run([*words, "--json", "-"])
    out, err = printed()
    assert (code, err) == (0, ""), err
    found = json.loads(out)
    return {key: value for key, value in found.items() if key not in ("names", "verdict", "notes")}


def some_columns(name: str) -> list[str]:
    """Return options that take a few of very many columns."""
    genes = (f"gene {k} on a chip that has names in full" for k in (0, 750, 1499))
    return ["--columns", ",".join(genes)] if name == "1500 columns.csv" else []


@named(READ, step=8)
def test_commands_find_in_a_file_what_they_find_in_its_meaning(
    name: str, entry: Any, corpus: Path, tmp_path: Path, printed: Printed
) -> None:
    """The same command on a Parquet file that holds the meant cells, with their types, answers the same.

    Read in batches, kinds, means and shares of the columns are those of the columns held in memory.
    """
    paths = [str(corpus / draw / name) for draw in make.DRAWS]
    typed = []
    for draw, columns in meant(name).items():
        parquet.write_table(make.arrow_table(columns), tmp_path / f"{draw}.parquet")
        typed.append(str(tmp_path / f"{draw}.parquet"))
    text, others = split_options(entry.options)
    more = [*others, *some_columns(name)]
    found = comparison(["compare", *paths, *text, *more, *QUICK], printed)
    assert found == approximately(comparison(["compare", *typed, *more, *QUICK], printed))
    assert run(["dependence", paths[0], *text, *more, *QUICK, "--quiet"]) == (2 if len(found["columns"]) < 2 else 0)
    printed()
    with every_table_is_long():
        batches = comparison(["compare", *paths, *text, *more, "--resamples", "9"], printed)
    assert summary(batches["columns"]) == approximately(summary(found["columns"]))


def approximately(expected: Any) -> Any:
    """Return nested values whose numbers equal others to nine digits."""
    if isinstance(expected, dict):
        return {key: approximately(value) for key, value in expected.items()}
    if isinstance(expected, list):
        return [approximately(value) for value in expected]
    return pytest.approx(expected, rel=1e-9, abs=1e-12) if isinstance(expected, float) else expected


def summary(columns: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        each["name"]: (each["kind"], each["means"], sorted(each["shares"], key=lambda share: str(share["category"])))
        for each in columns
    }


@named(REFUSED)
@pytest.mark.parametrize("way", ["memory", "stream", "dependence"])
def test_refusals_are_one_line_that_names_the_mend(
    name: str, entry: Any, way: str, corpus: Path, printed: Printed
) -> None:
    paths = [str(corpus / draw / name) for draw in make.DRAWS]
    command = ["dependence", paths[0]] if way == "dependence" else ["compare", *paths]
    with every_table_is_long(0 if way == "stream" else None):
        code = run([*command, *shlex.split(entry.options), *(() if way == "stream" else QUICK)])
    out, err = printed()
    assert (code, out) == (2, ""), out
    assert err.count("\n") == 1
    assert err.startswith("kernelmean: ")
    assert "Traceback" not in err
    assert len(err) < LONGEST_LINE + len(str(corpus))
    assert name in err or "the table has 1 row" in err
    assert [word for word in entry.words if word not in err] == [], err


@named(ENTRIES, step=4)
def test_describe_shows_every_table_that_can_be_read_and_names_the_columns_at_fault(
    name: str, entry: Any, corpus: Path, printed: Printed
) -> None:
    """What it names, left out as it says, is all that dependence stops at.

    Where it says nothing, the test of commands above runs dependence on every fourth table, and this one on the others.
    """
    path, options = str(corpus / "first" / name), shlex.split(entry.options)
    code = run(["describe", path, *options, "--json", "-"])
    out, err = printed()
    if code == 2:  # the file as a whole, or an option
        assert entry.words is not None
        assert [word for word in entry.words if word not in err] == [], err
        return
    found = json.loads(out)
    every_column_stops = len(found["stopping"]) == len(found["columns"])  # to leave out all of them helps nobody
    decided = [column for column in found["stopping"] if column not in found["undecided"]]  # others have two readings
    advised = bool(decided or found["blank"]) and not every_column_stops
    kept = every_column_stops and "--drop" not in found["options"]  # what reads a column is advised for all of them too
    assert (code, bool(found["options"])) in {(0, advised), (0, kept or advised)}
    assert (entry.words is None) <= (found["options"] == "")
    some = bool(found["options"]) or (name, entry.options) not in COMMANDED
    some = some and not found["undecided"]
    if some and len(found["columns"]) - len(found["stopping"]) > 1 and len(found["columns"]) < LONGEST_LINE:
        varying = [one["name"] for one in found["columns"] if not one["stops"] and one["distinct"] > 1]
        mended = run(["dependence", path, *options, *shlex.split(found["options"]), *QUICK, "--quiet"])
        assert mended == (0 if len(varying) > 1 else 2), printed()[1]


@pytest.mark.parametrize(("options", "words"), expectations.OPTIONS.items())
def test_options_that_mean_nothing_are_refused(
    options: str, words: tuple[str, ...], corpus: Path, printed: Printed
) -> None:
    assert run(["dependence", str(corpus / "first" / "plain.csv"), *shlex.split(options)]) == 2
    out, err = printed()
    assert (out, err.count("\n")) == ("", 1)
    assert [word for word in words if word not in err] == [], err


@named(NOTED)
@pytest.mark.parametrize("way", ["memory", "stream", "dependence"])
def test_notes_name_the_other_reading(name: str, entry: Any, way: str, corpus: Path, printed: Printed) -> None:
    """Few different cells such as 10 mg may be categories or numbers: taken as categories, with a note."""
    paths = [str(corpus / draw / name) for draw in make.DRAWS]
    command = ["dependence", paths[0]] if way == "dependence" else ["compare", *paths]
    with every_table_is_long(0 if way == "stream" else None):
        assert run([*command, "--resamples", "19"]) == 0
    out, err = printed()
    assert err == ""
    assert [word for word in entry.notes if word not in " ".join(out.split())] == [], out


@pytest.mark.parametrize("name", ["plain.csv", "plain.csv.gz"])
def test_standard_input_is_a_table(name: str, corpus: Path, printed: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    """``compare - other.csv < file`` answers as ``compare file other.csv``."""
    other = str(corpus / "second" / name)
    expected = comparison(["compare", str(corpus / "first" / "plain.csv"), other, *QUICK], printed)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((corpus / "first" / "plain.csv").read_bytes())))
    assert comparison(["compare", "-", other, *QUICK], printed) == approximately(expected)


@pytest.mark.parametrize(
    ("words", "name", "mend"),
    [
        ([], "plain.csv.gz", "unpack it with gunzip"),
        ([], "European Excel, UTF-8.csv", "--decimal ,"),
    ],
)
def test_standard_input_is_refused_in_one_line(
    words: list[str], name: str, mend: str, corpus: Path, printed: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((corpus / "first" / name).read_bytes())))
    other = name.removesuffix(".gz")
    assert run(["compare", "-", str(corpus / "second" / other), *words]) == 2
    out, err = printed()
    assert (out, err.count("\n")) == ("", 1)
    assert "standard input" in err
    assert mend in err


def test_a_table_of_other_marks_is_refused_by_its_name(corpus: Path, tmp_path: Path, printed: Printed) -> None:
    """Of two files that were saved on two machines the one that needs an option is named."""
    names = "semicolons, decimal points.csv", "decimal commas.csv"
    columns = make.sales(make.Draw(np.random.default_rng(5), 28), ",")
    (tmp_path / names[1]).write_bytes(make.written(columns, ";").content)
    assert run(["compare", str(corpus / "first" / names[0]), str(tmp_path / names[1])]) == 2
    out, err = printed()
    assert out == ""
    assert err.count("\n") == 1
    assert names[1] in err
    assert "pandas: read_csv(..., decimal=...)" in err  # --decimal , would not read the other file
    assert "'price'" in err
