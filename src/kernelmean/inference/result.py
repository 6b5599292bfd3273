"""What a test returns: a value that unpacks as (statistic, pvalue) and says how it was found."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Self, final

import numpy as np

from ..core.array import Array
from ..core.frozen import Frozen
from ..core.sealed import parse, sealed, unsealed
from ..report.card import Grid, card
from .explained import Explained
from .members import MemberOutcome
from .schemes import SCHEMES

WILD = "wild bootstrap"
"""The scheme of tests for time series: the only one whose p-value is not exact."""

_QUANTILES = (0.5, 0.9, 0.95, 0.99)
_STRONGEST = 5
_FLAT = (
    "no rearrangement differs from the observed one by more than rounding: too few rows differ, or the kernel does not "
    "tell them apart (its bandwidth may be far too large or too small)"
)
_PLAIN = ("statistic", "pvalue", "tolerance", "method", "statistic_name", "scheme", "memory")


@final
@dataclass(frozen=True)
class PairOutcome:
    """What one pair of several samples says.

    Attributes
    ----------
    first, second : int
        Positions of the samples.
    statistic : float
        Their MMD².
    pvalue : float
        Its share of the relabelings of all samples, not adjusted for the other pairs.
    adjusted : float
        The p-value adjusted for all pairs, by the largest standardized statistic, stepping down.
    """

    first: int
    second: int
    statistic: float
    pvalue: float
    adjusted: float


@final
@dataclass(frozen=True, eq=False, repr=False)
class TestResult(Explained, Frozen):
    """The outcome of a permutation test; ``statistic, pvalue = result`` unpacks it.

    Attributes
    ----------
    statistic : float
        The observed statistic, signed and never clipped.
    pvalue : float
        ``(1 + #{T_b ≥ T - tolerance}) / (1 + n_resamples)``; the observed arrangement counts, so it is never 0. Exact
        for every scheme but "wild bootstrap".
    null_distribution : array of shape (n_resamples,)
        T_b, the statistic of every other arrangement that was looked at.
    tolerance : float
        What counts as a tie.
    method : str
        The test in words.
    statistic_name : str
        Which statistic.
    scheme : str
        How the arrangements were chosen and evaluated, a name that ``scheme=`` takes.
    n_resamples : int
        How many arrangements besides the observed one. Group schemes return at least as many as were asked for,
        enumeration returns all there are.
    kernel : Kernel or tuple of Kernel
        As used, in the units of the data; for independence that of X and that of Y.
    noise : Noise or tuple of Noise
        The noise that the kernels were smoothed with.
    sizes : tuple of int
        The rows of the two samples, or the number of pairs.
    memory : float
        The estimate of the working memory in bytes that was made before the test ran.
    notes : tuple of str
        What else a reader should know.
    members : tuple of MemberOutcome
        Of an adaptive test: what every kernel found on its own.
    pairs : tuple of PairOutcome
        Of a test of several samples: what every pair of them says.
    question : Question or None
        The rows that were looked at, for :meth:`effect_size`, :meth:`equivalence`, :meth:`witness`,
        :meth:`contributions` and :meth:`attribute`. Files keep none.
    """

    __test__ = False  # its name makes pytest curious

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
    memory: float
    notes: tuple[str, ...] = ()
    members: tuple[MemberOutcome, ...] = ()
    pairs: tuple[PairOutcome, ...] = ()
    question: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        with np.errstate(invalid="ignore"):
            differences = np.abs(self.null_distribution - self.statistic)
        if differences.size and bool(np.all(differences <= self.tolerance)) and _FLAT not in self.notes:
            object.__setattr__(self, "notes", (*self.notes, _FLAT))

    @property
    def n_resamples(self) -> int:
        """Return the number of arrangements besides the observed one."""
        return len(self.null_distribution)

    def __iter__(self) -> Iterator[float]:
        return iter((self.statistic, self.pvalue))

    def __repr__(self) -> str:
        return (
            f"TestResult(statistic={self.statistic:.6g}, pvalue={self.pvalue:.4g}, scheme={self.scheme!r}, "
            f"n_resamples={self.n_resamples})"
        )

    def __str__(self) -> str:
        return "\n".join([repr(self), *(f"  note: {note}" for note in self.notes)])

    def summary(self) -> str:
        """Return a few lines of text for a reader."""
        lines = [self.method, *(f"  {name}: {text}" for name, text in self._facts()), *self._kernel_lines()]
        lines.append(f"  rows: {self._rows}; memory: about {self.memory / 2**20:.3g} MiB")
        lines += [
            f"  samples {pair.first} and {pair.second}: {pair.statistic:.6g}, adjusted p {pair.adjusted:.4g}"
            for pair in self.pairs
        ]
        return "\n".join(lines + [f"  note: {note}" for note in self.notes])

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        facts = [*self._facts(), ("rows", self._rows)]
        if not self.members:
            facts += [("kernel", repr(self.kernel)), ("noise", repr(self.noise))]
        return card(self.method, facts, grid=self._grid(), notes=self.notes)

    def _facts(self) -> list[tuple[str, str]]:
        """Return the statistic, the p-value and the scheme, each with what a reader needs to judge it."""
        quantile = self.quantiles().get("0.95")
        beside = "" if quantile is None else f" (95 % of the null: below {quantile:.6g})"
        return [
            (self.statistic_name, f"{self.statistic:.6g}{beside}"),
            ("p-value", f"{self.pvalue:.4g}, {self._origin}"),
            ("scheme", f"{self.scheme}{_described(self.scheme)}"),
        ]

    @property
    def _rows(self) -> str:
        return " and ".join(f"{size:,}" for size in self.sizes)

    def _grid(self) -> Grid | None:
        """Return the pairs of several samples, or the kernels of an adaptive test that tell most."""
        if self.pairs:
            names = ("samples", "statistic", "p", "adjusted p")
            values = ((p, (p.statistic, p.pvalue, p.adjusted)) for p in self.pairs)
            return Grid(names, [(f"{p.first} and {p.second}", *(f"{x:.4g}" for x in row)) for p, row in values])
        told = self.strongest(_STRONGEST)
        rows = [(member.label, f"{member.weight:.3g}", f"{member.pvalue:.3g}") for member in told]
        return Grid(("kernel", "weight", "p of its own"), rows, left_out=len(self.members) - len(told))

    @property
    def _origin(self) -> str:
        """Say what the p-value rests on."""
        if self.scheme == WILD:
            return f"asymptotic, not exact, from {self.n_resamples} draws of dependent multipliers"
        return f"from {self.n_resamples} rearrangements and the observed one"

    def _kernel_lines(self) -> list[str]:
        """Name the kernel, or the five members that tell most, strongest first."""
        if not self.members:
            return [f"  kernel: {self.kernel!r}; noise: {self.noise!r}"]
        lines = [f"    {m.label}: weight {m.weight:.3g}, own p {m.pvalue:.3g}" for m in self.strongest(_STRONGEST)]
        return [f"  kernels: {len(self.members)}, of which tell most:", *lines]

    def strongest(self, size: int) -> tuple[MemberOutcome, ...]:
        """Return the members of an adaptive test that tell most, strongest first."""
        order = sorted(self.members, key=lambda member: member.evidence + np.log(member.weight), reverse=True)
        return tuple(order[:size])

    def quantiles(self) -> dict[str, float]:
        """Return the quantiles of the null distribution at .5, .9, .95 and .99; empty when there is none."""
        if not self.n_resamples:
            return {}
        values = np.quantile(self.null_distribution, _QUANTILES)
        return {str(level): float(value) for level, value in zip(_QUANTILES, values, strict=True)}

    def plot(self, ax: Any = None, *, bins: Any = "auto") -> Any:
        """Draw the null distribution as a histogram, and the observed statistic as a line: ``plots.null_distribution``.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        bins : int, str or sequence
            As in ``matplotlib.axes.Axes.hist``.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        ImportError
            When matplotlib, the extra "plot", is not installed.
        ValueError
            When there was one arrangement only, so that there is nothing to draw.

        Examples
        --------
        >>> import kernelmean as km
        >>> axes = km.mmd_test([[0.0], [1.0], [2.0]], [[5.0], [6.0], [9.0]]).plot()  # doctest: +SKIP
        """
        from ..report.canvas import null_distribution

        return null_distribution(self, bins=bins, ax=ax)

    def to_json(self, *, null_distribution: bool = False) -> str:
        """Return a JSON object; the null distribution as quantiles, or in full when asked for.

        The kernel and the noise are written as their ``repr``; :func:`kernelmean.save` keeps them as objects.
        """
        content: dict[str, Any] = {name: getattr(self, name) for name in (*_PLAIN, "n_resamples")}
        content |= {"kernel": repr(self.kernel), "noise": repr(self.noise), "sizes": self.sizes, "notes": self.notes}
        content["members"] = [asdict(member) for member in self.members]
        content["pairs"] = [asdict(pair) for pair in self.pairs]
        content["null_quantiles"] = self.quantiles()
        if not null_distribution:
            return json.dumps(content)
        return json.dumps(sealed({**content, "null_distribution": self.null_distribution.tolist()}))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the result that ``to_json(null_distribution=True)`` wrote; kernel and noise are texts then.

        Raises
        ------
        ValueError
            When the text is no such JSON, lacks the null distribution, or its p-value does not follow from it.

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
                kernel=_Text(content["kernel"]),
                noise=_Text(content["noise"]),
                sizes=tuple(content["sizes"]),
                notes=tuple(content["notes"]),
                members=tuple(MemberOutcome(**member) for member in content["members"]),
                pairs=tuple(PairOutcome(**pair) for pair in content["pairs"]),
            )
            result._check_pvalue()
            _check_seal(content)
        except (KeyError, TypeError, AttributeError, OverflowError, json.JSONDecodeError) as error:
            raise ValueError(f"this is no TestResult in JSON ({error}); write result.to_json(...)") from error
        return result

    def _check_pvalue(self) -> None:
        """Raise when the p-value is not the share of arrangements that reach the statistic."""
        reached = np.count_nonzero(self.null_distribution >= self.statistic - self.tolerance)
        share = float((1 + reached) / (1 + self.n_resamples))
        if not abs(share - self.pvalue) <= 1e-12:
            raise ValueError(
                f"the p-value is {self.pvalue!r}, but the null distribution gives {share!r}; it was altered"
            )


class _Text(str):
    """The ``repr`` of an object that stays as it was written."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _content(text: str) -> dict[str, Any]:
    """Return the JSON object of a result with its null distribution."""
    content = parse(text, infinite=True)
    if not isinstance(content, dict):
        raise TypeError("an object in braces is needed")
    for name in ("statistic", "pvalue", "tolerance", "memory"):
        math.isfinite(content[name])  # a number, or a TypeError
    if "null_distribution" not in content:
        raise ValueError("the null distribution is missing; write result.to_json(null_distribution=True)")
    return content


def _check_seal(content: dict[str, Any]) -> None:
    """Raise when a result has other members than are written, or was altered."""
    texts = ("kernel", "noise", "sizes", "notes", "members", "pairs")
    unsealed(content, (*_PLAIN, "n_resamples", *texts, "null_quantiles", "null_distribution"))


def _described(scheme: str) -> str:
    """Return what a scheme does, in brackets."""
    return f" ({SCHEMES[scheme].summary})" if scheme in SCHEMES else ""
