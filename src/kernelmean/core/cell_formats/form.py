"""What the cells of a column have in common, and what reads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from ..option_names import written
from ..remedies import worded

_OTHERS = "decimal", "thousands", "dates"


@final
@dataclass(frozen=True)
class Form:
    """How the cells of a column are written."""

    what: str
    """In words: "numbers with a decimal comma", "dates"."""
    cells: tuple[str, ...]
    """Those of the different cells that are written so."""
    readings: tuple[Mapping[str, str], ...]
    """The options that read them, the unit under "unit": one mapping, two where the cells leave it open, none where no
    option reads them."""
    mend: str = ""
    """What to write instead where no option reads them."""
    convert: str = ""
    """The function of pandas that converts such a column."""

    def advice(self, column: str) -> str:
        """Return what to write so that the cells of a column are read, as one does where the message is shown."""
        python, command = self._python(column), self._command(column)
        if not self.readings:
            return written(python, self.mend)
        return written(python, f"read it with {command}")

    def short(self, column: str) -> str:
        """Return what reads the cells in a few words; nothing where no option does."""
        return written(self._fields(column), self._command(column)) if self.readings else ""

    def _command(self, column: str) -> str:
        return " or ".join(" ".join(_options(reading, column)) for reading in self.readings)

    def _fields(self, column: str) -> str:
        return " or ".join(_text_format(reading, column) for reading in self.readings)

    def _python(self, column: str) -> str:
        convert = f"convert it (pandas: {self.convert})" if self.convert else self.mend
        if not self.readings:
            return convert
        read = f"read the file with kernelmean.tables.read_frame(path, text={self._fields(column)})"
        return f"{read}, or {convert}" if convert else read


def _options(reading: Mapping[str, str], column: str) -> list[str]:
    """Return the options of the command line."""
    units = [worded("--units", f"{column}={reading['unit']}")] if "unit" in reading else []
    marks = [(name, "space" if reading[name] == " " else reading[name]) for name in _named(reading)]
    return units + [worded(f"--{name}", mark) for name, mark in marks]


def _named(reading: Mapping[str, str]) -> list[str]:
    return [name for name in _OTHERS if name in reading]


def _text_format(reading: Mapping[str, str], column: str) -> str:
    units = [f"units={{{column!r}: {reading['unit']!r}}}"] if "unit" in reading else []
    others = [f"{name}={reading[name]!r}" for name in _named(reading)]
    return f"TextFormat({', '.join(units + others)})"
