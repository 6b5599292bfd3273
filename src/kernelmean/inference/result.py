"""What a test returns: a value that unpacks as (statistic, pvalue) and says how it was found."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar, Self, final

import numpy as np

from ..core.array import SILENT, Array, Progress
from ..core.disk import check_members, parse
from ..core.frozen import Frozen
from ..core.words import count
from ..report.description import Description, Grid
from ..report.html import Document
from .adaptive.kinds import LEVEL, EvidenceKind
from .adaptive.member import MemberOutcome
from .base_result import Result
from .null import WILD, PairOutcome
from .null_page import made_by, null_distribution, null_section
from .permutations import BOOTSTRAP, DRAWN, EXACT, SUMMARIES
from .result_verbs import Explained
from .wording import beside, close_call

_QUANTILES = (0.5, 0.9, 0.95, 0.99)
_STRONGEST, _NAMED = 5, 3
FEW_ROWS = 8
"""With fewer rows in a sample, a test that finds nothing says how little it can find."""
_FLAT = (
    "none differs from the observed one by more than rounding: too few rows differ, or the kernel does not "
    "tell them apart (its bandwidth may be far too large or too small)"
)
_PLAIN = ("statistic", "pvalue", "tolerance", "method", "statistic_name", "scheme")


@final
@dataclass(frozen=True, eq=False, repr=False)
class TestResult(Explained, Frozen, Result):
    """The outcome of a permutation test; ``statistic, pvalue = result`` unpacks it.

    Attributes
    ----------
    statistic : float
        The observed statistic, signed and never clipped.
    pvalue : float
        ``(1 + #{T_b ≥ T - tolerance}) / (1 + n_resamples)``; the observed arrangement counts, so it is never 0. Exact
        for every scheme but "wild bootstrap" and "parametric bootstrap".
    null_distribution : array of shape (n_resamples,)
        T_b, the statistic of every other arrangement that was evaluated.
    tolerance : float
        Values that differ by no more than this are ties.
    method : str
        The test in words.
    statistic_name : str
        The name of the statistic.
    scheme : str
        How the arrangements were chosen and evaluated, "exact", "random", "rotations" or "bins"; of a test of fit
        "drawn samples" or "parametric bootstrap".
    n_resamples : int
        How many arrangements besides the observed one. Group schemes use at least as many as you asked for; enumeration
        uses all there are.
    kernel : Kernel or tuple of Kernel
        As used, in the units of the data; for independence a kernel of X and one of Y.
    noise : Noise or tuple of Noise
        The noise that the kernels were smoothed with.
    sizes : tuple of int
        The rows of the samples, or the number of pairs.
    notes : tuple of str
        What else a reader should know.
    members : tuple of MemberOutcome
        Of an adaptive test: the outcome of every kernel on its own.
    pairs : tuple of PairOutcome
        Of a test of several samples: the outcome of every pair.
    kind : EvidenceKind or None
        Of an adaptive test whose p-value is at most .05: where its evidence lies, in the means, in the spread and so
        on, with the shares; a description, not a test. None if you passed members of your own.
    question : Question or None
        The rows that were tested, for :meth:`effect_size`, :meth:`equivalence`, :meth:`witness`, :meth:`contributions`
        and :meth:`attribute`. A saved result has none.
    """

    __test__ = False  # its name makes pytest curious
    holds: ClassVar[tuple[type[Any], ...] | None] = (MemberOutcome, PairOutcome, EvidenceKind)

    statistic: float
    pvalue: float
    null_distribution: Array
    tolerance: float
    method: str
    statistic_name: str
    scheme: str
    kernel: Any
    noise: Any
    sizes: tuple[int, ...]
    notes: tuple[str, ...] = ()
    members: tuple[MemberOutcome, ...] = ()
    pairs: tuple[PairOutcome, ...] = ()
    kind: EvidenceKind | None = None
    question: Any = field(default=None, metadata={"kept": False})

    @property
    def n_resamples(self) -> int:
        """Return the number of arrangements besides the observed one."""
        return len(self.null_distribution)

    @property
    def smallest(self) -> float:
        """A bound: no arrangement of these rows has a smaller p-value with so many permutations.

        If all arrangements were tried, it is that of the one with the largest statistic.
        """
        if self.scheme != EXACT:
            return 1.0 / (1 + self.n_resamples)
        largest = max(float(self.null_distribution.max(initial=-np.inf)), self.statistic)
        values = np.append(self.null_distribution, self.statistic)
        return float(np.mean(values >= largest - self.tolerance))

    def nothing_found(self, level: float, what: str) -> str:
        """Return what a verdict that found no ``what``, such as "difference", says next."""
        of = f"{' and '.join(f'{size:,}' for size in self.sizes)} rows"
        if self.smallest <= level:
            few = f": with {of} only a very clear {what} can be found" if min(self.sizes) < FEW_ROWS else ""
            return f"That does not show that there is none{few if len(self.sizes) < 3 else ''}."
        of = of if self.scheme == EXACT else f"{count(self.n_resamples, self._resample)} of {of}"
        return (
            f"With these {of} no p-value below {beside(self.smallest, level)} is possible, so this test cannot find "
            f"any {what} at level {level:g}."
        )

    def __iter__(self) -> Iterator[float]:
        return iter((self.statistic, self.pvalue))

    def __repr__(self) -> str:
        return (
            f"TestResult(statistic={self.statistic:.6g}, pvalue={self.pvalue:.4g}, scheme={self.scheme!r}, "
            f"n_resamples={self.n_resamples})"
        )

    def facts(self) -> list[tuple[str, str]]:
        """Return the statistic, the p-value with what it rests on, the kind of evidence, and the number of kernels."""
        facts = [("statistic", self._statistic("")), ("p-value", self.origin), *self._flat(), *self._close(LEVEL)]
        return [*facts, *self._kind(None), *self._kernels()]

    def in_short(self, level: float, exact: str) -> list[tuple[str, str]]:
        """Return the p-value, when it is ``exact``, and the kind of difference if the test rejects at a level."""
        return [("p-value", self._origin("", exact)), *self._flat(), *self._close(level), *self._kind(level)]

    @property
    def origin(self) -> str:
        """The p-value with what it rests on."""
        exact = "exact if rows are independent" if self.scheme in DRAWN else "exact if what is permuted is exchangeable"
        return self._origin(f" (scheme {self.scheme})", exact)

    @property
    def _resample(self) -> str:
        return "drawn sample" if self.scheme in DRAWN else "permutation"

    def _statistic(self, of: str) -> str:
        """Return the statistic, what it is a statistic ``of``, and its .95 quantile under the null."""
        quantile = self.quantiles().get("0.95")
        chance = "" if quantile is None else f" (95 % of the null: below {quantile:.4g})"
        return f"{self.statistic:.4g}, {self.statistic_name}{of}{chance}"

    def _origin(self, scheme: str, exact: str) -> str:
        if self.scheme == WILD:
            draws = f"{self.n_resamples} draws of dependent multipliers"
            return f"{self.pvalue:.3g}, asymptotic, not exact, from {draws}"
        validity = "asymptotic, not exact" if self.scheme == BOOTSTRAP else exact
        source = f"{self.pvalue:.3g}, {validity}, from {count(self.n_resamples, self._resample)}{scheme}"
        if self.pvalue * (self.n_resamples + 1) < 1.5:
            return f"{source}; no smaller one is possible with so many"
        if self.smallest > LEVEL:
            return f"{source}; with these none below {self.smallest:.3g} is possible"
        return source

    @property
    def is_flat(self) -> bool:
        """Whether no permutation has another statistic than the observed one, but for rounding."""
        with np.errstate(invalid="ignore"):
            differences = np.abs(self.null_distribution - self.statistic)
        return bool(differences.size and np.all(differences <= self.tolerance))

    def _flat(self) -> list[tuple[str, str]]:
        return [("permutations", _FLAT)] if self.is_flat else []

    def _close(self, level: float) -> list[tuple[str, str]]:
        """Say that another seed may decide otherwise; all permutations, and multipliers, have no such error."""
        words = (
            ""
            if self.scheme in ("exact", WILD)
            else close_call(self.pvalue, level, self.n_resamples, f"{self._resample}s", draws_rows=bool(self.members))
        )
        return [("close call", words)] if words else []

    def _kind(self, level: float | None) -> list[tuple[str, str]]:
        """Say where the evidence of an adaptive test lies; given a level, only if the test rejects at it."""
        if self.kind is None or (level is not None and self.pvalue > level):
            return []
        return [("kind", f"{self.kind.described}; a description, not a test")]

    def _kernels(self) -> list[tuple[str, str]]:
        """Say how many kernels an adaptive test used."""
        return [("kernels", f"{len(self.members)}, combined into one p-value")] if self.members else []

    def details(self, of: str = "") -> list[tuple[str, str]]:
        """Return what only some readers need: the statistic, the scheme, and the kernels."""
        most = ", ".join(member.label for member in self.strongest(_NAMED))
        return [
            ("statistic", self._statistic(of)),
            ("scheme", self.scheme),
            *self._kernels(),
            *([("strongest kernels", most)] if most else []),
        ]

    def describe(self) -> Description:
        """Return the test in words, its numbers, and the pairs of several samples."""
        facts = self.facts()
        if not self.members:
            facts += [("kernel", _text(self.kernel)), ("noise", _text(self.noise))]
        if self.scheme in SUMMARIES:
            facts.append(("scheme", f"{self.scheme} ({SUMMARIES[self.scheme]})"))
        facts += [("rows", " and ".join(f"{size:,}" for size in self.sizes))]
        values = ((p, (p.statistic, p.pvalue, p.adjusted)) for p in self.pairs)
        rows = [(f"{p.first} and {p.second}", *(f"{x:.4g}" for x in row)) for p, row in values]
        pairs = Grid("Pairs of samples", ("samples", "statistic", "p", "adjusted p"), rows, noun="pair")
        return Description(self.method, facts=facts, grids=(pairs,) if self.pairs else (), notes=self.notes)

    def grid_of_kernels(self) -> Grid:
        """Return the five strongest kernels of an adaptive test."""
        strongest = self.strongest(_STRONGEST)
        rows = [(member.label, f"{member.weight:.3g}", f"{member.pvalue:.3g}") for member in strongest]
        title = f"The {len(rows)} strongest of {len(self.members)} kernels, combined into one p-value"
        return Grid(title, ("kernel", "weight", "own p-value, not adjusted"), rows, names=0)

    def document(self, *, progress: Progress = SILENT) -> Document:
        """Return the page of the test: its numbers, how the p-value was computed, the null distribution."""
        del progress
        page = self.describe().document()
        dealt = "rows were drawn" if self.scheme in DRAWN else "the rows were permuted"
        test = null_section(self, dealt, self.describe().facts)
        others = [section for section in page.sections if section.title == "Notes"]
        pairs = [section for section in page.sections if section.title == "Pairs of samples"]
        return replace(page, sections=(*pairs, test, *others), made_by=made_by(self, None))

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain names, numbers and texts, the null distribution as quantiles."""
        content: dict[str, Any] = {name: getattr(self, name) for name in (*_PLAIN, "n_resamples")}
        content |= {"kernel": _text(self.kernel), "noise": _text(self.noise)}
        content |= {"sizes": list(self.sizes), "notes": list(self.notes)}
        content["members"] = [asdict(member) for member in self.members]
        content["pairs"] = [asdict(pair) for pair in self.pairs]
        content["kind"] = None if self.kind is None else asdict(self.kind)
        content["null_quantiles"] = self.quantiles()
        return content

    def rows(self) -> list[dict[str, Any]]:
        """Return the test as one row, then the pairs of several samples."""
        whole: dict[str, Any] = {"tested": "all samples" if self.pairs else "all rows", "first": None, "second": None}
        rows = [{**whole, "statistic": self.statistic, "pvalue": self.pvalue, "adjusted": None}]
        return rows + [{"tested": "pair", **asdict(pair)} for pair in self.pairs]

    def strongest(self, size: int) -> tuple[MemberOutcome, ...]:
        """Return the strongest members of an adaptive test, strongest first."""
        order = sorted(self.members, key=lambda member: member.evidence + np.log(member.weight), reverse=True)
        return tuple(order[:size])

    def quantiles(self) -> dict[str, float]:
        """Return the quantiles of the null distribution at .5, .9, .95 and .99; empty when there is none."""
        if not self.n_resamples:
            return {}
        values = np.quantile(self.null_distribution, _QUANTILES)
        return {str(level): float(value) for level, value in zip(_QUANTILES, values, strict=True)}

    def plot(self, ax: Any = None, *, bins: Any = None) -> Any:
        """Draw the null distribution as a histogram, and the observed statistic as a line: ``plots.null_distribution``.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        bins : int, str or sequence, optional
            As in ``numpy.histogram``; by default Rice's rule.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        ImportError
            When matplotlib, the extra "plot", is not installed.
        ValueError
            When there was only one arrangement, so there is nothing to draw.

        Examples
        --------
        >>> import kernelmean as km
        >>> axes = km.mmd_test([[0.0], [1.0], [2.0]], [[5.0], [6.0], [9.0]]).plot()  # doctest: +SKIP
        """
        return null_distribution(self, bins=bins, ax=ax)

    def to_json(self, *, null_distribution: bool = False) -> str:
        """Return :meth:`to_dict` as JSON, with the full null distribution if you ask for it.

        The kernel and the noise are written as their ``repr``; :func:`kernelmean.save` keeps them as objects.
        """
        if not null_distribution:
            return json.dumps(self.to_dict())
        return json.dumps({**self.to_dict(), "null_distribution": self.null_distribution.tolist()})

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the result that ``to_json(null_distribution=True)`` wrote; kernel and noise are then texts.

        Raises
        ------
        ValueError
            When the text is no such JSON, or lacks the null distribution.

        Examples
        --------
        >>> import kernelmean as km
        >>> result = km.mmd_test([[0.0], [1.0], [2.0]], [[5.0], [6.0], [9.0]])
        >>> TestResult.from_json(result.to_json(null_distribution=True)).pvalue == result.pvalue
        True
        """
        try:
            content = _content(text)
            result = cls(
                **{name: content[name] for name in _PLAIN},
                null_distribution=np.array(content["null_distribution"], dtype=np.float64),
                kernel=str(content["kernel"]),
                noise=str(content["noise"]),
                sizes=tuple(content["sizes"]),
                notes=tuple(content["notes"]),
                members=tuple(MemberOutcome(**member) for member in content["members"]),
                pairs=tuple(PairOutcome(**pair) for pair in content["pairs"]),
                kind=_kind(content),
            )
            texts = ("kernel", "noise", "sizes", "notes", "members", "pairs")
            check_members(content, (*_PLAIN, "n_resamples", *texts, "null_quantiles", "null_distribution", "kind"))
        except (KeyError, TypeError, AttributeError, OverflowError, json.JSONDecodeError) as error:
            raise ValueError(f"this is no TestResult in JSON ({error}); write result.to_json(...)") from error
        return result


def _text(value: Any) -> str:
    """Return an object as text; in a result that was read from JSON it is already one."""
    return value if isinstance(value, str) else repr(value)


def _kind(content: dict[str, Any]) -> EvidenceKind | None:
    """Return the kind of difference, which some results do not have."""
    kind = content["kind"]
    return None if kind is None else EvidenceKind(str(kind["name"]), dict(kind["shares"]))


def _content(text: str) -> dict[str, Any]:
    """Return the JSON object of a result with its null distribution."""
    content = parse(text, infinite=True)
    if not isinstance(content, dict):
        raise TypeError("an object in braces is needed")
    for name in ("statistic", "pvalue", "tolerance"):
        math.isfinite(content[name])  # a number, or a TypeError
    if "null_distribution" not in content:
        raise ValueError("the null distribution is missing; write result.to_json(null_distribution=True)")
    return content
