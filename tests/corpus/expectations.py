"""What a careful user wants of every file of the corpus: that it is read right, or refused with the mend.

Written from what the files mean and from the documented options, not from what the library does.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Expected:
    """What becomes of a file with some options: what the one line of a refusal must say, None where it is read.

    Where a careful user may mean either of two readings, a note says what the other one needs.
    """

    options: str = ""
    words: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()


def reads(options: str = "") -> Expected:
    return Expected(options)


def noted(*words: str) -> Expected:
    return Expected(notes=words)


def refused(*words: str, options: str = "") -> Expected:
    return Expected(options, words)


AS_THEY_ARE = (
    "plain.csv",
    "tabs.tsv",
    "bars.csv",
    "semicolons, decimal points.csv",
    "Excel with sep line.csv",
    "Excel Unicode text.tsv",
    "UTF-16 big-endian.csv",
    "byte order mark.csv",
    "CRLF.csv",
    "CR of an old Mac.csv",
    "two files joined, two line ends.csv",
    "all cells quoted.csv",
    "names with commas, semicolons between.csv",
    "quoted names.csv",
    "blanks around names.csv",
    "units in the header.csv",
    "plus signs.csv",
    "scientific.csv",
    "ISO times.csv",
    "times of day.csv",
    "seconds since 1970.csv",
    "minus 99 of SPSS.csv",
    "numbers of customers.csv",
    "blank lines.csv",
    "one column.csv",
    "fixed width.csv",
    "thousands of blanks.csv",
    "blanks from the web.csv",
    "line breaks in cells.csv",
    "quotes in cells.csv",
    "formulas that keep zeros.csv",
    "bands.csv",
    "truth in many words.csv",
    "nearly constant.csv",
    "1500 columns.csv",
    "plain.csv.gz",
    "tabs.tsv.gz",
    "row index of pandas.csv",
    "table.feather",
    "table.arrow",
    "events.jsonl",
    "events.ndjson.gz",
)

DAMAGED: dict[str, tuple[str, ...]] = {
    "ragged.csv": ("as many cells as the header",),
    "comment above.csv": ("header", "--skip 2"),
    "title above.csv": ("column 2", "header", "--skip N"),
    "lines of a logger.csv": ("header", "--skip"),
    "bank statement.csv": ("row 1",),
    "row names of R.csv": ("as many cells as the header",),
    "names twice.csv": ("'price' twice",),
    "name of blanks.csv": ("column 2 has no name",),
    "comma at the end of every line.csv": ("column 5 has no name",),
    "no header.csv": ("header",),
    "header only.csv": ("no rows",),
    "one row.csv": ("row",),
    "decimal commas between commas.csv": ("as many cells as the header",),
    "end of file of DOS.csv": ("as many cells as the header",),
    "quote that stays open.csv": (),
    "NUL bytes.csv": ("not a text file",),
    "web page.csv": ("web page",),
    "workbook.csv": ("not a text file",),
    "workbook.xlsx": (".csv",),
    "cut.csv.gz": ("damaged",),
    "flipped.csv.gz": ("damaged",),
    "unpacked by a browser.csv.gz": ("gz",),
    "compressed without saying so.csv": (".gz",),
    "nested.feather": ("'tags'", "--drop tags"),
    "cut.feather": ("damaged",),
    "nested.jsonl": ("line 1", "'place'"),
    "numbers and text.jsonl": (),
    "one array.jsonl": ("line",),
    "NaN of Python.jsonl": ("NaN",),
    "cut.jsonl": (),
    "infinities.csv": ("row 1", "'ratio'", "infinite"),
    "numbers beyond float.csv": ("'tweet'", "--drop tweet"),
    "numbers beyond 64 bits.csv": ("'hash'", "--drop hash"),
}

NUMBERS_OR_DATES_OF_NO_OPTION: dict[str, tuple[str, ...]] = {
    "kilograms and grams.csv": ("'weight'",),
    "units in the second line.csv": ("row 1", "'s'"),
    "negatives in parentheses.csv": ("'amount'", "row"),
    "minus behind.csv": ("'amount'", "row"),
    "typographic minus.csv": ("'change'", "row"),
    "Fortran exponents.csv": ("'flux'", "row"),
    "below detection.csv": ("'lead'", "<5.00", "row 1"),
    "stars of significance.csv": ("'estimate'", "row"),
    "thousands of followers.csv": ("'followers'",),
    "longitudes.csv": ("'lat'", "row"),
    "dates of SAS.csv": ("'visit'", "row"),
    "dates in words.csv": ("'visit'", "row"),
    "durations.csv": ("'took'", "row"),
    "ISO durations.csv": ("'took'", "row"),
    "hours beyond a day.csv": ("'took'", "row"),
    "points of SAS.csv": ("'dose'", "'.'", "row 1"),
    "dashes for missing.csv": ("'dose'", "'-'", "row 1"),
    "Excel errors.csv": ("'ratio'", "#DIV/0!", "row 1"),
    "backslash N of MySQL.csv": ("'ratio'", "row 1"),
    "total below.csv": ("'day'", "'Total'"),
    "survey with three headers.csv": ("'Q1'", "How satisfied"),
    "blanks between cells.csv": (),
}

IDENTIFIERS = {
    "numbers of rows.csv": "nr",
    "row index saved twice.csv": "Unnamed: 0",
}

DISTINCT = {
    "UUIDs.csv": "session",
    "e-mails.csv": "mail",
    "people.csv": "name",
    "free text.csv": "review",
    "one very long cell.csv": "note",
    "telephone numbers.csv": "phone",
    "IP addresses.csv": "client",
}

MENDED: dict[str, tuple[Expected, ...]] = {
    "European Excel.csv": (
        refused("--encoding"),
        refused("--decimal ,", "'Umsatz'", "row 1", options="--encoding cp1252"),
        reads("--encoding cp1252 --decimal ,"),
        refused("--encoding", options="--encoding utf-8 --decimal ,"),
    ),
    "European Excel, UTF-8.csv": (refused("--decimal ,", "'Umsatz'", "row 1"), reads("--decimal ,")),
    "European Excel.csv.gz": (refused("--encoding"), reads("--encoding cp1252 --decimal ,")),
    "UTF-16 without mark.csv": (refused("--encoding"), reads("--encoding utf-16-le")),
    "Latin-1.csv": (refused("--encoding"), reads("--encoding latin-1")),
    "Latin-1 far behind.csv": (refused("--encoding"), reads("--encoding latin-1")),
    "Shift JIS.csv": (refused("--encoding"), reads("--encoding shift_jis")),
    "German thousands.csv": (
        refused("--decimal ,", "--thousands .", "'Umsatz'", "row"),
        refused("--thousands .", "'Umsatz'", options="--decimal ,"),
        reads("--decimal , --thousands ."),
    ),
    "German thousands without decimals.csv": (
        refused("--decimal ,"),
        refused("--thousands .", "'Einwohner'", options="--decimal ,"),
        reads("--decimal , --thousands ."),
    ),
    "comment above.csv": (reads("--skip 2"),),
    "title above.csv": (reads("--skip 2"),),
    "lines of a logger.csv": (reads("--skip 5"),),
    "numbers beyond 64 bits.csv": (reads("--drop hash"),),
    "bank statement.csv": (reads("--skip 3 --decimal , --dates dmy"),),
    "US thousands.csv": (
        refused("--thousands ,", "'revenue'", "row"),
        reads("--thousands ,"),
        refused("'revenue'", options="--decimal ,"),
    ),
    "US thousands, whole.csv": (refused("--thousands ,", "'revenue'"), reads("--thousands ,")),
    "Swiss thousands.csv": (refused("--thousands"), reads('--thousands "\'"')),
    "French spaces.csv": (refused("--decimal ,", "--thousands"), reads("--decimal , --thousands ' '")),
    "SI thin spaces.csv": (refused("--thousands", "'count'"), reads("--thousands ' '")),
    "underscores.csv": (refused("--thousands _", "'bytes'"), reads("--thousands _")),
    "one column of decimal commas.csv": (refused("--decimal ,"), reads("--decimal ,")),
    "decimal commas between commas.csv": (refused("as many cells as the header", options="--decimal ,"),),
    "dollars.csv": (
        refused("'price'", "row 1", "plain numbers", "--drop price"),
        refused("'price'", options="--thousands ,"),
        reads("--drop price"),
    ),
    "few dollars.csv": (noted("fee holds numbers with signs or text beside them ('$", "taken as categories"),),
    "euros.csv": (
        refused("'Preis'", "plain numbers"),
        refused("'Preis'", "plain numbers", options="--decimal ,"),
        reads("--drop Preis"),
    ),
    "percent.csv": (refused("'share'", "'change'", "plain numbers"), reads("--drop share --drop change")),
    "kilograms.csv": (refused("'weight'", "row 1", "plain numbers"),),
    "doses.csv": (noted("dose holds numbers with signs or text beside them ('", "taken as categories"),),
    "German dates.csv": (refused("--dates dmy", "'Datum'", "row 1"), reads("--dates dmy")),
    "German dates and times.csv": (refused("--decimal ,"), reads("--dates dmy --decimal ,")),
    "US dates.csv": (
        refused("--dates mdy", "'date'", "row 1"),
        reads("--dates mdy"),
        refused("'date'", options="--dates dmy"),
    ),
    "dates that may be either.csv": (refused("--dates dmy", "mdy"), reads("--dates dmy")),
    "few dates that may be either.csv": (noted("--dates dmy", "mdy"), reads("--dates dmy")),
    "dates of two digits.csv": (refused("'date'", "row 1"), refused("'date'", options="--dates dmy")),
    "dates with slashes, year first.csv": (refused("--dates ymd"), reads("--dates ymd")),
    "dates without marks.csv": (
        refused("--drop MESS_DATUM", "--keep MESS_DATUM", "-"),
        reads("--drop MESS_DATUM"),
        reads("--keep MESS_DATUM"),
    ),
    "US times of twelve hours.csv": (refused("--dates mdy", "'when'", "row 1"), reads("--dates mdy")),
    "two ways of dates.csv": (refused("--dates dmy", "'date'", "row"), reads("--dates dmy")),
    "blank German dates.csv": (refused("--dates dmy"), reads("--dates dmy --missing drop")),
    "many words for missing.csv": (
        refused("--missing drop", "row 1", "'age'"),
        reads("--missing drop"),
        reads("--missing category"),
    ),
    "pandas types.csv": (refused("--missing drop", "row 1", "'age'"), reads("--missing drop")),
    "blanks for missing.csv": (refused("--missing drop", "row 1", "'age'"), reads("--missing category")),
    "the category None.csv": (refused("--missing drop", "'allergy'"), reads("--missing allergy=category")),
    "empty column.csv": (refused("'remark'", "--drop remark"), reads("--drop remark")),
    "blank lines of separators.csv": (refused("--missing drop"), reads("--missing drop")),
    "total and blanks below.csv": (refused("row 31", "'price'", "blank"),),
    "missing keys.jsonl": (refused("--missing drop", "'town'"), reads("--missing category")),
    "decimal commas in text.jsonl": (refused("--decimal ,", "'price'"), reads("--decimal ,")),
    "account numbers with zeros.csv": (
        refused("'account'", "--drop account"),
        reads("--drop account"),
        reads("--categorical account"),
    ),
    "postcodes.csv": (refused("'zip'", "--categorical zip"), reads("--categorical zip")),
}

OPTIONS = {
    "--decimal ';'": ("--decimal",),
    "--dates DDMMYYYY": ("--dates", "dmy"),
    "--decimal , --thousands ,": ("--thousands",),
    "--thousands .": ("--decimal",),
    "--encoding klingon": ("--encoding", "latin-1"),
}
"""Options that mean nothing, or contradict each other, and what the one line must say."""


def _table() -> dict[str, tuple[Expected, ...]]:
    found: dict[str, tuple[Expected, ...]] = {name: (reads(),) for name in AS_THEY_ARE}
    for name, words in {**DAMAGED, **NUMBERS_OR_DATES_OF_NO_OPTION}.items():
        found[name] = (refused(*words),)
    for name, column in IDENTIFIERS.items():
        insist = f'"{column}"' if " " in column else column
        mends = refused(f"--drop {insist}", f"--keep {insist}", "row" if " " in column else column)
        found[name] = (mends, reads(f"--drop {insist}"), reads(f"--keep {insist}"))
    for name, column in DISTINCT.items():
        mends = refused(f"--drop {column}", f"--categorical {column}", "row")
        found[name] = (mends, reads(f"--drop {column}"), reads(f"--categorical {column}"))
    return {name: found.get(name, ()) + MENDED.get(name, ()) for name in {**found, **MENDED}}


EXPECTED = _table()
