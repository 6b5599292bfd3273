"""Data that people have: heaped, rounded, censored, with many zeros, angles, few odd rows, few rows beside many.

Half of the cases are for the design of the default tests, and half are **held out**: these were written down together
with the others before any member, weight or rule was tried on them, and are of another making. Beside those of data
there are cases of the design for losses that were known: columns that go together differently in hidden groups, near
copies of rows, skewness of one column, a ring in a disc, tails that go together, one pair of many columns.

Strengths were set by the default test of that day alone, so that it finds between a fifth and nine tenths.
"""

from __future__ import annotations

import numpy as np
from cases import Case, Data, Rng

DESIGN: dict[str, Case] = {}
HELD_OUT: dict[str, Case] = {}


def _samples(where: dict[str, Case], name: str, n: int, m: int, text: str, draw) -> None:
    """Add a case of two samples; ``draw(rng, n, changed)`` returns n rows of the first or of the second kind."""

    def data(rng: Rng) -> Data:
        return draw(rng, n, 0), draw(rng, m, 1)

    where[name] = Case(name, "two samples", f"{text}; {n} and {m} rows", data, held_out=where is HELD_OUT)


def _pairs(where: dict[str, Case], name: str, n: int, text: str, draw) -> None:
    where[name] = Case(name, "independence", f"{text}; {n} pairs", lambda rng: draw(rng, n), held_out=where is HELD_OUT)


def _column(values: np.ndarray) -> np.ndarray:
    return np.asarray(values, float)[:, None]


# -- for the design: data ----------------------------------------------------------------------------------------------


def heaped(rng: Rng, n: int, changed: int) -> np.ndarray:
    weights = rng.normal(75, 14, n)
    at_fives = rng.random(n) < 0.25 * changed
    return _column(np.where(at_fives, 5 * np.round(weights / 5), np.round(weights)))


def more_zeros(rng: Rng, n: int, changed: int) -> np.ndarray:
    empty = 0.12 + 0.17 * changed
    rate = 3.0 / (1 - empty)
    return _column(np.where(rng.random(n) < empty, 0, rng.negative_binomial(2, 2 / (2 + rate), n)))


def angles(rng: Rng, n: int, changed: int) -> np.ndarray:
    degrees = np.degrees(rng.vonmises(np.pi, 0.55 * changed, n) + 0.5) % 360
    return np.c_[degrees, rng.gamma(3, 2, n)]


def censored(rng: Rng, n: int, changed: int) -> np.ndarray:
    return _column(np.minimum(rng.lognormal(0, 1 + 0.3 * changed, n), 3.0))


def odd_rows(rng: Rng, n: int, changed: int) -> np.ndarray:
    rows = rng.standard_normal((n, 5))
    rows[:, :2] += 2.6 * ((rng.random(n) < 0.03) & bool(changed))[:, None]
    return rows


def few_beside_many(rng: Rng, n: int, changed: int) -> np.ndarray:
    return rng.standard_normal((n, 3)) + changed * np.array([0.6, 0, 0])


def spending(rng: Rng, n: int, changed: int) -> np.ndarray:
    buys = rng.random(n) < 0.3 + 0.05 * changed
    return np.c_[np.where(buys, rng.lognormal(3 + 0.22 * changed, 0.8, n), 0), rng.integers(18, 70, n)]


def survey(rng: Rng, n: int, changed: int) -> np.ndarray:
    answers = 0.7 * rng.standard_normal((n, 1)) + (0.8 + 0.22 * changed) * rng.standard_normal((n, 5))
    return np.clip(np.round(3 + answers), 1, 5)


def hours(rng: Rng, n: int, changed: int) -> np.ndarray:
    evening = rng.random(n) < 0.1 * changed
    return _column(np.floor(np.where(evening, rng.normal(21, 0.7, n), rng.normal(13, 4, n))) % 24)


def near_copies(rng: Rng, n: int, changed: int) -> np.ndarray:
    rows = rng.standard_normal((n, 4))
    copied = rng.choice(n, round(0.24 * n * changed), replace=False)
    rows[copied] = rows[rng.integers(0, n, len(copied))] + 0.01 * rng.standard_normal((len(copied), 4))
    return rows


_samples(DESIGN, "heaped at fives", 200, 200, "whole kilograms; a fourth of the second at multiples of five", heaped)
_samples(DESIGN, "more zeros", 150, 150, "counts of equal mean; 12 and 29 % of zeros beside their own", more_zeros)
_samples(DESIGN, "angles", 120, 120, "degrees, uniform or around one direction, and a speed", angles)
_samples(DESIGN, "censored", 120, 120, "lognormal up to a limit of detection, spreads 1 and 1.3", censored)
_samples(DESIGN, "odd rows", 300, 300, "five normal columns; 3 % of the second moved in two", odd_rows)
_samples(DESIGN, "few beside many", 30, 3000, "three normal columns, one mean differs", few_beside_many)
_samples(DESIGN, "spending", 250, 250, "amounts, mostly zero, that differ in share and size, and an age", spending)
_samples(DESIGN, "survey", 120, 120, "five answers from 1 to 5; the second more often extreme", survey)
_samples(DESIGN, "hours", 150, 150, "hour of the day; a tenth of the second in the evening", hours)
_samples(DESIGN, "near copies", 100, 100, "four normal columns; a fourth of the second nearly copies", near_copies)

# -- for the design: known losses --------------------------------------------------------------------------------------


def hidden_groups(d: int, apart: float, together: float):
    """Return what draws two hidden groups in which the first two columns go together in opposite ways."""

    def draw(rng: Rng, n: int, changed: int) -> np.ndarray:
        group = rng.integers(0, 2, n)
        rows = rng.standard_normal((n, d))
        slope = changed * together * np.where(group == 0, 1.0, -1.0)
        rows[:, 1] = slope * rows[:, 0] + np.sqrt(1 - slope**2) * rows[:, 1]
        rows[:, d // 2 :] += apart * group[:, None]
        return rows

    return draw


def opposite_far(rng: Rng, n: int, changed: int) -> np.ndarray:
    group = rng.integers(0, 2, n)
    rows = rng.standard_normal((n, 6))
    slope = changed * 0.45 * np.where(group == 0, 1.0, -1.0)
    rows[:, 1] = slope * rows[:, 0] + np.sqrt(1 - slope**2) * rows[:, 1]
    rows[:, 2] += 2.0 * group
    return rows


def one_skewed(rng: Rng, n: int, changed: int) -> np.ndarray:
    rows = rng.standard_normal((n, 6))
    if changed:
        rows[:, 0] = (rng.gamma(1.2, 1, n) - 1.2) / 1.2**0.5
    return rows


def ring_in_a_disc(rng: Rng, n: int, changed: int) -> np.ndarray:
    angle, radius = rng.uniform(0, 2 * np.pi, n), np.sqrt(rng.random(n))
    ringed = rng.random(n) < 0.3 * changed
    radius = np.where(ringed, 0.6 + 0.05 * rng.standard_normal(n), radius)
    return np.c_[radius * np.cos(angle), radius * np.sin(angle)]


def joint_tails(rng: Rng, n: int, changed: int) -> np.ndarray:
    rows = rng.standard_normal((n, 3))
    if changed:
        far = np.abs(rows[:, 0]) > 1.2
        rows[far, 1] = 0.85 * np.sign(rows[far, 0]) * np.abs(rows[far, 1]) + 0.5 * rows[far, 1]
    return rows


_samples(DESIGN, "hidden groups d=8", 400, 400, "two groups in which two of 8 columns have slopes of ±.6",
         hidden_groups(8, 0.9, 0.6))  # fmt: skip
_samples(DESIGN, "hidden groups d=6", 300, 300, "two far groups in which two of 6 columns have slopes of ±.45",
         opposite_far)  # fmt: skip
_samples(DESIGN, "one skewed of 6", 120, 120, "normal columns; one of the second skewed, moments equal", one_skewed)
_samples(DESIGN, "ring in a disc", 150, 150, "uniform on a disc; 30 % of the second on a ring", ring_in_a_disc)
_samples(DESIGN, "joint tails", 150, 150, "normal columns; two of the second far out together", joint_tails)


def one_pair(f, noise: float):
    def draw(rng: Rng, n: int) -> Data:
        x, y = rng.standard_normal((2, n, 5))
        y[:, 2] = f(x[:, 3]) + noise * y[:, 2]
        return x, y

    return draw


def spread_by_size(rng: Rng, n: int) -> Data:
    x = rng.standard_normal((n, 1))
    return x, (1 + 0.5 * np.abs(x)) * rng.standard_normal((n, 1))


def tails_together(rng: Rng, n: int) -> Data:
    x, y = rng.standard_normal((2, n, 1))
    far = np.abs(x) > 1.3
    y[far] = np.sign(x[far]) * np.abs(y[far])
    return x, y


def heaped_pairs(rng: Rng, n: int) -> Data:
    x, y = rng.normal(40, 9, n), rng.normal(40, 9, n)
    careless = rng.random(n) < 0.4
    return tuple(_column(np.where(careless, 10 * np.round(own / 10), np.round(own))) for own in (x, y))


def visits(rng: Rng, n: int) -> Data:
    age = rng.integers(20, 80, n)
    goes = rng.random(n) < 0.25 + 0.006 * (age - 20)
    return _column(age), _column(np.where(goes, rng.poisson(3, n), 0))


def seasons(rng: Rng, n: int) -> Data:
    day = rng.integers(1, 366, n)
    return _column(day), _column(0.42 * np.cos(2 * np.pi * (day - 200) / 365) + rng.standard_normal(n))


def small_group(rng: Rng, n: int) -> Data:
    x, y = rng.standard_normal((2, n, 2))
    some = rng.random(n) < 0.05
    x[some, 0], y[some, 0] = 2 + 0.3 * x[some, 0], -2 + 0.3 * y[some, 0]
    return x, y


_pairs(DESIGN, "one pair of 25, line", 100, "five columns each, one of 25 pairs on a line",
       one_pair(lambda x: 0.45 * x, 1))  # fmt: skip
_pairs(DESIGN, "one pair of 25, square", 100, "five columns each, one of 25 pairs on a parabola",
       one_pair(lambda x: 0.5 * x * x, 1))  # fmt: skip
_pairs(DESIGN, "one pair of 25, wave", 150, "five columns each, one of 25 pairs on a wave",
       one_pair(lambda x: np.sin(3 * x), 0.6))  # fmt: skip
_pairs(DESIGN, "spread by size", 150, "the deviation of y is 1 + |x| / 2", spread_by_size)
_pairs(DESIGN, "tails together", 120, "only far out, the signs of both agree", tails_together)
_pairs(DESIGN, "heaped pairs", 200, "two whole numbers, both at multiples of ten in 40 % of the rows", heaped_pairs)
_pairs(DESIGN, "visits", 120, "an age, and counts with a share of zeros that falls with it", visits)
_pairs(DESIGN, "seasons", 150, "a day of the year, and a value with a period of a year", seasons)
_pairs(DESIGN, "small group", 200, "two columns each; 5 % of the rows form a group in both", small_group)

# -- held out ----------------------------------------------------------------------------------------------------------


def said_ages(rng: Rng, n: int, changed: int) -> np.ndarray:
    age = rng.uniform(18, 80, n)
    income = np.exp(8 + 0.01 * age + 0.5 * rng.standard_normal(n))
    rounds = rng.random(n) < (0.1 + 0.35 * changed)
    return np.c_[np.where(rounds, 10 * np.round(age / 10), np.floor(age)), np.round(income, -2)]


def below_the_limit(rng: Rng, n: int, changed: int) -> np.ndarray:
    metals = rng.lognormal(0, 1, (n, 3)) * np.exp(0.4 * rng.standard_normal((n, 1)))
    limit = np.array([0.3 + 0.4 * changed, 0.5, 0.5])
    return np.where(metals < limit, limit / 2, metals)


def claims(rng: Rng, n: int, changed: int) -> np.ndarray:
    claimed = rng.random(n) < 0.2
    return np.c_[claimed * (1 + rng.poisson(0.5 + 0.65 * changed, n)), rng.gamma(2, 5000, n)]


def wind(rng: Rng, n: int, changed: int) -> np.ndarray:
    turned = rng.random(n) < 0.22 * changed
    sector = np.where(turned, rng.normal(0, 1.2, n), rng.uniform(0, 16, n))
    return np.c_[22.5 * (np.round(sector) % 16), 4 * rng.weibull(2, n)]


def stuck_sensor(rng: Rng, n: int, changed: int) -> np.ndarray:
    level = 20 + rng.standard_normal((n, 4)) + 0.8 * rng.standard_normal((n, 1))
    level[rng.random(n) < 0.1 * changed, 1] = 20.0
    return np.round(level, 2)


def pilot_plant(rng: Rng, n: int, changed: int) -> np.ndarray:
    return rng.standard_t(5, (n, 4)) * (1 + changed * np.array([0, 0.45, 0, 0])) + 0.5 * rng.standard_normal((n, 1))


def prices(rng: Rng, n: int, changed: int) -> np.ndarray:
    price = np.exp(rng.normal(2.5, 0.7, n))
    ending = rng.random(n) < 0.3 + 0.35 * changed
    return _column(np.where(ending, np.ceil(price) - 0.01, np.round(price, 2)))


def baskets(rng: Rng, n: int, changed: int) -> np.ndarray:
    bought = rng.random((n, 12)) < np.linspace(0.1, 0.5, 12)
    same = rng.random(n) < 0.65 * changed
    bought[same, 7] = bought[same, 6]
    return bought.astype(float)


def wealth(rng: Rng, n: int, changed: int) -> np.ndarray:
    rows = rng.lognormal(10, 0.6, n)
    rich = rng.random(n) < 0.07 * changed
    return np.c_[np.where(rich, 60_000 * (1 + rng.pareto(1.5, n)), rows), rng.integers(0, 4, n)]


def growth(rng: Rng, n: int, changed: int) -> np.ndarray:
    age = rng.uniform(0, 10, n)
    size = np.where(changed, 4.3 * np.sqrt(age), 1.5 * age) + 1.7 * rng.standard_normal(n)
    return np.c_[age, size]


_samples(HELD_OUT, "said ages", 250, 250, "ages, 10 or 45 % at multiples of ten, and incomes", said_ages)
_samples(HELD_OUT, "below the limit", 100, 100, "three metals; one limit of detection is higher", below_the_limit)
_samples(HELD_OUT, "claims", 200, 200, "counts, four fifths zeros, the others larger, and a sum insured", claims)
_samples(HELD_OUT, "wind", 140, 140, "sixteen directions in degrees, a fifth turned to the north, and a speed", wind)
_samples(HELD_OUT, "stuck sensor", 250, 250, "four related columns; one stands still in 10 % of the rows", stuck_sensor)
_samples(HELD_OUT, "pilot plant", 40, 2000, "four heavy columns; one deviation of the few is 1.45",
         lambda rng, n, changed: pilot_plant(rng, n, 1 - changed))  # fmt: skip
_samples(HELD_OUT, "prices", 120, 120, "prices; 30 or 65 % end at .99", prices)
_samples(HELD_OUT, "baskets", 150, 150, "twelve binary columns; two go together", baskets)
_samples(HELD_OUT, "wealth", 200, 200, "incomes with a long tail of 7 %, and a region", wealth)
_samples(HELD_OUT, "growth", 35, 35, "a size that grows with age, on a line or a curve", growth)


def paid_hours(rng: Rng, n: int) -> Data:
    hours = np.round(rng.normal(35, 8, n))
    pay = np.where(rng.random(n) < 0.4, 40, hours) + rng.normal(0, 12, n)
    return _column(hours), _column(np.round(pay / 5) * 5)


def clayton(rng: Rng, n: int) -> Data:
    frailty = rng.gamma(1.6, 1, n)
    x, y = ((1 + rng.exponential(1, n) / frailty) ** -1.6 for _ in range(2))
    calm = rng.random(n) < 0.55
    return _column(np.where(calm, rng.random(n), x)), _column(np.where(calm, rng.random(n), y))


def traffic(rng: Rng, n: int) -> Data:
    hour = rng.integers(0, 24, n)
    rush = np.isin(hour, [8, 9, 17, 18])
    return _column(hour), _column(rng.poisson(5 + 2.6 * rush))


def fraud(rng: Rng, n: int) -> Data:
    x, y = rng.lognormal(0, 1, (n, 3)), rng.standard_normal((n, 2))
    some = rng.random(n) < 0.04
    x[some, 1], y[some, 1] = 9.0 + 0.3 * rng.standard_normal(some.sum()), 2.5 + 0.2 * y[some, 1]
    return x, y


def gauges(rng: Rng, n: int) -> Data:
    x, y = rng.standard_normal((2, n, 6))
    y[:, 4] = np.where(np.abs(x[:, 1]) > 1, 1.7, 0.0) + 0.8 * y[:, 4]
    return x, y


def same_digit(rng: Rng, n: int) -> Data:
    x, y = rng.integers(0, 10, (2, n))
    same = rng.random(n) < 0.16
    return _column(x), _column(np.where(same, x, y))


_pairs(HELD_OUT, "paid hours", 90, "hours, and a pay in steps of five; 40 % are paid for 40 hours", paid_hours)
_pairs(HELD_OUT, "Clayton tail", 150, "small values come together, in some of the rows", clayton)
_pairs(HELD_OUT, "traffic", 150, "an hour of the day, and counts that rise in four of them", traffic)
_pairs(HELD_OUT, "fraud", 250, "three and two columns; 4 % of the rows are alike in one pair", fraud)
_pairs(HELD_OUT, "gauges", 120, "six columns each; one of 36 pairs depends on the size alone", gauges)
_pairs(HELD_OUT, "same digit", 150, "two digits that are equal in a sixth of the rows more often", same_digit)
