"""What holds of every picture: it draws where it is told, cuts nothing off, says what it shows, in light and dark."""

from __future__ import annotations

import itertools
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

import kernelmean as km
from kernelmean import dependence
from kernelmean.estimators import Landweber
from kernelmean.studies import Densities, Dependence, GroupComparison, compare_groups, fit_densities, plots

pytest.importorskip("matplotlib", reason="pictures need the extra 'plot'")

from matplotlib import pyplot
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text

RNG = np.random.default_rng(1)
X = RNG.normal(size=(30, 3)) * [1.0, 5.0, 0.2]
Y = RNG.normal([0.0, 6.0, 0.0], [1.0, 5.0, 0.2], size=(25, 3))
LONG = ("a column whose name takes much room $x_1$", "petal length (cm)", "age", "f", "income_after_tax")
WIDE = np.column_stack([X, X[:, 0] ** 2, -X[:, 1]])


@cache
def dependent(columns: int) -> Dependence:
    table = {name: WIDE[:, j] for j, name in enumerate(LONG[:columns])}
    frame = pytest.importorskip("pandas").DataFrame(table)
    return dependence(frame, estimator="kme", n_resamples=19)


@cache
def grouped() -> GroupComparison:
    """Return twelve groups with long names, eight of them nearly at one place."""
    names = [f"{LONG[0]} {k}" for k in range(12)]
    table = {"x": [10.0 * max(k - 7, 0) + j / 7 + k / 99 for k in range(12) for j in range(5)]}
    frame = pytest.importorskip("pandas").DataFrame({**table, LONG[0]: np.repeat(names, 5)})
    return compare_groups(frame, LONG[0], estimator="kme", n_resamples=19)


@cache
def densities() -> Densities:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kernelmean.studies.density._COMPONENTS", (1, 2))
        return fit_densities(np.concatenate([X, Y]), estimator="mkme", n_components=[1])


@cache
def result_of_a_test() -> km.TestResult:
    return km.mmd_test(X, Y, estimator="kme", n_resamples=99, rng=0)


@cache
def fitted(name: str) -> km.KernelMean:
    frame = pytest.importorskip("pandas").DataFrame(X, columns=LONG[:3])
    made = {
        "mkme": km.MKME(),
        "mmkme": km.MMKME(km.kernels.Gaussian((0.5, 2.0, 0.1))),
        "s-kmse": km.estimators.SKMSE(),
        "f-kmse": km.estimators.FKMSE(),
        "landweber": km.KernelMean(filter=Landweber()),
        "vpmkme": km.estimators.VPMKME(contraction="tied"),
    }
    return made[name].fit(frame)


Draw = Callable[..., Any]
PICTURES: dict[str, Draw] = {
    "null distribution": lambda **ax: plots.null_distribution(result_of_a_test(), **ax),
    "witness": lambda **ax: plots.column_witness(X[:, 1], Y[:, 1], names=LONG[1:3], column=LONG[0], **ax),
    "witness map": lambda **ax: plots.witness_map(X, Y, names=LONG[1:3], **ax),
    "dependence of two": lambda **ax: plots.dependence_map(dependent(2), **ax),
    "dependence of four": lambda **ax: plots.dependence_map(dependent(4), **ax),
    "dependence of five": lambda **ax: plots.dependence_map(dependent(5), **ax),
    "groups": lambda **ax: plots.groups_map(grouped(), **ax),
    "noise": lambda **ax: plots.noise_per_column(fitted("mmkme"), **ax),
    "damping of frequencies": lambda **ax: plots.spectrum_damping(fitted("mmkme"), **ax),
    "damping of eigenvectors": lambda **ax: plots.spectrum_damping(fitted("f-kmse"), **ax),
    "marginal of one": lambda **ax: plots.marginal_density(densities(), ["x1"], **ax),
    "marginal of two": lambda **ax: plots.marginal_density(densities(), ["x1", "x0"], **ax),
}
FIGURES: dict[str, Callable[[], Figure]] = {
    "witnesses": lambda: plots.column_witnesses(X, Y, ["x1", "x0", "x2"], names=LONG[1:3]),
    "pairs": lambda: plots.density_pairs(densities()),
}


def shown(figure: Figure) -> Iterator[tuple[Text, Any]]:
    """Yield every text that is seen, with its box in pixels."""
    FigureCanvasAgg(figure).draw()
    hidden = {id(text) for ax in figure.axes for axis in (ax.xaxis, ax.yaxis) for text in beyond_the_ends(axis)}
    for text in figure.findobj(Text):
        if text.get_visible() and text.get_text().strip() and id(text) not in hidden:
            yield text, text.get_window_extent()


@cache
def drawn(name: str) -> tuple[Figure, list[tuple[Text, Any]]]:
    """Return a figure and the texts that are seen on it, drawn once for all tests of it, without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = FIGURES[name]() if name in FIGURES else PICTURES[name]().figure
        return figure, list(shown(figure))


def beyond_the_ends(axis: Any) -> Iterator[Text]:
    """Yield the labels of ticks that are not drawn, since they lie outside the axes."""
    low, high = sorted(axis.get_view_interval())
    for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
        if not low - 1e-9 * abs(low) <= tick.get_loc() <= high + 1e-9 * abs(high):
            yield from (tick.label1, tick.label2)


@pytest.mark.parametrize("name", [*PICTURES, *FIGURES])
def test_no_text_is_cut_off(name: str) -> None:
    figure, seen = drawn(name)
    assert seen
    for text, box in seen:
        assert box.x0 >= -1.0, text
        assert box.y0 >= -1.0, text
        assert box.x1 <= figure.bbox.x1 + 1.0, text
        assert box.y1 <= figure.bbox.y1 + 1.0, text


@pytest.mark.parametrize("name", [*PICTURES, *FIGURES])
def test_labels_of_ticks_do_not_overlap(name: str) -> None:
    figure, texts = drawn(name)
    seen = [(id(text), box) for text, box in texts]
    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            labels = {id(text) for text in axis.get_ticklabels() if not text.get_rotation()}
            for one, other in itertools.combinations([box for key, box in seen if key in labels], 2):
                assert not one.padded(-1.0).overlaps(other.padded(-1.0)), name


@pytest.mark.parametrize("draw", PICTURES.values(), ids=PICTURES)
def test_words_say_what_is_seen(draw: Draw) -> None:
    words = plots.alt_text(draw(ax=Figure().add_subplot()))
    assert len(words) > 50
    assert words.endswith(".")
    assert "-" not in words.replace("Leave-one-out", "")  # numbers have a true minus sign


@pytest.mark.parametrize("draw", PICTURES.values(), ids=PICTURES)
def test_texts_and_lines_are_seen_on_a_dark_surface(draw: Draw) -> None:
    with pyplot.style.context("dark_background"):
        ax = draw()
        surface = to_rgb(ax.get_facecolor())
        for line in ax.get_lines():
            colors = [line.get_color()] if line.get_linestyle() != "None" else [line.get_mec(), line.get_mfc()]
            apart = [np.abs(np.subtract(to_rgb(color), surface)).max() for color in colors if color != "none"]
            assert max(apart) > 0.3, line


@pytest.mark.parametrize("draw", PICTURES.values(), ids=PICTURES)
def test_without_matplotlib_it_says_what_to_install(draw: Draw, monkeypatch: pytest.MonkeyPatch) -> None:
    draw(ax=Figure().add_subplot())  # what is drawn is found before the module goes
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"kernelmean\[plot\]"):
        draw()
