"""Tables, JSON and the report: everything of the trials, and the same bytes for the same trials."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from kernelmean_paper import Finding, Findings, Setting, Size
from kernelmean_paper.outputs import tidy, write_findings, write_results
from kernelmean_paper.runner import run
from kernelmean_paper.trial_code import trial_digest
from kernelmean_paper.versions import code_digest, commit, versions

SETTINGS = (Setting({"n": 10, "bandwidth": "a, b"}, 2), Setting({"n": 20, "trial": 0.5}, 3))
FINDINGS = Findings(
    SETTINGS,
    {
        SETTINGS[0].key: ((Finding("kme", "loss", 0.1), Finding("mkme", "loss", float("inf"))), ()),
        SETTINGS[1].key: ((), (), (Finding("kme", "loss", 1e-17),)),
    },
)
HEADER = "experiment,n,bandwidth,setting trial,trial,method,measure,value"
ROWS = [
    'e,10,"a, b",,0,kme,loss,0.1',
    'e,10,"a, b",,0,mkme,loss,inf',
    "e,20,,0.5,2,kme,loss,1e-17",
]


class TestFindings:
    def test_one_row_for_each(self, tmp_path: Path) -> None:
        content = write_findings("e", FINDINGS, tmp_path)
        assert content.decode().splitlines() == [HEADER, *ROWS]
        assert (tmp_path / "e.csv").read_bytes() == content

    def test_parquet_says_the_same(self, tmp_path: Path) -> None:
        write_findings("e", FINDINGS, tmp_path)
        table = pq.read_table(tmp_path / "e.parquet")
        assert table.to_pydict() == tidy("e", FINDINGS)

    def test_without_pyarrow(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("kernelmean_paper.outputs.find_spec", lambda _: None)
        write_findings("e", FINDINGS, tmp_path)
        assert [path.name for path in tmp_path.iterdir()] == ["e.csv"]

    def test_columns_of_mixed_kinds(self, tmp_path: Path) -> None:
        settings = (Setting({"a": 1, "b": 2}, 1), Setting({"a": "x", "b": 0.5}, 1))
        findings = Findings(settings, {each.key: ((Finding("m", "v", 1.0),),) for each in settings})
        write_findings("e", findings, tmp_path)
        assert pq.read_table(tmp_path / "e.parquet", columns=["a", "b"]).to_pydict() == {"a": ["1", "x"], "b": [2, 0.5]}

    def test_nothing_measured(self, tmp_path: Path) -> None:
        assert write_findings("e", Findings(SETTINGS, {}), tmp_path).decode() == HEADER + "\n"


class TestResults:
    def make(self, synthetic, folder: Path, **run_facts: object) -> dict[str, object]:
        experiments = [synthetic.Fast()]
        outcome = run(experiments, Size.QUICK, folder, load=pytest.fail)
        verdicts = write_results(experiments, outcome, folder, size=Size.QUICK, seed=0, run=run_facts)
        assert [verdict.outcome for verdict in verdicts] == ["holds"]
        return json.loads((folder / "results.json").read_text(encoding="utf-8"))

    def test_what_is_written(self, synthetic, tmp_path: Path) -> None:
        result = self.make(synthetic, tmp_path, seconds=1.5)
        assert {path.name for path in tmp_path.iterdir()} == {*("trials", "findings", "results.json", "report.html")}
        entry = result["experiments"]["fast"]
        assert entry["settings"][0] == {"values": {"n": 1, "rule": "a, b"}, "trials": 20, "measured": 20}
        assert entry["verdicts"][0]["claim"] == "It adds up"
        assert (result["size"], result["seed"], result["run"]) == ("quick", 0, {"seconds": 1.5})
        assert result["versions"] == versions()
        assert entry["trials made by"][0]["code"] == trial_digest(synthetic.Fast)
        assert result["code"] == code_digest()
        rows = list(csv.DictReader((tmp_path / entry["findings"]).read_text().splitlines()))
        assert len(rows) == 60 * 7
        text = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert "Claims by their outcomes. Fast: 1 holds." in text
        assert entry["verdicts"][0]["evidence"] in text

    def test_the_same_trials_give_the_same_bytes(self, synthetic, tmp_path: Path) -> None:
        results = [self.make(synthetic, tmp_path / name, jobs=number) for number, name in enumerate("ab")]
        assert [result.pop("run") for result in results] == [{"jobs": 0}, {"jobs": 1}]
        assert results[0] == results[1]
        for path in ("findings/fast.csv", "findings/fast.parquet", "report.html"):
            assert (tmp_path / "a" / path).read_bytes() == (tmp_path / "b" / path).read_bytes()

    def test_trials_of_one_present_state_are_not_called_mixed(self, synthetic, tmp_path: Path) -> None:
        self.make(synthetic, tmp_path)
        text = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert f"fast {trial_digest(synthetic.Fast)}" in text
        assert "mixed" not in text
        assert "present state" not in text

    def test_mixed_states_are_said(self, synthetic, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for code, size in (("a" * 12, Size.QUICK), ("b" * 12, Size.FULL)):
            monkeypatch.setattr("kernelmean_paper.runner.trial_digest", lambda _, code=code: code)
            outcome = run([synthetic.Fast()], size, tmp_path, load=pytest.fail)
        write_results([synthetic.Fast()], outcome, tmp_path, size=Size.FULL, seed=0)
        present = trial_digest(synthetic.Fast)
        text = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert f"trials of fast are mixed, made in several states: code {'a' * 12} and {'b' * 12}." in text
        assert f"trials of fast were not made in the present state, which has code {present}." in text

    def test_what_is_missing_is_said(self, synthetic, tmp_path: Path) -> None:
        def nowhere(name: str) -> None:
            raise FileNotFoundError(f"no {name}")

        outcome = run([synthetic.Data()], Size.QUICK, tmp_path, load=nowhere)
        write_results([synthetic.Data()], outcome, tmp_path, size=Size.QUICK, seed=0)
        assert "Not measured for lack of data: 6 trials on eckerle4, glass." in (tmp_path / "report.html").read_text()

    def test_failures_are_said(self, synthetic, tmp_path: Path) -> None:
        outcome = run([synthetic.Careless()], Size.QUICK, tmp_path, load=lambda _: None)
        write_results([synthetic.Careless()], outcome, tmp_path, size=Size.QUICK, seed=0)
        assert "6 trials ended with an error and are left out (careless)." in (tmp_path / "report.html").read_text()


def test_the_commit_is_that_of_the_work_tree(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = commit()
    assert found is None or len(found.removesuffix(" + changes")) == 40
    monkeypatch.setattr("kernelmean_paper.versions._FOLDER", tmp_path)
    assert commit() is None
