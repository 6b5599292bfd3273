"""Where groups lie relative to each other: a map whose distances say how strongly groups differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from ...core.array import Array
from ...inference.wording import brief
from ...report import HeatMap, Panel, Points, pictures

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Grouped(Protocol):
    """What is drawn of a :class:`~kernelmean.studies.GroupComparison`: groups, and the strengths of all pairs."""

    @property
    def by(self) -> str:
        """The column that holds the groups."""

    def heat_map(self) -> HeatMap:
        """Return the strengths of all pairs, 0 for those below 0."""


def groups_map(result: Grouped, *, ax: Axes | None = None) -> Axes:
    """Draw groups as points of the plane: those near each other are alike, those far apart differ.

    The squared distance of two groups is their strength, or 0 where the unbiased strength is below 0.

    Parameters
    ----------
    result : GroupComparison
        As :func:`kernelmean.compare_groups` returns it.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Examples
    --------
    >>> from kernelmean.studies.groups import compare_groups
    >>> ax = groups_map(compare_groups("iris", "target", estimator="kme", n_resamples=19))
    >>> [text.get_text() for text in ax.texts]
    ['0', '1', '2']
    """
    return pictures.show(near_map(result)[0], ax, size=(4.2, 3.4))


def near_map(result: Grouped) -> tuple[Panel, float]:
    """Return the map of the groups, and the share of their squared distances that it shows."""
    pairs = result.heat_map()
    squared = np.array([[strength or 0.0 for strength in row] for row in pairs.values])
    places, share = scaled(squared)
    x, y = (tuple(column.tolist()) for column in places.T)
    points = Points(brief(result.by), x, y, pairs.rows)
    return Panel("", "first direction", "second direction", points=(points,)), share


def scaled(squared: Array) -> tuple[Array, float]:
    r"""Return places in the plane with squared distances near given ones, shape (k, 2), and the share that they show.

    Classical scaling: with :math:`B = -\frac12 J D J`, D the squared distances and J the centering, coordinates are
    the two leading eigenvectors times the roots of their eigenvalues. The share is the sum of these two eigenvalues
    over the absolute values of all; for Euclidean distances it is that of the sum of squared distances. O(k³) time;
    Torgerson (1952).

    Examples
    --------
    >>> places, share = scaled(np.square([[0.0, 3.0, 4.0], [3.0, 0.0, 5.0], [4.0, 5.0, 0.0]]))
    >>> float(np.linalg.norm(places[1] - places[2]).round(9)), round(share, 9)
    (5.0, 1.0)
    """
    centered = squared - squared.mean(axis=0) - squared.mean(axis=1, keepdims=True) + squared.mean()
    values, vectors = np.linalg.eigh(-centered / 2)
    kept, leading = np.maximum(values[:-3:-1], 0.0), vectors[:, :-3:-1]
    ends = leading[np.abs(leading).argmax(axis=0), [0, 1]]
    total = float(np.abs(values).sum())
    return leading * np.sign(ends) * np.sqrt(kept), float(kept.sum()) / total if total > 0.0 else 1.0
