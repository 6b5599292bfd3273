"""Every rule for missing cells × kind of column × place, mixed in one table: the numbers of a slow definition."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from slow_tables import KINDS, LEVELS, NOISY, PARTNERS, SIZES, Slow, Tables, tables

import kernelmean as km
from checkered import mostly_slow
from in_batches import in_batches
from kernelmean.cli import main
from kernelmean.kernels import Gaussian

CASES = tables()
PLACES = [(k // len(PARTNERS) + k % len(PARTNERS)) % 4 for k in range(len(CASES))]
BLACK, WHITE = ([case for case, place in zip(CASES, PLACES, strict=True) if place == one] for one in (0, 1))
"""Each quarter has every kind and rule, and every partner; the tests of the others wait for ``-m slow``."""


def named(case: Tables) -> str:
    return ", ".join(f"{kind} {rule}" for kind, rule in case.specs)


@cache
def slow_pair(case: Tables) -> Slow:
    return Slow.of(case.frames, case.kinds, case.rules)


def quick(case: Tables) -> dict[str, Any]:
    return {"missing": case.rules, "estimator": "kme", "n_resamples": 9}


@pytest.mark.parametrize("case", mostly_slow(CASES, *BLACK), ids=named)
def test_compare_has_the_statistics_of_the_definition_in_every_order(case: Tables) -> None:
    slow, first = slow_pair(case), None
    for order in (list(case.kinds), list(case.kinds)[::-1]):
        result = km.compare(*(frame[order] for frame in case.frames), **quick(case))
        assert result.test.statistic == pytest.approx(slow.mmd(order), rel=1e-9, abs=1e-13)
        for each in result.columns:
            assert each.statistic == pytest.approx(slow.mmd([each.name]), rel=1e-9, abs=1e-13)
        found = result.test.pvalue, {each.name: each.pvalue for each in result.columns}
        assert first in (None, found)
        first = found


@pytest.mark.parametrize("case", mostly_slow(CASES, *WHITE), ids=named)
def test_dependence_has_the_statistics_of_the_definition_in_every_order(case: Tables) -> None:
    frame = case.frames[0]
    slow = Slow.of([frame], case.kinds, case.rules)
    x, y = ["u", "e"], [name for name in case.rules if name != "u"]
    first = None
    for order in (list(frame), list(frame)[::-1]):
        result = km.dependence(frame[order], x, y, **quick(case))
        assert result.test is not None
        assert result.test.statistic == pytest.approx(slow.hsic(x, y), rel=1e-9, abs=1e-13)
        for pair in result.pairs:
            assert pair.strength == pytest.approx(slow.strength(pair.x, pair.y), rel=1e-6, abs=1e-8)
        found = result.test.pvalue, {(pair.x, pair.y): pair.pvalue for pair in result.pairs}
        assert first in (None, found)
        first = found


@pytest.mark.parametrize("case", mostly_slow(CASES, *BLACK), ids=named)
def test_unrelated_columns_change_nothing_about_two_groups(case: Tables) -> None:
    frame, rules = case.frames[0], case.rules
    options = {**quick(case), "n_resamples": 19}
    alone = km.dependence(frame[["u", "e"]], "u", "e", **{**options, "missing": {"u": rules["u"]}})
    beside = km.dependence(frame, "u", "e", **options)
    assert alone.test is not None
    assert beside.test is not None
    assert beside.test.pvalue == alone.test.pvalue
    assert (beside.test.statistic, beside.pairs) == (alone.test.statistic, alone.pairs)
    assert (beside.n_rows, beside.notes) == (alone.n_rows, alone.notes)


@pytest.mark.parametrize("case", [case for case in BLACK if "drop" not in case.rules.values()], ids=named)
def test_a_transformer_has_coordinates_and_noise_of_the_definition(case: Tables) -> None:
    slow, theta = slow_pair(case), 1.3
    for order in (list(case.kinds), list(case.kinds)[::-1]):
        frames = [frame[order] for frame in case.frames]
        encoder = km.TableEncoder(missing=case.rules).fit_tables(*frames)
        points, noises = [encoder.transform(each) for each in frames], [encoder.noise(each) for each in frames]
        widths = [len(each) for each in encoder.groups_.values()]
        assert sum(widths) == len(encoder.get_feature_names_out()) == points[0].shape[1]
        for part, noise in zip(points, noises, strict=True):
            assert noise.covariance.shape == part.shape
        mu, nu = (km.embed(X, Gaussian(theta), noise=noise) for X, noise in zip(points, noises, strict=True))
        K, n = slow.gram(order, theta), slow.sizes[0]
        for found, block in ((mu @ mu, K[:n, :n]), (mu @ nu, K[:n, n:]), (nu @ nu, K[n:, n:])):
            assert found == pytest.approx(block.mean(), rel=1e-12)


@pytest.mark.parametrize("case", [case for case in WHITE if "noise" not in case.rules.values()], ids=named)
def test_streams_have_the_kernel_of_the_definition(case: Tables) -> None:
    slow, found = slow_pair(case), []
    for order in (list(case.kinds), list(case.kinds)[::-1]):
        frames = [frame[order] for frame in case.frames]
        result = in_batches(*frames, missing=case.rules, estimator="kme", bandwidth=1.3, n_resamples=9)
        points = np.concatenate(result.encoded.points())
        np.testing.assert_allclose(Gaussian(1.3)(points, points), slow.gram(order, 1.3), rtol=1e-9)
        found.append((result.test.statistic, result.test.pvalue, [(c.name, c.statistic) for c in result.columns]))
        for each in result.columns:
            if case.kinds[each.name] in ("boolean", "categorical"):
                K, n = slow.gram([each.name], 1.3), slow.sizes[0]
                within = [(B.sum() - np.trace(B)) / (len(B) * (len(B) - 1)) for B in (K[:n, :n], K[n:, n:])]
                assert each.statistic == pytest.approx(sum(within) - 2.0 * K[:n, n:].mean(), rel=1e-6, abs=1e-9)
    assert found[0] == found[1]


# -- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in NOISY])
def test_noise_of_what_is_no_number_is_refused_in_one_line(kind: str) -> None:
    case = Tables(((kind, "noise"), ("numeric", "category")))
    first, second = case.frames
    for ask in (
        lambda: km.compare(first, second, **quick(case)),
        lambda: km.dependence(first, **quick(case)),
        lambda: km.dependence(first, "u", "e", **quick(case)),
        lambda: km.TableEncoder(missing=case.rules).fit(first),
    ):
        with pytest.raises(ValueError, match=rf"\A[^\n]*'u' is {kind}[^\n]*\Z"):
            ask()


@pytest.mark.parametrize("kind", KINDS)
def test_a_column_without_a_rule_is_refused_wherever_it_is_used(kind: str) -> None:
    case = Tables(((kind, "category"), ("numeric", "category")))
    first, second = case.frames
    rules = {"v": "category"}
    for ask in (
        lambda: km.compare(first, second, missing=rules),
        lambda: km.dependence(first, missing=rules),
        lambda: km.dependence(first, "u", "e", missing=rules),
        lambda: km.TableEncoder(missing=rules).fit(first),
        lambda: in_batches(first, second, missing=rules),
    ):
        with pytest.raises(ValueError, match=r"\A[^\n]*column 'u' is blank[^\n]*\Z"):
            ask()
    assert km.dependence(first, "v", "e", missing=rules, n_resamples=9).n_rows == SIZES[0]


@pytest.mark.parametrize("estimator", ["adaptive", "mkme", "s-kmse"])
def test_noise_is_refused_by_estimators_without_its_kernel_where_it_is_used(estimator: str) -> None:
    case = Tables((("numeric", "noise"), ("numeric", "category")))
    first, second = case.frames
    options = {"missing": case.rules, "estimator": estimator if estimator != "s-kmse" else "scose", "n_resamples": 9}
    with pytest.raises(ValueError, match=r"\A[^\n]*estimator='kme'[^\n]*\Z"):
        km.dependence(first, "u", "v", **options)
    with pytest.raises(ValueError, match=r"\A[^\n]*estimator='kme'[^\n]*\Z"):
        km.compare(first, second, **{**options, "estimator": estimator})
    assert km.dependence(first, "v", "e", **options).test is not None


def test_rules_and_kinds_of_columns_that_are_not_there_are_refused_whatever_is_tested() -> None:
    frame = Tables((("numeric", "category"), ("ordinal", "category"))).frames[0]
    for options, word in (
        ({"missing": {"u": "category", "z": "drop"}}, "'z'"),
        ({"missing": {"u": "category", "v": "guess"}}, "'guess'"),
        ({"missing": "category", "categorical": "z"}, "'z'"),
        ({"missing": "category", "ordinal": {"z": LEVELS}}, "'z'"),
    ):
        with pytest.raises(ValueError, match=word):
            km.dependence(frame, "u", "e", **options)


# -- the command line -------------------------------------------------------------------------------------------------


def content_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    with pytest.raises(SystemExit) as stop:
        main([*arguments, "--json", "-", "--quiet"])
    out, err = capsys.readouterr()
    assert (stop.value.code, err) == (0, "")
    found: dict[str, Any] = json.loads(out)
    return found


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, frame in zip("AB", Tables((("numeric", "noise"), ("numeric", "category"))).frames, strict=True):
        frame.to_csv(f"{name}.csv", index=False)


@pytest.mark.usefixtures("files", "unsearched_peers", "no_refits")
@pytest.mark.parametrize("command", ["estimate", "density"])
def test_numbers_alone_are_those_of_complete_rows(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = content_of(capsys, command, "A.csv", "--missing", "drop", "--drop", "v")
    whole = pd.read_csv("A.csv").drop(columns="v")
    whole.dropna().to_csv("complete.csv", index=False)
    complete = content_of(capsys, command, "complete.csv")
    key = "estimators" if command == "estimate" else "mixture"
    assert found[key] == complete[key]
