"""The default members of the adaptive tests: a table for two samples and one for pairs, with a sentence for each.

Single columns and changes have short lists of their own, where they are tested: ``studies/comparison/column_tests.py``,
``studies/dependence/column_features.py``, ``changes/features.py`` and ``monitoring/scores.py``; joint independence of
several variables in ``candidates.py``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from .member import (
    BOX,
    EIGHTH,
    ENERGY,
    HAT,
    LINEAR,
    MEDIAN,
    QUADRATIC,
    QUARTER,
    SIXTEENTH,
    WIDE,
    Member,
    PairMember,
)

SAMPLE_SIZES = 12.0, 50.0, 110.0, 250.0, 1500.0, 3500.0, 20_000.0
"""The rows of a sample (their harmonic mean) for which the table has weights."""
PAIR_NUMBERS = 12.0, 55.0, 110.0
"""The pairs of rows, likewise."""


@final
@dataclass(frozen=True)
class DefaultMember:
    """A default member for two samples."""

    name: str
    """Of its kernel or its view; "filtered", "sharp" and "fine" are λ = .1, .01 and .001."""
    group: str
    """The kind of difference that it is for."""
    look: Member
    """Its view and its kernel, not yet weighted."""
    weights: tuple[float, ...]
    """How much it counts at every size of ``SAMPLE_SIZES``; a test divides by the sum of its members."""
    weight_in_clusters: float
    """How much it counts where rows lie in far clusters, at any size."""
    sees: str
    """What it sees best, by its own p-values of simulated data, most of it with 100 rows a sample."""


@final
@dataclass(frozen=True)
class DefaultPair:
    """A default member for pairs; if its looks at X and Y differ, its mirror image is another pair."""

    name: str
    """As in :class:`DefaultMember`; of two, what looks at X comes first."""
    group: str
    """The kind of dependence that it is for."""
    x: Member
    """The view of X and its kernel, not weighted: pairs are."""
    y: Member
    """The view of Y and its kernel."""
    weights: tuple[float, float, float]
    """How much it counts, with its mirror image, at every number of ``PAIR_NUMBERS``."""
    sees: str
    """What it sees best, by its own p-values of simulated data, most of it with 100 pairs of rows."""

    @property
    def looks(self) -> tuple[tuple[Member, Member], ...]:
        """Return what looks at X and at Y, and the same the other way round if that is another pair."""
        return ((self.x, self.y),) if self.x == self.y else ((self.x, self.y), (self.y, self.x))


TWO_SAMPLES: tuple[DefaultMember, ...] = (
    DefaultMember("mean", "means", Member("data", LINEAR), (24, 22, 15, 18, 16, 26, 32), 6,
                  "Shifts of the means of columns without long tails, one or several."),
    DefaultMember("energy of scores", "means", Member("scores", ENERGY), (34, 4, 1.5, 1, 1, 1, 1), 1,
                  "Shifts of skewed columns, and of columns with outliers."),
    DefaultMember("whitened mean", "means", Member("white", LINEAR), (5, 4, 2, 9, 8, 14, 17), 1,
                  "Shifts of correlated columns against their correlation, small in each of them."),
    DefaultMember("mean of one column", "means", Member("axes", LINEAR), (2, 11, 6, 4, 4, 6, 8), 1,
                  "A shift of one column among many: the largest statistic of all columns counts."),
    DefaultMember("radius", "spread", Member("radius", LINEAR), (7, 8, 5, 5, 6, 7, 6), 1,
                  "A spread that differs in all columns alike."),
    DefaultMember("spread of one column", "spread", Member("square axes", LINEAR), (3, 2, 2, 2, 2, 2, 2), 1,
                  "A different spread of one column among many: the largest statistic of all columns counts."),
    DefaultMember("second moments", "columns together", Member("data", QUADRATIC), (2, 3, 7, 3, 3, 6, 5), 1,
                  "The spread or the outliers of a single column, and weak correlations of many columns."),
    DefaultMember("products", "columns together", Member("products", LINEAR), (1, 4, 3, 4, 3, 6, 6), 1,
                  "Correlations, in tables of 2 to 23 columns."),
    DefaultMember("one product", "columns together", Member("product axes", LINEAR), (1, 3, 3, 3, 3, 5, 5), 1,
                  "A correlation of two columns among 24 to 45: the largest statistic of all pairs counts."),
    DefaultMember("interaction", "columns together", Member("interactions", LINEAR), (3, 2, 2, 3, 3, 6, 5), 1,
                  "Two columns that go together in opposite ways in two hidden groups."),
    DefaultMember("moments of one column", "shape", Member("moment axes", LINEAR), (2, 4, 4, 4, 4, 6, 7), 1,
                  "Skewness, or longer tails, of one column among many: the largest statistic of all columns counts."),
    DefaultMember("radius, sharp", "shape", Member("radius", ENERGY, ridge=0.01), (2, 4, 5, 3, 3, 1, 0.5), 1,
                  "Rings, holes and tails of several columns together, by the distances from the middle."),
    DefaultMember("median, sharp", "shape", Member("data", MEDIAN, ridge=0.01), (1, 3, 9, 7, 7, 4, 1), 1,
                  "Skewness of one column, and two peaks instead of one."),
    DefaultMember("narrow", "local", Member("data", QUARTER), (5, 7, 11, 3, 3, 1, 0.5), 1,
                  "A dense place among the rows, and peaks in one of two columns."),
    DefaultMember("narrow, fine", "local", Member("data", QUARTER, ridge=0.001), (0, 0, 2, 13, 19, 5, 1.5), 1,
                  "Waves of two to six periods in one column, and checkered patterns in two columns."),
    DefaultMember("narrower", "local", Member("data", EIGHTH), (3, 8, 13, 2, 2, 1, 0.5), 1,
                  "A tight cluster with a tenth of the rows."),
    DefaultMember("narrow in ranks", "local", Member("ranks", SIXTEENTH), (0, 1.5, 4, 5, 4, 1, 0.5), 1,
                  "A value, or a combination of values, that is more frequent in one sample."),
    DefaultMember("copies", "local", Member("nearest", HAT), (3, 3, 3, 2, 2, 1, 0.5), 1,
                  "Copies of rows, exact or nearly so, and values that many rows share."),
    DefaultMember("nearest", "local", Member("nearest", MEDIAN, ridge=0.001), (0, 1, 6, 8, 8, 3, 1), 5,
                  "Waves of ten periods or more in one column, and differences within a dozen far clusters."),
    DefaultMember("near", "local", Member("near", WIDE, ridge=0.001), (0, 0, 0, 0, 0, 0, 0), 50,
                  "Shifts within up to eight far clusters."),
    DefaultMember("box, fine", "local", Member("blocks", BOX, ridge=0.001), (0, 0, 0, 0, 0, 0, 0), 25,
                  "Shifts, spreads and gaps within a few clusters that lie some dozens of their spreads apart."),
)  # fmt: skip

_DATA, _RANKS, _RADIUS = (Member(view, ENERGY) for view in ("data", "ranks", "radius"))


def _alike(name: str, group: str, side: Member, weights: tuple[float, float, float], sees: str) -> DefaultPair:
    """Return a pair that looks at X and Y alike."""
    return DefaultPair(name, group, side, side, weights, sees)


INDEPENDENCE: tuple[DefaultPair, ...] = (
    _alike("correlation", "trend", Member("data", LINEAR), (32, 10, 8),
           "Straight lines."),
    _alike("correlation of scores", "trend", Member("scores", LINEAR), (2, 6, 6),
           "Trends of skewed columns, and straight lines."),
    _alike("wide", "trend", Member("data", WIDE), (4, 17, 6),
           "Trends that bend, and trends of most rows although a few lie far away."),
    _alike("correlation of one pair", "trend", Member("axes", LINEAR), (3, 10, 12),
           "A trend of one pair of columns among many: the largest statistic of all pairs counts."),
    _alike("median", "smooth", Member("data", MEDIAN), (2, 4, 3),
           "Trends that bend, nearly as well as a wide kernel, and curves that turn once, better than it."),
    DefaultPair("median, filtered | median, sharp", "smooth",
                Member("data", MEDIAN, ridge=0.1), Member("data", MEDIAN, ridge=0.01), (0, 2, 2),
                "Curves that turn twice, and loops with three turns in one variable for two in the other."),
    DefaultPair("energy, fine | energy", "curve", Member("data", ENERGY, ridge=0.001), _DATA, (0, 3, 17),
                "Waves of six to twenty periods."),
    DefaultPair("ranks, sharp | ranks", "curve", Member("ranks", ENERGY, ridge=0.01), _RANKS, (10, 0, 0),
                "Waves of two periods in skewed columns."),
    DefaultPair("narrow | energy", "curve", Member("data", QUARTER), _DATA, (24, 2, 1),
                "Waves of one or two periods."),
    DefaultPair("narrow, filtered | energy", "curve", Member("data", QUARTER, ridge=0.1), _DATA, (4, 9, 3),
                "Waves of two periods, and of one or three nearly as well."),
    DefaultPair("narrow, sharp | energy", "curve", Member("data", QUARTER, ridge=0.01), _DATA, (0, 9, 3),
                "Waves of three to five periods."),
    DefaultPair("products | energy", "several columns", Member("products", ENERGY), _DATA, (1, 9, 10),
                "Two columns that matter only together, as in an exclusive or."),
    DefaultPair("curve of one pair", "curve", Member("curve axes", LINEAR), Member("axes", LINEAR), (3, 3, 3),
                "A curve of one pair of columns among many: the largest statistic of all pairs counts."),
    _alike("correlation of radii", "spread", Member("radius", LINEAR), (1.5, 1.5, 1.5),
           "A spread that grows with the distance of the other variable from its middle."),
    _alike("radius", "spread", _RADIUS, (1, 5, 4),
           "Spreads that grow together, rings and crosses."),
    DefaultPair("radius | energy", "spread", _RADIUS, _DATA, (11, 1, 1),
                "Spreads of several columns that all grow with the other variable."),
    DefaultPair("squares | energy", "spread", Member("squares", ENERGY), _DATA, (1, 3, 3),
                "The spread of one column that grows with the other variable, and curves that turn once."),
    _alike("narrow", "local", Member("data", QUARTER), (1, 2, 4),
           "A cluster in both variables together."),
    _alike("narrow, filtered", "local", Member("data", QUARTER, ridge=0.1), (0, 1, 6),
           "Curves that cross themselves, and checkered patterns of six by six fields."),
    _alike("narrow, sharp", "local", Member("data", QUARTER, ridge=0.01), (0, 1, 6),
           "Checkered patterns of eight by eight fields or more, and a line on which some of the rows lie."),
    _alike("copies", "local", Member("nearest", HAT), (1.5, 1.5, 1.5),
           "Values of both variables that many rows share together, as of numbers that are rounded together."),
)  # fmt: skip


def two_sample_members(size: float = SAMPLE_SIZES[1], clustered: float = 0.0) -> tuple[Member, ...]:
    """Return the default members for two samples of so many rows each.

    Means have half of the weight where samples are small: there nothing local can be seen. Up to 250 rows, more and
    more of it goes to differences of shape and to local ones. From 1,500 to 20,000 rows it comes back to means: there a
    local difference hardly needs the weight to be found, and a small shift does. Where the rows lie in far clusters,
    the weight goes to differences within clusters, which wide kernels cannot see.

    Parameters
    ----------
    size : float
        The harmonic mean of the numbers of rows.
    clustered : float
        From 0 to 1, how surely the rows lie in far clusters, see
        :func:`kernelmean.inference.adaptive.columns.clustered`.
    """
    members = []
    for row in TWO_SAMPLES:
        usual = _at(size, SAMPLE_SIZES, row.weights)
        weight = (1 - clustered) * usual + clustered * row.weight_in_clusters
        if weight > 0.0:
            members.append(replace(row.look, weight=weight, group=row.group))
    return tuple(members)


def independence_members(size: float = PAIR_NUMBERS[1]) -> tuple[PairMember, ...]:
    """Return the default pairs for two variables of so many rows; every one comes with its mirror image.

    A regularized kernel against a wide one sees that the mean of one variable is a function of the other, however
    fast that function turns; two narrow or regularized ones see local dependence.
    """
    pairs = []
    for row in INDEPENDENCE:
        weight = _at(size, PAIR_NUMBERS, row.weights)
        if weight > 0.0:
            pairs += [PairMember(x, y, weight / len(row.looks), row.group) for x, y in row.looks]
    return tuple(pairs)


def _at(size: float, sizes: tuple[float, ...], weights: tuple[float, ...]) -> float:
    """Return the weight at a size, linear in its logarithm between the sizes that have their own."""
    return float(np.interp(np.log(size), np.log(sizes), weights))
