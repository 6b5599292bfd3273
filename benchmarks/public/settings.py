"""The settings of public benchmarks: the data, the question, published powers, and what is asked of the default test.

None of them took part in the design of the default tests; what did is in ``benchmarks/power/design_cases.py``.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from samplers import (
    Data,
    Draw,
    autoregressive,
    blobs,
    equicorrelated,
    hdgm,
    laplace,
    leading,
    mixture,
    normal,
    normal_with,
    perturbed_pairs,
    perturbed_uniform,
    sphere,
    spiked,
    spread,
    step,
    thin_cube,
    two,
    two_halves,
)

sys.path.append(str(Path(__file__).parents[1]))

from csic_seeds import csic_seed

FUSE, KLR, HSICAGG, MMD_D, NYSTROM, CSIC = (
    "Biggs, Schrab & Gretton (2023)",
    "arXiv 2508.07982",
    "Schrab, Kim, Guedj & Gretton (2022)",
    "Liu et al. (2020)",
    "Chatalic, Letizia, Schreuder & Rosasco (arXiv 2502.13570)",
    "kernelized cumulants (CSIC)",
)
RATIO, BONFERRONI = "kernel likelihood ratio", "Bonferroni over five bandwidths"
"""What arXiv 2508.07982 calls AggMMD is the second: not MMDAgg, whose level correction it lacks."""


@dataclass(frozen=True)
class Setting:
    """A data set, its question, where it is from, the powers that were published, and what we ask of ourselves."""

    source: str
    text: str
    draw: Draw
    published: dict[str, float] = field(default_factory=dict)
    asked: float | None = None
    question: str = "two samples"
    order: int = 2
    """The power of the distance in the kernel with which arXiv 2508.07982 ran this setting."""
    seed: Callable[[int], int] | None = None
    """The authors' own seed of a data set."""

    def data(self, name: str, trial: int) -> Data:
        seed = self.seed(trial) if self.seed else [zlib.crc32(name.encode()), trial]
        return self.draw(np.random.default_rng(seed))


SETTINGS: dict[str, Setting] = {}


def far(sd: float, fuse: float, agg: float, actt: float, asked: float) -> None:
    published = {"MMD-FUSE": fuse, "MMDAgg": agg, "ACTT": actt}
    text = f"four clusters at (±20, ±20), one of deviation {sd:g} instead of 1; 500 and 500 rows"
    SETTINGS[f"mixture sd {sd:g}".replace("0.", ".")] = Setting(FUSE, text, mixture(sd), published, asked)


def bumpy(d: int, scale: float, fuse: float, agg: float, actt: float, asked: float) -> None:
    published = {"MMD-FUSE": fuse, "MMDAgg": agg, "ACTT": actt}
    text = f"uniform against two bumps an axis of height {scale:g}; 500 and 500 rows"
    SETTINGS[f"perturbed uniform d={d}"] = Setting(FUSE, text, perturbed_uniform(d, scale), published, asked)


def wide(
    name: str, text: str, draw: Draw, powers: tuple[float, float, float], asked: float | None, order: int = 2
) -> None:
    published = dict(zip((RATIO, BONFERRONI, "spectral MMD"), powers, strict=True))
    SETTINGS[name] = Setting(KLR, f"{text}; 100 and 100 rows, 500 columns", draw, published, asked, order=order)


def joint(name: str, n: int, text: str, draw: Draw, published: float, asked: float) -> None:
    text = f"the first coordinate against the others of a perturbed uniform distribution, {text}; {n} pairs"
    SETTINGS[name] = Setting(HSICAGG, text, draw, {"HSICAgg": published}, asked, "independence")


far(0.6, 0.945, 0.915, 0.835, 0.945)
far(0.7, 0.51, 0.46, 0.30, 0.60)
far(1.6, 0.635, 0.675, 0.415, 0.675)
bumpy(1, 0.3, 0.505, 0.605, 0.415, 0.605)
bumpy(2, 0.6, 0.485, 0.395, 0.305, 0.485)

wide(
    "sparse Gaussian shift",
    "normal, two means of 500 are 1",
    two(normal(), normal(leading(1, 2))),
    (0.705, 0.695, 0.67),
    0.85,
    order=1,
)
wide(
    "sparse Laplace shift",
    "Laplace, four means of 500 are 1",
    two(laplace(), laplace(leading(1, 4))),
    (0.755, 0.56, 0.63),
    0.85,
)
wide(
    "concentric spheres",
    "spheres of radius 1 and 1.015 with noise of deviation .02",
    two(sphere(1), sphere(1.015)),
    (0.975, 0.885, 0.845),
    0.975,
    order=1,
)
wide(
    "spiked covariance",
    "normal, five columns of the second sample are one variable of variance 3",
    two(normal(), spiked(3, 5)),
    (1.0, 0.45, 0.34),
    None,
)
wide(
    "thin hypercube",
    "uniform on the unit cube, thirty columns of the second sample on [.1, .9]",
    two(thin_cube(0, 30), thin_cube(0.1, 30)),
    (0.895, 0.665, 0.58),
    0.895,
    order=1,
)
wide(
    "Gaussian mixture",
    "normal, one column of the second sample moved by 4 or -4",
    two(normal(), two_halves(4)),
    (1.0, 0.915, 0.85),
    None,
)
wide(
    "AR correlation .5, .6",
    "normal, correlations .5^|i-j| and .6^|i-j|",
    normal_with(autoregressive, 0.5, 0.6),
    (0.955, 0.04, 0.015),
    0.80,
    order=1,
)
wide(
    "equicorrelation .5, .525",
    "normal, all correlations .5 or .525",
    normal_with(equicorrelated, 0.5, 0.525),
    (0.925, 0.035, 0.065),
    0.85,
)

CHECKED = (-1.0, 1.0, 1.0, -1.0)
"""The signs of the four cells in every trial, which the authors draw once, with seed 0."""
for n, power, asked in ((400, 0.23, 0.57), (600, 0.37, 0.87), (1000, 0.75, 0.95)):
    joint(f"joint perturbed n={n}", n, "2 × 2 bumps of height .5", perturbed_pairs(n, CHECKED, 2, 0.5), power, asked)
joint("joint perturbed, a third", 1000, "one bump of height 1/3", perturbed_pairs(1000, (-1.0,), 2, 1 / 3), 0.79, 0.95)
joint("joint perturbed d=4", 1000, "four columns, one bump", perturbed_pairs(1000, (-1.0,), 4, 1.0), 0.40, 0.53)

for n, asked in ((180, 0.75), (360, None)):
    text = f"nine clusters, round or slanted by their place; {n} and {n} rows"
    SETTINGS[f"blobs n={n}"] = Setting(MMD_D, text, blobs(n), asked=asked)
for d, n, asked in ((3, 600, 0.32), (10, 1000, 0.28)):
    text = f"two clusters, two of {d} columns correlated by .5 and -.5; {n} and {n} rows"
    SETTINGS[f"HDGM d={d}"] = Setting(MMD_D, text, hdgm(n, d), asked=asked)
for rho, power, fourier in ((0.6, 0.412, 0.428), (0.63, 0.885, 0.842)):
    SETTINGS[f"equicorrelation .5, {rho:g}".replace(" 0.", " .")] = Setting(
        NYSTROM,
        f"normal, all correlations .5 or {rho:g}; 2500 and 2500 rows, 3 columns",
        normal_with(lambda rho: equicorrelated(rho, 3), 0.5, rho, 2500),
        {"Nyström permutations": power, "Fourier features": fourier},
        power,
    )


def cumulants(name: str, label: str, text: str, draw: Callable, powers: dict[int, tuple]) -> None:
    for n, (hsic, csic, asked) in powers.items():
        SETTINGS[f"{name}, n={n}"] = Setting(
            CSIC,
            f"{text}; {n} pairs, with the authors' seeds",
            lambda rng, n=n: draw(rng, n),
            {"HSIC": hsic, "CSIC": csic},
            asked,
            "independence",
            seed=lambda number, n=n: csic_seed(label, n, 0, number),
        )


cumulants(
    "y moves beyond a step of x",
    "U1",
    "the mean of y is larger where x is above .5",
    step,
    {200: (0.998, 0.982, None), 400: (0.998, 0.988, None), 800: (1.0, 0.994, None)},
)
cumulants(
    "y spreads with the size of x",
    "U2",
    "the variance of y rises with the size of x",
    spread,
    {200: (0.446, 0.688, 0.66), 400: (0.594, 0.852, None), 800: (0.702, 0.92, None)},
)
