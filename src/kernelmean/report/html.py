"""Documents as one HTML file that needs no other: for a phone or a wide screen, in the light or in the dark."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files

from . import charts, pictures
from .anchors import Anchors
from .content import OUTCOMES, UNKNOWN, check_table, numeric_columns, tally
from .document import Chart, Document, Section, Table, Verdict
from .figures import BARS, has_errors, numbers
from .markup import Markup, element, join
from .palette import variables

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""What the page may load: nothing but itself."""


def render(document: Document) -> str:
    """Return a document as one HTML file: no script, and nothing to be loaded.

    Charts are drawn when matplotlib is there; otherwise their numbers stand in their places. The same document gives
    the same text.

    Raises
    ------
    ValueError
        When a row of a table has not as many cells as its header.

    Examples
    --------
    >>> from kernelmean.report import to_html
    >>> page = to_html(Document("Title", ("In short.",), ()))
    >>> page.startswith("<!doctype html>"), "<h1>Title</h1>" in page
    (True, True)
    """
    return f"<!doctype html>\n{_Page(document).whole()}\n"


class _Page:
    """A document being written: which ids are taken, and where verdicts are to be found."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.anchors = Anchors()
        self.places = [self.anchors.take(section.title) for section in document.sections]
        self.main, self.verdicts, self.made_by = (
            self.anchors.take(name) for name in ("content", "verdicts", "made-by")
        )
        self.claims = [
            [self.anchors.take(f"{place} verdict {number + 1}") for number in range(len(section.verdicts))]
            for section, place in zip(document.sections, self.places, strict=True)
        ]
        self.why_no_pictures = pictures.missing()

    def whole(self) -> Markup:
        """Return the html element."""
        title = self.document.title
        body = element(
            "body",
            element("a", "Skip to the content", class_="skip", href=f"#{self.main}"),
            element("header", element("h1", title)),
            element("main", *self._content(), id=self.main, tabindex="-1"),
            self._made_by(),
        )
        return element("html", _head(title), "\n", body, lang="en")

    def _content(self) -> list[Markup]:
        summary = [element("p", text, class_="lead") for text in self.document.summary]
        headline = [element("p", self.document.headline, class_="headline")] if self.document.headline else []
        return [
            *headline,
            *summary,
            self._overview(),
            self._contents(),
            *(self._section(*one) for one in self._sections()),
        ]

    def _sections(self) -> Iterator[tuple[Section, str, list[str]]]:
        """Yield every section with its place and those of its verdicts."""
        return zip(self.document.sections, self.places, self.claims, strict=True)

    def _contents(self) -> Markup:
        """Return the table of contents, for documents of several sections."""
        if len(self.places) < 2:
            return Markup()
        sections = self._sections()
        items = [element("li", element("a", section.title, href=f"#{place}")) for section, place, _ in sections]
        return element("nav", element("h2", "Contents"), element("ol", *items), aria_label="Contents")

    def _overview(self) -> Markup:
        """Return the outcomes of all verdicts, each with a link to its evidence."""
        if not any(section.verdicts for section in self.document.sections):
            return Markup()
        groups = [_outcomes(*one) for one in self._sections() if one[0].verdicts]
        head = element("tr", *(element("th", name, scope="col") for name in ("Outcome", "Claim")))
        table = element("table", element("thead", head), *groups, class_="overview", aria_labelledby=self.verdicts)
        counts = element("p", tally(self.document))
        return element("section", element("h2", "Verdicts", id=self.verdicts), counts, table)

    def _section(self, section: Section, place: str, claims: list[str]) -> Markup:
        parts = [element("p", text) for text in section.paragraphs]
        parts += [element("ul", *(element("li", text) for text in section.items))] if section.items else []
        if section.verdicts:
            parts.append(_verdicts(section, claims))
        parts += [self._table(table) for table in section.tables]
        parts += [self._figure(chart) for chart in section.charts]
        if section.settings:
            parts.append(element("details", element("summary", "Settings"), _pairs(section.settings)))
        return element("section", element("h2", section.title, id=place), *parts)

    def _table(self, table: Table) -> Markup:
        """Return a table in a box of its own, that scrolls where the page is narrow."""
        check_table(table)
        name, numeric = self.anchors.take(table.caption), numeric_columns(table)
        head = (
            element("th", text, scope="col", **_aligned(right))
            for text, right in zip(table.header, numeric, strict=True)
        )
        body = (element("tr", *_cells(table, row, numeric)) for row in range(len(table.rows)))
        inner = element(
            "table",
            element("caption", element("span", table.caption), id=name),
            element("thead", element("tr", *head)),
            element("tbody", *body),
        )
        return element("div", inner, class_="scroll", role="group", tabindex="0", aria_labelledby=name)

    def _figure(self, chart: Chart) -> Markup:
        """Return a chart with what is to be seen in words, and its numbers to be unfolded."""
        prefix = self.anchors.take(f"figure {chart.name}")
        details = element("details", element("summary", "The numbers of this figure"), self._table(numbers(chart)))
        caption = element("figcaption", element("strong", chart.title), ". ", chart.text, *_about_bars(chart))
        if self.why_no_pictures:
            note = element("p", f"Not drawn: {self.why_no_pictures}", class_="note")
            return element("figure", caption, note, self._table(numbers(chart)), id=prefix)
        drawn = charts.drawing(chart, prefix)
        legend = [element("li", sample, label) for sample, label in drawn.legend]
        panels = element("div", *drawn.panels, class_="panels wide" if drawn.wide else "panels")
        if drawn.wide:
            panels = element("div", panels, class_="scroll", role="group", tabindex="0", aria_label=chart.title)
        figure = element("figure", element("ul", *legend, class_="legend"), panels, caption, id=prefix)
        return join(figure, details)

    def _made_by(self) -> Markup:
        if not self.document.made_by:
            return Markup()
        title = element("h2", "Made by", id=self.made_by)
        return element("footer", title, _pairs(self.document.made_by))


def _head(title: str) -> Markup:
    style = variables() + files(__package__).joinpath("style.css").read_text(encoding="utf-8")
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("link", rel="icon", href="data:,"),
        element("title", title),
        element("style", Markup(style)),
    )


def _badge(verdict: Verdict) -> Markup:
    sign, part = OUTCOMES.get(verdict.outcome, UNKNOWN)
    return element("span", element("span", sign, aria_hidden="true"), f" {verdict.outcome}", class_=f"badge {part}")


def _outcomes(section: Section, place: str, claims: list[str]) -> Markup:
    """Return the outcomes of a section as rows of a table, under its title."""
    link = element("a", section.title, href=f"#{place}")
    rows = [element("tr", element("th", link, scope="rowgroup", colspan="2"), class_="group")]
    for verdict, claim_place in zip(section.verdicts, claims, strict=True):
        claim = element("a", verdict.claim, href=f"#{claim_place}")
        rows.append(element("tr", element("td", _badge(verdict)), element("td", claim)))
    return element("tbody", *rows)


def _verdicts(section: Section, claims: list[str]) -> Markup:
    """Return the verdicts of a section, with their evidence and rules."""
    items = []
    for verdict, place in zip(section.verdicts, claims, strict=True):
        parts = [_badge(verdict), " ", element("strong", verdict.claim)]
        parts += [element("p", verdict.evidence)] if verdict.evidence else []
        parts += [element("p", f"Rule: {verdict.rule}", class_="rule")] if verdict.rule else []
        items.append(element("li", *parts, id=place))
    return element("ul", *items, class_="verdicts")


def _cells(table: Table, row: int, numeric: list[bool]) -> list[Markup]:
    """Return the cells of a row: the first heads it, the best of theirs are strong."""
    cells = []
    for column, text in enumerate(table.rows[row]):
        shown = element("strong", text) if (row, column) in table.emphasis else text
        heads = column == 0 and not numeric[0] and bool(text.strip())
        cells.append(element("th", shown, scope="row") if heads else element("td", shown, **_aligned(numeric[column])))
    return cells


def _aligned(right: bool) -> dict[str, str]:
    return {"class_": "number"} if right else {}


def _about_bars(chart: Chart) -> list[Markup]:
    return [join(f" {BARS}")] if has_errors(chart) else []


def _pairs(pairs: tuple[tuple[str, str], ...]) -> Markup:
    return element("dl", *(join(element("dt", name), element("dd", text)) for name, text in pairs))
