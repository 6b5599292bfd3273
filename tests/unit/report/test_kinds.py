"""Histograms, areas, clouds of points, bars and heat maps: drawn where their numbers are, told in words, in tables."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="charts need the extra 'plot'")

from matplotlib.axes import Axes

from kernelmean.report import (
    SHADES,
    Bars,
    Chart,
    HeatMap,
    Panel,
    Points,
    Steps,
    Strip,
    describe,
    numbers,
    page_charts,
    pictures,
)
from kernelmean.report.beside import BESIDE, LINE, beside

from .test_palette import contrast

HISTOGRAM = Panel(
    "dose", "dose", "share", steps=(Steps("A", (0.0, 1.0, 3.0), (0.75, 0.25)), Steps("B", (0.0, 1.0), (1.0,)))
)
WITNESS = Panel(
    "dose",
    "dose",
    "witness",
    strips=(
        Strip("chance", (0.0, 1.0), (-0.1, -0.2), (0.1, 0.2), quiet=True),
        Strip("more A", (0.0, 1.0), (0.0, 0.0), (0.5, 0.0)),
    ),
)
CLOUD = Panel("", "x", "y", points=(Points("rows", (1.0, 2.0), (3.0, 5.0)),))
MAP = Panel("", "x", "y", points=(Points("group", (0.0, 1.0, 1.0, 1.0), (0.0, 2.0, 2.0, 2.0), ("a", "_b", "c", "d")),))
SHARES = Bars("colour", "share", ("red", "green"), (("A", (0.25, 0.75)), ("B", (0.5, 0.5))))
CELLS = HeatMap(
    "", "strength", ("a", "b"), ("a", "b"), ((None, 0.8), (-0.01, None)), frozenset({(0, 1)}), "p at most 0.05"
)
ALL = (HISTOGRAM, WITNESS, CLOUD, MAP, SHARES, CELLS)


def chart(*panels: Panel | Bars | HeatMap) -> Chart:
    return Chart("name", "Title", panels, "What is seen.")


def axes(panel: Panel | Bars | HeatMap) -> Axes:
    with page_charts._style():
        return pictures.show_all([panel], [""], wide=1, size=(4.6, 3.3)).axes[0]


def test_steps_and_areas_are_where_the_numbers_are() -> None:
    outlines = [patch for patch in axes(HISTOGRAM).patches if not patch.get_fill()]
    assert [list(one.get_data().values) for one in outlines] == [[0.75, 0.25], [1.0]]
    assert [list(one.get_data().edges) for one in outlines] == [[0.0, 1.0, 3.0], [0.0, 1.0]]
    assert outlines[0].get_linestyle() != outlines[1].get_linestyle(), "not told apart by colour alone"
    assert axes(HISTOGRAM).get_ylim()[0] == 0.0
    chance, more = axes(WITNESS).collections
    assert chance.get_paths()[0].vertices[:, 1].min() == -0.2
    assert more.get_paths()[0].vertices[:, 1].max() == 0.5
    assert chance.get_hatch()


def test_points_and_bars_are_where_the_numbers_are() -> None:
    (cloud,) = axes(CLOUD).get_lines()
    assert (list(cloud.get_xdata()), list(cloud.get_ydata())) == ([1.0, 2.0], [3.0, 5.0])
    ax = axes(SHARES)
    assert [bar.get_width() for bar in ax.patches] == [0.25, 0.75, 0.5, 0.5]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["red", "green"]
    assert ax.yaxis_inverted()
    assert len({bar.get_hatch() for bar in ax.patches}) == 2, "not told apart by colour alone"


def test_a_map_names_its_points_and_has_one_scale() -> None:
    ax = axes(MAP)
    assert {(text.get_text().strip(), text.xy) for text in ax.texts} == {
        ("a", (0.0, 0.0)), ("_b", (1.0, 2.0)), ("c", (1.0, 2.0)), ("d", (1.0, 2.0))
    }  # fmt: skip
    assert ax.get_aspect() == 1.0
    assert sum(text.arrow_patch is not None for text in ax.texts) == 1, "one of three names at one place gives way"
    assert numbers(chart(MAP)).rows == (("a", "0", "0"), ("_b", "1", "2"), ("c", "1", "2"), ("d", "1", "2"))
    assert "group: a at 0 and 0, _b at 1 and 2, c at 1 and 2, d at 1 and 2." in describe(MAP)


@pytest.mark.parametrize("spread", [0.0, 5.0, 300.0])
def test_no_name_covers_another_or_a_point(spread: float) -> None:
    rng = np.random.default_rng(0)
    places = [(float(x), float(y)) for x, y in rng.uniform(150 - spread / 2, 150 + spread / 2, size=(50, 2))]
    widths = rng.uniform(10, 120, size=50).tolist()
    boxes = []
    for (x, y), wide, (side, lines) in zip(places, widths, beside(places, widths, 300.0, 300.0), strict=True):
        left = x + side * BESIDE - (wide if side < 0 else 0.0)
        boxes.append((left, left + wide, y + lines * LINE))
    for one, other in itertools.combinations(boxes, 2):
        assert one[1] < other[0] or other[1] < one[0] or abs(one[2] - other[2]) > LINE - 1e-9
    assert not any(low <= x <= high and abs(y - at) < LINE - 1e-9 for low, high, at in boxes for x, y in places)


def darkest() -> float:
    """Return the opacity of a cell of value 1."""
    (cell,) = axes(HeatMap("", "strength", ("a",), ("b",), ((1.0,),))).patches
    return float(cell.get_facecolor()[3])


def test_cells_are_dark_by_their_values_and_say_them() -> None:
    ax, heat = axes(CELLS), darkest()
    assert {patch.get_xy(): patch.get_facecolor()[3] for patch in ax.patches} == {
        (1, 0): pytest.approx(0.8**0.5 * heat), (0, 1): 0.0
    }  # fmt: skip
    assert {text.get_position(): text.get_text() for text in ax.texts} == {(1.5, 0.5): ".80*", (0.5, 1.5): "−.01"}
    assert [label.get_text() for label in ax.figure.legends[0].get_texts()] == [
        "strength 0", "strength 0.1", "strength 0.5", "strength 1", "p at most 0.05"
    ]  # fmt: skip


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_ink_is_legible_on_the_darkest_cell(mode: str) -> None:
    over, ground = (
        [int(getattr(SHADES[part], mode)[k : k + 2], 16) for k in (1, 3, 5)] for part in ("series-1", "surface")
    )
    heat = darkest()
    assert heat >= 0.5
    cell = "#" + "".join(f"{round(heat * a + (1 - heat) * b):02x}" for a, b in zip(over, ground, strict=True))
    assert contrast(getattr(SHADES["ink"], mode), cell) >= 4.5


def test_words_and_tables_have_the_numbers() -> None:
    assert "A: histogram from 0 to 3, highest 0.75 between 0 and 1." in describe(HISTOGRAM)
    assert "more A: widest at 0, 0 to 0.5." in describe(WITNESS)
    assert "rows: 2 points, x from 1 to 2, y from 3 to 5." in describe(CLOUD)
    assert describe(SHARES) == "share of red, green. A: 0.25, 0.75. B: 0.5, 0.5."
    assert "Largest: 0.8 of a and b." in describe(CELLS)
    assert numbers(chart(HISTOGRAM)).rows[1] == ("A", "1 to 3", "0.25")
    assert numbers(chart(WITNESS)).rows[0] == ("chance", "0", "−0.1 to 0.1")
    assert numbers(chart(SHARES)).rows[0] == ("A", "red", "0.25")
    assert numbers(chart(CELLS)).header == ("", "a", "b")
    assert numbers(chart(CELLS)).rows == (("a", "", "0.8*"), ("b", "−0.01", ""))
    assert len(numbers(chart(*ALL)).rows[0]) == 4
