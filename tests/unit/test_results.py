"""What every result can do, whatever was asked: one contract, held by all of them."""

from __future__ import annotations

import html
import json
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernelmean as km
from in_batches import in_batches
from kernelmean.cli import main
from kernelmean.inference import Result
from kernelmean.studies import compare_groups, fit_all, fit_densities
from kernelmean.studies.changes import Search
from kernelmean.studies.study import Study
from kernelmean.tables import read_table

pd = pytest.importorskip("pandas")

RNG = np.random.default_rng(2)
X, Y = RNG.normal(size=(30, 2)), RNG.normal([0.0, 1.0], size=(25, 2))
QUICK: dict[str, Any] = {"estimator": "kme", "n_resamples": 99}


def mixed(n: int, shift: float) -> Any:
    rng = np.random.default_rng(n)
    days = pd.Timestamp("2024-02-01") + pd.to_timedelta(rng.integers(0, 90, n), "D")
    frame = pd.DataFrame({"a rather long name of a column of numbers": rng.normal(shift, size=n), "day": days})
    frame["city"] = rng.choice(["Rome", "Oslo"], n)
    frame["size"] = pd.Categorical(rng.choice(list("SML"), n), list("SML"), ordered=True)
    frame["ok"] = rng.random(n) < 0.5
    frame["dose"] = rng.normal(size=n)
    frame.loc[:1, ["dose", "city"]] = None
    return frame


def densities() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kernelmean.studies.density._COMPONENTS", (1, 2))
        return fit_densities(np.concatenate([X, Y]), estimator="mkme", n_components=[1])


def long_tables() -> Any:
    rng = np.random.default_rng(0)
    tables = rng.normal(size=(300, 2)), rng.normal([0.0, 0.6], size=(260, 2))
    return in_batches(*tables, n_resamples=99)


MAKERS: dict[str, Callable[[], Result]] = {
    "test": lambda: km.mmd_test(X, Y, rng=0, **QUICK),
    "adaptive test": lambda: km.mmd_test(X, Y, estimator="adaptive", n_resamples=99, rng=0),
    "test with noise": lambda: km.mmd_test(X, Y, estimator="mmkme", n_resamples=99, rng=0),
    "test of independence": lambda: km.hsic_test(X, X**2, rng=0, **QUICK),
    "test of three samples": lambda: km.k_sample_test(X, Y, X + 1.0, n_resamples=99, rng=0, estimator="kme"),
    "test of pairs": lambda: km.mmd_test(X[:25], Y, design=km.Design(paired=True), **QUICK, rng=0),
    "test of series": lambda: km.mmd_test(X, Y, design=km.Design(series=3), n_resamples=99, rng=0),
    "comparison": lambda: km.compare(mixed(40, 0.0), mixed(35, 1.0), names=("a/b.csv", "c"), missing="category"),
    "comparison of noisy cells": lambda: km.compare(
        mixed(40, 0.0).drop(columns="city"), mixed(35, 1.0).drop(columns="city"), missing={"dose": "noise"}, **QUICK
    ),
    "comparison of long tables": long_tables,
    "groups": lambda: compare_groups("iris", "target", **QUICK),
    "dependence of all pairs": lambda: km.dependence(mixed(40, 0.0), missing="drop", **QUICK),
    "dependence of groups": lambda: km.dependence(X, "x0", **QUICK),
    "changes": lambda: km.changes(np.concatenate([X, Y + 3.0]), search=Search(n_resamples=99)),
    "densities": densities,
    "nearer model": lambda: km.closer_test(X, Y, X + 1.0),
    "given Z": lambda: km.ci_test(X[:, 0], Y[:, 0].tolist() + [0.0] * 5, X[:, 1], rng=0, n_resamples=99, size_runs=2),
    "beyond Z": lambda: km.mmd_test(X, Y, given=(np.arange(len(X)) % 7, np.arange(len(Y)) % 7), n_resamples=99, rng=0),
    "weights": lambda: km.match_weights(X, Y, rng=0),
    "estimates": lambda: fit_all(X[:12]),
}
made = cache(lambda name: MAKERS[name]())
page = cache(lambda result: result.to_html())
"""The page of a result, drawn once for all tests of it."""


@pytest.fixture(params=MAKERS)
def result(request: pytest.FixtureRequest) -> Result:
    return made(request.param)


def plain(text: str) -> str:
    return " ".join(text.split())


def test_every_result_is_tried() -> None:
    tried = {type(made(name)) for name in MAKERS}
    classes = {*Result.__subclasses__(), *Study.__subclasses__()} - {Study}
    known = {cls for cls in classes if cls.__module__.startswith("kernelmean.")}
    assert tried == known


def test_it_is_printed_in_eighty_columns_and_says_all_notes(result: Result) -> None:
    text = str(result)
    assert text == result.summary()
    assert max(map(len, text.splitlines())) <= 80
    said = result.describe()
    assert plain(text).startswith(plain(said.sentence or said.title))
    for name, fact in said.facts:
        assert f"{name} {plain(fact)}" in plain(text)
    for note in said.notes:
        assert f"note: {plain(note)}" in plain(text)


def test_plain_values_go_through_json(result: Result) -> None:
    assert json.loads(json.dumps(result.to_dict())) is not None
    assert result.to_dict()["notes"] == list(result.describe().notes)


def test_the_frame_has_the_rows(result: Result) -> None:
    frame, rows = result.to_frame(), result.rows()
    assert list(frame.columns) == list(rows[0])
    assert len(frame) == len(rows)
    assert all(list(row) == list(rows[0]) for row in rows)


def test_without_pandas_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        made("test").to_frame()


OTHERWISE = ("kind", "kernels", "pairs", "spread", "strength")
"""The facts that a page says in other words, beside what they are about."""


def test_the_page_says_the_same(result: Result, drawn_once: None) -> None:
    html_page = page(result)
    assert html_page.startswith("<!doctype html>")
    assert html_page == result.to_html()
    said = result.describe()
    facts = [text for name, text in said.facts if name not in OTHERWISE]
    kinds = [text.partition(";")[0] for name, text in said.facts if name == "kind"]
    for text in (said.title, said.sentence, *facts, *kinds):
        assert text in html.unescape(html_page)
    shown = {plain(note).casefold().rstrip(".") for note in said.notes}
    words = plain(html.unescape(html_page)).casefold()
    assert all(note in words for note in shown)


def test_without_jinja_pages_say_what_to_install_and_notebooks_show_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    result = made("test")
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r'pages need Jinja2; write: pip install "kernelmean\[plot\]"'):
        result.to_html()
    assert result._repr_html_() is None
    with pytest.raises(SystemExit) as exit_:
        main(["dependence", "iris", "--html", str(tmp_path / "page.html")])
    out, err = capsys.readouterr()
    assert (exit_.value.code, out) == (2, "")
    assert err == 'kernelmean: pages need Jinja2; write: pip install "kernelmean[plot]"\n'


def test_it_comes_back_from_a_file(result: Result, tmp_path: Path, drawn_once: None) -> None:
    paths = [tmp_path / name for name in ("one", "two")]
    result.save(paths[0])
    back = km.load(paths[0])
    assert type(back) is type(result)
    assert str(back) == str(result)
    assert json.dumps(back.to_dict()) == json.dumps(result.to_dict())
    assert back._repr_html_() == result._repr_html_()
    assert back.to_html() == page(result)
    back.save(paths[1])
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_statistics_and_pvalues_are_those_of_the_test_where_there_is_one(result: Result) -> None:
    content = result.to_dict()
    test = content if "pvalue" in content else content.get("test")
    if test is None:
        assert not hasattr(result, "pvalue")
    else:
        assert result.pvalue == test["pvalue"]
        assert getattr(result, "statistic", None) == test.get("statistic")


COMMANDS: dict[str, tuple[tuple[str, ...], Callable[[Any], Result]]] = {
    "compare": (
        ("compare", "wine", "--by", "target", "--groups", "0,1", "--estimator", "kme", "--resamples", "99"),
        lambda wine: km.compare(*parts(wine), names=("target=0", "target=1"), rng=0, **QUICK),
    ),
    "dependence": (
        ("dependence", "wine", "--columns", "ash,hue,proline", "--estimator", "kme", "--resamples", "99"),
        lambda wine: km.dependence(wine[["ash", "hue", "proline"]], rng=0, **QUICK).with_intervals(),
    ),
    "estimate": (("estimate", "wine", "--columns", "ash,hue"), lambda wine: fit_all(wine[["ash", "hue"]])),
}


def parts(wine: Any) -> Iterator[Any]:
    return (wine[wine["target"] == cultivar].drop(columns="target") for cultivar in (0.0, 1.0))


@pytest.mark.parametrize("name", COMMANDS)
def test_the_command_line_prints_the_result(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    words, ask = COMMANDS[name]
    table = read_table("wine")
    result = ask(pd.DataFrame(np.asarray(table), columns=list(table.names)))
    with pytest.raises(SystemExit) as exit_:
        main([*words])
    assert exit_.value.code in (0, None)
    assert capsys.readouterr().out == f"{result}\n".replace("n_resamples=", "--resamples")
