"""Tables as people have them: every file twice, from two draws, with the cells that a careful reader sees in it.

``python tests/corpus/make.py FOLDER`` writes ``FOLDER/first/*`` and ``FOLDER/second/*``, the same bytes every time.
What a file means is written down before it becomes text, so nothing here knows how the library reads.
"""

from __future__ import annotations

import gzip
import io
import json
import sys
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from pyarrow import feather

Kind = Literal["number", "category", "datetime", "boolean", "duration"]
DRAWS = {"first": (1, 30), "second": (2, 28)}
NBSP, THIN, NARROW = "\u00a0", "\u2009", "\u202f"


@dataclass(frozen=True)
class Column:
    """What a column means (None where a cell is missing), and how a file writes it."""

    kind: Kind
    cells: tuple[Any, ...]
    texts: tuple[str, ...]


@dataclass(frozen=True)
class File:
    """A file, and what it means."""

    content: bytes
    columns: Mapping[str, Column]


@dataclass(frozen=True)
class Draw:
    """Where values come from: one draw of every file."""

    rng: np.random.Generator
    n: int

    def cents(self, low: float = 1, high: float = 100, unit: int = 100) -> list[float]:
        """Return numbers with as many decimals as ``unit`` has zeros, exactly those that their text means."""
        return [int(k) / unit for k in self.rng.integers(int(low * unit), int(high * unit), self.n)]

    def whole(self, low: int = 0, high: int = 9) -> list[int]:
        return [int(k) for k in self.rng.integers(low, high + 1, self.n)]

    def pick(self, *levels: str) -> list[str]:
        """Return levels at random, all of them."""
        chosen = [*levels, *self.rng.choice(levels, self.n - len(levels))]
        return [str(chosen[k]) for k in self.rng.permutation(self.n)]

    def days(self, span: int = 700, latest: int = 31) -> list[datetime]:
        """Return days of 2023 and 2024, none after the ``latest`` of a month, and one that is."""
        found = [datetime(2023, 1, 1) + timedelta(days=int(k)) for k in self.rng.integers(0, span, self.n)]
        days = [day.replace(day=min(day.day, latest)) for day in found]
        return [*days[:-1], days[-1].replace(day=latest - latest % 2, month=10)]

    def moments(self, step: int = 60) -> list[datetime]:
        return [datetime(2024, 3, 1) + timedelta(seconds=step * int(k)) for k in self.rng.integers(0, 50_000, self.n)]

    def order(self) -> list[int]:
        return [int(k) for k in self.rng.permutation(self.n)]


FILES: dict[str, Callable[[Draw], File]] = {}


def file(name: str) -> Callable[[Callable[[Draw], File]], Callable[[Draw], File]]:
    """Add a file to the corpus."""

    def add(make: Callable[[Draw], File]) -> Callable[[Draw], File]:
        assert name not in FILES, name
        FILES[name] = make
        return make

    return add


def column(kind: Kind, cells: Iterable[Any], write: Callable[[Any], str] = str, missing: str = "") -> Column:
    held = tuple(cells)
    return Column(kind, held, tuple(missing if cell is None else write(cell) for cell in held))


def number(cells: Iterable[Any], write: Callable[[Any], str] = str, missing: str = "") -> Column:
    return column("number", cells, write, missing)


def category(cells: Iterable[Any], write: Callable[[Any], str] = str, missing: str = "") -> Column:
    return column("category", cells, write, missing)


def date(cells: Iterable[Any], form: str = "%Y-%m-%d", missing: str = "") -> Column:
    return column("datetime", cells, lambda cell: cell.strftime(form), missing)


def boolean(cells: Iterable[int], no: str, yes: str) -> Column:
    return column("boolean", map(bool, cells), lambda cell: yes if cell else no)


def gaps(cells: Sequence[Any], every: int, start: int = 0) -> list[Any]:
    """Return cells of which every so many is missing."""
    return [None if k % every == start else cell for k, cell in enumerate(cells)]


def decimals(mark: str = ".", thousands: str = "", places: int = 2) -> Callable[[float], str]:
    """Return what writes numbers with decimal and thousands marks."""

    def write(cell: float) -> str:
        return f"{cell:,.{places}f}".replace(",", "\0").replace(".", mark).replace("\0", thousands)

    return write


def quoted(text: str, separator: str = ",", always: bool = False) -> str:
    needed = always or any(mark in text for mark in (separator, '"', "\n", "\r"))
    return '"' + text.replace('"', '""') + '"' if needed else text


def lines(columns: Mapping[str, Column], separator: str = ",", always: bool = False) -> list[str]:
    """Return header and rows."""
    rows = [list(columns), *zip(*(each.texts for each in columns.values()), strict=True)]
    return [separator.join(quoted(cell, separator, always) for cell in row) for row in rows]


def written(
    columns: Mapping[str, Column],
    separator: str = ",",
    end: str = "\n",
    encoding: str = "utf-8",
    *,
    top: Sequence[str] = (),
    bottom: Sequence[str] = (),
    always: bool = False,
    tail: str = "",
    names: Mapping[str, str] | None = None,
) -> File:
    """Return a text file; ``names`` says what columns are called where the header writes them otherwise."""
    body = end.join([*top, *(line + tail for line in lines(columns, separator, always)), *bottom, ""])
    called = {(names or {}).get(name, name.strip()): own for name, own in columns.items()}
    return File(body.encode(encoding), called)


def sales(draw: Draw, mark: str = ".") -> dict[str, Column]:
    """Return a plain table of four kinds."""
    return {
        "region": category(draw.pick("north", "south", "west")),
        "units": number(draw.whole()),
        "price": number(draw.cents(), decimals(mark)),
        "shipped": date(draw.days()),
    }


def shop(draw: Draw) -> dict[str, Column]:
    """Return a table as a European Excel saves it: decimal commas."""
    return {
        "Filiale": category(draw.pick("Köln", "München", "Zürich")),
        "Umsatz": number(draw.cents(), decimals(",")),
        "Stück": number(draw.whole()),
    }


# Separators, line ends, encodings

FILES |= {
    "plain.csv": lambda draw: written(sales(draw)),
    "tabs.tsv": lambda draw: written(
        sales(draw) | {"answer": category(draw.pick("yes, always", "no; never", "so | so"))}, "\t"
    ),
    "bars.csv": lambda draw: written(sales(draw), "|"),
    "semicolons, decimal points.csv": lambda draw: written(sales(draw), ";"),
    "European Excel.csv": lambda draw: written(shop(draw), ";", "\r\n", "cp1252"),
    "European Excel, UTF-8.csv": lambda draw: written(shop(draw), ";", "\r\n", "utf-8-sig"),
    "Excel with sep line.csv": lambda draw: written(sales(draw), ";", "\r\n", top=["sep=;"]),
    "UTF-16 without mark.csv": lambda draw: written(sales(draw), encoding="utf-16-le"),
    "byte order mark.csv": lambda draw: written(sales(draw), encoding="utf-8-sig"),
    "Latin-1.csv": lambda draw: written(
        {"città": category(draw.pick("Forlì", "Cefalù", "Roma")), "età": number(draw.whole(20, 40))}, encoding="latin-1"
    ),
    "Shift JIS.csv": lambda draw: written(
        {"都市": category(draw.pick("東京", "大阪")), "気温": number(draw.cents())}, encoding="shift_jis"
    ),
    "CRLF.csv": lambda draw: written(sales(draw), end="\r\n"),
    "CR of an old Mac.csv": lambda draw: written(sales(draw), end="\r"),
    "all cells quoted.csv": lambda draw: written(sales(draw), always=True),
    "quoted names.csv": lambda draw: written(
        {'size "L"': number(draw.cents()), "price, net": number(draw.cents()), "weight\n(kg)": number(draw.cents())}
    ),
    "blanks around names.csv": lambda draw: written(
        {" a": number(draw.cents()), "b ": number(draw.cents()), f"c{NBSP}": number(draw.cents())}
    ),
    "units in the header.csv": lambda draw: written(
        {
            "weight [kg]": number(draw.cents()),
            "temp (°C)": number(draw.cents(-5, 5)),
            "share in %": number(draw.cents()),
        }
    ),
}


@file("Excel Unicode text.tsv")
def _(draw: Draw) -> File:
    columns = sales(draw) | {"city": category(draw.pick("Łódź", "東京", "Αθήνα"))}
    return written(columns, "\t", "\r\n", "utf-16")


@file("UTF-16 big-endian.csv")
def _(draw: Draw) -> File:
    plain = written(sales(draw))
    return File(b"\xfe\xff" + plain.content.decode().encode("utf-16-be"), plain.columns)


@file("Latin-1 far behind.csv")
def _(draw: Draw) -> File:
    towns = ["Bonn"] * (draw.n - 1) + ["Köln"]
    return written({"town": category(towns), "size": number(draw.cents())}, encoding="latin-1")


@file("two files joined, two line ends.csv")
def _(draw: Draw) -> File:
    columns = sales(draw)
    rows = lines(columns)
    body = "\r\n".join(rows[:10]) + "\r\n" + "\n".join(rows[10:])  # and none at the end
    return File(body.encode(), columns)


@file("names with commas, semicolons between.csv")
def _(draw: Draw) -> File:
    names = ("Name, short", "Age, in years", "Size, in m, rounded")
    kinds = (category(draw.pick("a", "b")), number(draw.whole(20, 40)), number(draw.cents(1, 2)))
    return written(dict(zip(names, kinds, strict=True)), ";")


# Numbers

FILES |= {
    "German thousands.csv": lambda draw: written(
        {"Umsatz": number(draw.cents(100, 90_000), decimals(",", ".")), "Region": category(draw.pick("Nord", "Süd"))},
        ";",
    ),
    "US thousands.csv": lambda draw: written(
        {"revenue": number(draw.cents(100, 2e6), decimals(".", ",")), "units": number(draw.whole())}
    ),
    "US thousands, whole.csv": lambda draw: written(
        {"revenue": number(draw.whole(5, 20_000), decimals(".", ",", 0)), "units": number(draw.whole())}
    ),
    "Swiss thousands.csv": lambda draw: written(
        {"Betrag": number(draw.cents(100, 2e6), decimals(".", "'")), "Monat": number(draw.whole(1, 12))}, ";"
    ),
    "French spaces.csv": lambda draw: written(
        {
            "montant": number(draw.cents(100, 2e6), decimals(",", NARROW)),
            "prix": number(draw.cents(100, 2e6), decimals(",", NBSP)),
        },
        ";",
    ),
    "SI thin spaces.csv": lambda draw: written(
        {"count": number(draw.whole(5, 90_000), decimals(".", THIN, 0)), "mass": number(draw.cents())}
    ),
    "underscores.csv": lambda draw: written(
        {"bytes": number(draw.whole(5, 20_000), decimals(".", "_", 0)), "hits": number(draw.whole())}
    ),
    "one column of decimal commas.csv": lambda draw: written({"Messwert": number(draw.cents(), decimals(","))}, ";"),
    "dollars.csv": lambda draw: written(
        {"price": number(draw.cents(1, 5000), lambda cell: f"${cell:,.2f}"), "rating": number(draw.whole(1, 5))}
    ),
    "euros.csv": lambda draw: written(
        {"Preis": number(draw.cents(1, 90), lambda cell: decimals(",")(cell) + " €"), "Note": number(draw.whole(1, 6))},
        ";",
    ),
    "percent.csv": lambda draw: written(
        {
            "share": number(draw.cents(0, 90), lambda cell: f"{cell:.2f}%"),
            "change": number(draw.whole(-9, 9), lambda cell: f"{cell} %"),
            "units": number(draw.whole()),
        }
    ),
    "kilograms.csv": lambda draw: written(
        {
            "weight": number(draw.cents(), lambda cell: f"{cell} kg"),
            "temp": number(draw.cents(-9, 30), lambda cell: f"{cell}°C"),
            "fee": number(draw.cents(), lambda cell: f"EUR {cell:.2f}"),
        }
    ),
    "minus behind.csv": lambda draw: written(
        {
            "amount": number(draw.cents(-50, 50), lambda cell: f"{abs(cell):.2f}" + "-" * (cell < 0)),
            "plant": category(draw.pick("A1", "B2")),
        }
    ),
    "typographic minus.csv": lambda draw: written(
        {
            "change": number(draw.cents(-50, 50), lambda cell: f"{cell:.2f}".replace("-", "\u2212")),
            "plant": category(draw.pick("A1", "B2")),
        }
    ),
    "plus signs.csv": lambda draw: written(
        {"change": number(draw.cents(-50, 50), lambda cell: f"{cell:+.2f}"), "plant": category(draw.pick("A1", "B2"))}
    ),
    "Fortran exponents.csv": lambda draw: written(
        {"flux": number(draw.cents(), lambda cell: f"{cell:.4E}".replace("E", "D")), "n": number(draw.whole())}
    ),
    "infinities.csv": lambda draw: written(
        {
            "ratio": number([float("inf"), *draw.cents()[1:]], lambda cell: f"{cell}".replace("inf", "Inf")),
            "n": number(draw.whole()),
        }
    ),
    "below detection.csv": lambda draw: written(
        {
            "lead": category(f"{cell}" if cell > 5 else "<5.00" for cell in [1, *draw.cents()[1:]]),
            "site": category(draw.pick("A", "B")),
        }
    ),
    "stars of significance.csv": lambda draw: written(
        {
            "estimate": category(f"{cell}{'*' * (k % 4)}" for k, cell in enumerate(draw.cents(0, 3))),
            "n": number(draw.whole(20, 30)),
        }
    ),
    "thousands of followers.csv": lambda draw: written(
        {"followers": category(f"{cell}k" for cell in draw.cents(1, 90, 10)), "posts": number(draw.whole())}
    ),
    "longitudes.csv": lambda draw: written(
        {
            "lat": category(f"{k}°{m}'N" for k, m in zip(draw.whole(40, 60), draw.whole(0, 59), strict=True)),
            "depth": number(draw.cents()),
        }
    ),
    "numbers beyond float.csv": lambda draw: written(
        {"tweet": number(1_700_000_000_000_000_001 + 997 * k for k in draw.order()), "likes": number(draw.whole())}
    ),
    "numbers beyond 64 bits.csv": lambda draw: written(
        {"hash": number(12_700_000_000_000_000_000_001 + 7 * (k % 5) for k in draw.order()), "n": number(draw.whole())}
    ),
}


@file("row index of pandas.csv")
def _(draw: Draw) -> File:
    columns = sales(draw)
    return File(written({"": number(range(draw.n)), **columns}).content, columns)


@file("German thousands without decimals.csv")
def _(draw: Draw) -> File:
    people = [*draw.whole(80_000, 900_000)[1:], 1_234_567]
    return written(
        {"Einwohner": number(people, decimals(",", ".", 0)), "Fläche": number(draw.cents(), decimals(","))}, ";"
    )


@file("few dollars.csv")
def _(draw: Draw) -> File:
    fee = [float(each) for each in draw.pick("5", "10", "20")]
    return written({"fee": number(fee, lambda cell: f"${cell:.2f}"), "rating": number(draw.whole(1, 5))})


@file("kilograms and grams.csv")
def _(draw: Draw) -> File:
    weights = [f"{1000 * cell:.0f} g" if cell < 30 else f"{cell} kg" for cell in draw.cents()]
    return written({"weight": category(weights), "units": number(draw.whole())})


@file("units in the second line.csv")
def _(draw: Draw) -> File:
    columns = {"time": number(draw.cents()), "force": number(draw.cents())}
    rows = lines(columns)
    return File("\n".join([rows[0], "s,N", *rows[1:], ""]).encode(), columns)


@file("negatives in parentheses.csv")
def _(draw: Draw) -> File:
    def book(cell: float) -> str:
        return f"({-cell:,.2f})" if cell < 0 else f"{cell:,.2f}"

    return written({"amount": number(draw.cents(-5000, 5000), book), "month": number(draw.whole(1, 12))})


@file("scientific.csv")
def _(draw: Draw) -> File:
    cells = [float(f"{10.0 ** (cell / 10 - 5):.3e}") for cell in draw.cents()]
    return written(
        {
            "lower": number(cells, lambda cell: f"{cell:.3e}"),
            "upper": number(cells, lambda cell: f"{cell:.3E}"),
            "bare": number(draw.cents(0, 1), lambda cell: f"{cell:.2f}".lstrip("0")),
        }
    )


# Dates and times

FILES |= {
    "German dates.csv": lambda draw: written(
        {"Datum": date(draw.days(), "%d.%m.%Y"), "Menge": number(draw.whole())}, ";"
    ),
    "German dates and times.csv": lambda draw: written(
        {"Zeit": date(draw.moments(), "%d.%m.%Y %H:%M"), "Wert": number(draw.cents(), decimals(","))}, ";"
    ),
    "US dates.csv": lambda draw: written(
        {
            "date": column("datetime", draw.days(), lambda day: f"{day.month}/{day.day}/{day.year}"),
            "visits": number(draw.whole()),
        }
    ),
    "dates that may be either.csv": lambda draw: written(
        {"date": date(draw.days(latest=12), "%d/%m/%Y"), "visits": number(draw.whole())}
    ),
    "dates of two digits.csv": lambda draw: written(
        {"date": date(draw.days(), "%d.%m.%y"), "visits": number(draw.whole())}
    ),
    "dates with slashes, year first.csv": lambda draw: written(
        {"date": date(draw.days(), "%Y/%m/%d"), "visits": number(draw.whole())}
    ),
    "dates without marks.csv": lambda draw: written(
        {
            "STATIONS_ID": number([44] * draw.n),
            "MESS_DATUM": number(int(f"{day:%Y%m%d}") for day in draw.days()),
            "FX": number(draw.cents(), lambda cell: f"{cell:9.2f}"),
            "eor": category(["eor"] * draw.n),
        },
        ";",
    ),
    "dates of SAS.csv": lambda draw: written(
        {"visit": column("datetime", draw.days(), lambda day: f"{day:%d%b%Y}".upper()), "dose": number(draw.whole())}
    ),
    "dates in words.csv": lambda draw: written(
        {
            "visit": column("datetime", draw.days(), lambda day: f"{day:%b} {day.day}, {day.year}"),
            "dose": number(draw.whole()),
        }
    ),
    "US times of twelve hours.csv": lambda draw: written(
        {
            "when": date([datetime(2024, 3, 31, 14), *draw.moments()[1:]], "%m/%d/%Y %I:%M:%S %p"),
            "visits": number(draw.whole()),
        }
    ),
    "blank German dates.csv": lambda draw: written(
        {"Datum": date(gaps(draw.days(), 7), "%d.%m.%Y"), "Menge": number(draw.whole())}, ";"
    ),
    "durations.csv": lambda draw: written(
        {"took": category(f"{k // 60}h {k % 60:02}m" for k in draw.whole(5, 600)), "n": number(draw.whole())}
    ),
    "ISO durations.csv": lambda draw: written(
        {"took": category(f"PT{k // 60}H{k % 60}M" for k in draw.whole(5, 600)), "n": number(draw.whole())}
    ),
    "hours beyond a day.csv": lambda draw: written(
        {"took": category(f"{k // 60}:{k % 60:02}:00" for k in draw.whole(1300, 6000)), "n": number(draw.whole())}
    ),
    "seconds since 1970.csv": lambda draw: written(
        {"time": number(int(cell.timestamp()) for cell in draw.moments(7)), "value": number(draw.cents())}
    ),
}


@file("ISO times.csv")
def _(draw: Draw) -> File:
    plus_two = timezone(timedelta(hours=2))
    zoned = [cell.replace(tzinfo=UTC) for cell in draw.moments()]
    return written(
        {
            "day": date(draw.days()),
            "space": date(draw.moments(), "%Y-%m-%d %H:%M:%S"),
            "letter": date(draw.moments(), "%Y-%m-%dT%H:%M:%S"),
            "minutes": date(draw.moments(), "%Y-%m-%d %H:%M"),
            "zulu": date(draw.moments(), "%Y-%m-%dT%H:%M:%SZ"),
            "offset": Column(
                "datetime",
                tuple(cell.replace(tzinfo=None) for cell in zoned),
                tuple(cell.astimezone(plus_two).isoformat() for cell in zoned),
            ),
            "fraction": column(
                "datetime",
                (cell + timedelta(milliseconds=250 * k) for k, cell in enumerate(draw.moments())),
                lambda cell: f"{cell:%Y-%m-%d %H:%M:%S}.{cell.microsecond // 1000:03}",
            ),
        }
    )


@file("few dates that may be either.csv")
def _(draw: Draw) -> File:
    days = [datetime.fromisoformat(text) for text in draw.pick("2024-02-01", "2024-02-08", "2024-03-07")]
    return written({"date": date(days, "%d.%m.%Y"), "visits": number(draw.whole())})


@file("two ways of dates.csv")
def _(draw: Draw) -> File:
    def write(pair: tuple[int, datetime]) -> str:
        return pair[1].strftime("%d.%m.%Y" if pair[0] % 3 else "%Y-%m-%d")

    days = draw.days()
    return written(
        {"date": Column("datetime", tuple(days), tuple(map(write, enumerate(days)))), "n": number(draw.whole())}
    )


@file("times of day.csv")
def _(draw: Draw) -> File:
    spans = [timedelta(minutes=k) for k in draw.whole(0, 1439)]
    write = lambda span: f"{span.seconds // 3600:02}:{span.seconds // 60 % 60:02}"  # noqa: E731
    return written(
        {
            "start": column("duration", spans, write),
            "lap": column("duration", spans, lambda span: write(span) + ":00"),
            "n": number(draw.whole()),
        }
    )


# Missing cells

FILES |= {
    "pandas types.csv": lambda draw: written(
        {"age": number(gaps(draw.whole(20, 40), 4), missing="<NA>"), "day": date(gaps(draw.days(), 5), missing="NaT")}
    ),
    "blanks for missing.csv": lambda draw: written(
        {
            "age": number(gaps(draw.whole(20, 40), 4), missing="   "),
            "town": category(gaps(draw.pick("Rom", "Oslo"), 5), missing=" "),
        }
    ),
    "points of SAS.csv": lambda draw: written(
        {"dose": number(gaps(draw.cents(), 5), missing="."), "arm": category(draw.pick("A", "B"))}
    ),
    "dashes for missing.csv": lambda draw: written(
        {"dose": number(gaps(draw.cents(), 5), missing="-"), "arm": category(draw.pick("A", "B"))}
    ),
    "minus 99 of SPSS.csv": lambda draw: written(
        {"income": number([-99, *draw.whole(1, 9)[1:]]), "sex": category(draw.pick("1 male", "2 female"))}
    ),
    "Excel errors.csv": lambda draw: written(
        {"ratio": number(gaps(draw.cents(), 9), missing="#DIV/0!"), "arm": category(draw.pick("A", "B"))}
    ),
    "backslash N of MySQL.csv": lambda draw: written(
        {"ratio": number(gaps(draw.cents(), 9), missing="\\N"), "arm": category(draw.pick("A", "B"))}
    ),
    "empty column.csv": lambda draw: written(sales(draw) | {"remark": category([None] * draw.n)}),
    "comma at the end of every line.csv": lambda draw: written(sales(draw), tail=","),
}


@file("many words for missing.csv")
def _(draw: Draw) -> File:
    words = ["", "NA", "N/A", "#N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "?"]
    ages = gaps(draw.whole(20, 40), 2)
    texts = tuple(words[k // 2 % len(words)] if age is None else str(age) for k, age in enumerate(ages))
    sexes = gaps(draw.pick("f", "m"), 4)
    return written(
        {
            "age": Column("number", tuple(ages), texts),
            "sex": category(sexes, missing="NA"),
            "day": date(gaps(draw.days(), 5), missing="NULL"),
            "flag": column("boolean", gaps([k % 3 < 1 for k in draw.whole()], 6), missing="NA"),
        }
    )


@file("the category None.csv")
def _(draw: Draw) -> File:
    allergy = [None if cell == "None" else cell for cell in draw.pick("None", "nuts", "milk")]
    return written({"allergy": category(allergy, missing="None"), "age": number(draw.whole(20, 40))})


@file("blank lines of separators.csv")
def _(draw: Draw) -> File:
    columns = sales(draw)
    blank = [";;;", ";;;"]
    whole = {name: Column(own.kind, (*own.cells, None, None), own.texts) for name, own in columns.items()}
    return File(written(columns, ";", bottom=blank).content, whole)


@file("blank lines.csv")
def _(draw: Draw) -> File:
    columns = sales(draw)
    rows = lines(columns)
    return File("\n".join(["", rows[0], "", *rows[1:9], "", *rows[9:], "", "", ""]).encode(), columns)


# Layout of what programs export

FILES |= {
    "comment above.csv": lambda draw: written(sales(draw), top=["# exported 2024-03-01 by logger 7", "# do not edit"]),
    "lines of a logger.csv": lambda draw: written(
        sales(draw), end="\r\n", top=["Logger,X7", "Serial,007", "", "Owner,A, B and C", "Rate,10 Hz"]
    ),
    "title above.csv": lambda draw: written(sales(draw), top=["Quarterly report,,,", ",,,"]),
    "total below.csv": lambda draw: written(
        {"day": date(draw.days()), "visits": number(draw.whole())}, bottom=["Total,120"]
    ),
    "total and blanks below.csv": lambda draw: written(sales(draw), bottom=["Sum,120,,"]),
    "row index saved twice.csv": lambda draw: written({"Unnamed: 0": number(range(draw.n)), **sales(draw)}),
    "header only.csv": lambda draw: File((lines(sales(draw))[0] + "\n").encode(), {}),
    "one row.csv": lambda draw: File(("\n".join(lines(sales(draw))[:2]) + "\n").encode(), {}),
    "one column.csv": lambda draw: written({"value": number(draw.cents())}),
    "blanks between cells.csv": lambda draw: written(
        {"a": number(draw.cents()), "b": number(draw.cents()), "c": number(draw.whole())}, " "
    ),
    "thousands of blanks.csv": lambda draw: written(
        {
            "plant": category(draw.pick("Rom", "Oslo"), lambda cell: " " * 5000 + cell),
            "value": number(draw.cents(), lambda cell: f"{' ' * 3000}{cell}{' ' * 3000}"),
        }
    ),
    "line breaks in cells.csv": lambda draw: written(
        {"address": category(draw.pick("High St 1\nYork", "Low Rd 2\r\nHull", "a\n\nb")), "value": number(draw.cents())}
    ),
    "quotes in cells.csv": lambda draw: written(
        {"size": category(draw.pick('3" pipe', 'say "hi", then', '"')), "value": number(draw.cents())}
    ),
    "web page.csv": lambda draw: File(
        b"<!DOCTYPE html>\n<html><head><title>Log in</title></head>\n<body>Please log in</body></html>\n", {}
    ),
    "workbook.csv": lambda draw: File(b"PK\x03\x04\x14\0\x06\0\x08\0\0\0!\0" + bytes(range(256)) * 4, {}),
    "workbook.xlsx": lambda draw: File(b"PK\x03\x04\x14\0\x06\0\x08\0\0\0!\0" + bytes(range(256)) * 4, {}),
}


@file("ragged.csv")
def _(draw: Draw) -> File:
    rows = lines(sales(draw))
    return File("\n".join([*rows[:12], rows[12].rpartition(",")[0], *rows[13:], ""]).encode(), {})


@file("bank statement.csv")
def _(draw: Draw) -> File:
    columns = {"Buchungstag": date(draw.days(), "%d.%m.%Y"), "Betrag": number(draw.cents(), decimals(","))}
    return written(columns, ";", "\r\n", top=["Konto:;DE12 3456", "Saldo:;1.234,56 EUR", ""], always=True)


@file("survey with three headers.csv")
def _(draw: Draw) -> File:
    columns = {"Q1": number(draw.whole(1, 5)), "Q2": category(draw.pick("yes", "no"))}
    rows = lines(columns)
    more = ["How satisfied are you?,Would you come again?", '"{""ImportId"":""QID1""}","{""ImportId"":""QID2""}"']
    return File("\n".join([rows[0], *more, *rows[1:], ""]).encode(), columns)


@file("row names of R.csv")
def _(draw: Draw) -> File:
    own = lines(sales(draw), always=True)
    rows = [f'"{k}",{line}' for k, line in enumerate(own[1:], start=1)]
    return File("\n".join([own[0], *rows, ""]).encode(), {})


@file("names twice.csv")
def _(draw: Draw) -> File:
    rows = lines(sales(draw))
    return File("\n".join(["a,price,price ,d", *rows[1:], ""]).encode(), {})


@file("name of blanks.csv")
def _(draw: Draw) -> File:
    rows = lines(sales(draw))
    return File("\n".join(["region,   ,price,day", *rows[1:], ""]).encode(), {})


@file("no header.csv")
def _(draw: Draw) -> File:
    own = lines({"a": number(draw.cents()), "b": number(draw.cents())})
    return File("\n".join([*own[1:], ""]).encode(), {})


@file("decimal commas between commas.csv")
def _(draw: Draw) -> File:
    rows = [f"{a},{b}".replace(".", ",") for a, b in zip(draw.cents(unit=10), draw.cents(unit=10), strict=True)]
    return File("\n".join(["a,b", *rows, ""]).encode(), {})


@file("fixed width.csv")
def _(draw: Draw) -> File:
    pad = 20 if draw.n == DRAWS["first"][1] else 0  # a database pads, the other file was typed
    return written(
        {
            "plant": category(draw.pick("Rom", "Oslo"), lambda cell: cell.ljust(pad)),
            "value": number(draw.cents(), lambda cell: f"{cell}".rjust(pad)),
        }
    )


@file("blanks from the web.csv")
def _(draw: Draw) -> File:
    end = NBSP if draw.n == DRAWS["first"][1] else ""
    return written(
        {"plant": category(draw.pick("Rom", "Oslo"), lambda cell: cell + end), "value": number(draw.cents())}
    )


@file("quote that stays open.csv")
def _(draw: Draw) -> File:
    rows = lines({"size": category(draw.pick("3", "4")), "value": number(draw.cents())})
    return File("\n".join([*rows[:5], '"5,1.5', *rows[5:], ""]).encode(), {})


@file("NUL bytes.csv")
def _(draw: Draw) -> File:
    rows = lines(sales(draw))
    return File("\n".join([*rows[:20], rows[20].replace("0", "\0"), *rows[21:], ""]).encode(), {})


@file("end of file of DOS.csv")
def _(draw: Draw) -> File:
    plain = written(sales(draw), end="\r\n")
    return File(plain.content + b"\x1a", plain.columns)


# Identifiers and free text

FILES |= {
    "numbers of customers.csv": lambda draw: written(
        {"customer_id": number(100_000 + 7 * k for k in draw.order())} | sales(draw)
    ),
    "numbers of rows.csv": lambda draw: written({"nr": number(range(1, draw.n + 1))} | sales(draw)),
    "e-mails.csv": lambda draw: written({"mail": category(f"user{k}@example.org" for k in draw.order())} | sales(draw)),
    "telephone numbers.csv": lambda draw: written(
        {"phone": category(f"+49 (0)30 {5_550_000 + 13 * k}" for k in draw.order())} | sales(draw)
    ),
    "postcodes.csv": lambda draw: written(
        {"zip": category(draw.pick("01067", "20095", "80331", "04109")), "rent": number(draw.cents())}
    ),
    "account numbers with zeros.csv": lambda draw: written(
        {"account": category(f"{104_729 * (k + 3):010}" for k in draw.order())} | sales(draw)
    ),
    "IP addresses.csv": lambda draw: written(
        {"client": category(f"10.0.{k // 5}.{k * 8}" for k in draw.order()), "bytes": number(draw.cents())}
    ),
    "formulas that keep zeros.csv": lambda draw: written(
        {"code": category(draw.pick('="001"', '="007"', '="042"')), "value": number(draw.cents())}
    ),
}


@file("UUIDs.csv")
def _(draw: Draw) -> File:
    ids = [str(uuid.UUID(bytes=draw.rng.bytes(16))) for _ in range(draw.n)]
    return written({"session": category(ids)} | sales(draw))


@file("people.csv")
def _(draw: Draw) -> File:
    first, last = ("Ann", "Bob", "Eve", "Zoë", "Ian", "Kim"), ("O'Neil", "de Wit", "Ng", "Ruiz", "Smith-Jones")
    return written({"name": category(f"{first[k % 6]} {last[k // 6]}" for k in draw.order())} | sales(draw))


@file("free text.csv")
def _(draw: Draw) -> File:
    words = ["late", "parcel", "good", "bad", "again", "never", "box,", "torn;", "seal", "fine"]
    texts = [" ".join(draw.rng.choice(words, 12)) + f" {k}." for k in draw.order()]
    return written({"review": category(texts)} | sales(draw))


@file("one very long cell.csv")
def _(draw: Draw) -> File:
    texts = ["x" * 200_000, *(f"note {k}" for k in draw.order()[1:])]
    return written({"note": category(texts)} | sales(draw))


# Categories that resemble numbers and dates, and truth values

FILES |= {
    "bands.csv": lambda draw: written(
        {
            "age": category(draw.pick("18-25", "26-35", "36+")),
            "class": category(draw.pick("1st", "2nd", "3rd")),
            "answer": category(draw.pick("1 - never", "2 - often", "3 - always")),
            "quarter": category(draw.pick("2024-Q1", "2024-Q2")),
            "version": category(draw.pick("1.2.3", "1.10.0", "2.0.1")),
            "icd": category(draw.pick("E11.9", "I10", "J45.0")),
            "pipe": category(draw.pick("1/2", "3/4", "5/8")),
            "score": category(draw.pick("2:1", "0:0", "1:3")),
            "income": category(draw.pick("<10k", "10-20k", ">20k")),
            "day": category(draw.pick("Mon", "Tue", "Wed")),
            "rating": category(draw.pick("AA+", "A-", "BBB")),
        }
    ),
    "nearly constant.csv": lambda draw: written(
        {
            "flag": number([1, *[0] * (draw.n - 1)]),
            "unit": category(["kg"] * (draw.n - 1) + ["lb"]),
            "same": category(["x"] * draw.n),
            "zero": number([0.0] * draw.n),
            "value": number(draw.cents()),
        }
    ),
}


@file("doses.csv")
def _(draw: Draw) -> File:
    dose = [float(each) for each in draw.pick("10", "20", "50")]
    return written({"dose": number(dose, lambda cell: f"{cell:.0f} mg"), "age": number(draw.whole(20, 40))})


@file("truth in many words.csv")
def _(draw: Draw) -> File:
    bits = lambda: [k % 2 for k in draw.whole()]  # noqa: E731
    words = {"json": ("false", "true"), "pandas": ("False", "True"), "R": ("FALSE", "TRUE")}
    others = {
        "letters": ("F", "T"),
        "English": ("no", "yes"),
        "polite": ("No", "Yes"),
        "short": ("N", "Y"),
        "switch": ("off", "on"),
        "German": ("nein", "ja"),
        "Excel": ("FALSCH", "WAHR"),
    }
    return written(
        {name: boolean(bits(), *pair) for name, pair in words.items()}
        | {name: category(pair[bit] for bit in bits()) for name, pair in others.items()}
        | {"bit": number(bits())}
    )


@file("1500 columns.csv")
def _(draw: Draw) -> File:
    """A header of 50 kB, lines of 20 kB."""
    values = draw.rng.integers(-(10**13), 10**13, (1500, 6))
    names = (f"gene {k} on a chip that has names in full" for k in range(1500))
    return written({name: number(int(cell) / 100 for cell in own) for name, own in zip(names, values, strict=True)})


# Compressed, Arrow, JSON lines

FILES |= {
    "cut.csv.gz": lambda draw: File(gzip.compress(written(sales(draw)).content, mtime=0)[:-40], {}),
    "unpacked by a browser.csv.gz": lambda draw: written(sales(draw)),
    "compressed without saying so.csv": lambda draw: File(gzip.compress(written(sales(draw)).content, mtime=0), {}),
}


@file("plain.csv.gz")
def _(draw: Draw) -> File:
    plain = written(sales(draw))
    return File(gzip.compress(plain.content, mtime=0), plain.columns)


@file("European Excel.csv.gz")
def _(draw: Draw) -> File:
    plain = written(shop(draw), ";", "\r\n", "cp1252")
    return File(gzip.compress(plain.content, mtime=0), plain.columns)


@file("tabs.tsv.gz")
def _(draw: Draw) -> File:
    plain = written(sales(draw), "\t")
    halves = [gzip.compress(half, mtime=0) for half in (plain.content[:200], plain.content[200:])]
    return File(b"".join(halves), plain.columns)  # two members, as log rotation joins them


@file("flipped.csv.gz")
def _(draw: Draw) -> File:
    content = bytearray(gzip.compress(written(sales(draw)).content, mtime=0))
    content[-6] ^= 0xFF  # of the checksum: the text itself unpacks
    return File(bytes(content), {})


def arrow_table(columns: Mapping[str, Column]) -> pa.Table:
    """Return columns with the types that a careful program gives them."""
    types = {
        "number": pa.float64(),
        "category": pa.string(),
        "datetime": pa.timestamp("us"),
        "boolean": pa.bool_(),
        "duration": pa.duration("us"),
    }
    cells = {
        name: [float(cell) if own.kind == "number" and cell is not None else cell for cell in own.cells]
        for name, own in columns.items()
    }
    return pa.table({name: pa.array(cells[name], types[own.kind]) for name, own in columns.items()})


@file("table.feather")
def _(draw: Draw) -> File:
    columns, sink = sales(draw), io.BytesIO()
    feather.write_feather(arrow_table(columns), sink, compression="lz4")
    return File(sink.getvalue(), columns)


@file("table.arrow")
def _(draw: Draw) -> File:
    columns, sink = sales(draw), io.BytesIO()
    table = arrow_table(columns)
    coded = table.set_column(0, "region", table["region"].dictionary_encode())
    with pa.ipc.new_file(sink, coded.schema) as writer:
        writer.write_table(coded)
    return File(sink.getvalue(), columns)


@file("nested.feather")
def _(draw: Draw) -> File:
    sink = io.BytesIO()
    feather.write_feather(arrow_table(sales(draw)).append_column("tags", [[["a", "b"]] * draw.n]), sink)
    return File(sink.getvalue(), {})


@file("cut.feather")
def _(draw: Draw) -> File:
    sink = io.BytesIO()
    feather.write_feather(arrow_table(sales(draw)), sink)
    return File(sink.getvalue()[:-100], {})


def objects(columns: Mapping[str, Column]) -> list[dict[str, Any]]:
    """Return rows as JSON has them: days as text, nothing where a cell is missing."""
    rows = zip(*(own.cells for own in columns.values()), strict=True)
    return [
        {
            name: cell.strftime("%Y-%m-%d") if isinstance(cell, datetime) else cell
            for name, cell in zip(columns, row, strict=True)
            if cell is not None
        }
        for row in rows
    ]


def json_lines(rows: Iterable[Any]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


FILES |= {
    "nested.jsonl": lambda draw: File(
        json_lines({"a": cell, "place": {"lat": cell, "lon": 2}} for cell in draw.cents()), {}
    ),
    "numbers and text.jsonl": lambda draw: File(
        json_lines({"a": cell, "b": str(cell) if k == 9 else cell} for k, cell in enumerate(draw.cents())), {}
    ),
    "one array.jsonl": lambda draw: File(json.dumps(objects(sales(draw)), indent=1).encode(), {}),
    "NaN of Python.jsonl": lambda draw: File(
        json_lines({"a": cell, "b": float("nan") if k == 9 else cell} for k, cell in enumerate(draw.cents())), {}
    ),
    "cut.jsonl": lambda draw: File(json_lines(objects(sales(draw)))[:-12], {}),
}


@file("events.jsonl")
def _(draw: Draw) -> File:
    columns = sales(draw) | {"ok": boolean([k % 2 for k in draw.whole()], "false", "true")}
    return File(json_lines(objects(columns)), columns)


@file("events.ndjson.gz")
def _(draw: Draw) -> File:
    columns = sales(draw)
    return File(gzip.compress(json_lines(objects(columns)), mtime=0), columns)


@file("missing keys.jsonl")
def _(draw: Draw) -> File:
    columns = {
        "town": category(gaps(draw.pick("Rom", "Köln"), 5)),
        "age": number(gaps(draw.whole(20, 40), 7)),
        "late": number([*[None] * 20, *draw.cents()[20:]]),
    }
    return File(json_lines(objects(columns)), columns)


@file("decimal commas in text.jsonl")
def _(draw: Draw) -> File:
    columns = {"price": number(draw.cents(), decimals(",")), "units": number(draw.whole())}
    rows = (
        {"price": text, "units": units}
        for text, units in zip(columns["price"].texts, columns["units"].cells, strict=True)
    )
    return File(json_lines(rows), columns)


def drawn(name: str) -> dict[str, File]:
    """Return a file in all draws."""
    return {draw: FILES[name](Draw(np.random.default_rng([seed, len(name)]), n)) for draw, (seed, n) in DRAWS.items()}


def main(folder: Path) -> None:
    """Write all files."""
    for draw in DRAWS:
        (folder / draw).mkdir(parents=True, exist_ok=True)
    for name in FILES:
        for draw, made in drawn(name).items():
            (folder / draw / name).write_bytes(made.content)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
