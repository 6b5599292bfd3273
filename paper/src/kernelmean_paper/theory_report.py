"""The report on the measurements of theory: rules, charts and sentences made from numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from kernelmean.report import Chart, Curve, Panel

from . import theory
from .arrays import Array
from .experiment import Findings, Setting
from .judged import Verdict
from .theory import DAMPING_VARIANCES, FORM_VARIANCES, FREQUENCIES, KERNELS, RISK_VARIANCES
from .verdicts import Estimate, held, verdict
from .wording import count, listed

DAMPING, SPECTRUM, SLOPE, FORMS = "damping", "spectral risk", "slope", "linear form"
RISK, CONSISTENCY = "risk", "consistency"
ROWS = 10
"""Of the samples of the risk."""
SIZES = (10, 30, 100, 300, 1000)
FAR = 4.0
"""Standard errors by which a mean may differ from its exact expectation, at any of a dozen places."""

_FIXED = f"σ² = {theory.FIXED:g} θ²"
_SECOND, _PRINTED = theory.FORMS


@dataclass(frozen=True)
class Measured:
    """The findings of one check."""

    findings: Findings
    check: str

    @property
    def settings(self) -> list[Setting]:
        """The settings of the check: one, or one for every n."""
        return self.findings.where(check=self.check)

    @property
    def complete(self) -> bool:
        """Whether every setting has a trial."""
        found = [self.findings.trials.get(setting.key, ()) for setting in self.settings]
        return bool(found) and all(any(trials) for trials in found)

    def values(self, method: str, measure: str, n: int | None = None) -> Array:
        """Return the values (trials,); if there is a setting for every n, those of this ``n``."""
        chosen = [one for one in self.settings if n is None or one.values["n"] == n]
        return self.findings.values(chosen[0], method, measure)

    def means(self, method: str, measure: str) -> list[float]:
        """Return the mean at every n of :data:`SIZES`."""
        return [float(self.values(method, measure, n).mean()) for n in SIZES]

    def verdict(self, claim: str, rule: str, judge: Callable[[Measured], tuple[str, str]]) -> Verdict:
        """Return the verdict by ``judge``, which is called only if no trial is missing."""
        return verdict(claim, f"holds: {rule}", self.findings, self.settings, lambda: judge(self))


Judge = Callable[[Measured], tuple[str, str]]
Statement = tuple[str, str, str, Judge]
"""The check, the claim, its rule, and the judge."""


def verdicts(findings: Findings) -> tuple[Verdict, ...]:
    """Return one verdict for every statement of theory."""
    statements = (*_of_noise(), *_of_growth())
    return tuple(Measured(findings, check).verdict(claim, rule, judge) for check, claim, rule, judge in statements)


def _of_noise() -> Iterator[Statement]:
    yield (
        DAMPING,
        "Noise multiplies the spectrum of any kernel by exp(-σ²ω²/2)",
        f"numerical cosine transforms of {listed(KERNELS)} after and before have that ratio to 1e-5",
        _damps,
    )
    yield (
        SPECTRUM,
        "The risk is an integral over frequencies: what damping takes from the truth, and what it leaves of chance",
        "the integral and the closed form agree to 1e-6 of the risk in every trial",
        _integral,
    )
    yield (
        SLOPE,
        "Some noise is better than none: the risk falls with σ² at 0, with the derivative of the formula",
        "the formula and differences of the exact risk agree to 1e-4, and are negative, in every trial",
        _falls,
    )
    yield (
        RISK,
        "Losses of samples are around the exact risk",
        f"at each σ² the mean difference of loss and risk is within {FAR:g} standard errors of 0",
        _around,
    )
    yield (
        FORMS,
        "Corrected, the theorems' weights err as σ⁴; as printed, their error does not vanish",
        "the error grows as a power of σ² from 1.9 to 2.1 in every trial (corrected); it is above 0.4 at the smallest "
        "σ² (printed)",
        _orders,
    )


def _of_growth() -> Iterator[Statement]:
    yield (
        CONSISTENCY,
        f"A fixed noise is inconsistent: with {_FIXED} the risk does not go to 0",
        f"its limit for n → ∞ is above KME's risk at n = {SIZES[-1]} in every trial",
        _levels_off,
    )
    yield (
        CONSISTENCY,
        "The best noise falls as 1/n, and its risk is below KME's at every n",
        "the mean of the best σ² falls as a power of n from -1.1 to -0.9, and the exact risk is below KME's in every "
        "trial",
        _best,
    )
    yield (
        CONSISTENCY,
        "Leave-one-out's noise keeps KME's rate 1/n",
        f"at n = {SIZES[-1]} the mean loss of MKME is at most 5 % above KME's on the same samples",
        _keeps_rate,
    )


def _damps(at: Measured) -> tuple[str, str]:
    gap = _largest_gap(at)
    return held(gap < 1e-5), f"the largest difference is {gap:.1g}"


def _largest_gap(at: Measured) -> float:
    """Return the largest distance of a kernel's ratio of spectra from the characteristic function of the noise."""
    return max(
        float(np.abs(_ratios(at, kernel, variance) - theory.damped(variance)).max())
        for kernel, variance in product(KERNELS, DAMPING_VARIANCES)
    )


def _ratios(at: Measured, kernel: str, variance: float) -> Array:
    return np.array([at.values(kernel, f"σ²={variance:g}, ω={w:g}")[0] for w in FREQUENCIES])


def _integral(at: Measured) -> tuple[str, str]:
    one, two = at.values("integral", "risk"), at.values("closed form", "risk")
    gap = float(np.abs(one / two - 1).max())
    return held(gap < 1e-6), f"the largest relative difference is {gap:.1g}; {count(len(one), 'distribution')}"


def _falls(at: Measured) -> tuple[str, str]:
    one, two = at.values("formula", "slope"), at.values("differences", "slope")
    gap = float(np.abs(one / two - 1).max())
    steepest, flattest = float(one.min()), float(one.max())
    words = f"slopes from {steepest:.3g} to {flattest:.3g} (per θ²), relative differences up to {gap:.1g}"
    return held(gap < 1e-4 and flattest < 0), f"{words}; {count(len(one), 'distribution')}"


def _around(at: Measured) -> tuple[str, str]:
    gaps = [Estimate.change(at.values("loss", _at(share)), at.values("risk", _at(share))) for share in RISK_VARIANCES]
    far = max(abs(gap.mean) / gap.error for gap in gaps)
    return held(far <= FAR), f"the farthest mean is {far:.2g} standard errors away"


def _orders(at: Measured) -> tuple[str, str]:
    second, printed = (np.array([at.values(form, _error(s)) for s in FORM_VARIANCES]) for form in (_SECOND, _PRINTED))
    powers = [theory.power_of_ten(FORM_VARIANCES, errors) for errors in second.T]
    words = (
        f"powers from {min(powers):.3f} to {max(powers):.3f}; as printed the error is at least {printed[0].min():.3f}"
    )
    return held(min(powers) >= 1.9 and max(powers) <= 2.1 and printed[0].min() > 0.4), words


def _levels_off(at: Measured) -> tuple[str, str]:
    limits, plain = at.values("fixed σ²", "limit", SIZES[-1]), at.values("KME", "risk", SIZES[-1])
    words = f"limits of {limits.min():.2g} or more, KME's risks of {plain.max():.2g} or less"
    return held(bool((limits > plain).all())), f"{words}; {count(len(plain), 'distribution')}"


def _best(at: Measured) -> tuple[str, str]:
    power = theory.power_of_ten(SIZES, at.means("best σ²", "variance"))
    below = all((at.values("best σ²", "risk", n) < at.values("KME", "risk", n)).all() for n in SIZES)
    ratio = at.means("best σ²", "risk")[0] / at.means("KME", "risk")[0]
    words = f"σ² falls as n to the {power:.3f}; the risk is {'' if below else 'not '}below KME's in every trial"
    return held(-1.1 <= power <= -0.9 and below), f"{words}, {1 - ratio:.1%} below at n = {SIZES[0]}"


def _keeps_rate(at: Measured) -> tuple[str, str]:
    ours, plain = at.means("MKME", "loss")[-1], at.means("KME", "loss")[-1]
    change = Estimate.change(at.values("MKME", "loss", SIZES[-1]), at.values("KME", "loss", SIZES[-1]))
    return held(ours <= 1.05 * plain), f"{ours:.4g} and {plain:.4g}; paired difference {change}"


def charts(findings: Findings) -> tuple[Chart, ...]:
    """Return the charts of the checks that have trials."""
    draw = {FORMS: _forms_chart, DAMPING: _damping_chart, RISK: _risk_chart, CONSISTENCY: _growth_chart}
    measured = {check: Measured(findings, check) for check in draw}
    return tuple(draw[check](one) for check, one in measured.items() if one.complete)


def _forms_chart(at: Measured) -> Chart:
    names = {_SECOND: "corrected", _PRINTED: "as printed"}
    curves = tuple(
        _curve(name, FORM_VARIANCES, [at.values(form, _error(s)) for s in FORM_VARIANCES])
        for form, name in names.items()
    )
    first = {curve.label: (curve.y[0], curve.y[-1]) for curve in curves}
    text = "; ".join(
        f"{name}: {low:.2g} at the smallest σ², {high:.2g} at the largest" for name, (low, high) in first.items()
    )
    panel = Panel("", "σ² / θ²", "relative error of the linear form", curves, x_log=True, y_log=True)
    title = "Theorem 1: distance of its weights from the best linear form"
    return Chart("theorems_linear_form", title, (panel,), f"Mean relative error. {text}.")


def _damping_chart(at: Measured) -> Chart:
    panels = []
    for variance in DAMPING_VARIANCES:
        found = [Curve(name, FREQUENCIES, tuple(map(float, _ratios(at, name, variance)))) for name in KERNELS]
        law = Curve("exp(-σ²ω²/2)", FREQUENCIES, tuple(map(float, theory.damped(variance))), dashed=True)
        panels.append(Panel(f"σ² = {variance:g} θ²", "frequency ω θ", "spectrum after / before", (*found, law)))
    ends = "; ".join(
        f"σ² = {v:g} θ²: " + ", ".join(f"{name} {_ratios(at, name, v)[-1]:.2g}" for name in KERNELS)
        for v in DAMPING_VARIANCES
    )
    text = (
        f"The largest distance of a kernel's ratio from exp(-σ²ω²/2) is {_largest_gap(at):.1g}. What is left at "
        f"ω = {FREQUENCIES[-1]:g}/θ: {ends}."
    )
    return Chart("theorems_damping", "What noise does to the spectrum of a kernel", tuple(panels), text)


def _risk_chart(at: Measured) -> Chart:
    risks = [at.values("risk", _at(share)) for share in RISK_VARIANCES]
    losses = [at.values("loss", _at(share)) for share in RISK_VARIANCES]
    means = [float(values.mean()) for values in risks]
    lowest = RISK_VARIANCES[int(np.argmin(means))]
    curves = (
        _curve("loss of samples", RISK_VARIANCES, losses),
        Curve("exact risk", RISK_VARIANCES, tuple(means), dashed=True),
        Curve("KME", (RISK_VARIANCES[0], RISK_VARIANCES[-1]), (means[0], means[0]), dashed=True),
    )
    panel = Panel("", "σ² / θ²", "mean of |μ̃ - μ|²", curves, marks=(("lowest risk", lowest),), x_log=True, y_log=True)
    text = (
        f"The mean risk is {means[0]:.4g} at σ² = 0 (KME), lowest, {min(means):.4g}, at {lowest:.2g} θ², and "
        f"{means[-1]:.4g} at {RISK_VARIANCES[-1]:g} θ²."
    )
    return Chart("theorems_risk", f"Risk and loss against the noise, n = {ROWS}, d = {theory.DIM}", (panel,), text)


def _growth_chart(at: Measured) -> Chart:
    sizes = tuple(map(float, SIZES))
    exact = {"KME": "KME", _FIXED: "fixed σ²", "best σ² for each n": "best σ²"}
    risks = {label: at.means(method, "risk") for label, method in exact.items()}
    losses = _curve("MKME", sizes, [at.values("MKME", "loss", n) for n in SIZES])
    curves = (*(Curve(label, sizes, tuple(means), dashed=label != _FIXED) for label, means in risks.items()), losses)
    panel = Panel("", "n", "mean of |μ̃ - μ|²", curves, x_log=True, y_log=True)
    text = " ".join(
        f"{label}: {means[0]:.3g} at n = {SIZES[0]}, {means[-1]:.3g} at n = {SIZES[-1]}."
        for label, means in risks.items()
    )
    title = "Risk and loss against n: without noise, with a fixed one, with the best one, with leave-one-out's"
    return Chart(
        "theorems_consistency", title, (panel,), f"{text} Dashed lines are exact risks, MKME losses of samples."
    )


def words(findings: Findings) -> tuple[str, ...]:
    """Return in plain words what the theory is good for, as far as it is measured."""
    slope, growth = Measured(findings, SLOPE), Measured(findings, CONSISTENCY)
    if not (slope.complete and growth.complete):
        return ()
    gain = [
        1 - best / plain
        for best, plain in zip(growth.means("best σ²", "risk"), growth.means("KME", "risk"), strict=True)
    ]
    slopes = slope.values("formula", "slope")
    limit, plain = (growth.means(*which)[-1] for which in (("fixed σ²", "limit"), ("KME", "risk")))
    power = theory.power_of_ten(SIZES, growth.means("best σ²", "variance"))
    return (
        f"What is measured without the theorems: the risk falls with σ² at 0 in {int((slopes < 0).sum())} of "
        f"{count(len(slopes), 'distribution')} drawn. The best σ² for each n lowers the mean risk by {gain[0]:.1%} at "
        f"n = {SIZES[0]} and by {gain[-1]:.2%} at n = {SIZES[-1]}, and goes as n to the {power:.2f}. With {_FIXED} at "
        f"every n the mean risk tends to {limit:.2g}; KME's at n = {SIZES[-1]} is {plain:.2g}.",
    )


def _curve(label: str, x: Sequence[float], values: Sequence[Array]) -> Curve:
    """Return the means of the trials at every place, with standard errors if there are several trials."""
    found = [Estimate.of(one) for one in values]
    errors = tuple(one.error for one in found)
    return Curve(label, tuple(x), tuple(one.mean for one in found), errors if np.isfinite(errors).all() else None)


def _at(share: float) -> str:
    return f"at {share:g}"


def _error(variance: float) -> str:
    return f"error at {variance:g}"
