"""What errors offer is there: parameters of the function that was called, options of the command that was run."""

import inspect
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from in_batches import in_batches
from kernelmean.cli import run

rng = np.random.default_rng(0)
NUMBERS = pd.DataFrame(rng.normal(size=(40, 2)), columns=["a", "b"])
BLANK = NUMBERS.assign(a=[None, *NUMBERS["a"][1:]])
EMPTY = NUMBERS.assign(b=np.nan)
TEXT = NUMBERS.assign(kind=["x", "y"] * 20)
MIXED = NUMBERS.assign(kind=["1", "y"] * 20)
DATES = NUMBERS.assign(day=pd.date_range("2020-01-01", periods=40))
IDENTIFIERS = NUMBERS.assign(name=[f"n{k}" for k in range(40)] * 1)
MANY = pd.concat([NUMBERS] * 10, ignore_index=True).assign(name=[f"n{k}" for k in range(400)])
SOME_TEXT_BLANK = TEXT.assign(kind=[None, *TEXT["kind"][1:]])
OTHER = NUMBERS.rename(columns={"b": "c"})
TABLES = {"blank": BLANK, "empty": EMPTY, "mixed": MIXED, "dates": DATES, "many": MANY, "text blank": SOME_TEXT_BLANK}
TABLES |= {"numbers": NUMBERS, "text": TEXT}

TESTS = "mmd_test k_sample_test hsic_test dhsic_test"
OTHERS = "compare"
TWO: dict[str, Callable[..., Any]] = {name: getattr(km, name) for name in f"{TESTS} {OTHERS}".split()}
TWO |= {"mmd_test of pairs": partial(km.mmd_test, design=km.Design(paired=True))}
TWO |= {f"{test.__name__} in bins": partial(test, scheme="bins") for test in (km.mmd_test, km.hsic_test)}
ONE: dict[str, Callable[..., Any]] = {
    "dependence": km.dependence,
    "read": lambda table, **options: list(km.read(table, **options)),
    "TableEncoder": lambda table, **options: km.TableEncoder(**options).fit(table),
    "DriftMonitor": km.DriftMonitor,
    "embed": lambda table, **options: km.embed(table, km.kernels.Gaussian(1.0), **options),
    "median_bandwidth": km.median_bandwidth,
}
OPTIONS: list[dict[str, Any]] = [
    {},
    {"estimator": "mkme", "missing": "noise"},
    {"missing": "noise"},
    {"missing": "drop"},
    {"bandwidth": 2.0},
    {"bandwidth": "likelihood", "estimator": "kme"},
    {"ordinal": {"kind": ["x"]}},
    {"kernel": km.kernels.Gaussian(1.0), "bandwidth": 2.0},
    {"kernel": km.kernels.Gaussian(1.0), "estimator": km.MKME()},
]
_OFFERED = re.compile(r"(?:([A-Za-z_.]+)\((?:[^()]*?))?\b([a-z_]+)=(?![=])")
_FOREIGN = ("drop", "assign")  # methods of pandas


def parameters(name: str) -> set[str]:
    return {*inspect.signature(getattr(km, name.partition(" ")[0])).parameters}


def refusals(name: str, function: Callable[..., Any], *, two: bool) -> dict[str, str]:
    found = {}
    known = parameters(name)
    for label, table in TABLES.items():
        for options in OPTIONS:
            if not set(options) <= known:
                continue
            others = [table, OTHER] if two else [None]
            for other in others:
                quick = {"n_resamples": 19} if "n_resamples" in known else {}
                try:
                    function(table, **options, **quick) if other is None else function(table, other, **options, **quick)
                except (ValueError, TypeError) as error:
                    found[f"{label} {options}"] = str(error)
    return found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", {**TWO, **ONE})
def test_errors_in_python_offer_parameters_of_the_function_that_was_called(name: str) -> None:
    function = {**TWO, **ONE}[name]
    found = refusals(name, function, two=name in TWO)
    assert found
    for case, message in found.items():
        assert not re.search(r"(?<![\w-])--[a-z]", message), (case, message)
        for owner, option in _OFFERED.findall(message):
            called = owner.rpartition(".")[2] or name
            if called in _FOREIGN or called[:1].isupper():
                continue
            assert option in parameters(called), (case, option, message)


@pytest.mark.filterwarnings("ignore")
def test_a_mend_that_is_offered_for_blank_cells_works() -> None:
    """missing='noise' was offered by tests that have no exact kernel for it."""
    for function in (km.compare, in_batches):
        with pytest.raises(ValueError, match="missing=") as error:
            function(BLANK, NUMBERS)
        for rule in re.findall(r"missing='(\w+)'", str(error.value)):
            assert 0 < function(BLANK, NUMBERS, missing=rule, n_resamples=19).test.pvalue <= 1
    with pytest.raises(ValueError, match="missing=") as error:
        km.TableEncoder().fit(BLANK)
    for rule in re.findall(r"missing='(\w+)'", str(error.value)):
        assert km.TableEncoder(missing=rule).fit_transform(BLANK).shape[0] == 40


COMMANDS = (
    "compare {0} {1}",
    "compare {0} {1} --missing noise",
    "compare {0} {1} --bandwidth 2",
    "compare {0} {1} --estimator kme --bandwidth likelihood",
    "compare {0} {1} --ordinal kind=x",
    "compare {0} {1} --stream",
    "compare {0} {1} --stream --bandwidth 2",
    "compare {0} --by kind",
    "compare {0} --by name",
    "compare {0} {1} --stream --missing noise",
    "dependence {0}",
    "dependence {0} --missing noise",
    "estimate {0}",
    "estimate {0} --missing drop",
    "density {0}",
    "density {0} --missing drop",
    "monitor {0} {1}",
)


_QUICK = {"compare": ("--resamples", "19"), "dependence": ("--resamples", "19"), "density": ("--components", "1")}


def options_of(command: str) -> set[str]:
    import typer

    from kernelmean.cli import app

    found = typer.main.get_command(app).commands[command]  # type: ignore[attr-defined]
    return {word for each in found.params for word in (*each.opts, *each.secondary_opts)}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("command", COMMANDS)
def test_errors_on_the_command_line_offer_options_of_the_command(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], unsearched_peers: None, no_refits: None
) -> None:
    for name, table in {**TABLES, "other": OTHER}.items():
        table.to_csv(tmp_path / f"{name.replace(' ', '-')}.csv", index=False)
    known, refused = options_of(command.split()[0]), 0
    for name in ("blank", "empty", "mixed", "dates", "many", "text-blank", "numbers"):
        paths = [str(tmp_path / f"{each}.csv") for each in (name, "other" if name == "numbers" else name)]
        if run([*command.format(*paths).split(), "--quiet", *_QUICK.get(command.split()[0], ())]) != 2:
            continue
        refused += 1
        message = capsys.readouterr().err
        assert not re.search(r"(?<![\w-])(missing|drop|columns|estimator|bandwidth|categorical|ordinal)=", message)
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", message):
            assert option in known, (command, option, message)
    assert refused


def test_several_tables_are_sent_to_the_function_for_them() -> None:
    first, second, third = np.random.default_rng(0).normal(size=(3, 12, 2))
    with pytest.raises(
        TypeError, match=r"compare takes 2 tables, 3 were passed; .* compare_groups\(table, 'that column'\)"
    ):
        km.compare(first, second, third)
    with pytest.raises(
        ValueError, match=r"1 sample was passed.*k_sample_test\(X, Y, Z\), or k_sample_test\(\*samples\)"
    ):
        km.k_sample_test([first, second])
    with pytest.raises(ValueError, match=r"k_sample_test\(\*samples\.values\(\)\)"):
        km.k_sample_test({"a": first, "b": second})


def test_numbers_that_are_text_in_a_frame_are_converted() -> None:
    table = pd.DataFrame(
        {"FL": [f"{x:.2f}" for x in np.random.default_rng(0).normal(size=12)], "y": np.arange(12.0) ** 2}
    )
    with pytest.raises(
        TypeError, match=r"; write all of them as numbers \(pandas: df\['FL'\]\.astype\(float\)\), leave"
    ):
        km.compare(table, table)


def test_the_printed_size_of_an_effect_is_short() -> None:
    first, second = np.random.default_rng(0).normal(size=(2, 12, 3))
    kernel = km.kernels.Gaussian(np.full(3, 3.9012345678))
    size = km.mmd_test(first, second, kernel=kernel).effect_size(rng=0)
    assert str(size) == size.summary()
    assert str(size).endswith("kernel: Gaussian(bandwidth=3.901)")
    other = km.mmd_test(first, second, kernel=km.kernels.Gaussian(np.array([1.0, 2.0, 3.123456]))).effect_size(rng=0)
    assert str(other).endswith("kernel: Gaussian(bandwidth=(1.0, 2.0, 3.123))")
