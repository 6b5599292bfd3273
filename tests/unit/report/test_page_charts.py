"""Charts: what is drawn, the same bytes every time, whatever the reader's settings and labels are."""

from __future__ import annotations

import pytest

pytest.importorskip("matplotlib", reason="charts need the extra 'plot'")

import matplotlib as mpl
from matplotlib.axes import Axes

from kernelmean.report import Band, Chart, Curve, Events, Panel, Points, Steps, Strip, numbers, page_charts, pictures


def chart(*curves: Curve, **panel: object) -> Chart:
    return Chart("name", "Title", (Panel("", "x", "y", curves, **panel),), "What is seen.")


def axes(one: Chart) -> Axes:
    with page_charts._style():
        return pictures.show_all(one.panels, ["What is seen."], wide=1, size=(4.6, 3.3)).axes[0]


def test_the_same_chart_gives_the_same_text_whatever_the_settings() -> None:
    one = chart(Curve("KME", (1.0, 2.0), (0.5, 0.25), (0.1, 0.1)))
    first = page_charts.drawing(one, "id")
    with mpl.rc_context({"font.size": 30, "axes.grid": False, "lines.linewidth": 9.0, "svg.fonttype": "none"}):
        assert page_charts.drawing(one, "id") == first
        assert mpl.rcParams["font.size"] == 30
    assert "Matplotlib" not in first.panels[0]
    assert "<metadata" not in first.panels[0]


def test_lines_bars_strips_bands_and_marks_are_where_the_numbers_are() -> None:
    many = tuple(float(k) for k in range(40))
    one = chart(
        Curve("few", (1.0, 2.0, 4.0), (3.0, 1.0, 2.0), (0.5, 0.25, 0.125)),
        Curve("many", many, many, tuple(0.1 * x for x in many)),
        bands=(Band("chance", 0.03, 0.07),),
        marks=(("best", 2.5),),
    )
    ax = axes(one)
    bars, strip = ax.collections
    assert [tuple(segment[:, 1]) for segment in bars.get_segments()] == [(2.5, 3.5), (0.75, 1.25), (1.875, 2.125)]
    assert strip.get_paths()[0].vertices[:, 1].max() == pytest.approx(39 * 1.1)
    band = ax.patches[0].get_extents().transformed(ax.transData.inverted())
    assert (band.y0, band.y1) == pytest.approx((0.03, 0.07))
    assert any(list(line.get_xdata()) == [2.5, 2.5] for line in ax.get_lines())
    assert any(list(line.get_ydata()) == [3.0, 1.0, 2.0] for line in ax.get_lines())
    labels = [text.get_text() for text in ax.figure.legends[0].get_texts()]
    assert labels == ["few", "many", "chance", "best"]


def test_lines_differ_by_their_markers_and_dashes_too() -> None:
    pair = (1.0, 2.0)
    lines = axes(chart(Curve("a", pair, pair), Curve("b", pair, pair, dashed=True), Curve("c", pair, pair))).get_lines()
    assert len({line.get_marker() for line in lines}) == 3
    assert [line.get_linestyle() for line in lines] == ["-", "--", "-"]


def test_logarithmic_axes_show_the_sizes_and_keep_a_zero() -> None:
    ax = axes(chart(Curve("a", (10.0, 20.0, 100.0), (1.0, 0.1, 0.01)), x_log=True, y_log=True))
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert [label.get_text() for label in ax.get_xticklabels()] == ["10", "20", "100"]
    odd = tuple(0.00123456 * 2.0**k for k in range(6))
    ax = axes(chart(Curve("a", odd, odd), x_log=True))
    assert len(ax.get_xticks()) < 6, "so many letters would not fit"
    ax = axes(chart(Curve("a", (0.0, 0.1, 1.0), (1.0, 2.0, 3.0)), x_log=True))
    assert ax.get_xscale() == "symlog"
    assert ax.get_xlim()[0] < 0 < 1 < ax.get_xlim()[1]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["0", "0.1", "1"]


def test_clouds_with_long_tails_have_decades_as_ticks() -> None:
    cloud = Points("rows", (3.0, 40.0, 500.0, 60000.0), (1.0, 2.0, 3.0, 4.0))
    ax = axes(chart(Curve("mean", (5.0, 50.0, 700.0), (1.0, 2.0, 3.0)), points=(cloud,), x_log=True))
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "linear")
    ax.figure.canvas.draw()
    shown = {label.get_text() for label in ax.get_xticklabels()}
    assert {"10", "100", "1000", "10,000"} <= shown
    assert not {"5", "50", "700"} & shown


def test_a_strip_over_a_part_of_a_histogram_hides_nothing_of_it() -> None:
    steps, strip = (
        Steps("all", (0.0, 1.0, 2.0, 3.0), (0.5, 0.3, 0.2)),
        Strip("large", (2.5, 3.0), (0.0, 0.0), (0.5, 0.5)),
    )
    assert axes(chart(steps=(steps,), strips=(strip,))).get_xlim() == (0.0, 3.0)


def test_the_table_of_a_chart_has_all_its_numbers(charts_of_all_kinds: tuple[Chart, ...]) -> None:
    losses, valley, _ = charts_of_all_kinds
    table = numbers(losses)
    assert table.header == ("panel", "line", "n", "mean loss", "standard error")
    assert len(table.rows) == 2 * 8 * 4
    assert table.rows[0] == ("squared", "KME", "10", "0.1", "0.01111")
    assert numbers(valley).rows[-1] == ("best", "4", "", "")


def test_events_have_one_look_and_names_that_are_apart() -> None:
    names = ("2023-12-09", "2023-12-12", "2024-03-08")
    events = Events("change", (19700.0, 19703.0, 19790.0), names)
    ax = axes(chart(Curve("a", (19600.0, 19850.0), (0.0, 1.0)), events=events, x_days=True))
    assert [text.get_text() for text in ax.figure.legends[0].get_texts()] == ["a", "change"]
    _, *lines = ax.get_lines()
    assert [line.get_xdata()[0] for line in lines] == list(events.x)
    assert len({(line.get_color(), str(line.get_linestyle()), line.get_linewidth()) for line in lines}) == 1
    (top,) = ax.child_axes
    ax.figure.canvas.draw()
    above = [label for label in top.get_xticklabels() if label.get_text()]
    assert [label.get_text().strip() for label in above] == list(names)
    assert [label.get_text().count("\n") for label in above] == [0, 1, 0]
    assert "2024" in {label.get_text() for label in ax.get_xticklabels()}, "days since 1970 are dates"
