"""Small pictures in tables: their lines stand where the numbers are."""

from __future__ import annotations

import re

import pytest

from kernelmean.report import Bars, Extent, HeatMap, Panel, Sketches, Steps
from kernelmean.report.inline_svg import full, sketch


def numbers(text: str, pattern: str) -> list[float]:
    return [float(found) for found in re.findall(pattern, text)]


def test_outlines_have_the_heights_of_their_histograms() -> None:
    first, second = Steps("A", (0.0, 1.0, 2.0), (0.25, 0.75)), Steps("B", (0.0, 1.0, 2.0), (0.5, 0.5))
    one, two = re.findall(r'<path d="(.*?)"', sketch(Panel("x", "x", "share", steps=(first, second))))
    assert numbers(one, r"V([\d.]+)")[:2] == [28.5 - 27.0 / 3.0, 1.5]  # a third, and all of the height
    assert numbers(two, r"V([\d.]+)")[:2] == [10.5, 10.5]
    assert numbers(one, r"H([\d.]+)") == [60.0, 118.5]


def test_outlines_of_long_tails_have_a_logarithmic_axis() -> None:
    panel = Panel("x", "x", "share", steps=(Steps("A", (1.0, 10.0, 100.0), (0.5, 0.5)),), x_log=True)
    assert numbers(sketch(panel), r"H([\d.]+)") == [60.0, 118.5]


def test_bars_have_the_heights_of_shares() -> None:
    text = sketch(Bars("x", "share", ("no", "yes"), (("A", (0.5, 0.5)), ("B", (1.0, 0.0)))))
    assert numbers(text, r' height="([\d.]+)"') == [13.5, 13.5, 27.0, 0.0]


def test_a_value_and_its_interval_stand_beside_zero() -> None:
    text = sketch(Extent("gap", 0.5, 0.0, 2.0, 1.0))
    assert numbers(text, r'cx="([\d.]+)"') == [pytest.approx(1.5 + 117.0 * 0.75, abs=0.05)]
    assert numbers(text, r'x1="([\d.]+)"') == [60.0, 60.0]
    assert numbers(text, r'x2="([\d.]+)"')[1] == 118.5  # beyond the axis it stays at its end


def test_names_are_escaped_and_other_pictures_refused() -> None:
    assert 'aria-label="&lt;b&gt; &quot;x&quot;"' in sketch(Extent('<b> "x"', 0.0, 0.0, 0.0, 1.0))
    with pytest.raises(TypeError, match="a sketch needs a Panel"):
        sketch(HeatMap("a map", "share", (), (), ()))  # type: ignore[arg-type]


def test_nothing_is_drawn_where_there_is_nothing() -> None:
    assert sketch(Panel("x", "x", "share", steps=(Steps("A", (0.0, 1.0), (0.0,)),))).count("<path") == 1
    assert Sketches("gap", (None,)).after == 1
    assert sketch(None) == ""


def test_more_than_two_samples_stand_below_one_another() -> None:
    steps = tuple(Steps(name, (0.0, 1.0), (1.0,)) for name in "ABC")
    text = sketch(Panel("x", "x", "share", steps=steps))
    assert numbers(text, r"V([\d.]+)H") == [1.5, 17.5, 33.5]
    assert 'viewBox="0 0 120 48"' in text
    bars = sketch(Bars("x", "share", ("no",), (("A", (1.0,)), ("B", (0.5,)), ("C", (0.2,)))))
    assert numbers(bars, r' y="([\d.]+)"') == [1.5, 17.5, 33.5]  # each as high as its place


def test_full_pictures_have_axes_and_words() -> None:
    steps = tuple(Steps(name, (-10.0, 0.0, 10.0), (0.25, 0.75)) for name in "AB")
    text = full(Panel("x (without the outer 1 %)", "<x>", "share of rows", steps=steps))
    assert re.findall(r"<text [^>]*>(.*?)</text>", text) == [
        "share of rows, up to 75 % in a bar", *("−10", "−5", "0", "5", "10"), "&lt;x&gt;"
    ]  # fmt: skip
    assert numbers(text, r'<text x="([\d.]+)" [^>]*middle')[:5] == pytest.approx(
        [4.5 + 351.0 * k / 4 for k in range(5)], abs=0.1
    )
    assert 'aria-label="x (without the outer 1 %). share of rows against &lt;x&gt;.' in text
    assert full(Extent("gap", 0.5, 0.0, 2.0, 1.0)) == full(None) == ""


def test_full_pictures_of_long_tails_have_decades() -> None:
    panel = Panel("x", "x", "share", steps=(Steps("A", (0.5, 10.0, 2e6), (0.5, 0.5)),), x_log=True)
    assert re.findall(r"middle\">(.*?)</text>", full(panel))[:-1] == ["1", "100", "10,000", "1,000,000"]
    narrow = Panel("x", "x", "share", steps=(Steps("A", (2.0, 8.0), (1.0,)),), x_log=True)
    assert re.findall(r"middle\">(.*?)</text>", full(narrow)) == ["4", "x"]


def test_full_bars_write_names_and_shares() -> None:
    text = full(Bars("x", "share", ("no", "<yes>"), (("A", (0.5, 0.5)), ("B", (1.0, 0.0)))))
    assert re.findall(r"<text [^>]*>(.*?)</text>", text) == ["no", "50 %", "100 %", "&lt;yes&gt;", "50 %", "0 %"]
    assert numbers(text, r' width="([\d.]+)"') == [90.0, 180.0, 90.0, 0.0]


@pytest.mark.parametrize("samples", [2, 3])
def test_blank_cells_are_a_bar_beside_as_high_as_their_share(samples: int) -> None:
    steps = tuple(Steps(f"s{k}", (0.0, 1.0, 2.0), (0.5, 0.5)) for k in range(samples))
    shares = (0.25, 0.5, 1.0)[:samples]
    panel = Panel("x", "x", "share of rows", steps=steps, blank=shares)
    sizes = [tuple(map(float, size)) for size in re.findall(r'<rect x="([\d.]+)".*?height="([\d.]+)"', sketch(panel))]
    frames = 1 if samples == 2 else samples
    tall = sizes[0][1]
    assert [high for _, high in sizes[frames:]] == pytest.approx([share * tall for share in shares], abs=0.05)
    paths = re.findall(r' d="(.*?)"', sketch(panel))
    right = max(float(x) for path in paths for x in re.findall(r"[MH]([\d.]+)", path))
    assert all(x > right for x, _ in sizes)
    words = [text for text in re.findall(r"<text [^>]*>(.*?)</text>", full(panel)) if text.startswith("blank")]
    each = ["blank: 25 %", "blank: 50 %", "blank: 100 %"]
    assert words == (["blank: 25 %, 50 %"] if samples == 2 else each)
