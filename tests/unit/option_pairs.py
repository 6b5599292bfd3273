"""Whether both of two options have an effect, for every pair of some options of a function."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

Run = Callable[..., str]
Values = Mapping[str, tuple[Any, ...]]
THIRDS = pytest.mark.parametrize("third", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in (1, 2))])
"""Every third option, or every third pair of options; the others wait for ``-m slow``."""


def outcome(run: Run, **options: Any) -> str | None:
    """Return what came out, None where the options are refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return run(**options)
        except (ValueError, TypeError):
            return None


@dataclass(frozen=True)
class Alone:
    """What comes out under each value of each option, and under none."""

    run: Run
    options: Values
    plain: str | None
    outcomes: Mapping[tuple[str, int], str | None]

    @classmethod
    def of(cls, run: Run, options: Values) -> Alone:
        """Run each value of each option once."""
        each = {(name, k): outcome(run, **{name: value}) for name in options for k, value in enumerate(options[name])}
        return cls(run, options, outcome(run), each)

    def silent_pairs(self, third: int, exceptions: Collection[frozenset[str]] = ()) -> list[str]:
        """Return the options that have an effect alone, and none beside another one that is no default."""
        silent, options, alone = [], self.options, self.outcomes
        places = {option: place for place, option in enumerate(options)}
        for first, second in itertools.combinations(options, 2):
            if (places[first] + places[second]) % 3 != third or frozenset((first, second)) in exceptions:
                continue
            for (j, u), (k, v) in itertools.product(enumerate(options[first]), enumerate(options[second])):
                both = outcome(self.run, **{first: u, second: v})
                for own, at, other, other_at in ((first, j, second, k), (second, k, first, j)):
                    if both is not None and both == alone[other, other_at] and alone[own, at] != self.plain:
                        silent.append(f"{own} beside {other}={options[other][other_at]!r}")
        return silent

    def idle_options(self) -> list[str]:
        """Return the options that change nothing alone: a test of pairs would say nothing of them."""
        return [
            name
            for name, values in self.options.items()
            if all(self.outcomes[name, k] == self.plain for k in range(len(values)))
        ]
