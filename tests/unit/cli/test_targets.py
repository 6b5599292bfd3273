"""Where outputs go: a collision or a file of others stops a command before its work, and nothing is written."""

from __future__ import annotations

import os
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
    "stream": ("compare", "a.csv", "b.csv", "--stream", "--resamples", "19"),
    "dependence": ("dependence", "a.csv", *QUICK),
    "describe": ("describe", "a.csv"),
    "density": ("density", "a.csv", "--estimator", "kme", "--components", "1"),
    "estimate": ("estimate", "a.csv"),
    "monitor": ("monitor", "a.csv", "b.csv"),
}
WORK = {
    "compare": "kernelmean.studies.comparison.compare",
    "stream": "kernelmean.studies.comparison.comparing.compare_in_batches",
    "dependence": "kernelmean.studies.dependence.dependence",
    "describe": "kernelmean.cli.inputs.described",
    "density": "kernelmean.studies.density.fit_densities",
    "estimate": "kernelmean.studies.estimate.fit_all",
    "monitor": "kernelmean.cli.watching.DriftMonitor",
}
OPTIONS = {
    "compare": ("html", "markdown", "csv", "json"),
    "stream": ("html", "markdown", "csv", "json"),
    "dependence": ("html", "markdown", "csv", "json"),
    "describe": ("csv", "json"),
    "density": ("html", "markdown", "csv", "json", "save", "sample-to"),
    "estimate": ("html", "markdown", "csv", "json", "save"),
    "monitor": ("html", "markdown", "csv", "json", "checkpoint"),
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
    assert "is named twice" in refused(command, f"--{one}", "out.md", f"--{other}", "out.md")


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


class TestFigures:
    """--markdown writes figures, which are its own and nobody else's."""

    @pytest.mark.parametrize(
        ("command", "figure"),
        [("compare", "columns"), ("compare", "null-distribution"), ("dependence", "map"), ("density", "marginals")],
    )
    def test_a_picture_of_the_same_command_is_not_written_over(
        self, command: str, figure: str, refused: Refused
    ) -> None:
        assert f"has a figure w-{figure}.svg" in refused(command, "--markdown", "w.md", "--plot", f"w-{figure}.svg")
        assert f"has a figure w-{figure}.svg" in refused(command, "--markdown", "w.md", "--json", f"W-{figure}.svg")

    @pytest.mark.parametrize("link", [False, True], ids=["file", "link"])
    def test_a_file_of_others_is_not_written_over(self, link: bool, folder: Path, refused: Refused) -> None:
        (folder / "mine.svg").write_text("<svg>mine</svg>")
        if link:
            (folder / "w-columns.svg").symlink_to("mine.svg")
        else:
            (folder / "mine.svg").rename("w-columns.svg")
        assert "over w-columns.svg, which is not one of its figures" in refused("compare", "--markdown", "w.md")

    def test_a_link_to_nothing_is_not_written_through(self, folder: Path, refused: Refused) -> None:
        (folder / "w-columns.svg").symlink_to("elsewhere.svg")
        assert "not one of its figures" in refused("compare", "--markdown", "w.md")

    def test_a_plot_of_an_earlier_command_is_not_written_over(
        self, folder: Path, refused: Refused, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        run(capfd, *COMPARE, "--plot", "w-columns.svg")
        refused("compare", "--markdown", "w.md")

    def test_a_device_has_nothing_beside_it(self, refused: Refused) -> None:
        assert "write the name of a file" in refused("compare", "--markdown", os.devnull)

    @pytest.mark.parametrize("command", ["compare", "stream", "dependence", "density"])
    def test_all_files_are_told_and_the_same_command_replaces_them(
        self, command: str, folder: Path, capfd: pytest.CaptureFixture[str], unsearched_peers: None
    ) -> None:
        for _ in range(2):
            words = (*COMMANDS[command], "--markdown", "w.md")
            out = run(capfd, *words)
            written = {path.name for path in folder.iterdir()} - {"a.csv", "b.csv"}
            figures = written - {"w.md"}
            assert "w.md" in written
            assert figures
            assert f"its figures: {', '.join(sorted(figures))}" in out
            for name in figures:
                content = (folder / name).read_bytes()
                assert content.endswith(b"\n<!-- a figure of a report by kernelmean -->\n")
                assert f"({name})" in (folder / "w.md").read_text()

    def test_figures_of_an_earlier_report_that_had_more_are_no_obstacle(
        self, folder: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        pd.DataFrame({"x": ["u", "v"] * 20}).to_csv("c.csv", index=False)
        both = ("--markdown", "w.md", *QUICK)
        run(capfd, "compare", "a.csv", "b.csv", *both)
        run(capfd, "compare", "c.csv", "c.csv", *both)
        assert "w-witnesses" not in (folder / "w.md").read_text()
        run(capfd, "compare", "a.csv", "b.csv", *both)
