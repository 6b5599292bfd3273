"""kernelmean monitor: batches from files and by time, checkpoints, exit codes, and one line for bad input."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kernelmean import DriftMonitor
from kernelmean.cli import main
from kernelmean.cli.errors import Stopped
from kernelmean.cli.progress import Told


def table(seed: int, n: int, shift: float = 0.0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"dose": rng.normal(shift, 1.0, n), "arm": rng.choice(["a", "b", "c"], n)})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    table(0, 600).to_csv("reference.csv", index=False)
    for day, shift in ((1, 0.0), (2, 0.0), (3, 2.0)):
        table(day, 60, shift).to_csv(f"day{day}.csv", index=False)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as exit_:
        main(("monitor", *arguments))
    out, err = capsys.readouterr()
    return int(exit_.value.code or 0), out, err


def test_the_command_is_the_monitor(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "reference.csv", "day1.csv", "day3.csv", "--json", "out.json", "--csv", "out.csv")
    own = DriftMonitor(pd.read_csv("reference.csv"))
    first, second = own.update(pd.read_csv("day1.csv")), own.update(pd.read_csv("day3.csv"))
    found = json.loads(Path("out.json").read_text())
    assert (code, err) == (0, "")
    assert " ".join(out.split()).startswith(second.verdict("day3.csv"))
    assert [batch["pvalue"] for batch in found["batches"]] == [first.pvalue, second.pvalue]
    assert (found["detected_at"], found["drift"]) == (second.detected_at, True)
    assert pd.read_csv("out.csv")["batch"].tolist() == ["day1.csv", "day3.csv"]
    assert all(line == line.rstrip() for line in out.splitlines())


def test_a_run_length_instead_of_a_level(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--average-run-length", "5000", "--json", "out.json", "--checkpoint", "state.json")
    code, out, err = run(capsys, "reference.csv", "day1.csv", *options)
    assert (code, err) == (0, "")
    assert "at least 5,000 rows to a false alarm on average" in out
    code, out, err = run(capsys, "reference.csv", "day1.csv", "day3.csv", *options)
    found = json.loads(Path("out.json").read_text())
    assert (code, err) == (1, f"kernelmean: drift: found in day3.csv, after {found['detected_at']} rows\n")
    assert (found["alpha"], found["pvalue"], found["average_run_length"]) == (None, None, 5000.0)
    low, high = found["changed_between"]
    assert low <= 61 <= high
    assert (low, "began in day3.csv or before (95 %), perhaps with the first" in " ".join(out.split())) == (1, True)
    code, _, err = run(capsys, "reference.csv", "day1.csv", "--checkpoint", "state.json")
    assert code == 2
    assert "a monitor with --average-run-length 5000, this one has --fail-on-drift 0.05" in err


def test_a_checkpoint_goes_on_and_no_batch_counts_twice(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    days = [f"day{k}.csv" for k in (1, 2, 3)]
    run(capsys, "reference.csv", *days, "--json", "whole.json", "--fail-on-drift", "0.01")
    for k in (1, 2, 3):
        options = ("--checkpoint", "state.json", "--json", "part.json", "--fail-on-drift", "0.01")
        code, out, err = run(capsys, "reference.csv", *days[:k], *options)
    whole, part = (json.loads(Path(f"{name}.json").read_text()) for name in ("whole", "part"))
    assert (code, "drift: p = " in err) == (1, True)
    assert "2 batches, day1.csv, day2.csv, were monitored before and left out" in " ".join(out.split())
    assert part["batches"] == whole["batches"][2:]
    assert all(
        part[name] == whole[name] for name in ("pvalue", "log_wealth", "n_rows", "detected_at", "changed_between")
    )
    code, out, _ = run(capsys, "reference.csv", "day3.csv", "--checkpoint", "state.json", "--fail-on-drift", "0.01")
    assert code == 1


def test_rows_with_blank_cells_are_counted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, rows in (("reference", 3), ("day1", 2), ("day2", 1)):
        blank = pd.read_csv(f"{name}.csv")
        blank.loc[: rows - 1, "dose"] = np.nan
        blank.to_csv(f"{name}.csv", index=False)
    options = ("--missing", "drop", "--checkpoint", "state.json", "--json", "out.json")
    for days in (["day1.csv"], ["day1.csv", "day2.csv"]):
        _, out, _ = run(capsys, "reference.csv", *days, *options)
    found = json.loads(Path("out.json").read_text())
    notes = ["reference: 3 rows with blank cells left out", "new rows: 3 rows with blank cells left out"]
    assert found["notes"][:2] == notes
    assert found["n_rows"] == 117
    assert all(f"note: {note}\n" in out for note in notes)


@pytest.mark.parametrize("options", [(), ("--by", "arm")])
def test_rows_of_a_file_that_grows_count_once(
    folder: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...]
) -> None:
    """A log that rows are appended to, monitored every night: rows that were there yesterday are not new."""
    log = table(1, 60).sort_values("arm", ignore_index=True) if options else table(1, 60)
    for rows in (20, 45, 60):
        log[:rows].to_csv("log.csv", index=False)
        command = ("reference.csv", "log.csv", *options, "--checkpoint", "state.json", "--json", "out.json")
        code, out, _ = run(capsys, *command)
        assert (code, json.loads(Path("out.json").read_text())["n_rows"]) == (0, rows)
    if not options:
        assert "log.csv: its first 45 rows had been monitored before, only the others count" in " ".join(out.split())
        assert json.loads(Path("out.json").read_text())["batches"][0]["rows"] == 15


def test_another_file_of_the_same_name_is_new(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for seed in (1, 2):
        table(seed, 20 * seed).to_csv("today.csv", index=False)
        run(capsys, "reference.csv", "today.csv", "--checkpoint", "state.json", "--json", "out.json")
    found = json.loads(Path("out.json").read_text())
    assert found["n_rows"] == 60
    assert "today.csv: another batch of this name was monitored before; its rows count as new" in found["notes"]


def test_files_of_one_name_are_told_apart_by_their_folders(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As in tables that other programs cut into folders: day=1/part-0.csv, day=2/part-0.csv."""
    files = [f"day={k}/part-0.csv" for k in range(1, 5)]
    for k, file in enumerate(files):
        Path(file).parent.mkdir()
        table(k + 10, 60, 3.0 * (k >= 2)).to_csv(file, index=False)
    _, out, _ = run(capsys, "reference.csv", *files, "--checkpoint", "state.json", "--json", "out.json")
    found = json.loads(Path("out.json").read_text())
    assert [batch["batch"] for batch in found["batches"]] == files
    assert found["alarm"]["batch"] == files[2]
    assert f"/part-0.csv {files[2]} --columns" in " ".join(out.split())  # the command to see what changed
    _, out, _ = run(capsys, "reference.csv", files[3], "--checkpoint", "state.json")  # by itself it needs no folder
    assert "part-0.csv was monitored before and left out" in " ".join(out.split())


def test_a_reference_of_the_same_size_is_another_one(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Levels of an ordered type and types of columns are not seen in the cells."""
    wide = ["a", "b", "c"]
    for levels in (wide, ["b", "a", "c"]):
        for name, made in (("reference", table(0, 600)), ("day", table(1, 60))):
            made.assign(arm=pd.Categorical(made["arm"], levels, ordered=True)).to_parquet(f"{name}.parquet")
        code, _, err = run(capsys, "reference.parquet", "day.parquet", "--checkpoint", "state.json")
        assert code == (0 if levels is wide else 2)
    assert err.count("\n") == 1
    assert "state.json: the checkpoint is of another reference: its rows, their order or its columns are others" in err
    assert "delete the file to start over, or name another one with --checkpoint" in err


def test_a_checkpoint_of_other_settings_says_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "reference.csv", "day1.csv", "--checkpoint", "state.json")
    code, _, err = run(capsys, "reference.csv", "day1.csv", "--checkpoint", "state.json", "--seed", "5")
    assert code == 2
    assert "the checkpoint is of the same reference with other settings: the seed" in err


@pytest.mark.parametrize(("every", "names"), [("day", 6), ("week", 2), ("month", 2)])
def test_batches_by_time(folder: Path, capsys: pytest.CaptureFixture[str], every: str, names: int) -> None:
    days = pd.to_datetime(["2024-01-27", "2024-01-28", "2024-01-29", "2024-01-30", "2024-02-01", "2024-02-03"])
    visits = table(5, 60).assign(at=np.tile(days, 10) + pd.Timedelta(hours=5))
    visits.loc[3, "at"] = pd.NaT
    visits.to_csv("visits.csv", index=False)
    code, out, _ = run(capsys, "reference.csv", "visits.csv", "--by", "at", "--every", every, "--json", "out.json")
    batches = json.loads(Path("out.json").read_text())["batches"]
    assert code == 0
    assert "1 row without 'at' left out" in out
    assert len(batches) == names
    assert sum(batch["rows"] for batch in batches) == 59
    assert [batch["batch"] for batch in batches] == sorted(batch["batch"] for batch in batches)
    assert every != "week" or [batch["batch"] for batch in batches] == ["at=2024-01-22", "at=2024-01-29"]


def test_rows_of_a_batch_need_not_be_next_to_each_other(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sites = np.array(["z", "a", "m", None], dtype=object)[np.random.default_rng(2).integers(4, size=60)]
    new = table(5, 60).assign(site=sites)
    new.to_csv("new.csv", index=False)
    run(capsys, "reference.csv", "new.csv", "--by", "site", "--json", "out.json")
    batches = json.loads(Path("out.json").read_text())["batches"]
    names = list(dict.fromkeys(site for site in sites if site is not None))
    assert [one["batch"] for one in batches] == [f"site={name}" for name in names]
    assert [one["rows"] for one in batches] == [int((sites == name).sum()) for name in names]
    for name in names:
        new[sites == name].drop(columns="site").to_csv(f"site={name}.csv", index=False)
    run(capsys, "reference.csv", *(f"site={name}.csv" for name in names), "--json", "alone.json")
    alone = json.loads(Path("alone.json").read_text())["batches"]
    assert [one["log_wealth"] for one in alone] == [one["log_wealth"] for one in batches]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["reference.csv"], "Missing argument"),
        (["reference.csv", "nowhere.csv"], "no file"),
        (["reference.csv", "day1.csv", "--drop", "dose,arm"], "no columns"),
        (["reference.csv", "day1.csv", "--html", "out.pdf"], "write a name that ends in .html"),
        (["reference.csv", "day1.csv", "--every", "day"], "--by COLUMN"),
        (["reference.csv", "day1.csv", "--by", "dose", "--every", "day"], "needs dates"),
        (["reference.csv", "day1.csv", "--by", "when"], "no column"),
        (["reference.csv", "times.csv", "--by", "at"], "add --every hour, day, week or month"),
        (["reference.csv", "times.csv", "--by", "at", "--drop", "dese"], "--drop names 'dese', which no table has"),
        (["reference.csv", "times.csv", "--by", "at", "--drop", "dese"], "did you mean 'dose'"),
        (["reference.csv", "day1.csv", "--fail-on-drift", "1%"], "'1%' is no number; write 0.01"),
        (["reference.csv", "day1.csv", "--fail-on-drift", "low"], "'low' is no number; write one such as 0.01"),
        (["reference.csv", "day1.csv", "--fail-on-drift", "2"], "number between 0 and 1"),
        (["reference.csv", "day1.csv", "--average-run-length", "0"], "a number of rows is needed"),
        (["reference.csv", "day1.csv", "--average-run-length", "9", "--fail-on-drift", "0.1"], "write one"),
        (["reference.csv", "day1.csv", "--checkpoint", "day1.csv"], "named twice"),
        (["reference.csv", "day1.csv", "--checkpoint", "other.json"], "another reference"),
        (["reference.csv", "day1.csv", "--checkpoint", "reference.csv"], "which is read"),
        (["reference.csv", "day1.csv", "--checkpoint", "blank.csv"], "no checkpoint"),
        (["reference.csv", "text.csv"], "numeric"),
        (["reference.csv", "blank.csv"], "blank"),
        (["faults.csv", "day1.csv"], "'id' looks like an identifier"),
        (["faults.csv", "day1.csv"], "'code' has 300 different texts in 300 rows"),
        (["faults.csv", "day1.csv"], "'at' holds dates, which differ in every later table"),
        (
            ["faults.csv", "day1.csv"],
            "with --drop id,code,at, or insist with --keep id. Also, faults.csv: row 2, column",
        ),
        (["reference.csv", "day1.csv", "--missing", "Drop"], "write --missing error, drop or category"),
        (["tiny.csv", "day1.csv"], "at least 8"),
        (["dates.csv", "dates.csv"], "dates"),
    ],
)
def test_bad_input_is_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], text: str
) -> None:
    run(capsys, "reference.csv", "day1.csv", "--drop", "arm", "--checkpoint", "other.json")
    table(1, 10).assign(dose="high").to_csv("text.csv", index=False)
    table(1, 10).assign(dose=[np.nan, *range(9)]).to_csv("blank.csv", index=False)
    table(1, 5).to_csv("tiny.csv", index=False)
    table(1, 20).assign(day="2024-01-01").to_csv("dates.csv", index=False)
    table(1, 2).assign(at=["2024-01-01 05:00:00", "2024-01-01 05:00:01"]).to_csv("times.csv", index=False)
    faults = table(1, 300).assign(id=range(300), code=[f"c{k}" for k in range(300)], at="2024-01-01")
    faults.assign(dose=faults["dose"].where(faults.index != 1)).to_csv("faults.csv", index=False)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert text in err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_the_alarm_is_in_sight_and_a_command_shows_what_changed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    days = [f"d {k:02d}.csv" for k in range(30)]
    for k, day in enumerate(days):
        table(k + 10, 60, 2.0 * (k >= 20)).assign(key=np.arange(60)).to_csv(day, index=False)
    code, out, _ = run(capsys, "reference.csv", *days, "--drop", "key", "--html", "m.html", "--json", "m.json")
    found, shown = json.loads(Path("m.json").read_text()), " ".join(out.split())
    assert (code, found["alarm"]["batch"]) == (0, "d 20.csv")
    assert found["alarm"]["first"] <= found["detected_at"] <= found["alarm"]["last"]
    assert "alarm in d 20.csv, rows 1,201 to 1,260; within a batch rows come in random order" in shown
    assert "Batches 16 to 25 of 30" in out
    assert [line.split()[:3] for line in out.splitlines() if line.endswith("here")] == [["d", "20.csv", "60"]]
    low, high = found["changed_between"]
    assert 1 < low <= 1201 <= high
    first, last = (f"d {(row - 1) // 60:02d}.csv" for row in (low, high))
    named = f"in {first}" if first == last else f"in {first} to {last}"
    assert f"began {named}, between rows {low:,} and {high:,} (95 %)" in shown
    assert f"Drift: found in d 20.csv, after {found['detected_at']:,} of 1,800 rows" in shown
    assert "kernelmean compare, as written above, names those that differ" in shown
    assert "<dt>see what changed</dt><dd>kernelmean compare" in Path("m.html").read_text()
    command = shown.partition("see what changed kernelmean compare ")[2].partition(" slow change")[0]
    assert "compare with reference.csv: " in shown
    assert shlex.split(command) == [f"d {(low - 1) // 60 - 1:02d}.csv", "d 20.csv", "--columns", "dose,arm"]
    assert "next the monitor stays in alarm" in shown
    with pytest.raises(SystemExit) as ended:
        main(("compare", *shlex.split(command), "--resamples", "99"))
    assert ended.value.code == 0
    capsys.readouterr()
    code, out, _ = run(capsys, "reference.csv", *days[:20], "--drop", "key")
    assert (code, "Batches 11 to 20 of 20" in out, "d 19.csv" in out, "kernelmean compare" in out) == (
        0,
        True,
        True,
        False,
    )


@pytest.mark.parametrize("named", ["parts", "parts/*.parquet"])
def test_a_reference_in_several_files(named: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("parts").mkdir()
    reference = pd.read_csv("reference.csv")
    for k in range(3):
        reference[200 * k : 200 * (k + 1)].to_parquet(f"parts/{k}.parquet", index=False)
    run(capsys, named, "day1.csv", "--json", "parts.json")
    run(capsys, "reference.csv", "day1.csv", "--json", "whole.json")
    parts, whole = (json.loads(Path(f"{name}.json").read_text()) for name in ("parts", "whole"))
    assert parts["batches"] == whole["batches"]


def test_a_stopped_run_keeps_what_it_had_taken(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C in the third file: the first two are in the checkpoint, and the same command goes on."""

    @contextmanager
    def stopping(report: Told) -> Iterator[Told]:
        def told(label: str, done: int, total: int) -> None:
            if label == "rows of day3.csv":
                raise Stopped("stopped")

        yield told

    days, options = ["day1.csv", "day2.csv", "day3.csv"], ("--checkpoint", "state.json", "--json", "out.json")
    with monkeypatch.context() as patch:
        patch.setattr("kernelmean.cli.progress.stoppable", stopping)
        code, _, err = run(capsys, "reference.csv", *days, *options)
    assert (code, err) == (130, "kernelmean: stopped after 2 batches; the same command goes on from state.json\n")
    run(capsys, "reference.csv", *days, *options)
    rest = json.loads(Path("out.json").read_text())
    run(capsys, "reference.csv", *days, "--json", "out.json")
    assert rest["batches"] == json.loads(Path("out.json").read_text())["batches"][2:]


def test_a_folder_and_a_pattern_are_batches_by_name_and_a_reference(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("days").mkdir()
    for day in (2, 10, 1):
        table(day, 60).to_csv(f"days/day-{day}.csv", index=False)
    for words in (("days", "days"), ("days/*.csv", "days/*.csv")):
        code, out, err = run(capsys, *words, "--json", "out.json")
        found = json.loads(Path("out.json").read_text())
        assert (code, err) == (0, "")
        assert [one["batch"] for one in found["batches"]] == ["day-1.csv", "day-2.csv", "day-10.csv"]
        assert "180 rows" in out
    Path("none").mkdir()
    assert "a folder without tables" in run(capsys, "reference.csv", "none")[2]


def test_no_row_has_a_batch(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table(5, 20).assign(site=pd.Series([None] * 20, dtype=object)).to_csv("new.csv", index=False)
    code, out, err = run(capsys, "reference.csv", "new.csv", "--by", "site", "--categorical", "site")
    assert "Traceback" not in err
    assert code in (0, 2)
    assert "site" in out + err
