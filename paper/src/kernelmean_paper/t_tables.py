"""Tables 1 and 2 of the paper: densities of t-distributions by kernel mean matching."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from kernelmean.report import Chart, Curve, Panel, TextTable

from .density_table import (
    COMPARISONS,
    MODES,
    NLL,
    PROTOCOL_WORDS,
    Cell,
    DensityExperiment,
    claim_of_cells,
    matched,
    means_table,
    protocol_words,
)
from .density_tasks import PROTOCOLS, StudentT
from .experiment import Context, Finding, Findings, Setting, Size
from .judged import Section, Verdict
from .paper import ESTIMATORS, TABLE1, TABLE2
from .verdicts import Estimate

FREEDOM = 5
TEST_ROWS = 1000
DISTRIBUTIONS = 30
TRUTH, SHOWN_TRUTH = "the law itself", "the true distribution"
"""Its name in stored trials and in tables."""

_WORSE = 10.0


class _TTable(DensityExperiment):
    """Trials draw a distribution, training and test rows, and match under one protocol."""

    first: ClassVar[str]
    quick: ClassVar[int]

    @abstractmethod
    def sizes(self) -> list[tuple[int, int]]:
        """Return n and d of the rows."""

    def settings(self, size: Size) -> list[Setting]:
        """Return every row under every protocol."""
        return [
            Setting(
                {"n": n, "d": dim, "freedom": FREEDOM, "protocol": protocol},
                DISTRIBUTIONS if size is Size.FULL else self.quick,
            )
            for protocol in PROTOCOLS
            for n, dim in self.sizes()
        ]

    def row(self, setting: Setting) -> str:
        """Return the key of the printed row."""
        return str(setting.values[self.first])

    def trial(self, setting: Setting, rng: np.random.Generator, context: Context) -> list[Finding]:  # noqa: ARG002
        """Return the held-out negative log-likelihoods of all targets, and that of the true distribution."""
        n, dim, protocol = (setting.values[name] for name in ("n", "d", "protocol"))
        law = StudentT.random(int(dim), float(setting.values["freedom"]), rng)
        task = law.task(int(n), TEST_ROWS, rng, int(rng.integers(2**31)))
        return [Finding(TRUTH, NLL, law.nll(task.test)), *matched(task, str(protocol))]

    def section(self, findings: Findings) -> Section:
        """Return tables and curves of every protocol beside the paper's numbers, and verdicts."""
        cells = {protocol: self.cells(findings, protocol) for protocol in PROTOCOL_WORDS}
        measured = {protocol: [c for c in some if c.measured] for protocol, some in cells.items()}
        return Section(
            self.title,
            paragraphs=tuple(self._words(protocol, some) for protocol, some in measured.items() if some),
            verdicts=tuple(one for protocol, some in cells.items() for one in self.verdicts(protocol, some)),
            tables=tuple(self._table(protocol, some) for protocol, some in measured.items() if some),
            charts=(self._chart(measured),) if any(measured.values()) else (),
            settings=_SETTINGS + MODES,
        )

    def verdicts(self, protocol: str, cells: Sequence[Cell]) -> list[Verdict]:
        """Return verdicts on what the paper sees in the table."""
        return [comparison.verdict(cells, protocol) for comparison in COMPARISONS]

    def _words(self, protocol: str, cells: Sequence[Cell]) -> str:
        law = [cell.mean(TRUTH) for cell in cells]
        nearest = [min(cell.mean(name) for name in ESTIMATORS) - floor for cell, floor in zip(cells, law, strict=True)]
        return (
            f"{protocol_words(protocol, cells)} The best of the five is {min(nearest):.2f} to {max(nearest):.2f} nats "
            "above the distribution that the rows were drawn from."
        )

    def _table(self, protocol: str, cells: Sequence[Cell]) -> TextTable:
        table = means_table(PROTOCOL_WORDS[protocol].capitalize(), self.first, cells)
        rows = tuple((*row, f"{cell.mean(TRUTH):.2f}") for row, cell in zip(table.rows, cells, strict=True))
        return TextTable(table.caption, (*table.header, SHOWN_TRUTH), rows, table.emphasis)

    def _chart(self, measured: Mapping[str, Sequence[Cell]]) -> Chart:
        panels = [self._panel(PROTOCOL_WORDS[protocol], cells) for protocol, cells in measured.items() if cells]
        text = " ".join(self._words(protocol, cells) for protocol, cells in measured.items() if cells)
        return Chart(self.name, self.title, (*panels, self._printed()), text)

    def _panel(self, title: str, cells: Sequence[Cell]) -> Panel:
        x = tuple(float(cell.setting.values[self.first]) for cell in cells)
        curves = []
        for name in (*ESTIMATORS, TRUTH):
            points = [Estimate.of(cell.values(name)) for cell in cells]
            errors = None if any(np.isnan(p.error) for p in points) else tuple(p.error for p in points)
            label = SHOWN_TRUTH if name == TRUTH else name
            curves.append(Curve(label, x, tuple(p.mean for p in points), errors, dashed=name == TRUTH))
        return Panel(title, self.first, _AXIS, tuple(curves))

    def _printed(self) -> Panel:
        x = tuple(float(key) for key in self.printed.values)
        rows = self.printed.values.values()
        return Panel(
            "the paper's numbers",
            self.first,
            _AXIS,
            tuple(Curve(name, x, tuple(row[name] for row in rows)) for name in ESTIMATORS),
        )


_AXIS = "negative log-likelihood"

_SETTINGS = (
    (
        "Distribution",
        "a new t-distribution around 0 in every trial; scale matrix A Aᵀ/d, A of standard normals; unstated",
    ),
    ("Degrees of freedom", f"{FREEDOM}; unstated"),
    ("Test rows", f"{TEST_ROWS}, from the same distribution; neither sample is standardized"),
    ("Distributions", f"{DISTRIBUTIONS}, as the paper says; fewer in a quick run"),
)


class Table1(_TTable):
    """n = 100, d from 5 to 10."""

    name: ClassVar[str] = "table1"
    title: ClassVar[str] = "Table 1: t-distributions, n = 100, the dimension varies"
    printed = TABLE1
    first: ClassVar[str] = "d"
    quick: ClassVar[int] = 3

    def sizes(self) -> list[tuple[int, int]]:
        """Return n = 100 with the printed dimensions."""
        return [(100, int(key)) for key in self.printed.values]


class Table2(_TTable):
    """d = 10, n from 15 to 150."""

    name: ClassVar[str] = "table2"
    title: ClassVar[str] = "Table 2: t-distributions, d = 10, the sample size varies"
    printed = TABLE2
    first: ClassVar[str] = "n"
    quick: ClassVar[int] = 5

    def sizes(self) -> list[tuple[int, int]]:
        """Return the printed sizes with d = 10."""
        return [(int(key), 10) for key in self.printed.values]

    def verdicts(self, protocol: str, cells: Sequence[Cell]) -> list[Verdict]:
        """Return the verdicts of all tables, and where the targets differ most."""
        found = super().verdicts(protocol, cells)
        if protocol == "stopped":
            found.append(_few_rows(cells[0]))
        return found


def _few_rows(cell: Cell) -> Verdict:
    """Return whether KME is far above the four others at the smallest n."""

    def judge() -> tuple[bool, str]:
        rest = {name: cell.mean("KME") - cell.mean(name) for name in ESTIMATORS if name != "KME"}
        least = min(rest, key=rest.__getitem__)
        return rest[least] >= _WORSE, f"KME is {rest[least]:.1f} nats above {least}, the worst of the four"

    return claim_of_cells(
        f"At n = {cell.setting.values['n']}, stopped early, KME is far worse than the four others",
        f"holds: its mean is at least {_WORSE:g} nats above that of each of them",
        [cell],
        judge,
    )
