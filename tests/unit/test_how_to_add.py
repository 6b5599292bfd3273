"""A kernel, a noise, a filter, a question, a kind of column are one file each: closed forms, files and reports follow.

The files are loaded under names within the package, as if they lay there, in a process of its own, which then runs the
tests of closed forms for what they added. A command that is added is in ``tests/unit/cli/test_other_packages.py``.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
KERNEL = '''
from dataclasses import dataclass, replace
import numpy as np
from kernelmean.core import like
from kernelmean.core.array import namespace
from kernelmean.expected import smoothed_rules
from kernelmean.kernels import Stationary
from kernelmean.kernels.base import two_tables
from kernelmean.noise import Additive

WAVES = np.array([[1.0, 0.0], [0.5, 2.0], [-1.0, 0.5]])

@dataclass(frozen=True)
class Toy(Stationary):
    """k(x, y) = Σ_m a_m cos(ω_m · (x - y)), for two columns."""

    amplitudes: tuple[float, ...] = (0.5, 0.3, 0.2)

    @classmethod
    def examples(cls):
        return (cls(),)

    def __call__(self, X, Y):
        X, Y = two_tables(X, Y)
        xp, a = namespace(X), like(np.array(self.amplitudes), X)
        left, right = X @ like(WAVES.T, X), Y @ like(WAVES.T, Y)
        return (a * xp.cos(left)) @ xp.cos(right).T + (a * xp.sin(left)) @ xp.sin(right).T

@smoothed_rules.register(Toy, Additive)
def smooth(kernel, noise, dim):
    return replace(kernel, amplitudes=tuple((np.array(kernel.amplitudes) * noise.characteristic(WAVES)).tolist()))
'''
NOISE = '''
from dataclasses import dataclass
import numpy as np
from kernelmean.expected import axis_noise
from kernelmean.noise import AxisWidths

@dataclass(frozen=True)
class ToyNoise(AxisWidths):
    """Every column is rounded twice: the triangle on [-2h, 2h]."""

    halfwidth: float
    parameter = "halfwidth"

    @classmethod
    def examples(cls):
        return {"ToyNoise": cls(0.3)}

    def sample_gap(self, shape, rng):
        return rng.uniform(-1.0, 1.0, size=(2, *shape)).sum(axis=0) * self.widths(shape[1])

    def moments(self, order, dim):
        h = 2 * self.widths(dim)
        return np.stack([(r % 2 == 0) * 2 * h**r / ((r + 1) * (r + 2)) for r in range(order + 1)])

    def characteristic(self, frequencies):
        return np.prod(np.sinc(self.widths(frequencies.shape[1]) * frequencies / np.pi) ** 2, axis=1)

@axis_noise(ToyNoise)
def smooth(noise, profiles):
    widths = noise.widths(len(profiles))
    return [profile.plus_box(float(h)).plus_box(float(h)) for profile, h in zip(profiles, widths, strict=True)]
'''
FILTER = '''
from dataclasses import dataclass
import numpy as np
from kernelmean.estimators import Filter

@dataclass(frozen=True)
class ToyFilter(Filter):
    """x g_λ(x) = 1 - exp(-x/λ)."""

    def factor(self, eigenvalues, strength):
        return -np.expm1(-eigenvalues / strength)
'''
LOADED = """
import sys
from importlib import util
from pathlib import Path

for name in ("kernels.toy", "noise.toy", "estimators.toy", "tables.columns.kinds.toy"):
    spec = util.spec_from_file_location(f"kernelmean.{name}", Path(__file__).with_name(f"{name}.py"))
    sys.modules[spec.name] = module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
"""
USED = """
import numpy as np
import kernelmean as km
from kernelmean.estimators import loocv
from kernelmean.estimators.toy import ToyFilter
from kernelmean.kernels.toy import Toy
from kernelmean.noise.toy import ToyNoise

X = np.random.default_rng(0).normal(size=(9, 2))
mu = km.embed(X, Toy(), noise=ToyNoise(0.3))
km.save(mu, "mean.npz")
again = km.load("mean.npz")
assert (again.kernel, again.noise) == (Toy(), ToyNoise(0.3)) and again @ mu == mu @ mu
fitted = km.KernelMean(km.kernels.Gaussian(1.0), filter=ToyFilter(), strength=0.4).fit(X)
def without(rows):
    return km.KernelMean(km.kernels.Gaussian(1.0), filter=ToyFilter(), strength=0.4).fit(X[rows]).embedding_
assert abs(fitted.loocv_ - loocv.leave_one_out(without, X)) < 1e-12
km.save(fitted, "estimator.npz")
assert km.load("estimator.npz").filter == ToyFilter()
Y = np.random.default_rng(1).normal(size=(60, 2))
assert km.mmd_test(Y[:30], Y[30:] + 1.0, kernel=Toy(), n_resamples=99, rng=0).pvalue <= 0.05
print(km.support())
"""
QUESTION = '''
from dataclasses import dataclass
from typing import ClassVar
import numpy as np
from kernelmean.core.validate import as_points
from kernelmean.inference.designs.paired import PairedDesign
from kernelmean.inference.questions import Question, hsic_problem
from kernelmean.kernels import Linear

@dataclass(frozen=True, eq=False)
class OfRows(Question):
    X: np.ndarray
    table_names: ClassVar[tuple[str, ...]] = ("the rows",)

    @property
    def sizes(self):
        return (len(self.X),)

@dataclass(frozen=True, eq=False)
class Symmetry(OfRows):
    """Is a distribution symmetric about 0? The sides: rows and their mirror images; the design: they change places."""

    @classmethod
    def of(cls, data, design):
        X = as_points(data[0], "X")
        return cls(X, design=PairedDesign.of((X, -X)))

    @property
    def tables(self):
        return (np.concatenate(self.design.samples),)

@dataclass(frozen=True, eq=False)
class Trend(OfRows):
    """Do rows change with time? The sides: the rows, and the times under a kernel that nobody chooses."""

    methods: ClassVar[tuple[str, str]] = ("Test of a trend", "Adaptive test of a trend")

    @classmethod
    def of(cls, data, design):
        return cls(as_points(data[0], "X"))

    @property
    def tables(self):
        return (self.X,)

    def problem(self, tables, kernels, statistic):
        clock, times = Linear(), np.linspace(-1.0, 1.0, len(self.X))[:, None]
        return hsic_problem((*tables, times), [(kernel, clock) for kernel in kernels], statistic)
'''
ASKED = """
import sys
from importlib import util
from pathlib import Path
import numpy as np
import kernelmean as km
from kernelmean.inference.request import Request, asked
from kernelmean.inference.answering import answer

name = "kernelmean.inference.questions.toy"
spec = util.spec_from_file_location(name, Path(__file__).with_name("questions.toy.py"))
sys.modules[name] = toy = util.module_from_spec(spec)
spec.loader.exec_module(toy)

def test(question, X, estimator=None, statistic="v", plan=None):
    none = km.Design()
    wanted = asked(None, estimator, question.known(none))
    return answer(question, (X,), Request(wanted, none, statistic, "auto", 99, 0), plan)

rng = np.random.default_rng(0)
even, skew = rng.normal(size=(40, 2)), rng.exponential(size=(40, 2)) - 0.7
for estimator in (None, "kme", "mkme", km.KME(km.kernels.Laplacian(1.0)), "adaptive"):
    assert test(toy.Symmetry, even, estimator).pvalue > 0.05
    assert test(toy.Symmetry, skew, estimator).pvalue <= 0.05
    assert test(toy.Trend, even, estimator).pvalue > 0.05
    assert test(toy.Trend, even + np.linspace(0, 2, 40)[:, None], estimator).pvalue <= 0.05
assert test(toy.Symmetry, even[:5]).scheme == "exact"
truth = km.hsic_test(even, np.linspace(-1, 1, 40)[:, None], kernel=(km.kernels.Gaussian("median"), km.kernels.Linear()))
assert abs(test(toy.Trend, even, "kme").statistic / truth.statistic - 1) < 1e-9
assert test(toy.Trend, even, plan=km.Plan(threads=2)).pvalue == test(toy.Trend, even).pvalue

result = test(toy.Trend, even * [1.0, 100.0], "kme")
assert result.question.null([result.kernel], "v", km.inference.Resampling.of("auto", 99, 0)).pvalues == result.pvalue
assert "Test of a trend" in result.summary() and "Test of a trend" in result.to_html()
km.tables.limits.ADAPTIVE_LIMIT = 39
result.save("trend.npz")
assert km.load("trend.npz").pvalue == result.pvalue
for refused in (
    test(toy.Symmetry, even).effect_size,
    test(toy.Trend, even).witness,
    lambda: test(toy.Trend, even, "s-kmse"),
):
    try:
        refused()
    except ValueError as error:
        print(error)
"""

COLUMN_KIND = '''
import re
from dataclasses import dataclass
import numpy as np
from kernelmean.tables.columns.kinds import Coding, ColumnKind, CellsSeen
from kernelmean.tables.columns.summaries import ColumnSummary

DEGREES = re.compile("[0-9.]+°")

@dataclass(frozen=True)
class AngleKind(ColumnKind):
    """Directions such as 270°."""

    kind, taken, sign = "angle", "direction", "degrees"
    averaged = False  # 359° and 1° have the mean 0°

    @classmethod
    def recognised(cls, cells, declared):
        texts = set(cells.tolist()) - {None} if cells.dtype == object and declared is None else ()
        return cls() if texts and all(isinstance(own, str) and DEGREES.fullmatch(own) for own in texts) else None

    def numbers(self, frame, name, origin=0):
        return np.array([np.nan if cell is None else float(cell.removesuffix("°")) % 360 for cell in frame[name]])

    def seen(self, tables):
        return AnglesSeen(self, np.zeros(tables), np.zeros(tables, complex))

    @classmethod
    def mean_in_words(cls, mean, digits):
        return f"{mean % 360:.0f}°"

    @classmethod
    def unit(cls, gap):
        return "°", 1.0

    def axis(self, coding, frames):
        return f"{coding.name}, degrees", 1.0

@dataclass(eq=False)
class AnglesSeen(CellsSeen):
    """How many there are in every table, and their sum as points of a circle."""

    kind: AngleKind
    counts: np.ndarray
    sums: np.ndarray

    def add(self, frame, name, known, table):
        self.counts[table] += known.sum()
        self.sums[table] += np.exp(1j * np.deg2rad(self.kind.numbers(frame, name)[known])).sum()

    def __add__(self, other):
        return AnglesSeen(self.kind, self.counts + other.counts, self.sums + other.sums)

    def coding(self, name, wanted):
        spread = 1.0 - np.abs(self.sums.sum() / max(self.counts.sum(), 1.0)) ** 2
        blank = wanted.rule == "category" and 0.0 < wanted.absent < wanted.rows
        return Angles(name, self.kind, float(np.sqrt(spread)) if spread > 1e-12 else 0.0, blank)

    def summary(self, coding, absent):
        first, *others = np.rad2deg(np.angle(self.sums)) % 360
        near = [first + (other - first + 180) % 360 - 180 for other in others]  # the shorter way round
        return ColumnSummary((float(first), *map(float, near)), ())

@dataclass(frozen=True)
class Angles(Coding):
    """The point of a circle in standard deviations, and where a cell is blank its centre and a third coordinate."""

    spread: float
    blank: bool

    @property
    def names(self):
        return (f"cos {self.name}", f"sin {self.name}", *[f"{self.name} is missing"] * self.blank)

    @property
    def varies(self):
        return self.spread > 0.0 or self.blank

    @property
    def scale(self):
        return float(np.rad2deg(self.spread))

    def unseen(self, frame):
        return np.isnan(self.numbers(frame)) & (not self.blank)

    def coordinates(self, frame):
        turns = np.exp(1j * np.deg2rad(self.numbers(frame))) / (self.spread or 1.0)
        absent = np.isnan(turns)
        if absent.any() and not self.blank:
            raise ValueError(f"{frame.source}: column {self.name!r} has missing cells; fit on all tables")
        turns[absent] = 0.0
        return np.column_stack([turns.real, turns.imag, *[1.0 * absent] * self.blank])
'''
TOLD = """
import numpy as np
import pandas as pd
import pytest
import kernelmean as km
from kernelmean.inference.monitoring import DriftMonitor

def winds(middle, seed, n=90):
    rng = np.random.default_rng(seed)
    angles = rng.normal(middle, 30.0, n)
    speed = 3.0 * np.cos(np.deg2rad(angles)) + rng.normal(size=n)
    wind = [f"{own % 360:.1f}°" for own in angles]
    return pd.DataFrame({"wind": wind, "speed": speed, "arm": rng.choice(["a", "b"], n)})

A, B, C = winds(355, 0), winds(355, 1), winds(15, 2)
few = {"n_resamples": 99, "rng": 0}
alike, differ = km.compare(A, B, **few), km.compare(A, C, **few)
turned = [own.assign(wind=[f"{(float(angle[:-1]) + 100) % 360:.1f}°" for angle in own["wind"]]) for own in (A, C)]
def wind(result):
    (found,) = (column for column in result.columns if column.name == "wind")
    return found
assert alike.test.pvalue > 0.05 and wind(alike).pvalue > 0.05
assert differ.columns[0] == wind(differ) and wind(differ).pvalue <= 0.05
here, there = (wind(km.compare(*own, estimator="kme", **few)) for own in ((A, C), turned))
assert abs(here.statistic - there.statistic) < 1e-12 and here.pvalue == there.pvalue  # no direction is the first
mean = np.rad2deg(np.angle(np.exp(1j * np.deg2rad(A["wind"].str[:-1].astype(float))).mean())) % 360
assert wind(differ).describe()[0] == f"{mean:.0f}°" and abs(wind(differ).means[0] - mean) < 1e-9
print(*wind(differ).describe(), wind(differ).difference())
assert "wind, degrees" in differ.to_html()
differ.save("winds.npz")
again = km.load("winds.npz")
assert again.summary() == differ.summary() and again.encoded.codings == differ.encoded.codings

for own, file in ((A, "a.csv"), (C, "c.csv")):
    own.to_csv(file, index=False)
held = km.compare("a.csv", "c.csv", **few)
with pytest.MonkeyPatch.context() as patch:
    patch.setattr(km.tables.limits, "ADAPTIVE_LIMIT", 0)
    read, strongest_read = km.compare("a.csv", "c.csv", **few), km.dependence("c.csv", **few).pairs[0]
assert wind(held).content() == wind(differ).content() and wind(read).describe() == wind(differ).describe()
assert "all rows were read twice" in read.notes[0] and abs(wind(read).statistic - wind(differ).statistic) < 1e-12
found = km.dependence(C, **few)
strongest = next(pair for pair in found.pairs if {pair.x, pair.y} == {"wind", "speed"})
assert strongest.adjusted <= 0.05 and "wind, degrees" in found.to_html()
assert strongest_read.strength > 0.05

blank = A.assign(wind=A["wind"].where(A.index > 9))
assert km.compare(blank, C, missing="category", **few).encoded.groups["wind"][2:]
within = km.compare(A, C, strata="arm", **few)
assert wind(within).pvalue <= 0.05 and within.summary()
assert not np.isfinite(wind(within).means).any()  # a design knows means of numbers, and none round a circle
monitor = DriftMonitor(pd.concat([A, B]))
monitor.update(winds(355, 3))
assert monitor.update(winds(100, 4)).detected_at is not None
for other in (["left"] * 90, ["1°"] * 89 + ["north"]):
    try:
        km.compare(A, C.assign(wind=other), **few)
    except ValueError as error:
        print(error)
kind = type(next(own.type for own in differ.encoded.codings if own.name == "wind"))
for wrong in (
    lambda: km.compare(blank, C, missing="noise", estimator="kme", **few),
    lambda: type("Again", (kind,), {"kind": "angle"}),
    lambda: type("Other", (kind,), {"kind": "bearing"}) and km.compare(A, C, **few),
):
    try:
        wrong()
    except ValueError as error:
        print(error)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("toys")
    files = {"kernels.toy": KERNEL, "noise.toy": NOISE, "estimators.toy": FILTER, "toys": LOADED}
    files |= {"questions.toy": QUESTION, "tables.columns.kinds.toy": COLUMN_KIND}
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def run(folder: Path, *words: str, at: Path | None = None) -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-W", "error", *words]
    done = subprocess.run(command, cwd=at or folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def printed(folder: Path) -> list[list[str]]:
    """Lines of what uses the kernel, the noise and the filter, of columns, and of questions, in one process."""
    (folder / "all.py").write_text("\nprint('== next')\n".join([f"import toys\n{USED}", TOLD, ASKED]))
    return [part.splitlines() for part in run(folder, "all.py").split("== next\n")]


def test_what_was_added_is_listed_saved_and_used(printed: list[list[str]]) -> None:
    head, _, *rows = printed[0]
    column = [cell.strip() for cell in head.split("|")].index("ToyNoise")
    cells = {row.split("|")[1].strip(): row.split("|")[column].strip() for row in rows}
    assert cells["Toy(amplitudes=(0.5, 0.3, 0.2))"] == "both"
    assert cells["Linear()"] == "both"
    for kernel in (
        "Gaussian(bandwidth=(1.0, 2.0))",
        "Laplacian(bandwidth=1.0)",
        "Matern(nu=2.5, bandwidth=1.0)",
        "Wendland(order=2, bandwidth=1.0)",
        "(Gaussian(bandwidth=1.0) + Linear())",
    ):
        assert cells[kernel] == "both", kernel
    assert cells["(Gaussian(bandwidth=1.0) * Laplacian(bandwidth=1.0))"] == "none"  # only under Normal noise
    assert cells["Categorical(similarity=0.1)"] == "none"


@pytest.mark.slow
def test_the_closed_forms_and_the_backends_try_what_was_added(folder: Path) -> None:
    tests = ["kernel_properties", "expected_properties"]
    files = [*(f"closed_forms/test_{name}.py" for name in tests), "unit/arrays/test_embeddings.py"]
    options = ["-p", "toys", "-p", "no:cacheprovider", "--assert=plain", "-q", "-k", "Toy and not float32"]
    said = run(folder, "-m", "pytest", *options, *(f"tests/{file}" for file in files), at=TESTS.parent)
    counted = re.search(r"(\d+) passed", said)
    assert counted is not None
    assert int(counted[1]) > 60, said


def test_a_question_is_answered_by_every_estimator_and_scheme_and_reported(printed: list[list[str]]) -> None:
    *verbs, estimator = printed[2]
    assert len(verbs) == 2
    assert all("this test asked something else; call mmd_test or hsic_test" in words for words in verbs)
    assert "estimator is 's-kmse'; pass one of 'kme', 'mkme', 'mmkme', 'adaptive'" in estimator


def test_a_kind_of_column_is_compared_read_drawn_saved_and_watched(printed: list[list[str]]) -> None:
    means, left, north, noise, again, both = printed[1]
    assert means == "358° 16° −17.47°"
    assert "column 'wind' is angle in A ('358.8°' in row 1) and categorical in B ('left' in row 1)" in left
    assert "and categorical in B ('1°' in row 1)" in north
    assert "missing='noise' is for numbers and times, and 'wind' is angle" in noise
    assert again == "Again is called 'angle', as AngleKind is; rename one"
    assert both == "A: column 'wind' is angle and bearing; let one of these kinds recognise such cells"
