"""Every closed form keeps its digits; benchmarks/accuracy.py draws more cases, shown in docs/evidence/accuracy.md."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

import exact
from forms import FORMS, Form, error, positive
from kernelmean import expected, kernels, noise

LARGEST = {"leave-one-out score": 2e-14, "log density": 2e-14, "linear": 5e-15, "categorical": 5e-15}
CASES = [(3, 1), pytest.param(1, 60, marks=pytest.mark.slow)]


@pytest.mark.parametrize(("seed", "cases"), CASES)
@pytest.mark.parametrize("form", FORMS, ids=lambda form: f"{form.kernel}-{form.noise}")
def test_form_keeps_its_digits(form: Form, seed: int, cases: int) -> None:
    errors, refused = form.errors(seed, cases)
    assert refused == 0
    assert len(errors) >= cases
    assert max(errors) < LARGEST.get(
        form.kernel, 2e-15 if form.noise == "none" and form.kernel == "Gaussian" else 1e-12
    )


@pytest.mark.parametrize(
    ("kernel", "law", "deviation", "halfwidth"),
    [
        (kernels.Wendland(0, 1.2), exact.wendland(0, 1.2), 1.0, None),
        (kernels.Wendland(2, 1.4), exact.wendland(2, 1.4), 1.0, 0.02),
        (kernels.Laplacian(0.01), exact.laplacian(0.01), 1.0, 0.74),
        (kernels.Matern(3.5, 0.1), exact.matern(3, 0.1), 1.0, 0.3),
        (kernels.Matern(2.5, 2.0), exact.matern(2, 2.0), 1e-6, 0.03),
    ],
    ids=lambda value: repr(value) if isinstance(value, kernels.Kernel) else "",
)
def test_values_far_out_keep_their_digits_too(kernel, law, deviation, halfwidth) -> None:
    """They lost up to ten, from 9 deviations on; a narrow box lost two in everyday places."""
    gaps = np.array([0.0, 0.5, 3.0, 6.9, 7.1, 9.0, 15.0, 25.0, 34.0])
    noises = [noise.Normal(deviation**2), *([noise.Uniform(halfwidth)] if halfwidth else [])]
    found = expected(kernel, np.zeros((1, 1)), gaps[:, None], *noises)[0]
    with mp.workdps(exact.DIGITS):
        exactly = law.plus_normal(deviation**2)
        exactly = exactly.plus_box(halfwidth) if halfwidth else exactly
        errors = [error(*positive(f, exactly(t))) for f, t in zip(found, gaps, strict=True)]
    assert max(errors) < 5e-15


@pytest.mark.parametrize("gap", [0.0, 0.4, 3.0])
def test_the_digits_agree_with_quadrature(gap: float) -> None:
    """The truth itself, at widths where a trapezoid sum over all three kinds of noise is easy."""
    laws = [exact.matern(1, 0.8), exact.wendland(2, 1.5), exact.gaussian(0.6), exact.laplacian(0.9)]
    step = 5e-3
    for law in laws:
        t = np.arange(-400, 401) * step
        normal = np.exp(-0.5 * (t / 0.3) ** 2) * step / (0.3 * np.sqrt(2 * np.pi))
        quadrature = normal @ [float(law(abs(gap - u))) for u in t]
        assert float(law.plus_normal(0.09)(gap)) == pytest.approx(quadrature, rel=1e-3, abs=1e-6)
        h = 0.25
        box = np.mean([float(law(abs(gap - h + 2 * h * (i + 0.5) / 100))) for i in range(100)])
        assert float(law.plus_box(h)(gap)) == pytest.approx(box, rel=1e-3, abs=1e-6)
