"""The options that say which tables are read, and how."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ...core.words import EVERY
from ...tables.limits import ADAPTIVE_LIMIT, ESTIMATE_LIMIT, FIT_LIMIT, MAX_CATEGORIES, TEST_LIMIT
from ..parameters import data_option

if TYPE_CHECKING:
    from ...tables.columns import Encoding, Missing
    from ...tables.readers import TextFormat

SOURCE = (
    "A file (.csv, .tsv or .jsonl, also as .gz; .parquet; .feather), - for CSV text from standard input, or a "
    "built-in table: wine, wbdc, iris, diabetes, digits, eckerle4."
)
_SPACE: Final = "space"


GivenOption = Annotated[
    list[str] | None,
    typer.Option(
        "--given", metavar="NAMES", help="What is known: e,f. Tests what there is beyond what these columns explain."
    ),
]


@dataclass(frozen=True)
class TwoTables:
    """Two tables, or one and the column that splits it."""

    a: Annotated[str, typer.Argument(metavar="A", help=SOURCE)]
    b: Annotated[
        str | None, typer.Argument(metavar="[B]", help="The other table. Leave it out to split A with --by.")
    ] = None
    more: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILES]...",
            help="More Parquet files. Those of exactly two folders, one folder after the other, are two tables: "
            "big/*.parquet other/*.parquet. You can also pass two folders (big other) or two patterns in quotes.",
        ),
    ] = None
    by: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Split A into groups by this column. Of more than two groups all pairs are tested.",
        ),
    ] = None
    groups: Annotated[
        str | None,
        typer.Option(
            metavar="X,Y,...",
            help="Compare these groups only, at most 12, in this order. Name two to see in which columns they differ.",
        ),
    ] = None


@dataclass(frozen=True)
class OneTable:
    """One table."""

    data: Annotated[
        str, typer.Argument(metavar="DATA", help=f"{SOURCE} A folder, or a pattern in quotes, is all its files.")
    ]


@dataclass(frozen=True)
class ColumnOptions:
    """Which columns of a table are used."""

    columns: Annotated[
        list[str] | None,
        data_option(metavar="NAMES", help="Use only these columns: a,b."),
    ] = None
    drop: Annotated[
        list[str] | None,
        data_option(metavar="NAMES", help="Leave these columns out, also of those in --columns: a,b."),
    ] = None


@dataclass(frozen=True)
class Kept:
    """Which columns are used although they look like identifiers."""

    keep: Annotated[
        list[str] | None,
        data_option(
            "--keep",
            metavar="NAMES",
            help="Integer columns to use although they look like identifiers: a,b.",
        ),
    ] = None

    def kept(self, names: Sequence[str]) -> list[str]:
        """Return the columns of a table with these names."""
        return split_names(self.keep or (), names)


@dataclass(frozen=True)
class Kinds(Kept):
    """What the columns of a table hold."""

    missing: Annotated[
        str,
        data_option(
            "--missing",
            metavar="RULE",
            help="What to do with blank cells: error (stop); drop (leave the row out); category (a value of its own); "
            "noise (a number known with noise only; needs --estimator kme). Or rules for single columns, after one "
            "for all others if you like: drop,city=category.",
        ),
    ] = "error"
    ordinal: Annotated[
        list[str] | None,
        data_option(metavar="COLUMN=LEVELS", help="A column with ordered levels, lowest first: size=low,mid,high."),
    ] = None
    categorical: Annotated[
        list[str] | None,
        data_option(
            "--categorical",
            metavar="NAMES",
            help="Columns to treat as categories although their cells are numbers or dates, or nearly all different: "
            "a,b.",
        ),
    ] = None

    max_categories: Annotated[
        int,
        data_option(
            "--max-categories",
            metavar="N",
            min=2,
            help="Of a column with more than N categories keep the N most frequent, and take the others as one.",
        ),
    ] = MAX_CATEGORIES

    def kinds(self, names: Sequence[str], *, scale: bool) -> Encoding:
        """Return how a table with columns of these names becomes coordinates."""
        from ...tables.columns import Encoding  # slow to import

        return Encoding(
            missing_rule(self.missing),
            level_orders(self.ordinal or ()),
            split_names(self.categorical or (), names),
            scale,
            self.max_categories,
            self.kept(names),
        )


@dataclass(frozen=True)
class KindsOfBatches(Kinds):
    """What the columns of a table hold if it comes batch after batch."""

    missing: Annotated[
        str,
        typer.Option(
            "--missing",
            metavar="RULE",
            help="What to do with blank cells: error, drop or category. Or rules for columns: drop,a=category.",
        ),
    ] = "error"


@dataclass(frozen=True)
class KindsOfNumbers(Kept):
    """What is done with the columns of a table of numbers."""

    missing: Annotated[
        str,
        data_option(metavar="error|drop", help="What to do with rows that have a blank cell."),
    ] = "error"


@dataclass(frozen=True)
class Marks:
    """How numbers and dates are written in text."""

    decimal: Annotated[
        str,
        data_option(
            metavar="MARK",
            help="The decimal mark of numbers: a point, or a comma as in 1,5.",
        ),
    ] = "."
    thousands: Annotated[
        str | None,
        data_option(
            metavar="MARK",
            help="The mark between groups of three digits: one of . , ' _ or space.",
        ),
    ] = None
    dates: Annotated[
        str | None,
        data_option(
            metavar="dmy|mdy|ymd",
            help="The order of day, month and year in dates such as 01.02.2024. ISO dates do not need it.",
        ),
    ] = None
    encoding: Annotated[
        str | None,
        data_option(
            metavar="NAME",
            help="The encoding of text files, such as latin-1; by default UTF-8, or UTF-16 with a byte order mark.",
        ),
    ] = None
    na_values: Annotated[
        list[str] | None,
        data_option(
            "--na-values",
            metavar="TEXTS",
            help="More texts that mean a missing cell, in all columns, -,. or in single ones, age=99 (an empty cell, "
            "NA, N/A, ?, NaN, NULL and None always do).",
        ),
    ] = None

    skip: Annotated[
        int,
        data_option(
            "--skip",
            metavar="N",
            min=0,
            help="Leave out the first N lines of text files, such as those that an instrument writes above the header.",
        ),
    ] = 0

    @property
    def text(self) -> TextFormat:
        """The text format that the options describe."""
        from ...tables.readers import TextFormat  # slow to import

        mark = " " if self.thousands == _SPACE else self.thousands
        absent = absent_words([word for text in self.na_values or () for word in option_words(text)])
        return TextFormat(self.decimal, mark, self.dates, self.encoding, absent, self.skip)


@dataclass(frozen=True)
class MaxRows:
    """How many rows are used."""

    max_rows: Annotated[
        int | None,
        data_option(
            metavar="N",
            min=2,
            help=f"Use at most N random rows of each table. Needed above {FIT_LIMIT:,} rows for density, "
            f"{ESTIMATE_LIMIT:,} for estimate, {TEST_LIMIT:,} for changes, and {ADAPTIVE_LIMIT:,} for tests in memory "
            f"({TEST_LIMIT:,} with one kernel); N may be larger than that, while memory suffices. "
            "compare A B and dependence read longer files batch by batch instead.",
        ),
    ] = None


@dataclass(frozen=True)
class MixedTable(ColumnOptions, Kinds, Marks, MaxRows):
    """How tables with columns of any kind are read."""


@dataclass(frozen=True)
class NumberTable(ColumnOptions, KindsOfNumbers, Marks, MaxRows):
    """How a table of numbers is read."""


@dataclass(frozen=True)
class BatchTable(ColumnOptions, KindsOfBatches, Marks):
    """How tables that come one after another are read."""


def option_words(text: str) -> list[str]:
    """Split names at commas; a name with a comma in it must be in double quotes."""
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]


def split_names(texts: Iterable[str], known: Iterable[str]) -> list[str]:
    """Return column names from option texts, each of which is one name or several separated by commas.

    Examples
    --------
    >>> split_names(["a,b"], known=["a,b", "c"])
    ['a,b']
    >>> split_names(["a, b", "c"], known=["a", "b", "c"])
    ['a', 'b', 'c']
    """
    names = set(known)
    return [name for text in texts for name in ([text] if text in names else map(str.strip, text.split(",")))]


def missing_rule(text: str) -> Missing:
    """Return one rule for all columns ("drop"), or rules for single columns ("age=noise,city=category") after it.

    Examples
    --------
    >>> missing_rule("drop")
    'drop'
    >>> missing_rule("age=noise, city=category")
    {'age': 'noise', 'city': 'category'}
    >>> missing_rule("drop,city=category")
    {'*': 'drop', 'city': 'category'}
    """
    if "=" not in text:
        return text
    first, *others = option_words(text)
    named = [first if "=" in first else f"{EVERY}={first}", *others]
    return dict(assigned(part, "--missing", "drop,city=category") for part in named)


def margins_from(text: str) -> float | dict[str, float]:
    """Return one margin for all columns of numbers ("0.5"), or margins of single columns ("age=2") after it.

    Examples
    --------
    >>> margins_from("0.5")
    0.5
    >>> margins_from("0.5, age=2")
    {'*': 0.5, 'age': 2.0}
    """
    words = option_words(text)
    named = [("=" in word and assigned(word, "--equivalence", "age=2")) or (EVERY, word) for word in words]
    try:
        margins = {name: float(margin) for name, margin in named}
    except ValueError:
        margins = {}
    if len(margins) < max(len(named), 1):
        raise ValueError(
            f"--equivalence is {text!r}; write a number in the units of the columns, such as 0.5, or one for each "
            "column, such as age=2,income=100"
        )
    return margins[EVERY] if [*margins] == [EVERY] else margins


def absent_words(words: Sequence[str]) -> list[str] | dict[str, list[str]]:
    """Return the texts of missing cells of all columns, and of single ones ("age=99").

    Examples
    --------
    >>> absent_words(["-", "."])
    ['-', '.']
    >>> absent_words(["age=99", "-", "age=98"])
    {'age': ['99', '98'], '*': ['-']}
    """
    found: dict[str, list[str]] = {}
    for word in words:
        name, _, own = word.partition("=") if word.strip("=").count("=") else (EVERY, "", word)
        found.setdefault(name.strip(), []).append(own)
    return found.get(EVERY, []) if not {*found} - {EVERY} else found


def level_orders(texts: Sequence[str]) -> dict[str, list[str]]:
    """Return the levels of columns from options such as "size=low,mid,high".

    Examples
    --------
    >>> level_orders(["size=low, mid,high", "n=1,2"])
    {'size': ['low', 'mid', 'high'], 'n': ['1', '2']}
    """
    named = [assigned(text, "--ordinal", "size=low,mid,high") for text in texts]
    return {name: option_words(levels) for name, levels in named}


def assigned(text: str, option: str, example: str) -> tuple[str, str]:
    """Return what is before and after the first equals sign."""
    name, sign, value = text.partition("=")
    if not (name.strip() and sign and value.strip()):
        raise ValueError(
            f"{option} is {text!r}; write a column, an equals sign and what it is, such as {option} {example}"
        )
    return name.strip(), value.strip()
