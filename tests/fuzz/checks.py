"""What must hold for every table: each check draws a case and raises ``WrongError`` where it does not."""

from __future__ import annotations

import io
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import oracles
import pandas as pd
import polars as pl
from tables import Rng, disguised, mixed_columns, size, spoiled, table

import explained
import kernelmean as km
from kernelmean.kernels import Gaussian
from kernelmean.noise import Normal
from kernelmean.tables import read_frame

REFUSALS = (ValueError, TypeError)


class WrongError(AssertionError):
    """A number that is not what its definition says, or an error that nobody was told to expect."""


def near(found: Any, wanted: Any, slack: float, what: str) -> None:
    """Raise when two numbers or arrays differ by more than ``slack``."""
    gap = float(np.abs(np.asarray(found, dtype=np.longdouble) - wanted).max())
    if not gap <= slack:
        raise WrongError(f"{what}: {found!r} is not {wanted!r}, which differs by {gap:.3g}, more than {slack:.3g}")


def refused(function: Callable[[], Any]) -> Any:
    """Return what a function returns, None when it refuses and says why."""
    try:
        return function()
    except REFUSALS as error:
        text = str(error)
        if not text.strip():
            raise WrongError("an error without a text") from error
        return None


def ties(result: km.TestResult) -> float:
    """Return how near values may be that count as ties, or do not; raise when that is not far below the statistic."""
    if not result.tolerance <= 1e-8:
        raise WrongError(f"values within {result.tolerance!r} count as ties")
    return 2 * result.tolerance + 1e-13


def width(rng: Rng, X: np.ndarray) -> float:
    """Draw a bandwidth around the spread of the data."""
    spread = float(np.ptp(X, axis=0).max())
    return (spread or 1.0) * 10.0 ** rng.uniform(-1.5, 1.0)


def evaluation(rng: Rng) -> None:
    """An embedding at points is its weighted sum."""
    large = rng.random() < 0.02
    X = table(rng, size(rng, 1, 300), size(rng, 1, 200)) if large else table(rng, size(rng, 1, 30), size(rng, 1, 5))
    Z = np.concatenate([X[:1], table(rng, 3, X.shape[1], unit=float(np.abs(X).max()) or 1.0)])
    theta, weights = width(rng, X), rng.standard_normal(len(X))
    noise = float(theta**2 * 10.0 ** rng.uniform(-2, 1)) if rng.random() < 0.5 else None
    options = {} if noise is None else {"noise": Normal(noise)}
    mu = km.embed(disguised(rng, X), Gaussian(theta), weights=weights, **options)
    last_digit = float(np.spacing(np.abs(Z).max())) / theta  # moving the points by so much is rounding
    slack, total = 1e-12 + 4 * last_digit, float(np.abs(weights).sum())
    wanted = oracles.kernel(Z, X, theta, noise or 0.0) @ weights.astype(oracles.Long)
    near(mu(Z), wanted, slack * total, "μ(z)")
    square = weights @ oracles.kernel(X, X, theta, 2 * (noise or 0.0)) @ weights.astype(oracles.Long)
    near(mu @ mu, square, slack * total**2, "μ @ μ")


def two_samples(rng: Rng) -> None:
    """Statistic and p-value of an enumerated two-sample test are those of the definition."""
    n, m = int(rng.integers(2, 5)), int(rng.integers(2, 5))
    pooled = table(rng, n + m, size(rng, 1, 5))
    theta, kind = width(rng, pooled), str(rng.choice(["u", "v"]))
    result = km.mmd_test(
        disguised(rng, pooled[:n]), disguised(rng, pooled[n:]), kernel=Gaussian(theta), statistic=kind, n_resamples=200
    )
    K = oracles.kernel(pooled, pooled, theta)
    value, least, most = oracles.mmd_pvalues(K, n, kind, ties(result))
    near(result.statistic, value, 1e-12, "MMD²")
    if not least - 1e-12 <= result.pvalue <= most + 1e-12:
        raise WrongError(f"MMD: p = {result.pvalue!r} is not in [{least!r}, {most!r}]")


def independence(rng: Rng) -> None:
    """Statistic and p-value of an enumerated independence test are those of the definition."""
    n = int(rng.integers(3, 6))
    X, Y = table(rng, n, size(rng, 1, 4)), table(rng, n, size(rng, 1, 4))
    widths = width(rng, X), width(rng, Y)
    result = km.hsic_test(disguised(rng, X), disguised(rng, Y), kernel=tuple(map(Gaussian, widths)), n_resamples=200)
    K, L = oracles.kernel(X, X, widths[0]), oracles.kernel(Y, Y, widths[1])
    value, least, most = oracles.hsic_pvalues(K, L, ties(result))
    near(result.statistic, value, 1e-12, "HSIC")
    if not least - 1e-12 <= result.pvalue <= most + 1e-12:
        raise WrongError(f"HSIC: p = {result.pvalue!r} is not in [{least!r}, {most!r}]")


def units(rng: Rng) -> None:
    """Units, the order of columns and the place of the origin change no p-value."""
    n, m, dim = size(rng, 2, 20), size(rng, 2, 20), size(rng, 1, 4)
    X, Y = (np.round(table(rng, k, dim, unit=1.0) * 64) / 64 for k in (n, m))
    X, Y = np.clip(X, -(2.0**20), 2.0**20), np.clip(Y, -(2.0**20), 2.0**20)
    estimator = str(rng.choice(["kme", "kme", "s-kmse", "mkme", "adaptive"]))
    options = {"estimator": estimator, "n_resamples": 49, "rng": int(rng.integers(2**31))}
    plain = refused(lambda: km.mmd_test(X, Y, **options).pvalue)
    factor, shift = 2.0 ** int(rng.integers(-300, 300)), float(rng.integers(-1000, 1000))
    order = rng.permutation(dim) if estimator == "kme" else np.arange(dim)
    moved = refused(
        lambda: km.mmd_test(((X + shift) * factor)[:, order], ((Y + shift) * factor)[:, order], **options).pvalue
    )
    if plain != moved:
        raise WrongError(f"{estimator}: p = {plain!r}, and {moved!r} after × {factor} and + {shift}")


def leave_one_out(rng: Rng) -> None:
    """MKME's score is that of the definition, and no noise of a grid has a lower one."""
    X = table(rng, size(rng, 2, 20), size(rng, 1, 6))
    theta = width(rng, X)
    fitted = refused(lambda: km.MKME(bandwidth=theta).fit(disguised(rng, X)))
    if fitted is None:
        return
    noise = float(fitted.noise_.variances(X.shape[1])[0])
    wanted = oracles.loocv(X, theta, noise)
    near(fitted.loocv_, max(1 + wanted, 0.0), 1e-12, "leave-one-out score")
    for other in theta**2 * np.array([0.0, 1e-3, 1e-2, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0]):
        score = oracles.loocv(X, theta, float(other))
        if score < wanted - 1e-9 * abs(wanted):
            raise WrongError(f"σ² = {noise!r} has the score {wanted!r}, σ² = {other!r} the lower one {score!r}")


def refusals(rng: Rng) -> None:
    """No function makes a number of a table that is none."""
    X = table(rng, size(rng, 4, 12), size(rng, 1, 3))
    bad = spoiled(rng, X)
    functions: dict[str, Callable[[], Any]] = {
        "embed": lambda: km.embed(bad, Gaussian(1.0)),
        "MKME": lambda: km.MKME().fit(bad),
        "MMKME": lambda: km.MMKME().fit(bad),
        "FKMSE": lambda: km.estimators.FKMSE().fit(bad),
        "mmd_test first": lambda: km.mmd_test(bad, X, n_resamples=9, estimator="kme"),
        "mmd_test second": lambda: km.mmd_test(X, bad, n_resamples=9, estimator="kme"),
        "hsic_test": lambda: km.hsic_test(X, bad, n_resamples=9, estimator="kme"),
        "witness": lambda: explained.witness(X, bad),
        "median_bandwidth": lambda: km.median_bandwidth(bad),
        "KernelMeanMatching": lambda: km.KernelMeanMatching(2).fit(bad),
    }
    name = str(rng.choice(list(functions)))
    found = refused(functions[name])
    if found is not None:
        raise WrongError(f"{name} makes {found!r} of {bad!r}")


def sizes(rng: Rng) -> tuple[int, int, int]:
    """Draw two numbers of rows and one of columns."""
    return size(rng, 2, 40), size(rng, 2, 40), size(rng, 1, 8)


def anything(rng: Rng) -> None:
    """Any test with any options on any table has 0 < p ≤ 1 with a finite statistic, or says why not."""
    large = rng.random() < 0.02
    n, m, dim = (size(rng, 2, 300), size(rng, 2, 300), size(rng, 1, 200)) if large else sizes(rng)
    paired = rng.random() < 0.5
    unit = 10.0 ** rng.uniform(-150, 150) if rng.random() < 0.3 else 1.0
    X, Y = table(rng, n, dim, unit=unit), table(rng, n if paired else m, dim, unit=unit)
    schemes = ["auto", "auto", "random"]
    if (n if paired else n + m) <= (6 if paired else 12):
        schemes.append("exact")  # up to two million permutations for more rows, which is true and slow
    estimators = ["kme", "s-kmse", "mkme", "mmkme", "adaptive", "log-mean-exp", "aggregate"]
    options: dict[str, Any] = {
        "estimator": str(rng.choice(estimators)),
        "scheme": str(rng.choice(schemes)),
        "statistic": str(rng.choice(["u", "v"])),
        "n_resamples": int(rng.integers(1, 60)),
        "rng": 0,
    }
    design: dict[str, Any] = {}
    if rng.random() < 0.2:
        design["weights"] = rng.integers(0, 3, n) * 1.0 if paired else (rng.random(n), rng.random(m))
    if rng.random() < 0.2:
        design["strata"] = rng.integers(0, 3, n) if paired else (rng.integers(0, 2, n), rng.integers(0, 2, m))
    options["design"] = km.Design(**design)
    result = refused(lambda: (km.hsic_test if paired else km.mmd_test)(disguised(rng, X), Y, **options))
    if result is None:
        return
    if not (0 < result.pvalue <= 1 and np.isfinite(result.statistic)):
        raise WrongError(f"{result!r}")
    if not result.pvalue >= 1 / (result.n_resamples + 1) - 1e-12:
        raise WrongError(f"p = {result.pvalue} of {result.n_resamples} permutations")


def data_frames(rng: Rng) -> None:
    """Pandas, polars and any order of columns give one p-value for mixed tables, or the same refusal."""
    kinds = rng.integers(0, 5, size(rng, 1, 4)).tolist()
    missing = str(rng.choice(["error", "drop", "category"]))
    A, B = (mixed_columns(rng, size(rng, 5, 20), kinds, missing != "error") for _ in range(2))
    order = rng.permutation(list(A)).tolist()
    options = {"estimator": "kme", "n_resamples": 19, "rng": 1, "missing": missing}
    pairs = {
        "pandas": (pd.DataFrame(A), pd.DataFrame(B)),
        "polars": (pl.DataFrame(A), pl.DataFrame(B)),
        "pandas and polars, columns moved": (pd.DataFrame(A)[order], pl.DataFrame(B)),
    }
    found = {name: refused(lambda pair=pair: km.compare(*pair, **options).test.pvalue) for name, pair in pairs.items()}
    if len(set(found.values())) > 1:
        raise WrongError(f"{found} of {A} and {B}")


def files(rng: Rng) -> None:
    """A saved estimate comes back the same; a damaged file does, or is refused."""
    X = table(rng, size(rng, 2, 8), size(rng, 1, 3), unit=1.0)
    mu = km.embed(X, Gaussian(width(rng, X)), weights=rng.standard_normal(len(X)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "mean.npz")
        km.save(mu, path)
        data = bytearray(path.read_bytes())
        for _ in range(int(rng.integers(0, 4))):
            where = int(rng.integers(len(data)))
            if rng.random() < 0.3:
                del data[where : where + int(rng.integers(1, 50))]
            else:
                data[where] = int(rng.integers(256))
        path.write_bytes(bytes(data))
        loaded = refused(lambda: km.load(path))
        if loaded is not None and not np.array_equal(loaded(X), mu(X)):
            raise WrongError("a damaged file gave another embedding")


def text_files(rng: Rng) -> None:
    """A CSV file with odd bytes is a table of its own cells or is refused."""
    buffer = io.StringIO()
    n, dim = size(rng, 1, 8), size(rng, 1, 4)
    np.savetxt(buffer, table(rng, n, dim, unit=1.0), delimiter=",", header=",".join("abcd"[:dim]), comments="")
    data = bytearray(buffer.getvalue().encode())
    odd = [
        b'"',
        b"\n",
        b"\r",
        b",",
        b";",
        b"\x00",
        b"\xff",
        b"nan",
        b"1e999",
        b"\xef\xbb\xbf",
        b"\t",
        b"'",
        b"\\",
        b" ",
    ]
    for _ in range(int(rng.integers(0, 4))):
        where = int(rng.integers(len(data) + 1))
        data[where:where] = odd[int(rng.integers(len(odd)))]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        path.write_bytes(bytes(data))
        values = refused(lambda: read_frame(path).to_table().values)
        if values is not None and not np.isfinite(values).all():
            raise WrongError(f"{bytes(data)!r} became {values!r}")


CHECKS: dict[str, Callable[[Rng], None]] = {
    check.__name__: check
    for check in (
        evaluation, two_samples, independence, units, leave_one_out, refusals, anything, data_frames, files, text_files
    )
}  # fmt: skip


def run(name: str, seed: int, case: int) -> str | None:
    """Return what is wrong with one case, None when nothing is."""
    rng = np.random.default_rng([seed, case, *name.encode()])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)
        try:
            CHECKS[name](rng)
        except Exception as error:  # whatever it is, it is a finding
            return f"{type(error).__name__}: {error}"
    return None
