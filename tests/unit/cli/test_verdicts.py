"""One verdict: terminal, --quiet, JSON, HTML, notebook card and exit code agree, near thresholds too."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from kernelmean.cli import main
from kernelmean.studies import plots

FILES = {"html": "r.html", "json": "r.json"}
NEAR = (0.001, 0.0499999, 0.05, 0.0500001, 0.051, 1.0)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    (tmp_path / "in_a_folder").mkdir()
    for name in ("in_a_folder/a.csv", "b.csv"):
        pd.DataFrame(rng.normal(size=(40, 3)), columns=["x_1", "*y*", "z<b>"]).to_csv(name, index=False)
    return tmp_path


@pytest.fixture(autouse=True)
def _blank_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave charts blank: verdicts are words, and drawing would take nine tenths of the time."""
    blank = '<svg viewBox="0 0 1 1">\n</svg>\n'

    def write(figure: Any, target: Any, ending: str) -> None:
        target.write(blank) if hasattr(target, "write") else Path(target).write_text(blank)

    assert plots.write, "imported while nothing is patched"
    monkeypatch.setattr("kernelmean.report.pictures.write", write)


Said = Callable[..., dict[str, str]]
_MADE: dict[tuple[str, tuple[str, ...]], Any] = {}
"""What a command computes on the tables of this file, before it is changed: once for all its cases."""


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Said:
    """Run a command on a result that was changed, and return what every surface says first, and the exit code."""

    def run(place: str, make: Callable[..., Any], change: Callable[[Any], Any], *words: str, page: bool = True) -> Any:
        results: list[Any] = []

        def changed(*args: Any, **options: Any) -> Any:
            key = (place, words)
            if key not in _MADE:
                _MADE[key] = make(*args, **options)
            results.append(change(_MADE[key]))
            return results[-1]

        monkeypatch.setattr(place, changed)
        files = [word for kind, name in FILES.items() if page or kind == "json" for word in (f"--{kind}", name)]
        told: dict[str, Any] = {}
        for options in (["--quiet"], files):
            with pytest.raises(SystemExit) as exit_:
                main([*words, *options])
            out, told["stderr"] = capfd.readouterr()
            told["terminal" if options is files else "quiet"] = " ".join(out.split("\n\n")[0].split())
        told["code"] = int(exit_.value.code or 0)
        told["json"] = json.loads(Path("r.json").read_text())["verdict"]
        if page:
            told["html"] = _headline(Path("r.html").read_text())
        told["card"] = html.unescape(re.search(r"</strong></p><p>(.*?)</p>", results[-1]._repr_html_())[1])
        return told

    return run


def _headline(page: str) -> str:
    """Return the headline of a page."""
    found = re.search(r'<p class="headline">(.*?)</p>', page, flags=re.DOTALL)
    assert found is not None
    return html.unescape(re.sub(r"<[^>]+>", "", found[1]))


def one_verdict(told: dict[str, Any], *, card: bool = True) -> str:
    """Return what all surfaces say, which is one sentence."""
    surfaces = {
        name: text for name, text in told.items() if name not in ("code", "stderr") and (card or name != "card")
    }
    assert len(set(surfaces.values())) == 1, surfaces
    return str(next(iter(surfaces.values())))


def with_p(p: float) -> Callable[[Any], Any]:
    return lambda result: replace(result, test=replace(result.test, pvalue=p))


@pytest.mark.parametrize(
    ("level", "p"),
    [*((None, p) for p in NEAR), *((0.05, p) for p in NEAR[1:4]), *((0.01, p) for p in (0.001, 0.05, 1.0))],
)
def test_compare(p: float, level: float | None, said: Said) -> None:
    words = ("compare", "in_a_folder/a.csv", "b.csv", "--estimator", "kme", "--resamples", "199")
    options = () if level is None else ("--fail-on-drift", str(level))
    told = said("kernelmean.studies.comparison.compare", km.compare, with_p(p), *words, *options)
    alpha = 0.05 if level is None else level
    verdict = one_verdict(told, card=alpha == 0.05)
    assert verdict.startswith("a.csv and b.csv differ: p = " if p <= alpha else "No difference between a.csv and b.csv")
    written = float(re.search(r"p = ([\d.e-]*\d)", verdict)[1])
    assert (written <= alpha) == (p <= alpha)
    assert told["code"] == (1 if level is not None and p <= alpha else 0)
    assert ("kernelmean: drift" in told["stderr"]) == (told["code"] == 1)


@pytest.mark.parametrize("p", NEAR)
def test_dependence_of_groups(p: float, said: Said) -> None:
    words = ("dependence", "b.csv", "--x", "x_1", "--estimator", "kme", "--resamples", "19")
    told = said("kernelmean.studies.dependence.dependence", km.dependence, with_p(p), *words)
    verdict = one_verdict(told)
    assert verdict.startswith(
        "x_1 and (*y*, z<b>) depend" if p <= 0.05 else "No dependence between x_1 and (*y*, z<b>)"
    )
