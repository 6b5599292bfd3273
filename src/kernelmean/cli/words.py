"""What the texts of options mean: names and levels separated by commas, a rule, a number."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..tables.columns import Missing


def option_words(text: str) -> list[str]:
    """Return names separated by commas; one that holds a comma stands in double quotes."""
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]


def split_names(texts: Iterable[str], known: Iterable[str]) -> list[str]:
    """Return column names from options: each is a name, or names separated by commas."""
    names = set(known)
    return [name for text in texts for name in ([text] if text in names else map(str.strip, text.split(",")))]


def missing_rule(text: str) -> Missing:
    """Return one rule for all columns, or those of single columns: "drop", or "age=noise,city=category"."""
    return (
        text
        if "=" not in text
        else dict(assigned(part, "--missing", "age=noise,city=category") for part in option_words(text))
    )


def level_orders(texts: Sequence[str]) -> dict[str, list[str]]:
    """Return the levels of columns from options such as "size=low,mid,high"."""
    named = [assigned(text, "--ordinal", "size=low,mid,high") for text in texts]
    return {name: option_words(levels) for name, levels in named}


def assigned(text: str, option: str, example: str) -> tuple[str, str]:
    """Return what stands before and after the last equals sign that follows a name."""
    name, sign, value = text.partition("=")
    if not (name.strip() and sign and value.strip()):
        raise ValueError(
            f"{option} is {text!r}; write a column, an equals sign and what it is, such as {option} {example}"
        )
    return name.strip(), value.strip()


def counts(text: str | None) -> list[int]:
    """Return numbers separated by commas."""
    try:
        found = [int(part) for part in (text or "").split(",") if part.strip()]
    except ValueError:
        found = [0]
    if any(number < 1 for number in found):
        raise ValueError(f"--components is {text!r}; write whole numbers from 1, such as 2,5,10")
    return found


def bandwidth_from(text: str) -> Any:
    """Return a number, or the name of a rule as it is."""
    from ..core.table import LARGEST, SMALLEST  # slow to import

    try:
        number = float(text)
    except ValueError:
        return text
    if not SMALLEST <= number <= LARGEST:
        raise ValueError(f"--bandwidth is {text}; a number from {SMALLEST:g} to {LARGEST:g} is needed, or a rule")
    return number
