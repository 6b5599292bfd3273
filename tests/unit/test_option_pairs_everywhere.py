"""Every pair of the remaining options of every public function; those of kernels and estimators stand beside this."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest

import explained
import in_bins
import kernelmean as km
from in_batches import in_batches
from kernelmean import features, kernels, noise
from kernelmean.studies import estimate as fits
from kernelmean.studies.changes import Search
from kernelmean.tables import reading as tables

from .option_pairs import THIRDS, Alone, Run, Values

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(24, 2)) * [1, 3], rng.normal(size=(22, 2)) * [1, 3] + 0.4
Z = X + rng.normal(size=(24, 2)) * 0.8 + 0.3
LONG = np.repeat(X, 10, axis=0) + rng.normal(size=(240, 2)) * 0.1, np.repeat(Y, 11, axis=0) + 0.1
GAUSS, LAPLACE = kernels.Gaussian(2.0), kernels.Laplacian(1.0)
OWN = km.MMKME(GAUSS)
MU = km.embed(X, GAUSS, noise=noise.Normal(0.3))
MIXED = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": np.arange(24) % 3, "d": ["u", "v", "w"] * 8, "e": Z[:, 0]})
OTHER = pd.DataFrame({"a": Y[:, 0], "b": Y[:, 1], "c": np.arange(22) % 3, "d": (["u", "v"] * 11), "e": Y[:, 1] * 2})
GAPS = MIXED.assign(a=[None, *MIXED["a"][1:]]), OTHER.assign(b=[*OTHER["b"][:-1], None])
LEVELS = {"d": ["u", "v", "w"]}
WAVES = features.fourier(GAUSS, 2, 32, rng=0)


def three_columns(gaps: bool) -> list[pd.DataFrame]:
    """Return two tables of a column of each kind."""
    return [table[["a", "c", "d"]] for table in (GAPS if gaps else (MIXED, OTHER))]


def series(gaps: bool) -> pd.DataFrame:
    """Return a table in the order of time that changes in the middle."""
    early, late = three_columns(gaps)
    late = late.assign(a=late["a"].astype(float) + 0.5)
    return pd.concat([early, late], ignore_index=True).assign(t=0.0)


def described(value: Any) -> str:
    """Return all of a value that a person would see, arrays by their digest."""
    if isinstance(value, np.ndarray):
        return hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest() + str(value.shape)
    if isinstance(value, dict):
        return str({key: described(one) for key, one in value.items()})
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return str([described(one) for one in value])
    return repr(value)


def of(
    function: Callable[..., Any], *tables: Any, show: Callable[[Any], Any] = lambda found: found, **always: Any
) -> Run:
    return lambda **options: described(show(function(*tables, **(always | options))))


def _tested(found: Any) -> Any:
    return found.statistic, found.pvalue, found.null_distribution, found.kernel, found.scheme


def evaluated(found: Any) -> Any:
    return found(X[:3])


def attributed(found: Any) -> Any:
    return [(one.name, one.pvalue) for one in found.columns] if hasattr(found, "columns") else found.summary()


ROWS = {
    "groups": (np.arange(24) % 2, np.arange(22) % 2),
    "clusters": (np.arange(24) // 2, np.arange(22) // 2),
    "weights": (np.linspace(1, 2, 24), np.linspace(1, 2, 22)),
}
DESIGNS = tuple(km.Design(**{name: rows}) for name, rows in ROWS.items())
KERNEL: dict[str, tuple[Any, ...]] = {"kernel": (LAPLACE,), "bandwidth": (0.5,)}
DRAWN: dict[str, tuple[Any, ...]] = {"n_resamples": (29,), "rng": (1,)}
ADJUSTED: dict[str, tuple[Any, ...]] = {"adjustment": ("bh",)}
SIMULATED = {"n_resamples": (120,), "rng": (1,)}
QUICK = {"rng": 0, "n_resamples": 19}
TESTED: dict[str, tuple[Any, ...]] = {"kernel": (LAPLACE,), "estimator": ("mkme", OWN)}
EXPLAINED: dict[str, tuple[Any, ...]] = {**KERNEL, "estimator": ("mkme",)}
ATTRIBUTED = {
    **EXPLAINED,
    "adjustment": ("min-p",),
    "names": (["u", "v"],),
    "groups": ({"g": [0], "h": [1]},),
    **DRAWN,
    "scheme": ("exact",),
}
TABLE = {"missing": ("drop", "category"), "ordinal": (LEVELS,), "categorical": (["c"],), "scale": (False,)}
MATCHED = {"n_components": 2, "random_state": 0, "max_iter": 60}
ESTIMATORS = {name: getattr(km, name) for name in ("KME", "MKME", "MMKME", "SKMSE", "FKMSE", "VPMKME")}
CASES: dict[str, tuple[Run, Values]] = {
    "mmd_test": (
        of(km.mmd_test, X, Y, show=_tested, **QUICK),
        {
            "estimator": ("mkme", "s-kmse", "adaptive", OWN),
            "statistic": ("v",),
            "design": DESIGNS,
            "scheme": ("exact",),
            "kernel": (LAPLACE,),
            **DRAWN,
        },
    ),
    "hsic_test": (
        of(km.hsic_test, X, Z, show=_tested, **QUICK),
        {
            "estimator": ("mkme", "scose", "adaptive", OWN),
            "statistic": ("u",),
            "design": tuple(km.Design(**{name: rows[0]}) for name, rows in ROWS.items()),
            "scheme": ("exact",),
            "kernel": (LAPLACE,),
            **DRAWN,
        },
    ),
    "k_sample_test": (
        of(km.k_sample_test, X, Y, Z, show=_tested, **QUICK),
        {**TESTED, "design": DESIGNS[:1], "statistic": ("v",), "scheme": ("exact",), **DRAWN},
    ),
    "paired_mmd_test": (
        of(km.paired_mmd_test, X, Z, show=_tested, **QUICK),
        {**TESTED, "statistic": ("v",), "scheme": ("exact",), **DRAWN},
    ),
    "dhsic_test": (
        of(km.dhsic_test, X, Z, show=_tested, **QUICK),
        {**TESTED, "design": DESIGNS[:1], "scheme": ("exact",), **DRAWN},
    ),
    "wild_mmd_test": (of(km.wild_mmd_test, X, Y, show=_tested, block_length=2.0, **QUICK), {**TESTED, **DRAWN}),
    "wild_hsic_test": (of(km.wild_hsic_test, X, Z, show=_tested, block_length=2.0, **QUICK), {**TESTED, **DRAWN}),
    "mmd_test in one pass": (
        of(in_bins.mmd, *LONG, show=_tested, n_resamples=19),
        {
            "kernel": (LAPLACE,),
            "features": (WAVES,),
            "n_frequencies": (16,),
            "design": ("plain",),
            "dtype": ("float64",),
            "estimator": ("mkme",),
            "statistic": ("v",),
            "n_resamples": (29,),
            "pilot": (10,),
            "seed": (1,),
        },
    ),
    "hsic_test in one pass": (
        of(in_bins.hsic, LONG[0], np.repeat(Z, 10, axis=0), show=_tested, n_resamples=19),
        {
            "kernel": (LAPLACE,),
            "features": (features.fourier(kernels.TensorProduct((GAUSS, GAUSS), ((0, 1), (2, 3))), 4, 32, rng=0),),
            "n_frequencies": (16,),
            "design": ("plain",),
            "dtype": ("float64",),
            "estimator": ("mkme",),
            "n_resamples": (29,),
            "pilot": (10,),
            "seed": (1,),
        },
    ),
    "effect_size": (
        of(explained.effect_size, X, Y, rng=0, n_resamples=99),
        {**EXPLAINED, "level": (0.8,), **SIMULATED},
    ),
    "dependence_effect_size": (
        of(explained.dependence_effect_size, X, Z, rng=0, n_resamples=99),
        {**EXPLAINED, "level": (0.8,), **SIMULATED},
    ),
    "equivalence_test": (
        of(explained.equivalence_test, X, Y, 0.3),
        {
            **EXPLAINED,
            "unit": ("explained",),
            "method": ("bound",),
            "level": (0.8,),
            "n_resamples": (120,),
            "rng": (1,),
        },
    ),
    "dependence_equivalence_test": (
        of(explained.dependence_equivalence_test, X, Z, 0.3, rng=0, n_resamples=99),
        {**EXPLAINED, "unit": ("alignment",), "level": (0.8,), **SIMULATED},
    ),
    "witness": (
        of(explained.witness, X, Y, show=evaluated),
        {**KERNEL, "estimator": ("mkme", "f-kmse")},
    ),
    "dependence_witness": (of(explained.dependence_witness, X, Z, show=lambda found: found(X[:3], Z[:3])), EXPLAINED),
    "witness_bands": (
        of(explained.witness_bands, X, Y, rng=0, n_resamples=99),
        {**EXPLAINED, "points": (X[:3],), "level": (0.8,), **SIMULATED},
    ),
    "contributions": (
        of(explained.contributions, X, Y, show=lambda found: found.values),
        {**EXPLAINED, "statistic": ("v",)},
    ),
    "dependence_contributions": (
        of(explained.dependence_contributions, X, Z, show=lambda found: found.values),
        {**EXPLAINED, "statistic": ("u",)},
    ),
    "attribute": (
        of(explained.attribute, X, Y, show=lambda found: (found.summary(), found.scheme), **QUICK),
        ATTRIBUTED,
    ),
    "dependence_attribute": (
        of(explained.dependence_attribute, X, Z, show=lambda found: (found.summary(), found.scheme), **QUICK),
        ATTRIBUTED,
    ),
    "DriftMonitor": (
        lambda **options: (
            described((watch := km.DriftMonitor(GAPS[0] if "missing" in options else MIXED, **options)).update(OTHER))
            + str(watch.state)
        ),
        {
            "average_run_length": (50.0,),
            "shuffle": (False,),
            "alpha": (0.2,),
            "seed": (1,),
            **{name: values for name, values in TABLE.items() if name != "scale"},
        },
    ),
    "compare": (
        lambda **options: described(
            km.compare(*three_columns("missing" in options), **{"estimator": "kme", **QUICK} | options).to_dict()
        ),
        {**TABLE, "names": (("u", "v"),), "estimator": ("adaptive", "mkme"), "bandwidth": (0.5,), **ADJUSTED, **DRAWN},
    ),
    "compare_groups": (
        lambda **options: described(
            km.compare_groups(
                pd.concat(three_columns("missing" in options)).assign(g=(["p", "q", "r"] * 16)[:46]),
                "g",
                **{"estimator": "kme", **QUICK} | options,
            ).to_dict()
        ),
        {**TABLE, "groups": (("p", "q"),), "estimator": ("adaptive", "mkme"), "bandwidth": (0.5,), **ADJUSTED, **DRAWN},
    ),
    "changes": (
        lambda **options: described(
            km.changes(series("missing" in options), **{"search": Search(n_resamples=99)} | options).to_dict()
        ),
        {**TABLE, "time": ("t",), "search": (Search(n_changes=2, n_resamples=99),), "rng": (1,)},
    ),
    "compare in batches": (
        lambda **options: described(
            in_batches(
                *three_columns("missing" in options), **{"estimator": "kme", "n_resamples": 19} | options
            ).to_dict()
        ),
        {
            **TABLE,
            "names": (("u", "v"),),
            "estimator": ("adaptive", "mmkme"),
            "bandwidth": (0.5,),
            "n_resamples": (29,),
            "seed": (1,),
        },
    ),
    "dependence": (
        lambda **options: described(
            km.dependence(
                (GAPS[0] if "missing" in options else MIXED)[["a", "c", "d"]],
                **{"rng": 0, "n_resamples": 19, "estimator": "kme"} | options,
            ).to_dict()
        ),
        {**TABLE, "x": (["a"],), "y": (["d"],), **ADJUSTED, "estimator": ("mkme", "scose"), **DRAWN},
    ),
    "TableEncoder": (
        lambda **options: described(
            km.TableEncoder(**options).fit(table := GAPS[0] if "missing" in options else MIXED).transform(table)
        ),
        TABLE,
    ),
    "KernelMean": (
        lambda **options: described(
            [(fit := km.KernelMean(**options).fit(X)).weights_, fit.kernel_, fit.noise_, fit.criterion_]
        ),
        {
            "kernel": (LAPLACE,),
            "bandwidth": (0.5, "likelihood"),
            "noise": (noise.Normal(0.1), "isotropic"),
            "filter": ("scale", "ridge"),
            "strength": (0.5,),
            "contraction": ("tied", "free"),
            "criterion": ("risk", "printed"),
            "features": (9,),
        },
    ),
    **{
        name: (
            lambda _cls=ESTIMATORS[name], **options: described(
                [(fit := _cls(**options).fit(X)).weights_, fit.kernel_, fit.noise_, fit.criterion_]
            ),
            {"kernel": (LAPLACE,), "bandwidth": (0.5,), **own},
        )
        for name, own in {
            "KME": {"features": (9,)},
            "MKME": {"criterion": ("risk",), "features": (9,)},
            "MMKME": {"criterion": ("risk",), "features": (9,)},
            "SKMSE": {"strength": (0.5,), "features": (9,)},
            "FKMSE": {"strength": (0.5,), "features": (9,)},
            "VPMKME": {"contraction": ("tied",), "features": (9,)},
        }.items()
    },
    "BayesianKernelMean": (
        lambda **options: described([(fit := km.BayesianKernelMean(**options).fit(X)).weights_, fit.embedding_.kernel]),
        {**KERNEL, "smoothing": (0.2,), "strength": (0.3,)},
    ),
    "MedianOfMeans": (
        lambda **options: described(
            [(fit := km.MedianOfMeans(**{"random_state": 0} | options).fit(X)).weights_, fit.embedding_]
        ),
        {**KERNEL, "n_blocks": (4,), "noise": (noise.Normal(0.3),), "random_state": (1,)},
    ),
    "KernelMeanMatching": (
        lambda **options: described(
            [
                (fit := km.KernelMeanMatching(**MATCHED | options).fit(X)).weights_,
                fit.means_,
                fit.covariances_,
                fit.trials_,
            ]
        ),
        {
            "n_components": (3,),
            "estimator": ("kme",),
            "kernel": (GAUSS,),
            "update": ("weights",),
            "covariance_type": ("full",),
            "prototypes": ((X[:2], np.ones(2)), km.density.KMeansPrototypes(pool_over="data")),
            "early_stopping": (False,),
            "max_iter": (3,),
            "random_state": (1,),
        },
    ),
    "linear_form": (
        of(km.linear_form, MU, show=lambda found: found.weights),
        {"method": ("second_order", "printed"), "cutoff": (0.1,)},
    ),
    "likelihood_bandwidth": (
        of(km.estimators.likelihood_bandwidth, X),
        {"noise": ("diagonal",), "ratios": ((0.1, 0.5),)},
    ),
    "median_bandwidth": (
        of(km.median_bandwidth, X, show=lambda found: (float(found), found.rule, found.n_points)),
        {"squared": (False,), "exact_up_to": (10,), "rng": (1,)},
    ),
    "embed": (
        of(km.embed, X, GAUSS, show=lambda found: (found.weights, found.noise)),
        {"weights": (np.linspace(0, 1, 24),), "noise": (noise.Normal(0.1),)},
    ),
    "expected": (
        of(km.expected, GAUSS, X, Y),
        {"v": (noise.Normal(0.1),), "w": (noise.Normal(0.2),)},
    ),
    "read": (
        lambda **options: described(
            list(km.read(pd.DataFrame(np.vstack([X, [[np.nan, 1]]]) if "missing" in options else X), **options))
        ),
        {"columns": (["1"],), "drop": (["1"],), "missing": ("drop",), "batch_rows": (3,)},
    ),
    "features.embed": (
        of(features.embed, X, WAVES, show=lambda found: (found.parts[0].terms[0].sums, found.shape, found.noise)),
        {"weights": (np.linspace(0, 1, 24),), "noise": (noise.Normal(0.1),)},
    ),
    "features.fourier": (
        of(
            features.fourier,
            GAUSS,
            2,
            show=lambda found: (found.frequencies, found.origin, str(found.dtype), found.design),
        ),
        {"n_frequencies": (8,), "design": ("plain", "quasi"), "origin": (1.0,), "dtype": ("float32",), "rng": (1,)},
    ),
    "features.nystrom": (of(features.nystrom, GAUSS, X, show=lambda found: found.points), {"rank": (5,), "rng": (1,)}),
    "features.random_cholesky": (
        of(features.random_cholesky, GAUSS, X, show=lambda found: found.points),
        {"rank": (5,), "rng": (1,)},
    ),
    "tables.as_table": (of(tables.as_table, GAPS[0][["a", "b"]], show=str), {"missing": ("drop",)}),
    "tables.read_table": (
        of(tables.read_table, "iris", show=lambda found: (found.names, found.values)),
        {"columns": (["sepal length", "petal width"],), "drop": (["target"],)},
    ),
    "tables.split_groups": (
        lambda **options: described(
            [len(one) for one in tables.split_groups(tables.read_frame("iris"), "target", **options)]
        ),
        {"groups": (["0", "2"],)},
    ),
    "fits.fit_all": (of(fits.fit_all, X, show=lambda found: found.to_dict()), {"bandwidth": (0.5,), "scale": (False,)}),
}
CHANCE = "the values, or these data, leave both options in force and by chance the same result"
DRAWN_NOT = "the rows are so few that none are drawn"
FIRST = "the best step may come before the last"
EXCEPTIONS: dict[tuple[str, str, str], str] = {
    ("dependence_equivalence_test", "rng", "unit"): CHANCE,
    ("dependence", "n_resamples", "ordinal"): "all pairs are tested again with the permutations that Holm needs",
    **{("KernelMeanMatching", "max_iter", other): FIRST for other in ("estimator", "kernel", "random_state")},
}
"""Pairs of which one may leave the other without effect, and why."""
IDLE = {
    ("dependence_attribute", "scheme"): "the name of the only scheme that one table of this size takes",
    ("median_bandwidth", "rng"): DRAWN_NOT,
    ("changes", "scale"): "members look at columns in units of their own spread",
    ("read", "missing"): "the table that has a gap is otherwise the same",
    ("features.nystrom", "rng"): DRAWN_NOT,
}
"""Options that change nothing alone, and why."""
NOT_VARIED = {
    "n_changes of changes": "short for search=",
    "block of changes": "short for search=",
    "plan": "speed only",
    "progress": "tells how far the work is",
    "encoding": "holds options that are varied one by one",
    "screen": "leaves out some of more than 40 tests: tests of many tests",
    "keep_finished": "what Ctrl-C leaves: tests of many tests",
    "in_memory": "where rows are held: tests of comparisons",
    **dict.fromkeys(("strata", "clusters", "weights", "paired"), "which rows change places: tests of designs of rows"),
    **dict.fromkeys(
        ("level of compare", "level of compare_groups"), "what counts as a difference: tests of many tests"
    ),
    "max_categories": "pools categories of columns that have more: tests of pooled categories",
    "keep": "lets a column pass that is refused: tests of identifiers, and below",
    "text": "how cells are read: tests of reading",
}


@THIRDS
@pytest.mark.parametrize("name", CASES)
def test_both_of_two_options_have_an_effect_or_the_pair_is_refused(
    name: str, third: int, no_refits: None, few_for_what_changes: None
) -> None:
    run, options = CASES[name]
    exceptions = {frozenset(pair) for case, *pair in EXCEPTIONS if case == name}
    alone = Alone.of(run, options)
    idle = [option for option in alone.idle_options() if (name, option) not in IDLE]
    found = alone.silent_pairs(third, exceptions), idle
    assert found == ([], []), "\n".join(["SILENT", *found[0], "IDLE", *found[1]])


def options_of(function: Callable[..., Any]) -> list[str]:
    """Return the names of the parameters that have defaults."""
    parameters = inspect.signature(function).parameters.values()
    return [each.name for each in parameters if each.default is not each.empty]


VALUES = {"DaskPlan", "Design", "Plan", "TestResult", "Embedding"}
"""What holds values, each with a meaning of its own, and no options."""


@pytest.mark.parametrize("name", sorted(set(km.__all__) - VALUES))
def test_every_option_of_every_public_function_is_varied(name: str) -> None:
    function = getattr(km, name)
    options = options_of(function) if callable(function) else []
    varied = {*CASES[name][1]} if name in CASES else set()
    left = {option for option in options if not {option, f"{option} of {name}"} & {*NOT_VARIED}}
    if len(left) > 1:
        assert left <= varied


@pytest.mark.parametrize("call", [km.compare, in_batches], ids=["compare", "in batches"])
@pytest.mark.parametrize("options", [{"categorical": ["z"]}, {"ordinal": {"z": ["u", "v"]}}, {"keep": ["z"]}], ids=str)
def test_an_option_that_names_an_unknown_column_raises(call: Callable[..., Any], options: Mapping[str, Any]) -> None:
    with pytest.raises(ValueError, match="no column 'z'"):
        call(MIXED, OTHER, n_resamples=19, **options)


@pytest.mark.parametrize("options", [{"categorical": ["c"]}, {"ordinal": {"c": [0, 1, 2]}}], ids=str)
def test_a_column_that_is_kept_and_has_a_kind_by_name_raises(options: Mapping[str, Any]) -> None:
    with pytest.raises(ValueError, match="leave it out of keep="):
        km.TableEncoder(keep=["c"], **options).fit(MIXED)
