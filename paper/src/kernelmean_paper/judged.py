"""Sections with verdicts, and how a page shows these: a table of all of them, and a list in each section."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from kernelmean.report import Section as Shown
from kernelmean.report import TextTable

from .wording import count

_SIGNS = {
    "reproduced": "✓",
    "holds": "✓",
    "same ordering": "≈",
    "not reproduced": "✗",
    "fails": "✗",
    "undecided": "?",
    "not measured": "–",
}
"""The sign of every outcome."""


@dataclass(frozen=True)
class Verdict:
    """An outcome that follows from numbers by a rule, with the numbers."""

    claim: str
    outcome: str
    """One of the constants of `verdicts`."""
    evidence: str
    rule: str

    @property
    def badge(self) -> str:
        """Its sign and outcome."""
        return f"{_SIGNS[self.outcome]} {self.outcome}"

    def __str__(self) -> str:
        """Return everything in words."""
        claim = f"{self.badge}: {self.claim.rstrip('.')}."
        return " ".join(filter(None, (claim, self.evidence, f"Rule: {self.rule}" if self.rule else "")))


@dataclass(frozen=True)
class Section(Shown):
    """A part of the report, with its verdicts."""

    verdicts: tuple[Verdict, ...] = ()

    def shown(self) -> Shown:
        """Return the section of a page, with the verdicts as a list after the paragraphs."""
        plain = {each.name: getattr(self, each.name) for each in fields(Shown)}
        return replace(Shown(**plain), items=(*self.items, *map(str, self.verdicts)))


def counted(verdicts: Sequence[Verdict]) -> str:
    """Return in words how many verdicts have each outcome.

    Examples
    --------
    >>> counted([Verdict("It adds up", outcome, "", "") for outcome in ("fails", "holds", "fails")])
    '1 holds, 2 fails'
    """
    counts = Counter(verdict.outcome for verdict in verdicts)
    return ", ".join(f"{counts[outcome]} {outcome}" for outcome in _SIGNS if counts[outcome])


def page_sections(sections: Sequence[Section]) -> tuple[Shown, ...]:
    """Return the sections of a page: all verdicts first, if there are any."""
    verdicts = [verdict for section in sections for verdict in section.verdicts]
    rows = [(verdict.badge, verdict.claim, section.title) for section in sections for verdict in section.verdicts]
    words = f"{count(len(verdicts), 'verdict')}, each by a rule from the numbers: {counted(verdicts)}."
    overview = Shown("Verdicts", (words,), (TextTable("All verdicts", ("outcome", "claim", "section"), tuple(rows)),))
    return (*([overview] if verdicts else []), *(section.shown() for section in sections))
