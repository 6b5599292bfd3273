"""Reports and tables as files: what they hold, that they are whole, and that exit codes can be relied on."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kernelmean.cli import as_csv, main

QUICK = ("--resamples", "99", "--estimator", "kme")
PAIR = ("compare", "first.csv", "second.csv", *QUICK)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name, shift in (("first", 0.0), ("same", 0.0), ("second", 3.0)):
        values = rng.normal([0.0, shift], size=(20, 2))
        pd.DataFrame(values, columns=["a", "b"]).to_csv(tmp_path / f"{name}.csv", index=False)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as exit_:
        main(arguments)
    return (int(exit_.value.code or 0), *capsys.readouterr())


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


class TestCompare:
    def test_all_files_at_once(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        files = ("--html", "r.html", "--csv", "r.csv", "--json", "r.json")
        code, out, err = run(capsys, *PAIR, *files)
        assert (code, err) == (0, "")
        assert "note: report written to r.html" in out
        page, content, table = (folder / "r.html").read_text(), json.loads((folder / "r.json").read_text()), rows(
            folder / "r.csv"
        )  # fmt: skip
        assert "<h1>first.csv and second.csv compared</h1>" in page
        assert f"p = {content['pvalue']:.3g}, at most 0.05." in page
        assert content["verdict"] in page
        assert [float(row["pvalue"]) for row in table[1:]] == [column["pvalue"] for column in content["columns"]]
        assert (table[0]["tested"], float(table[0]["pvalue"])) == ("all columns", content["pvalue"])
        assert "report written" not in page + "".join(content["notes"])
        left = {path.name for path in folder.iterdir()}
        assert left == {"first.csv", "same.csv", "second.csv", "r.html", "r.csv", "r.json"}

    def test_what_single_columns_say_has_a_column_of_the_file(
        self, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        code, _, err = run(capsys, *PAIR, "--equivalence", "0.5", "--csv", "r.csv")
        assert (code, err) == (0, "")
        first, *others = rows(folder / "r.csv")
        assert (first["tested"], first["margin"], first["equivalent"]) == ("all columns", "", "")
        assert all(float(row["margin"]) > 0.0 for row in others)
        assert {row["equivalent"] for row in others} <= {"True", "False"}

    def test_the_same_seed_makes_the_same_page(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        first, second = (run(capsys, *PAIR, "--html", "-")[1] for _ in range(2))
        assert first == second


class TestDrift:
    def test_exit_code_1_says_that_the_tables_differ(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        code, out, err = run(capsys, *PAIR, "--fail-on-drift", "0.05", "-q", "--csv", "r.csv")
        assert code == 1
        assert out.startswith("first.csv and second.csv differ")
        assert err.startswith("kernelmean: drift: p = 0.0")
        assert rows(folder / "r.csv"), "files are written before the command fails"

    def test_no_drift_is_exit_code_0(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        code, out, err = run(capsys, "compare", "first.csv", "same.csv", *QUICK, "--fail-on-drift", "0.01", "-q")
        assert (code, err) == (0, "")
        assert "above 0.01" in out

    def test_few_rows_are_told_to_show_large_differences_only(
        self, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        rng = np.random.default_rng(1)
        for name, rows in (("many", 400), ("three", 3), ("forty", 40)):
            pd.DataFrame(rng.normal(size=(rows, 2)), columns=["u", "v"]).to_csv(f"{name}.csv", index=False)
        for name, told in (("three", "kernelmean: 3 rows can show only very large differences"), ("forty", "")):
            code, _, err = run(capsys, "compare", "many.csv", f"{name}.csv", "--fail-on-drift", "0.01", "-q")
            assert (code, err.partition(";")[0].strip()) == (0, told)
        assert run(capsys, "compare", "many.csv", "three.csv", *QUICK, "-q")[2] == ""

    def test_a_tie_is_drift(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        pvalue = json.loads(run(capsys, "compare", "first.csv", "same.csv", *QUICK, "--json", "-")[1])["pvalue"]
        command = ("compare", "first.csv", "same.csv", *QUICK, "-q", "--fail-on-drift")
        assert run(capsys, *command, repr(pvalue))[0] == 1
        assert run(capsys, *command, repr(pvalue * 0.999))[0] == 0

    def test_the_level_is_that_of_the_report(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        code, out, _ = run(capsys, "compare", "first.csv", "same.csv", *QUICK, "--fail-on-drift", "0.02", "--json", "-")
        assert (code, json.loads(out)["level"]) == (0, 0.02)
        assert "above 0.02" in json.loads(out)["verdict"]

    @pytest.mark.parametrize(
        ("options", "text"),
        [
            (("--fail-on-drift", "0.005", "--resamples", "99"), "p-value is 0.01; write --resamples 199 or more"),
            (("--fail-on-drift", "0"), "between 0 and 1"),
            (("--fail-on-drift", "nan"), "between 0 and 1"),
            (("--fail-on-drift", "5"), "between 0 and 1"),
            (("--fail-on-drift", "often"), "--fail-on-drift"),
        ],
    )  # fmt: skip
    def test_a_check_that_cannot_fail_is_bad_input(
        self, options: tuple[str, ...], text: str, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        code, out, err = run(capsys, "compare", "first.csv", "second.csv", *options)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert text in err

    def test_so_is_one_on_too_few_rows(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (folder / "tiny.csv").write_text("a,b\n1,2\n3,4\n2,2\n")
        (folder / "other.csv").write_text("a,b\n11,2\n13,4\n12,2\n")
        code, out, err = run(capsys, "compare", "tiny.csv", "other.csv", *QUICK, "--fail-on-drift", "0.05")
        assert (code, out) == (2, "")
        assert "cannot fail on 3 rows and 3 rows: the smallest p-value that they can have is 0.1" in err
        assert run(capsys, "compare", "tiny.csv", "other.csv", *QUICK, "--fail-on-drift", "0.1")[0] == 1

    def test_99_resamples_serve_one_in_a_hundred(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(capsys, *PAIR, "--fail-on-drift", "0.01")[0] == 1


class TestFiles:
    @pytest.mark.parametrize(
        ("options", "text"),
        [
            (("--html", "second.csv"), "'second.csv' is named twice"),
            (("--csv", "./first.csv"), "'./first.csv' is named twice"),
            (("--html", "r", "--json", "r"), "'r' is named twice"),
            (("--html", "-", "--csv", "-"), "two outputs are to go to the screen"),
            (("--html", "no/such/r.html"), "there is no folder"),
            (("--csv", "."), "is a folder or empty"),
            (("--html", ""), "is a folder or empty"),
        ],
    )
    def test_bad_places_are_one_line_before_the_work(
        self,
        options: tuple[str, ...],
        text: str,
        folder: Path,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr("kernelmean.studies.comparison.compare", None)
        before = {path: path.read_bytes() for path in folder.iterdir()}
        code, out, err = run(capsys, *PAIR, *options)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert text in err
        assert {path: path.read_bytes() for path in folder.iterdir()} == before

    def test_without_matplotlib_the_report_has_numbers_and_says_so(
        self, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("kernelmean.report.pictures.missing", lambda: "write: pip install it")
        code, out, _ = run(capsys, *PAIR, "--html", "r.html")
        assert code == 0
        assert "note: without figures: write: pip install it" in out
        assert '<svg class="panel' not in (folder / "r.html").read_text()


EVIL = ("=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "＝1+1")


class TestSpreadsheets:
    """No cell of a CSV file is a formula, and numbers stay numbers."""

    @pytest.mark.parametrize("name", EVIL)
    def test_names_of_columns(
        self,
        name: str,
        folder: Path,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
        unsearched_peers: None,
    ) -> None:
        monkeypatch.setattr("kernelmean.studies.density._COMPONENTS", (1,))
        rng = np.random.default_rng(0)
        for shift, file in enumerate(("one.parquet", "two.parquet")):
            pd.DataFrame(rng.normal(-shift, size=(30, 2)), columns=[name, "b"]).to_parquet(file)
        numbers = 0
        for words in (
            ("compare", "one.parquet", "two.parquet", *QUICK, "--csv", "out.csv"),
            ("dependence", "one.parquet", *QUICK, "--csv", "out.csv"),
            ("dependence", "one.parquet", "--x", "b", *QUICK, "--csv", "out.csv"),
            ("density", "one.parquet", "--estimator", "kme", "--sample", "9", "--sample-to", "out.csv"),
        ):
            code, _, err = run(capsys, *words)
            assert code == 0, err
            with open("out.csv", newline="", encoding="utf-8") as file:
                cells = [cell for row in csv.reader(file) for cell in row]
            assert f"'{name}" in cells
            for cell in cells:
                if cell[:1] in ("=", "+", "-", "@", "\t", "\r", "＝"):
                    float(cell)
                    numbers += 1
        assert numbers

    def test_names_of_batches(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (folder / "=new.csv").write_bytes((folder / "second.csv").read_bytes())
        assert run(capsys, "monitor", "first.csv", "=new.csv", "--csv", "out.csv")[0] == 0
        assert "'=new.csv" in (folder / "out.csv").read_text()

    @pytest.mark.parametrize("text", [*EVIL, "\t=1+1", "\r=1+1", "\n=1+1"])
    def test_any_text(self, text: str) -> None:
        (_, row) = csv.reader(io.StringIO(as_csv([{"name": text, "p": -0.5}]), newline=""))
        assert row == ["'" + text.replace("\r", "\n"), "-0.5"]

    @pytest.mark.parametrize("text", ["a\r=1+1", "a\r\n=1+1"])
    def test_a_break_within_a_cell_begins_no_other(self, text: str) -> None:
        assert as_csv([{"name": text}]) == 'name\n"a\n=1+1"\n'
