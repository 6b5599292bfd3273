"""What the texts of options mean: names, rules, margins, levels and numbers."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..core.words import EVERY

if TYPE_CHECKING:
    from ..tables.columns import Missing


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


def missing_texts(words: Sequence[str]) -> list[str] | dict[str, list[str]]:
    """Return the texts of missing cells of all columns, and of single ones ("age=99").

    Examples
    --------
    >>> missing_texts(["-", "."])
    ['-', '.']
    >>> missing_texts(["age=99", "-", "age=98"])
    {'age': ['99', '98'], '*': ['-']}
    """
    by_column: dict[str, list[str]] = {}
    for word in words:
        name, _, text = word.partition("=") if word.strip("=").count("=") else (EVERY, "", word)
        by_column.setdefault(name.strip(), []).append(text)
    return by_column.get(EVERY, []) if not {*by_column} - {EVERY} else by_column


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


def bandwidth_from(text: str) -> Any:
    """Return a number, or the name of a rule unchanged."""
    from ..core.table import LARGEST, SMALLEST  # slow to import

    try:
        number = float(text)
    except ValueError:
        return text
    if not SMALLEST <= number <= LARGEST:
        raise ValueError(f"--bandwidth is {text}; a number from {SMALLEST:g} to {LARGEST:g} is needed, or a rule")
    return number
