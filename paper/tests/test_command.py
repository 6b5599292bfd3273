"""kernelmean reproduce: what it prints, writes and returns, on experiments that take no time."""

from __future__ import annotations

import os
import re
import signal
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from kernelmean.cli import main
from kernelmean.cli.commands import progress
from kernelmean_paper import Size, command
from kernelmean_paper.data_sets import DATA_SETS
from kernelmean_paper.experiment_names import ALL, EXPERIMENTS, chosen, load


def test_the_documentation_names_every_experiment() -> None:
    page = (Path(__file__).parents[2] / "docs/reproduce.md").read_text()
    (sentence,) = re.findall(r"^The names are ([^.]*)\.", page, re.MULTILINE)
    assert re.findall("`([^`]+)`", sentence) == [*EXPERIMENTS, ALL]


@pytest.fixture
def experiments(synthetic: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Put small experiments in the place of the paper's, work in an empty folder, keep away from the network."""
    monkeypatch.setattr(command, "chosen", lambda names: [name for name in synthetic.KNOWN if name in names])
    monkeypatch.setattr(command, "load", lambda name: synthetic.KNOWN[name]())
    monkeypatch.setenv("KERNELMEAN_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return synthetic


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run the command with one job, and return its exit code and what it printed."""
    with pytest.raises(SystemExit) as exit_:
        main(["reproduce", "--jobs", "1", "--offline", *arguments])
    return (int(exit_.value.code or 0), *capsys.readouterr())


class TestWork:
    def test_a_run(self, experiments, capsys: pytest.CaptureFixture[str]) -> None:
        code, out, err = call(capsys, "fast")
        assert (code, err) == (0, "")
        assert out.splitlines() == [
            f"fast: 1 holds; 60 trials run; see {Path('reproduction/report.html')}",
            "  holds: It adds up",
        ]
        assert sorted(os.listdir("reproduction")) == ["findings", "report.html", "results.json", "trials"]

    def test_again(self, experiments, capsys: pytest.CaptureFixture[str]) -> None:
        call(capsys, "fast", "--out", "a")
        code, out, _ = call(capsys, "fast", "--out", "a", "--quiet")
        assert (code, out) == (0, f"fast: 1 holds; 0 trials run; see {Path('a/report.html')}\n")
        assert "120 trials run" in call(capsys, "fast", "--out", "a", "--full")[1]

    def test_a_report_of_others_is_not_written_over(self, experiments, capsys: pytest.CaptureFixture[str]) -> None:
        Path("report.html").write_text("mine")
        code, out, err = call(capsys, "fast", "--out", ".")
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert "--out . holds report.html already" in err
        assert (Path("report.html").read_text(), os.listdir(".")) == ("mine", ["report.html"])

    def test_status(self, experiments, capsys: pytest.CaptureFixture[str]) -> None:
        call(capsys, "fast")
        code, out, _ = call(capsys, "fast", "data", "--status")
        assert code == 0
        assert out.splitlines() == [
            "Trials stored in reproduction:",
            "  fast       quick 60 of 60, full 60 of 180",
            "  data       quick 0 of 6, full 0 of 6",
        ]

    def test_lines_where_nobody_watches(self, experiments, capsys, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(command, "progress", partial(progress, lines_every=0.0))
        for name in ("LONG", "_SURE_AFTER"):
            monkeypatch.setattr(f"kernelmean.core.pace.{name}", 0.0)
        lines = call(capsys, "fast")[2].splitlines()
        assert len(lines) == 60  # no second estimate beside that of every line
        assert lines[-1].startswith("60 of 60: fast, about 1 s left")


class TestTrouble:
    def test_data_that_are_nowhere_are_named(self, experiments, capsys: pytest.CaptureFixture[str]) -> None:
        code, out, err = call(capsys, "data")
        assert (code, "3 trials run" in out) == (0, True)
        assert err.startswith("kernelmean: note: 3 trials left out for lack of data: glass is not in ")
        assert "put glass.csv into a folder and name that with --data" in err
        assert len(err.splitlines()) == 1

    def test_failed_trials(self, experiments, capsys: pytest.CaptureFixture[str]) -> None:
        code, out, err = call(capsys, "careless")
        assert (code, "3 trials run" in out) == (70, True)
        assert err.startswith("kernelmean: note: 3 trials ended with an error and run again next time; the first, care")

    def test_where_a_trial_failed(self, experiments, capsys, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("KERNELMEAN_DEBUG", "1")
        assert "in trial\n" in call(capsys, "careless")[2]

    def test_warnings_are_counted(self, experiments, capsys, monkeypatch: pytest.MonkeyPatch) -> None:
        def warn(self: Any, setting: Any, rng: Any, context: Any) -> list[Any]:
            for _ in range(setting.values["n"]):
                warnings.warn("not\nconverged", stacklevel=1)
            return []

        monkeypatch.setattr(experiments.Fast, "trial", warn)
        assert call(capsys, "fast")[2] == "kernelmean: note: fast: 60 trials of this run warned: not converged\n"

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_a_signal(self, experiments, capsys, number: signal.Signals, monkeypatch: pytest.MonkeyPatch) -> None:
        trial, calls = experiments.Fast.trial, []

        def ended(self: Any, *arguments: Any) -> Any:
            calls.append(1)
            if len(calls) == 8:
                os.kill(os.getpid(), number)
            return trial(self, *arguments)

        handlers = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
        with monkeypatch.context() as patch:
            patch.setattr(experiments.Fast, "trial", ended)
            code, out, err = call(capsys, "fast")
        assert (code, out) == (128 + number, "")
        assert err == (
            "kernelmean: stopped; 7 of 60 trials are stored in reproduction, run the same command to go on from there\n"
        )
        assert [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)] == handlers
        assert "53 trials run" in call(capsys, "fast")[1]

    @pytest.mark.parametrize(
        ("arguments", "text"),
        [
            (("--seed", "1"), "holds trials of seed 0, this run is of seed 1"),
            (("--data", "none"), "there is no folder 'none'"),
            (("--backend", "dask"), "the backend dask and the address of its scheduler belong together"),
            (("--backend", "mpi"), "backend is 'mpi'; write one of loky, dask"),
            (("--jobs", "0"), "jobs is 0"),
            (("--seed", "-1"), "Invalid value for '--seed'"),
            (("--out", "file"), "Not a directory"),
        ],
        ids=str,
    )
    def test_errors_are_one_line(
        self, experiments, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], text: str
    ) -> None:
        call(capsys, "fast")
        Path("file").touch()
        code, out, err = call(capsys, "fast", *arguments)
        assert (code, out) == (2, "")
        assert text in err
        assert len(err.splitlines()) == 1

    def test_damaged_data_stop_the_run(self, experiments, capsys: pytest.CaptureFixture[str]) -> None:
        Path("eckerle4.csv").write_text("y,x\n1,2\n")
        code, _, err = call(capsys, "data", "--data", ".")
        assert code == 2
        assert "eckerle4.csv is damaged: its SHA-256 is" in err


class TestNames:
    def test_unknown(self, capsys: pytest.CaptureFixture[str]) -> None:
        code, _, err = call(capsys, "figure9")
        assert code == 2
        assert err.startswith("kernelmean: there is no experiment 'figure9' (did you mean 'figure")

    def test_none(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert call(capsys)[0] == 2

    def test_all(self) -> None:
        assert chosen(["table1", "all"]) == list(EXPERIMENTS)

    @pytest.mark.parametrize("name", EXPERIMENTS)
    def test_every_name_is_an_experiment(self, name: str) -> None:
        experiment = load(name)
        assert experiment.name == name
        quick, full = ({each.key: each for each in experiment.settings(size)} for size in (Size.QUICK, Size.FULL))
        assert all(key in full and quick[key].trials <= full[key].trials for key in quick)  # to be continued
        assert {need for each in full.values() for need in experiment.needs(each)} <= set(DATA_SETS)

    def test_help_teaches(self, capsys: pytest.CaptureFixture[str]) -> None:
        code, out, _ = call(capsys, "--help")
        assert code == 0
        words = "figure1", "all", "--full", "--offline", "For example", "kernelmean reproduce figure2", "continued by"
        for word in words:
            assert word in " ".join(out.split()), word
