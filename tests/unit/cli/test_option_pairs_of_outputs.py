"""Every option of density, and every output of the other commands, has an effect beside all others together.

An option that another one leaves without effect has none beside all of them either, so this asks of every pair at the
price of one run for each option.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from ..option_pairs import THIRDS, Values, outcome
from .test_option_pairs import command, place, values

__all__ = ["place"]


@pytest.fixture
def timeless(monkeypatch: pytest.MonkeyPatch, unsearched_peers: None) -> Iterator[None]:
    """Leave out most searches, and the seconds, which no two runs have in common; close all pictures."""
    monkeypatch.setattr("kernelmean.studies.density._COMPONENTS", (1, 3))
    monkeypatch.setattr("kernelmean.studies.density._FOLDS", 2)
    monkeypatch.setattr(time, "perf_counter", lambda: 0.0)
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


DRAWN = """
--plot out.svg
--html out.html
"""
OUTPUTS = """
--csv out.csv
--json out.json
--quiet
"""
COMPARED = f"""
--estimator mkme
--bandwidth 0.5
--resamples 29
--no-scale
--columns a,c,d
--categorical c
--ordinal d=w,u,v
--seed 1
--fail-on-drift 0.99
{OUTPUTS}
"""
COMMANDS = {
    "density A-numbers.csv": f"""
        --estimator kme
        --components 2
        --covariance diag
        --held-out 0.4
        --save mean.npz
        --sample 3 --sample-to rows.csv
        --no-scale
        --columns a,b
        --max-rows 12
        --seed 1
        {OUTPUTS}
        """,
    "estimate A-numbers.csv": """
        --estimator kme
        --save mean.npz
        --bandwidth 0.5
        --no-scale
        --columns a,b
        --max-rows 12
        --seed 1
        --csv out.csv
        --json out.json
        --quiet
        """,
    "compare A.csv B.csv": f"{COMPARED} --max-rows 12",
    "compare A.csv B.csv --stream": COMPARED,
    "dependence A.csv": f"""
        --estimator kme
        --resamples 29
        --no-scale
        --drop h
        --ordinal d=w,u,v
        --categorical c
        --max-rows 12
        --seed 1
        --x a,c
        {OUTPUTS}
        """,
    "monitor A.csv B.csv": """
        --columns a,c,d
        --ordinal d=w,u,v
        --categorical c
        --by h
        --checkpoint state.json
        --fail-on-drift 0.99
        --seed 1
        --csv out.csv
        --json out.json
        --quiet
        """,
}


@THIRDS
@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_an_effect_beside_all_others(name: str, third: int, place: Path, timeless: None) -> None:
    options = values(COMMANDS[name])
    assert ignored(name, options, among=list(options)[third::3]) == []


PAGES = (
    "density A-numbers.csv",
    "estimate A-numbers.csv",
    "compare A.csv B.csv",
    "dependence A.csv",
    "monitor A.csv B.csv",
)


@pytest.mark.parametrize("name", PAGES)
def test_every_picture_and_page_is_written_beside_all_options(name: str, place: Path, timeless: None) -> None:
    """No command writes a file of this name without the option: that it is there is the effect."""
    written = command(*name.split())(**{option: value for option, (value,) in values(COMMANDS[name] + DRAWN).items()})
    assert [file for file in ("out.svg", "out.html", "out.md") if f"'{file}'" not in written] == []


def ignored(name: str, values: Values, among: Sequence[str]) -> list[str]:
    """Return which of some options change nothing beside all the others."""
    run, options = command(*name.split()), {option: value for option, (value,) in values.items()}
    whole = run(**options)
    others = {one: {key: options[key] for key in options if key != one} for one in among}
    return [one for one in others if outcome(run, **others[one]) == whole]
