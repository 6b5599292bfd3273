"""Every closed form keeps its digits; benchmarks/accuracy.py draws more cases and docs/accuracy.md shows them."""

from __future__ import annotations

import numpy as np
import pytest

import exact
from forms import FORMS, Form

LARGEST = {"leave-one-out score": 2e-14, "log density": 2e-14, "linear": 5e-15, "categorical": 5e-15}
CASES = [3, pytest.param(60, marks=pytest.mark.slow)]


@pytest.mark.parametrize("cases", CASES)
@pytest.mark.parametrize("form", FORMS, ids=lambda form: f"{form.kernel}-{form.noise}")
def test_form_keeps_its_digits(form: Form, cases: int) -> None:
    errors, refused = form.errors(1, cases)
    assert refused == 0
    assert len(errors) >= cases
    assert max(errors) < LARGEST.get(
        form.kernel, 1e-15 if form.noise == "none" and form.kernel == "Gaussian" else 1e-12
    )


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
