"""The commands on good input: what they print, write and save."""

from __future__ import annotations

import io
import json
import os
import platform
import runpy
import subprocess
import sys
import warnings
from importlib import metadata
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from kernelmean import compare
from kernelmean.cli import main, versions
from kernelmean.cli.stderr import PLAIN
from kernelmean.tables import read_frame, split_groups

RNG = np.random.default_rng(0)
QUICK = ("--resamples", "99", "--estimator", "kme")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run a command that must work without a word on stderr, and return what it printed."""
    with pytest.raises(SystemExit) as exit_:
        main(arguments)
    out, err = capsys.readouterr()
    assert (exit_.value.code, err) == (0, "")
    assert all(line == line.rstrip() for line in out.splitlines())
    return out


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    for name, shift in (("first", 0.0), ("second", 3.0)):
        values = rng.normal([0.0, shift], size=(20, 2))
        pd.DataFrame(values, columns=["a", "b"]).to_csv(tmp_path / f"{name}.csv", index=False)
    return tmp_path


_DETAILS = (
    "harmonic combination of",
    "combined into one p-value",
    "strongest kernels",
    "Linear() on",
    "scheme ",
    "every column divided by its standard deviation over both tables (--no-scale",
)
"""What only --verbose prints."""


class TestCompare:
    def test_the_verdict_comes_first(self, capsys: pytest.CaptureFixture[str]) -> None:
        out = run(capsys, "compare", "wine", "--by", "target", "--groups", "0,1")
        assert out.startswith("target=0 and target=1 differ: p = 0.00")
        for fact in ("59 of target=0, 71 of target=1; 13 columns", "1,039 permutations;", "proline", "adjusted p"):
            assert fact in out

    def test_files(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        out = run(capsys, "compare", "first.csv", "second.csv", *QUICK)
        assert out.startswith("first.csv and second.csv differ")
        differing = out[out.index("Columns that differ most") :].splitlines()
        assert next(line for line in differing if line.startswith(("  a ", "  b "))).split()[0] == "b"

    def test_json_has_the_numbers_of_the_library(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        run(capsys, "compare", "wine", "--by", "target", "--groups", "2,0", "--json", "out.json", "--seed", "4", *QUICK)
        content = json.loads((folder / "out.json").read_text())
        first, second = split_groups(read_frame("wine"), "target", ["2", "0"])
        ours = compare(first.to_table(), second.to_table(), estimator="kme", n_resamples=99, rng=4)
        assert content["statistic"] == pytest.approx(ours.test.statistic, rel=1e-12)
        assert content["pvalue"] == ours.test.pvalue
        assert (content["seed"], content["version"]) == (4, km.__version__)
        assert len(content["columns"]) == 13

    def test_the_adaptive_test(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        how = ("compare", "first.csv", "second.csv", "--estimator", "adaptive", "--json", "out.json")
        out = run(capsys, *how)
        assert "in the means, the simplest kind that explains the evidence" in out
        assert "Linear() on" not in out
        detailed = " ".join(run(capsys, *how, "-v").split())
        for detail in _DETAILS:
            assert detail not in " ".join(out.split())
            assert detail in detailed
        content = json.loads((folder / "out.json").read_text())
        assert content["kind"]["name"] == "means"
        assert content["bandwidth"] is None
        assert {"label", "weight", "pvalue"} <= set(content["kernels"][0])

    @pytest.mark.parametrize(
        "command",
        [
            ("compare", "first.csv", "second.csv", *QUICK),
            ("dependence", "first.csv", *QUICK),
            ("estimate", "first.csv", "--save", "mean.npz"),
            ("info", "mean.npz"),
            ("density", "eckerle4", "--estimator", "mkme", "--components", "2", "--covariance", "diag"),
        ],
        ids=lambda command: command[0],
    )
    def test_every_command_can_be_quiet(
        self,
        folder: Path,
        capsys: pytest.CaptureFixture[str],
        command: tuple[str, ...],
        unsearched_peers: None,
        no_refits: None,
    ) -> None:
        km.save(km.embed([[0.0, 1.0], [2.0, 0.0]], km.kernels.Gaussian(1.0)), "mean.npz")
        assert run(capsys, *command, "--quiet").count("\n") == 1

    def test_columns_in_another_order_are_matched_and_told(
        self, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        pd.read_csv("second.csv")[["b", "a"]].to_csv("mirror.csv", index=False)
        straight = run(capsys, "compare", "first.csv", "second.csv", *QUICK)
        moved = run(capsys, "compare", "first.csv", "mirror.csv", *QUICK)
        assert "matched by name" in moved
        assert [line for line in moved.replace("mirror", "second").splitlines() if "matched" not in line] == (
            straight.splitlines()
        )

    def test_blank_cells_are_dropped_when_asked_for_and_told(
        self, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (folder / "blank.csv").write_text((folder / "second.csv").read_text() + ",1\n2,\n")
        out = run(capsys, "compare", "first.csv", "blank.csv", "--missing", "drop", *QUICK)
        assert "20 of first.csv, 20 of blank.csv" in out
        assert "blank.csv: 2 rows with blank cells left out" in out

    def test_a_subsample_is_seeded_and_told(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        command = ("compare", "first.csv", "second.csv", "--max-rows", "8", *QUICK)
        first, again, other = run(capsys, *command), run(capsys, *command), run(capsys, *command, "--seed", "1")
        assert "first.csv: a random subsample of 8 of 20 rows (seed 0)" in first
        assert first == again
        assert first.replace("seed 0", "seed 1") != other
        assert "subsample" not in run(capsys, "compare", "first.csv", "second.csv", "--max-rows", "20", *QUICK)

    def test_text_columns_can_be_left_out_or_split_by(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        both = pd.concat([pd.read_csv("first.csv").assign(g="u"), pd.read_csv("second.csv").assign(g="v")])
        both.assign(id=[f"id{i}" for i in range(40)]).to_parquet("both.parquet", index=False)
        out = run(capsys, "compare", "both.parquet", "--by", "g", "--drop", "id", *QUICK)
        assert out.startswith("g=u and g=v differ")
        assert run(capsys, "compare", "both.parquet", "--by", "g", "--columns", "a,b", *QUICK) == out
        assert run(capsys, "compare", "both.parquet", "--by", "g", "--columns", "a", "--columns", "b", *QUICK) == out

    def test_other_columns_than_the_common_ones_are_chosen_away(
        self, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        pd.read_csv("second.csv").assign(c=1.0).to_csv("more.csv", index=False)
        assert "2 columns" in run(capsys, "compare", "first.csv", "more.csv", "--columns", "a,b", *QUICK)

    def test_a_number_for_the_bandwidth_and_columns_as_they_are(
        self, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        out = run(capsys, "compare", "first.csv", "second.csv", "--bandwidth", "1.5", "--no-scale", "-v", *QUICK)
        assert "1.5, in the units of the data" in out


class TestDependence:
    def test_all_pairs(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        out = run(capsys, "dependence", "iris", "--drop", "target", "--json", "out.json", *QUICK)
        assert " ".join(out.split()).startswith(
            "6 of 6 pairs of columns depend on each other (adjusted p at most 0.05), most of all petal"
        )
        content = json.loads((folder / "out.json").read_text())
        assert len(content["pairs"]) == 6
        assert content["seed"] == 0

    def test_two_groups(self, capsys: pytest.CaptureFixture[str]) -> None:
        out = run(capsys, "dependence", "wine", "--x", "alcohol,ash", "--y", "proline", *QUICK)
        words = "proline depends on 2 of 2 columns (adjusted p at most 0.05): alcohol, ash. All together: p = 0.0"
        assert " ".join(out.split()).startswith(words)
        assert "permutations; no smaller" in " ".join(out.split())
        assert "HSIC, estimator kme" not in out
        assert "HSIC, estimator kme" in run(capsys, "dependence", "wine", "--x", "ash", "--y", "hue", "-v", *QUICK)


class TestDensity:
    def test_densities_are_compared_saved_and_sampled(
        self, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("kernelmean.studies.density._COMPONENTS", (1, 2))
        options = ("--components", "1", "--estimator", "mkme", "--save", "mix.npz", "--json", "out.json")
        out = run(capsys, "density", "first.csv", *options, "--sample", "7", "--sample-to", "new.csv")
        assert "6 rows held out" in out.splitlines()[0]
        assert "14 to fit, 6 held out; 2 columns" in out
        drawn = pd.read_csv("new.csv")
        assert (list(drawn), len(drawn)) == (["a", "b"], 7)
        content = json.loads((folder / "out.json").read_text())
        mu = km.load("mix.npz")
        np.testing.assert_allclose(mu.points, content["mixture"]["means"])
        assert np.isfinite(mu.logpdf(drawn.to_numpy())).all()


class TestEstimate:
    def test_all_estimators_side_by_side(self, capsys: pytest.CaptureFixture[str]) -> None:
        out = run(capsys, "estimate", "eckerle4")
        assert out.startswith("vpmkme has the smallest leave-one-out error, but none below that of kme once the")
        for name in ("kme", "s-kmse", "f-kmse", "mkme", "mmkme", "vpmkme"):
            assert any(line.split()[:1] == [name] for line in out.splitlines())

    def test_saving_and_showing(self, folder: Path, capsys: pytest.CaptureFixture[str], no_refits: None) -> None:
        out = run(capsys, "estimate", "first.csv", "--save", "mean.npz", "--estimator", "mmkme")
        assert "mmkme saved to mean.npz" in out
        mu = km.load("mean.npz")
        np.testing.assert_allclose(mu.points, np.loadtxt("first.csv", delimiter=",", skiprows=1), rtol=1e-15)
        out = run(capsys, "info", "mean.npz")
        assert out.startswith("An embedding of 20 points with 2 columns.\n")
        assert "a, b" in out
        assert f"{mu.norm():.6g}" in out

    def test_infinite_parameters_are_words_in_json(
        self, folder: Path, capsys: pytest.CaptureFixture[str], no_refits: None
    ) -> None:
        content = json.loads(run(capsys, "estimate", "first.csv", "--bandwidth", "1e-5", "--json", "-"))
        assert content["estimators"]["s-kmse"]["strength"] == "inf"

    @pytest.mark.parametrize("rule", ["silverman", "scott"])
    def test_rules_of_density_estimation(self, rule: str, capsys: pytest.CaptureFixture[str]) -> None:
        assert "vpmkme" in run(capsys, "estimate", "wine", "--drop", "target", "--bandwidth", rule)
        out = run(capsys, "estimate", "wine", "--drop", "target", "--bandwidth", rule, "--no-scale")
        assert "note: vpmkme is left out: it needs one bandwidth for all columns" in out


class TestGroups:
    def test_rows_without_a_group_are_told(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (folder / "grouped.csv").write_text("g,a\n1,2\n0,1\n,9\n1,5\n0,3\n1,4\n")
        out = run(capsys, "compare", "grouped.csv", "--by", "g", *QUICK)
        assert out.count("note: grouped.csv: 1 row without 'g' left out") == 1

    def test_minus_zero_is_zero(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (folder / "grouped.csv").write_text("g,a\n-0.0,2\n0,1\n0.0,9\n1,5\n1,3\n1,4\n")
        assert "3 of g=0, 3 of g=1" in run(capsys, "compare", "grouped.csv", "--by", "g", *QUICK)


@pytest.mark.slow
def test_screens_that_have_no_greek_letters(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-c", "from kernelmean.cli import main; main()", "estimate", "eckerle4"]
    command += ["--max-rows", "6"]
    done = subprocess.run(command, env=environment, capture_output=True, check=False, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "? = " in done.stdout


def test_signs_of_numbers_stay_where_the_encoding_has_none_for_them() -> None:
    written = io.BytesIO()
    stream = io.TextIOWrapper(written, encoding="cp1252", errors=PLAIN)
    stream.write("gap −1.06 ≤ 2, MMD² ± λ")
    stream.flush()
    assert written.getvalue().decode("cp1252") == "gap -1.06 <= 2, MMD² ± ?"


class TestHelp:
    @pytest.mark.parametrize("words", [("--version", "--verbose"), ("--verbose", "--version")])
    def test_version_for_a_report_of_a_fault(self, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
        out = run(capsys, *words)
        said = " ".join(out.split())
        assert out.startswith(f"kernelmean {km.__version__}\n")
        assert max(map(len, out.splitlines())) <= 80
        assert f"Python {platform.python_version()}" in said
        for name in (*versions.NEEDED, "typer", "pyarrow"):
            assert f"{name} {metadata.version(name)}" in said
        assert "openblas" in said or "mkl" in said or "threads:" in said
        for place in (sys.prefix, str(Path.home()), os.getcwd(), platform.node()):
            assert len(place) < 3 or place not in out

    def test_verbose_alone_is_refused(self, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit) as exit_:
            main(["--verbose", "info", "x.npz"])
        assert (exit_.value.code, "belongs to --version" in capsys.readouterr().err) == (2, True)

    def test_version(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(capsys, "--version") == f"kernelmean {km.__version__}\n"

    def test_the_package_is_the_command(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "argv", ["python -m kernelmean", "--version"])
        monkeypatch.delitem(sys.modules, "kernelmean.__main__", raising=False)  # where another test imported it
        with pytest.raises(SystemExit) as exit_:
            runpy.run_module("kernelmean", run_name="__main__")
        assert exit_.value.code == 0
        assert capsys.readouterr().out == f"kernelmean {km.__version__}\n"

    @pytest.mark.parametrize("command", ["compare", "estimate", "info"])
    def test_every_command_teaches_by_example(self, command: str, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit) as exit_:
            main([command, "--help"])
        assert exit_.value.code == 0
        assert f"kernelmean {command} " in capsys.readouterr().out.partition("For example")[2]

    def test_no_command_shows_help(self, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit) as exit_:
            main([])
        assert exit_.value.code == 2
        assert "compare" in capsys.readouterr().out

    def test_warnings_are_one_line(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        def warn(*_: object, **__: object) -> None:
            warnings.simplefilter("always")
            warnings.warn("mind\nthis", UserWarning, stacklevel=1)
            km.median_bandwidth([[float("nan")], [1.0]])

        monkeypatch.setattr("kernelmean.studies.estimate.fit_all", warn)
        with pytest.raises(SystemExit):
            main(["estimate", "eckerle4"])
        note, error = capsys.readouterr().err.splitlines()
        assert note == "kernelmean: note: mind this"
        assert error.startswith("kernelmean: X holds 1 NaN")


@pytest.mark.parametrize(
    ("names", "words", "chosen"),
    [(["a,b", "c", "d"], ["a,b"], {"a,b"}), (["a", "b", "c", "d"], ["a, b", "c"], {"a", "b", "c"})],
)
def test_names_with_commas_are_names_when_they_are_columns(
    names: list[str], words: list[str], chosen: set[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [str(tmp_path / f"{name}.csv") for name in ("first", "second")]
    for path in paths:
        pd.DataFrame(RNG.normal(size=(9, len(names))), columns=names).to_csv(path, index=False)
    options = [option for word in words for option in ("--columns", word)]
    content = json.loads(run(capsys, "compare", *paths, *options, *QUICK, "--json", "-"))
    assert {column["name"] for column in content["columns"]} == chosen
