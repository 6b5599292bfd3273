"""Options in texts of the library, spelled as on the command line, and values in quotes where a shell needs them."""

from __future__ import annotations

import ast
import csv
import io
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

from ..core.words import Advice
from ..report.description import Description, Grid
from ..report.document import Section
from ..report.html import Document

OPTIONS: ContextVar[Mapping[str, Any]] = ContextVar("OPTIONS", default={})  # noqa: B039 (nobody adds to it)
"""The options of the running command, by the names that they have in Python."""

_TEXT = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_LIST, _DICT = (rf"\{a}(?:{_TEXT}|[^\{a}\{b}'\"]|\[(?:{_TEXT}|[^\[\]'\"])*\])*\{b}" for a, b in ("[]", "{}"))
_TUPLE = rf"\((?:{_TEXT}|[^()'\"])*\)"
_INNER = rf"\((?:{_TEXT}|[^()'\"]|{_TUPLE})*\)"
_CALL = rf"(?:\b\w+=)?\b[A-Za-z][\w.]*\((?:{_TEXT}|[^()'\"]|{_INNER})*\)"
_VALUE = rf"(?:{_TEXT}|{_LIST}|{_DICT}|{_TUPLE}|[\w.+-]*\w(?!\.?\w))"
_MORE = rf"(?:(?:, or | or |, ){_TEXT})*"
_SPELLED = re.compile(
    rf"(?P<call>{_CALL})|(?<![\w'\"./=-])(?P<name>\w+)=(?!=)(?:(?P<value>{_VALUE})(?P<more>{_MORE}))?"
)
_SUBJECT = re.compile(r"(\w+)(?= is )")
"""The first word of an error about the value of an option."""


def spelled(text: str) -> str:
    """Return a text of the library with the options of the running command as you write them there.

    A call whose keywords all are such options becomes these options.
    """
    return _SPELLED.sub(lambda match: _of_call(match["call"]) if match["call"] else _of_keyword(match), text)


def spelled_error(text: str) -> str:
    """Return the text of an error, which may begin with the name of an option."""
    subject = _SUBJECT.match(text)
    begin = _name(OPTIONS.get()[subject[1]]) if subject and subject[1] in OPTIONS.get() else ""
    return begin + spelled(text[subject.end() :]) if subject and begin else spelled(text)


def spelled_description(description: Description) -> Description:
    """Return a description with its words spelled; cells of its tables are data, unless they are advice."""
    return replace(
        description,
        facts=_facts(description.facts),
        details=_facts(description.details),
        notes=_texts(description.notes),
        grids=_grids(description.grids),
        detailed=_grids(description.detailed),
    )


def spelled_page(page: Document) -> Document:
    """Return a page with its words spelled; tables and charts are data, unless they hold advice."""
    overview = tuple((name, _texts(texts)) for name, texts in page.overview)
    sections = tuple(map(_section, page.sections))
    return replace(page, sections=sections, summary=_texts(page.summary), overview=overview)


def spelled_content(content: Any) -> Any:
    """Return the content of a file with the advice in it spelled; all else is data."""
    if isinstance(content, Advice):
        return spelled(content)
    if isinstance(content, dict):
        return {name: spelled_content(value) for name, value in content.items()}
    return [*map(spelled_content, content)] if isinstance(content, list | tuple) else content


def _section(section: Section) -> Section:
    return replace(
        section,
        paragraphs=_texts(section.paragraphs),
        settings=_facts(section.settings),
        items=_texts(section.items),
        tables=tuple(replace(table, rows=_rows(table.rows)) for table in section.tables),
    )


def _grids(grids: Iterable[Grid]) -> tuple[Grid, ...]:
    return tuple(replace(grid, rows=_rows(grid.rows)) for grid in grids)


def _rows(rows: Iterable[Iterable[str]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(map(spelled_content, row)) for row in rows)


def _texts(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(type(text)(spelled(text)) for text in texts)  # a text that is not wrapped stays one


def _facts(facts: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple(zip((name for name, _ in facts), _texts(text for _, text in facts), strict=True))


def _of_call(text: str) -> str:
    try:
        keywords = [*_keywords(ast.parse(re.sub(r"^\w+=", "", text), mode="eval").body)]
    except SyntaxError:
        keywords = []
    if keywords and all(name in OPTIONS.get() and value != "..." for name, value in keywords):
        return " ".join(_option(OPTIONS.get()[name], value) for name, value in keywords)
    return text


def _keywords(node: Any) -> Iterator[tuple[str, str]]:
    """Yield the keywords of a call with the texts of their values; of a call in a keyword, its own."""
    for each in getattr(node, "keywords", ()):
        if isinstance(each.value, ast.Call):
            yield from _keywords(each.value)
        else:
            yield str(each.arg), ast.unparse(each.value)


def _of_keyword(match: re.Match[str]) -> str:
    option = OPTIONS.get().get(match["name"])
    if option is None:
        return match[0]
    return (
        _name(option)
        if match["value"] is None
        else _option(option, match["value"]) + re.sub("['\"]", "", match["more"])
    )


def _name(option: Any) -> str:
    return str(max(option.opts, key=len))


def _option(option: Any, text: str) -> str:
    """Return an option with the value that a text is in Python; a text that is no value stays as it is."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return f"{_name(option)} {text}"
    if isinstance(value, bool):
        return _name(option) if value else str((option.secondary_opts or option.opts)[0])
    if isinstance(value, dict):
        if any(isinstance(part, list) for part in value.values()):
            return " ".join(worded(_name(option), f"{name}={','.join(part)}") for name, part in value.items())
        return worded(
            _name(option), comma_separated(part if name == "*" else f"{name}={part}" for name, part in value.items())
        )
    if isinstance(value, list | tuple):
        names = list(map(str, value))
        is_of_names = option.metavar == "NAMES"
        return worded_names(_name(option), names) if is_of_names else worded(_name(option), comma_separated(names))
    return worded(_name(option), "space" if value == " " else str(value))


# -- quotes ------------------------------------------------------------------------------------------------------------


_TAKEN_APART = re.compile(r"[\s'\"\\;&|<>()*?\[\]#~`!{}]|\$[\w({]")
_ALIVE_IN_QUOTES = re.compile(r"[\"\\`!$]")


def worded(option: str, value: str) -> str:
    """Return an option and its value, in quotes if a shell would split it.

    Double quotes, which work on every system, unless a shell would expand something in them.

    Examples
    --------
    >>> print(worded("--drop", "age"), worded("--drop", "age (years)"), worded("--drop", "cost $a"))
    --drop age --drop "age (years)" --drop 'cost $a'
    """
    if value and not _TAKEN_APART.search(value):
        return f"{option} {value}"
    return f"{option} " + (shlex.quote(value) if _ALIVE_IN_QUOTES.search(value) else f'"{value}"')


def worded_names(option: str, names: Sequence[str]) -> str:
    """Return an option with column names, separated by commas, or once for each name if one contains a comma.

    Examples
    --------
    >>> print(worded_names("--drop", ["a", "b c"]), worded_names("--drop", ["a,b", "c"]))
    --drop "a,b c" --drop a,b --drop c
    """
    if len(names) == 1 or not any("," in name for name in names):
        return worded(option, ",".join(names))
    return " ".join(worded(option, name) for name in names)


def comma_separated(words: Iterable[str]) -> str:
    """Return words separated by commas, in double quotes if they contain a comma or a quote.

    Examples
    --------
    >>> print(comma_separated(["a", "b, c"]))
    a,"b, c"
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(list(words))
    return text.getvalue()
