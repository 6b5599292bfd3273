"""A broad prior of differences and of dependence, from which the weights of the default tests are learned.

Every draw is another problem: a family, numbers of rows and columns, laws of columns and a strength are all random.
Strengths are about those that a good test finds half of the time. Nothing here looks at the cases of the power study,
nor at public benchmarks; what is simulated is wide, so that no single case can matter.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Rng = np.random.Generator
Table = np.ndarray
Difference = Callable[[Rng, int, int, int], tuple[Table, Table]]
Dependence = Callable[[Rng, int], tuple[Table, Table]]


def rows_and_columns(rng: Rng, fewest: int, most: int, widest: int) -> tuple[int, int, int]:
    """Return two numbers of rows, often equal, and a number of columns, often small."""
    n = int(np.exp(rng.uniform(np.log(fewest), np.log(most))))
    m = n if rng.random() < 0.7 else int(np.clip(n * np.exp(rng.normal(0, 1)), fewest, most))
    d = int(np.exp(rng.uniform(0, np.log(widest)))) if rng.random() < 0.7 else 1
    return n, m, d


def laws(rng: Rng, d: int) -> Callable[[int], Table]:
    """Return what draws rows of one random law: of every column, and of how columns go together."""
    kind = rng.choice(
        ["normal", "students", "lognormal", "uniform", "counts", "mixed"], p=[0.4, 0.15, 0.15, 0.1, 0.1, 0.1]
    )
    rho = rng.choice([0.0, rng.uniform(0, 0.8)])
    loading = rng.normal(0, 1, d) * (rng.random(d) < 0.6)

    def draw(n: int) -> Table:
        z = np.sqrt(1 - rho) * rng.standard_normal((n, d)) + np.sqrt(rho) * rng.standard_normal((n, 1)) * loading
        if kind == "students":
            z = z / np.sqrt(rng.chisquare(3, (n, 1 if rho else d)) / 3)
        elif kind == "lognormal":
            z = np.exp(0.8 * z)
        elif kind == "uniform":
            z = np.tanh(z)
        elif kind == "counts":
            z = np.floor(np.exp(1 + 0.6 * z))
        elif kind == "mixed":
            z = np.where(np.arange(d) % 2 == 0, z, np.exp(0.8 * z))
        return z

    return draw


def some(rng: Rng, d: int) -> np.ndarray:
    """Return which columns a difference concerns: one, some or all."""
    k = int(rng.choice([1, max(1, d // 3), d]))
    return rng.permutation(d)[:k]


def _balance(n: int, m: int) -> float:
    return float(np.sqrt((n + m) / (n * m)))


def shift(rng: Rng, n: int, m: int, d: int) -> tuple[Table, Table]:
    draw, where = laws(rng, d), some(rng, d)
    x, y = draw(n), draw(m)
    spread = np.subtract(*np.quantile(x[:, where], [0.75, 0.25], axis=0)) / 1.35 + 1e-3
    by = rng.uniform(1.4, 4.6) * _balance(n, m) * (1 + np.log(d) / 6) / len(where) ** 0.35
    y[:, where] += by * spread * rng.choice([-1, 1], len(where) if rng.random() < 0.5 else 1)
    return x, y


def scale(rng: Rng, n: int, m: int, d: int) -> tuple[Table, Table]:
    draw, where = laws(rng, d), some(rng, d)
    x, y = draw(n), draw(m)
    by = np.exp(rng.choice([-1, 1]) * rng.uniform(1.2, 4) * _balance(n, m) * (1 + np.log(d) / 6) / len(where) ** 0.35)
    middle = np.median(x[:, where], axis=0)
    y[:, where] = middle + by * (y[:, where] - middle)
    return x, y


def together(rng: Rng, n: int, m: int, d: int) -> tuple[Table, Table]:
    d = max(2, d)
    rho = min(0.95, rng.uniform(1.3, 4) * _balance(n, m) * (1 + np.log(d) / 8))
    x, y = rng.standard_normal((n, d)), rng.standard_normal((m, d))
    way = rng.integers(0, 4)
    if way == 0:
        y[:, 1] = rho * y[:, 0] + np.sqrt(1 - rho**2) * y[:, 1]
    elif way == 1:
        y = y @ np.linalg.cholesky((0.7 * rho) ** np.abs(np.subtract.outer(range(d), range(d)))).T
    elif way == 2:
        share = rho / d**0.5
        y = np.sqrt(1 - share) * y + np.sqrt(share) * rng.standard_normal((m, 1))
    else:  # opposite in hidden groups
        for rows, own in ((x, 0.0), (y, min(0.95, 1.6 * rho))):
            group = rng.integers(0, 2, len(rows))
            slope = own * np.where(group == 0, 1, -1)
            rows[:, 1] = slope * rows[:, 0] + np.sqrt(1 - slope**2) * rows[:, 1]
            rows[:, -1] += 2.5 * group * (d > 2)
            rows[:, : 2 + (d == 2)] += 0.8 * group[:, None] * (d == 2)
    return _turned(rng, x, y)


def _turned(rng: Rng, x: Table, y: Table) -> tuple[Table, Table]:
    """Return both tables with columns in another order, sometimes as they are and sometimes by a monotone function."""
    order = rng.permutation(x.shape[1])
    if rng.random() < 0.2:
        return np.exp(0.5 * x[:, order]), np.exp(0.5 * y[:, order])
    return x[:, order], y[:, order]


def shape(rng: Rng, n: int, m: int, d: int) -> tuple[Table, Table]:
    where, by = some(rng, d), float(np.clip(rng.uniform(1.5, 6) * _balance(n, m) ** 0.75, 0.05, 1))
    x, y = rng.standard_normal((n, d)), rng.standard_normal((m, d))
    size, way = (m, len(where)), rng.integers(0, 6)
    if way == 0:
        alpha = 0.7 / by**2
        new = (rng.gamma(alpha, 1, size) - alpha) / np.sqrt(alpha)
    elif way == 1:
        df = 2.2 + 1.2 / by
        new = rng.standard_t(df, size) * np.sqrt((df - 2) / df)
    elif way == 2:
        apart = min(0.98, 0.35 + 0.6 * by)
        new = apart * rng.choice([-1, 1], size) + np.sqrt(1 - apart**2) * rng.standard_normal(size)
    elif way == 3:
        new = np.where(rng.random(size) < by, rng.uniform(-(3**0.5), 3**0.5, size), rng.standard_normal(size))
    elif way == 4:
        new = np.where(rng.random(size) < by, rng.laplace(0, 0.5**0.5, size), rng.standard_normal(size))
    else:
        share = 0.5 * by
        new = np.where(rng.random(size) < share, 0.25 * rng.standard_normal(size), rng.standard_normal(size))
        new /= np.sqrt(1 - share * (1 - 0.0625))
    y[:, where] = new if rng.random() < 0.5 else -new
    return _turned(rng, x, y)


def lump(rng: Rng, n: int, m: int, d: int) -> tuple[Table, Table]:
    d = min(d, 6)
    x, y = rng.standard_normal((n, d)), rng.standard_normal((m, d))
    share = float(np.clip(rng.uniform(0.8, 3.5) * _balance(n, m), 0.02, 0.5))
    inside, width = rng.random(m) < share, np.exp(rng.uniform(np.log(0.03), np.log(0.5)))
    y[inside] = rng.normal(0, 1, d) + width * y[inside]
    return _turned(rng, x, y)


def outliers(rng: Rng, n: int, m: int, d: int) -> tuple[Table, Table]:
    draw, where = laws(rng, d), some(rng, d)
    x, y = draw(n), draw(m)
    far = rng.random(m) < np.clip(rng.uniform(0.5, 2) * _balance(n, m), 0.01, 0.4)
    y[np.ix_(far, where)] += rng.uniform(1.5, 5) * x[:, where].std(axis=0) * rng.choice([-1, 1], len(where))
    return x, y


def waves(rng: Rng, n: int, m: int, d: int) -> tuple[Table, Table]:
    d = int(rng.choice([1, 1, 2, 3]))
    n, m = max(n, 60), max(m, 60)
    k = int(rng.integers(1, 9 if d == 1 else 4))
    height = float(np.clip(rng.uniform(1.5, 5) * _balance(n, m) * (1 + 0.15 * k) * d, 0.1, 1))

    def perturbed(size: int) -> Table:
        points = rng.random((8 * size + 200, d))
        kept = rng.random(len(points)) * (1 + height) < 1 + height * np.sin(2 * np.pi * k * points).prod(axis=1)
        return points[kept][:size]

    return rng.random((n, d)), perturbed(m)


def clusters(rng: Rng, n: int, m: int, d: int) -> tuple[Table, Table]:
    d, k = min(d, 5), int(rng.integers(2, 10))
    far, way = np.exp(rng.uniform(np.log(3), np.log(30))), rng.integers(0, 4)
    centers = far * (rng.integers(0, 3, (k, d)) if rng.random() < 0.5 else rng.standard_normal((k, d)))
    some_clusters = rng.random(k) < rng.choice([1 / k, 0.5, 1.0])
    some_clusters[0] = True
    by = rng.uniform(1.4, 4.5) * _balance(n, m) * np.sqrt(k / some_clusters.sum())
    direction = rng.standard_normal(d)
    direction /= np.linalg.norm(direction)

    def draw(size: int, by: float) -> Table:
        weights = np.ones(k) / k
        if way == 3:
            weights = weights * np.exp(by * some_clusters)
        label = rng.choice(k, size, p=weights / weights.sum())
        noise, changed = rng.standard_normal((size, d)), some_clusters[label][:, None]
        if way == 0:
            noise = noise * np.where(changed, np.exp(by), 1)
        elif way == 1:
            noise = noise + np.where(changed, by * direction, 0)
        elif way == 2 and d > 1:
            slope = min(0.97, 1.2 * by)
            slanted = slope * noise[:, 0] + np.sqrt(1 - slope**2) * noise[:, 1]
            noise[:, 1] = np.where(changed[:, 0], slanted, noise[:, 1])
        return centers[label] + noise

    return draw(n, 0.0), draw(m, by if rng.random() < 0.5 or way == 2 else -by)


def round_shapes(rng: Rng, n: int, m: int, d: int) -> tuple[Table, Table]:
    d = int(np.clip(d, 2, 20))
    by, way = float(np.clip(rng.uniform(1.2, 5) * _balance(n, m), 0.05, 1)), rng.integers(0, 3)
    x, y = rng.standard_normal((n, d)), rng.standard_normal((m, d))
    if way == 0:
        y *= np.sqrt(np.maximum(rng.normal(1, min(1.0, 2 * by / np.sqrt(d)) + by / 2, (m, 1)), 0.01))
    elif way == 1:
        ringed = rng.random(m) < by
        lengths = np.linalg.norm(y, axis=1, keepdims=True)
        y = np.where(ringed[:, None], y / lengths * np.sqrt(d) * (1 + 0.08 * rng.standard_normal((m, 1))), y)
    else:
        df = 2 + 2 / by
        y = y / np.sqrt(rng.chisquare(df, (m, 1)) / df)
        y = _normal_columns(y)
        x = _normal_columns(x)
    return x, y


def _normal_columns(table: Table) -> Table:
    return np.sign(table) * np.log1p(np.abs(table))


def ties(rng: Rng, n: int, m: int, d: int) -> tuple[Table, Table]:
    d, by, way = min(d, 8), float(np.clip(rng.uniform(1.2, 4.5) * _balance(n, m), 0.03, 0.9)), rng.integers(0, 5)
    x, y = rng.standard_normal((n, d)), rng.standard_normal((m, d))
    if way == 0:  # heaped
        step, grain = rng.choice([5, 10]), rng.uniform(8, 20)
        x, y = np.round(grain * x), np.round(grain * y)
        some_rows = rng.random(m) < 1.3 * by
        y[some_rows, 0] = step * np.round(y[some_rows, 0] / step)
    elif way == 1:  # zeros
        empty = rng.uniform(0.1, 0.7)
        x, y = np.exp(x), np.exp(y)
        x[rng.random((n, d)) < empty] = 0
        zero = rng.random((m, d)) < np.where(np.arange(d) == 0, min(0.97, empty + 0.5 * by), empty)
        y[zero] = 0
    elif way == 2:  # categories
        shares = rng.dirichlet(np.ones(int(rng.integers(3, 12))))
        other = shares * np.exp(by * rng.standard_normal(len(shares)))
        x[:, 0] = rng.choice(len(shares), n, p=shares)
        y[:, 0] = rng.choice(len(shares), m, p=other / other.sum())
    elif way == 3:  # answers on a scale
        x, y = np.clip(np.round(3 + x), 1, 5), np.clip(np.round(3 + (1 + 0.5 * by) * y + 0.2 * by), 1, 5)
    else:  # one value more often
        y[rng.random(m) < 0.6 * by, 0] = rng.normal()
    return x, y


def copies(rng: Rng, n: int, m: int, d: int) -> tuple[Table, Table]:
    x, y = rng.standard_normal((n, d)), rng.standard_normal((m, d))
    k = int(np.clip(rng.uniform(1, 5) * np.sqrt(m) / 2, 2, m // 2))
    where = rng.choice(m, k, replace=False)
    y[where] = y[rng.integers(0, m, k)] + rng.choice([0, 0.01, 0.05]) * rng.standard_normal((k, d))
    return x, y


TWO_SAMPLES: dict[Difference, float] = {
    shift: 0.24, scale: 0.13, together: 0.12, shape: 0.13, lump: 0.07, outliers: 0.06, waves: 0.07, clusters: 0.08,
    round_shapes: 0.03, ties: 0.06, copies: 0.01,
}  # fmt: skip
"""The families, and the share of each."""
MANY = 1_000_000


def draw_two_samples(seed: int) -> tuple[str, Table, Table]:
    """Return the family and the samples of one random problem: of 8 to 1,500 rows, from ``MANY`` on of up to 20,000."""
    rng = np.random.default_rng([seed, 46])
    sizes = (8, 1500, 40) if seed < MANY else (1500, 20_000, 10)
    family = list(TWO_SAMPLES)[rng.choice(len(TWO_SAMPLES), p=np.array(list(TWO_SAMPLES.values())))]
    x, y = family(rng, *rows_and_columns(rng, *sizes))
    return family.__name__, *((x, y) if rng.random() < 0.5 else (y, x))


# -- pairs -------------------------------------------------------------------------------------------------------------


def _strength(rng: Rng, n: int, low: float = 1.2, high: float = 4.5) -> float:
    return float(rng.uniform(low, high) / np.sqrt(n))


def _in_columns(rng: Rng, x: Table, y: Table, most: int = 8) -> tuple[Table, Table]:
    """Return single columns, or hide them among others that are independent of everything, in any order."""
    if rng.random() < 0.65:
        return x, y
    n = len(x)
    wide = [np.hstack([own, rng.standard_normal((n, int(rng.integers(0, most))))]) for own in (x, y)]
    return wide[0][:, rng.permutation(wide[0].shape[1])], wide[1][:, rng.permutation(wide[1].shape[1])]


def _margin(rng: Rng, column: Table) -> Table:
    way = rng.integers(0, 6)
    if way == 0:
        return np.exp(0.8 * column)
    if way == 1:
        return np.sign(column) * np.abs(column) ** 2.5
    if way == 2:
        return np.round(2 * column)
    return column


def trend(rng: Rng, n: int) -> tuple[Table, Table]:
    d, e = (int(np.exp(rng.uniform(0, np.log(10)))) if rng.random() < 0.4 else 1 for _ in range(2))
    k = min(d, e) if rng.random() < 0.5 else 1
    rho = min(0.97, _strength(rng, n, 1.2, 4.2) * (1 + np.log(d * e) / 8) / k**0.35)
    x, y = rng.standard_normal((n, d)), rng.standard_normal((n, e))
    y[:, :k] = rho * x[:, :k] + np.sqrt(1 - rho**2) * y[:, :k]
    return _margin(rng, x), _margin(rng, y[:, rng.permutation(e)])


def curve(rng: Rng, n: int) -> tuple[Table, Table]:
    x = rng.uniform(-1, 1, (n, 1)) if rng.random() < 0.6 else rng.standard_normal((n, 1)) / 1.7
    way, turns = rng.integers(0, 6), rng.uniform(0.5, 9)
    f = (
        lambda z: z**2 * 3.3, lambda z: np.sin(np.pi * turns * z + 1), lambda z: 2 * (turns * z % 1),
        lambda z: np.exp(2 * z), lambda z: 1.6 * (np.abs(z - 0.3) < 0.5 / turns), lambda z: 2.5 * z**3,
    )[way]  # fmt: skip
    signal = f(x)
    signal = (signal - signal.mean()) / (signal.std() + 1e-9)
    ratio = _strength(rng, n, 1.8, 5) * (1 + 0.12 * turns * (way in (1, 2, 4)))
    y = min(ratio, 3.0) * signal + rng.standard_normal((n, 1))
    return _in_columns(rng, *((x, y) if rng.random() < 0.5 else (y, x)))


def spread(rng: Rng, n: int) -> tuple[Table, Table]:
    x, by = rng.standard_normal((n, 1)), _strength(rng, n, 1.5, 5)
    way = rng.integers(0, 4)
    if way == 0:
        y = np.exp(by * x) * rng.standard_normal((n, 1))
    elif way == 1:
        y = (1 + 1.5 * by * np.abs(x)) * rng.standard_normal((n, 1))
    elif way == 2:
        common = np.exp(1.2 * np.sqrt(by) * rng.standard_normal((n, 1)))
        x, y = common * x, common * rng.standard_normal((n, 1))
    else:
        y = np.where(np.abs(x) < 0.6, 1, 1 + 2 * by) * rng.standard_normal((n, 1))
    return _in_columns(rng, *((x, y) if rng.random() < 0.5 else (y, x)))


def several(rng: Rng, n: int) -> tuple[Table, Table]:
    d, by, way = int(rng.integers(2, 6)), _strength(rng, n, 2, 5.5), rng.integers(0, 3)
    x = rng.standard_normal((n, d))
    if way == 0:
        signal = x[:, :1] * x[:, 1:2]
    elif way == 1:
        signal = np.sign(x[:, :1] * x[:, 1:2])
    else:
        signal = (np.square(x).sum(axis=1, keepdims=True) - d) / np.sqrt(2 * d)
    y = min(by, 3.0) * signal + rng.standard_normal((n, 1))
    return (x, y) if rng.random() < 0.5 else (y, x)


def loops(rng: Rng, n: int) -> tuple[Table, Table]:
    t, way = rng.uniform(0, 2 * np.pi, (n, 1)), rng.integers(0, 5)
    noise = rng.uniform(0.1, 0.35) * (n / 60) ** 0.5
    if way == 0:
        x, y = np.cos(t), np.sin(t)
    elif way == 1:
        a, b = rng.integers(1, 4, 2)
        x, y = np.sin(a * t), np.sin((b + (a == b)) * t + 0.5)
    elif way == 2:
        x, y = t * np.cos(2 * t) / 3, t * np.sin(2 * t) / 3
    elif way == 3:
        x = np.cos(t)
        y = rng.choice([-1, 1], (n, 1)) * x
    else:
        x, y = rng.uniform(-1, 1, (2, n, 1))
        x, y = x + y, x - y
    return x + noise * rng.standard_normal((n, 1)), y + noise * rng.standard_normal((n, 1))


def patterns(rng: Rng, n: int) -> tuple[Table, Table]:
    k, by = int(rng.integers(1, 5)), float(np.clip(_strength(rng, n, 2.5, 8), 0.1, 1))
    points = rng.random((12 * n + 100, 2))
    wave = np.sin(2 * np.pi * k * points).prod(axis=1)
    height = wave if rng.random() < 0.5 else np.sign(wave)
    points = points[rng.random(len(points)) * (1 + by) < 1 + by * height][:n]
    return points[:, :1], points[:, 1:]


def groups(rng: Rng, n: int) -> tuple[Table, Table]:
    x, y, way = *rng.standard_normal((2, n, 1)), rng.integers(0, 4)
    by = _strength(rng, n, 1.2, 4)
    if way == 0:  # a cluster in both
        inside = rng.random((n, 1)) < min(0.5, by)
        center, width = rng.normal(0, 1.3, 2), rng.uniform(0.1, 0.5)
        x, y = (np.where(inside, c + width * z, z) for c, z in zip(center, (x, y), strict=True))
    elif way == 1:  # some rows on a line
        on = rng.random((n, 1)) < min(0.8, 1.5 * by)
        y = np.where(on, rng.choice([-1, 1]) * x + 0.15 * y, y)
    elif way == 2:  # far out together
        limit = rng.uniform(0.8, 1.6)
        far = (np.abs(x) > limit) & (rng.random((n, 1)) < min(1.0, 3 * by))
        y = np.where(far, np.sign(x) * np.abs(y), y)
    else:  # labels in other orders
        k = int(rng.integers(3, 8))
        label, order = rng.integers(0, k, (n, 1)), rng.permutation(k)
        kept = rng.random((n, 1)) < min(0.9, 1.6 * by)
        other = np.where(kept, order[label], rng.integers(0, k, (n, 1)))
        noise = rng.choice([0.0, 0.3])
        x, y = label + noise * x, other + noise * y
    return _in_columns(rng, x, y, 4)


PAIRS: dict[Dependence, float] = {
    trend: 0.32, curve: 0.27, spread: 0.12, several: 0.08, loops: 0.06, patterns: 0.06, groups: 0.09,
}  # fmt: skip


def draw_pairs(seed: int) -> tuple[str, Table, Table]:
    """Return the family and the variables of one random problem."""
    rng = np.random.default_rng([seed, 47])
    family = list(PAIRS)[rng.choice(len(PAIRS), p=np.array(list(PAIRS.values())))]
    return family.__name__, *family(rng, int(np.exp(rng.uniform(np.log(8), np.log(800)))))
