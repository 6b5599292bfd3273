"""A note for tests that nobody chose a kernel for, where one bandwidth serves columns of very different spreads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.array import Array, column_variances, joined
from ..core.points import Names, named_points, points_like

MOST = 10.0
"""How many times the smallest spread of a column the largest may be without a note."""


def units_notes(*samples: Any, study: str = "compare", adaptive: bool = True) -> tuple[str, ...]:
    """Return what to tell of the columns of some samples when their spreads differ widely, and what to write.

    Parameters
    ----------
    *samples : array of shape (n, d) or data frame
        Of the same columns; the spread of a column is its standard deviation over all rows.
    study : str
        The function of the package that compares columns in units of their spread.
    adaptive : bool
        Whether the test takes ``estimator="adaptive"``.
    """
    first, names = named_points(samples[0])
    if first.shape[1] < 2:
        return ()
    others = [points_like(sample, names, "Y", "X") for sample in samples[1:]]
    with np.errstate(over="ignore", invalid="ignore"):
        spreads = np.sqrt(column_variances(joined([first, *others])))
    return _notes(spreads, names, study, adaptive)


def _notes(spreads: Array, names: Names, study: str, adaptive: bool) -> tuple[str, ...]:
    varying = np.flatnonzero(spreads > 0)
    if not varying.size:
        return ()
    least, most = varying[np.argmin(spreads[varying])], varying[np.argmax(spreads[varying])]
    if not spreads[most] > MOST * spreads[least]:
        return ()
    small, large = (names[j] if names else f"x{j}" for j in (int(least), int(most)))
    write = ["estimator='adaptive'"] * adaptive + [f"kernelmean.{study}", "or standardise the columns"]
    return (
        f"column {large!r} spreads {spreads[most]:.3g} and column {small!r} {spreads[least]:.3g}: one bandwidth for "
        f"all columns sees little of {small!r}; write {', '.join(write)}",
    )


def each_notes(variables: Sequence[Any], **how: Any) -> tuple[str, ...]:
    """Return the notes of several variables, each with columns of its own."""
    return tuple(note for variable in variables for note in units_notes(variable, study="dependence", **how))
