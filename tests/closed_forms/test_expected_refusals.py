"""Where there is no closed form, word for word: what was asked, what stands in the way, what to write instead."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from kernelmean.expected import (
    NoClosedFormError,
    SmoothedSeparable,
    axis_noise,
    difference,
    expected,
    profiles,
    smoothed,
    smoothed_rules,
)
from kernelmean.expected.independent_axes import axis_noise_rules
from kernelmean.kernels import (
    Categorical,
    Gaussian,
    Laplacian,
    Linear,
    Polynomial,
    Product,
    QuadraticGaussian,
    RationalQuadratic,
    TensorProduct,
    Wendland,
)
from kernelmean.noise import Additive, AxisWidths, Blankout, Dirac, IndependentSum, Laplace, Normal, Switch, Uniform

X = np.zeros((3, 2))
TIED = Normal(np.array([[2.0, 1.0], [1.0, 2.0]]))
EACH = Normal(np.stack([np.eye(2) + 0.5] * 3))


def no_form(kernel, noise, known, first=None):
    return (
        f"E k has no closed form here for {kernel} under {noise}; {known}; kernelmean.support() lists all; for "
        f"explicit Monte Carlo write noise.Sampled({first or noise}, n_samples=256)"
    )


def no_smooth(kernel, noise, reason):
    return (
        f"{kernel!r} under {noise!r} has no closed form: {reason}; kernelmean.support() lists what has; for explicit "
        f"Monte Carlo write noise.Sampled({noise!r}, n_samples=256)"
    )


NO_PRODUCT = (
    "on one axis there are closed forms of products of Gaussian and Matérn kernels, and of Gaussians times one other "
    "kernel, not of this product"
)
ONLY_NORMAL = "a Gaussian kernel times another on the same axis has no closed form under {} noise, only under Normal"
THREE = (
    "on one axis a Gaussian, a Laplace or Matérn and a compact part, be they kernels or noises, have a closed form "
    "only when the compact part is one Uniform noise, not two or a Wendland kernel"
)
PRODUCT = "SmoothedSeparable((Gaussian(bandwidth=1.0) * Laplacian(bandwidth=1.0)))"


class Named:
    """Reads as the text that it is given."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text


MESSAGES = [
    (
        lambda: difference(Normal(1.0), Blankout(0.1)),
        "the difference of Normal(1.) and Blankout(probability=0.1, value=0.0) has no closed form; both must be "
        "additive",
    ),
    (lambda: smoothed(Polynomial(2), Normal(1.0), 2), no_form("Polynomial", "Normal(1.)", "none is known")),
    (
        lambda: expected(Laplacian(1.0), X, X, EACH, Laplace(1.0)),
        no_form(
            "Laplacian",
            "Normal(full, one per point, n=3) and Laplace(scale=1.0)",
            "closed forms of this kernel exist for IndependentSum, Laplace, Normal, Uniform",
            "Normal(full, one per point, n=3)",
        ),
    ),
    (
        lambda: expected(Gaussian(1.0) * Polynomial(2), X, X, w=Normal(1.0)),
        no_form("Product", "Normal(1.)", "none is known"),
    ),
    (
        lambda: expected(Linear() * Gaussian(1.0), X, X, Blankout(0.2)),
        no_form("Product", "Blankout(probability=0.2, value=0.0)", "none is known"),
    ),
    (
        lambda: expected(RationalQuadratic(1.0, 1.0), X, X, Normal(0.2), Blankout(0.2)),
        no_form(
            "RationalQuadratic", "Normal(0.2) and Blankout(probability=0.2, value=0.0)", "none is known", "Normal(0.2)"
        ),
    ),
    (
        lambda: expected(Laplacian(1.0), X, X, TIED),
        no_smooth(Laplacian(1.0), TIED, "a product over the axes needs noise that is independent between them"),
    ),
    (
        lambda: smoothed(Laplacian(1.0), EACH, 2),
        no_smooth(Laplacian(1.0), EACH, "one covariance per point needs a Gaussian kernel"),
    ),
    (
        lambda: expected(Gaussian(1.0) * Laplacian(1.0), X, X, Laplace(1.0)),
        no_smooth(Named(PRODUCT), Laplace(1.0), ONLY_NORMAL.format("Laplace")),
    ),
    (
        lambda: expected(Gaussian(1.0) * Laplacian(1.0), X, X, Uniform(1.0)),
        no_smooth(Named(PRODUCT), Uniform(1.0), ONLY_NORMAL.format("Uniform")),
    ),
    (
        lambda: SmoothedSeparable(Polynomial(2)).profiles(2),
        "Polynomial(degree=2, offset=1.0) has no closed form on an axis of its own",
    ),
    (
        lambda: SmoothedSeparable(Laplacian(1.0), (Dirac(),)).profiles(2),
        "Dirac() is not Normal, Laplace or Uniform",
    ),
    (lambda: expected(Wendland(2, 1.0) * Wendland(2, 2.0), X, X, Normal(1.0)), NO_PRODUCT),
    (
        lambda: expected(Polynomial(2), X, X, TIED, Laplace(1.0)),
        "Laplace(scale=1.0) has no closed form beside a full Gaussian covariance on the other side; use a diagonal "
        "covariance, or noise.Sampled",
    ),
    (
        lambda: expected(TensorProduct([Gaussian(1.0), Laplacian(1.0)], [[0], [1]]), X, X, TIED),
        f"{TIED!r} correlates columns whose expectations are taken apart here, or does not say that they are "
        "independent; use one in which they are, such as a covariance that is block-diagonal in the same columns, or "
        f"noise.Sampled({TIED!r}, n_samples=256)",
    ),
    (
        lambda: profiles.Profile(1.0, 1.0, (profiles.LaplacePowers(1.0, (1.0,)),), profiles.box(1.0).plus_box(1.0)),
        THREE,
    ),
]


@pytest.mark.parametrize(("call", "message"), MESSAGES)
def test_a_missing_closed_form_says_why_and_what_to_write_instead(call, message):
    with pytest.raises(NoClosedFormError) as error:
        call()
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda: expected(Gaussian(1.0), X, X, 0.1),
            TypeError,
            "noise is 0.1, None or a value such as noise.Normal(0.1) is needed",
        ),
        (
            lambda: expected(Gaussian(1.0), X, X, Normal(np.stack([np.eye(2)] * 2))),
            ValueError,
            "Normal(full, one per point, n=2) has 2 distributions for 3 points; one per point is needed",
        ),
        (
            lambda: expected(Gaussian(1.0), X, X, w=Laplace([1.0, 2.0, 3.0])),
            ValueError,
            "Laplace(scale=(1.0, 2.0, 3.0)) is made for 3 columns, the data have 2; give it one value per column",
        ),
        (
            lambda: expected(Gaussian(1.0), X, X, EACH, Laplace(1.0)),
            TypeError,
            "one distribution per point has a closed form for Normal and Dirac noise, not for Laplace(scale=1.0)",
        ),
        (
            lambda: expected(Gaussian(1.0), X, X, Laplace(1.0), EACH),
            TypeError,
            "one distribution per point has a closed form for Normal and Dirac noise, not for Laplace(scale=1.0)",
        ),
        (
            lambda: expected(Gaussian(1.0), pd.DataFrame({"a": [1.0]}), pd.DataFrame({"b": [1.0]})),
            ValueError,
            "the columns of Y are b, those of X are a; pass the same columns in one order, or arrays",
        ),
        (
            lambda: expected(Gaussian(1.0), pd.DataFrame({"a": [np.nan]}), pd.DataFrame({"a": [1.0]})),
            ValueError,
            "X: row 1, column 'a' is blank or NaN (1 such cell in all); drop such rows or fill them first",
        ),
        (
            lambda: expected(Categorical(0.5), X, X, Switch(0.1, 3), Switch(0.1, 4)),
            ValueError,
            "Switch(probability=0.1, levels=3) and Switch(probability=0.1, levels=4) have different numbers of levels "
            "for the same columns",
        ),
    ],
)
def test_what_does_not_fit_is_told(call, kind, message):
    with pytest.raises(kind) as error:
        call()
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: expected(Categorical(0.5), X, X, Normal(1.0), Laplace(2.0)),
            no_form("Categorical", "Normal(1.) and Laplace(scale=2.0)", "none is known", "Normal(1.)"),
        ),
        (
            lambda: smoothed(Gaussian(1.0) * Polynomial(2), Normal(1.0), 2),
            no_form("Product", "Normal(1.)", "none is known"),
        ),
        (
            lambda: expected(Product((Gaussian(1.0), Product((Gaussian(1.0), Polynomial(2))))), X, X, w=Normal(1.0)),
            no_form("Product", "Normal(1.)", "none is known"),
        ),
        (
            lambda: expected(QuadraticGaussian(np.eye(2)), X, X, Blankout(0.2), Normal(1.0)),
            no_form(
                "QuadraticGaussian",
                "Blankout(probability=0.2, value=0.0) and Normal(1.)",
                "closed forms of this kernel exist for IndependentSum, Normal",
                "Blankout(probability=0.2, value=0.0)",
            ),
        ),
    ],
)
def test_a_refusal_names_both_noises_and_what_exists(call, message):
    with pytest.raises(NoClosedFormError) as error:
        call()
    assert str(error.value) == message


def test_bad_points_are_named():
    bad = np.full((2, 2), np.nan)
    for points, name in (((bad, X), "X"), ((X, bad), "Y")):
        with pytest.raises(ValueError, match=rf"\b{name}\b") as error:
            expected(Gaussian(1.0), *points)
        assert str(error.value).startswith(name)


def test_only_columns_that_the_product_separates_must_not_be_tied():
    kernel = TensorProduct((Gaussian(1.0), Gaussian(2.0)), ((0,), (1,)))
    points = np.zeros((2, 3))

    def tied(*pair):
        covariance = np.eye(3)
        covariance[pair] = covariance[pair[::-1]] = 0.5
        return Normal(covariance)

    for pair in ((0, 2), (1, 2)):
        np.testing.assert_allclose(expected(kernel, points, points, tied(*pair)), np.full((2, 2), np.sqrt(0.4)))
    for noises in (
        (tied(0, 1), Dirac()),
        (Dirac(), tied(0, 1)),
        (Normal(np.stack([tied(0, 1).covariance] * 2)), Dirac()),
    ):
        with pytest.raises(NoClosedFormError, match="correlates columns"):
            expected(kernel, points, points, *noises)
    single = TensorProduct((Gaussian(1.0),), ((0, 1, 2),))
    assert expected(single, points, points, tied(0, 1)).shape == (2, 2)


def test_columns_of_data_frames_are_matched_by_name() -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [5.0, 0.0]})
    np.testing.assert_array_equal(np.diag(expected(Gaussian(1.0), frame, frame[["b", "a"]])), 1.0)


def test_a_noise_of_axes_is_registered_for_every_class_of_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    for rules in (smoothed_rules, axis_noise_rules):
        monkeypatch.setattr(rules, "_table", dict(rules._table))  # what is registered here is forgotten afterwards

    class Boxes(AxisWidths):
        """The noise of ``Uniform``, in a class of its own that inherits none of its rules."""

        halfwidth = 0.5
        parameter = "halfwidth"

        def sample_gap(self, shape: tuple[int, ...], rng: np.random.Generator) -> Any:
            return rng.uniform(-0.5, 0.5, size=shape)

        def moments(self, order: int, dim: int) -> Any:
            return Uniform(0.5).moments(order, dim)

    def smooth(noise: Boxes, profiles: list[Any]) -> list[Any]:
        return [profile.plus_box(float(h)) for profile, h in zip(profiles, noise.widths(len(profiles)), strict=True)]

    before = expected(Laplacian(1.0), X, X, Laplace(0.5))
    assert axis_noise(Boxes, (Laplacian, Gaussian))(smooth) is smooth
    np.testing.assert_array_equal(expected(Laplacian(1.0), X, X, Laplace(0.5)), before)  # another noise, other rules
    for kernel in (Laplacian(1.0), Gaussian(1.0)):
        np.testing.assert_allclose(expected(kernel, X, X, Boxes()), expected(kernel, X, X, Uniform(0.5)), rtol=1e-13)


class Line(Additive):
    """All columns move together; nothing says so."""

    def sample_gap(self, shape: tuple[int, int], rng: np.random.Generator) -> Any:
        return np.repeat(rng.normal(size=(shape[0], 1)), shape[1], axis=1)

    def moments(self, order: int, dim: int) -> Any:
        return Normal(1.0).moments(order, dim)


@pytest.mark.parametrize(
    "noise", [TIED, IndependentSum((TIED, Laplace(1.0))), Normal(np.stack([TIED.covariance] * 3)), Line()]
)
@pytest.mark.parametrize(
    "kernel", [Gaussian(1.0), Laplacian(1.0), Wendland(2, 9.0), Gaussian(1.0) * Gaussian(2.0)], ids=repr
)
def test_columns_are_not_taken_apart_beside_a_blankout_where_noise_ties_them(kernel: Any, noise: Any) -> None:
    for noises in ((noise, Blankout(0.5)), (Blankout(0.5), noise)):
        with pytest.raises(NoClosedFormError, match="correlates columns"):
            expected(kernel, X, X, *noises)


@pytest.mark.parametrize(
    "kernel", [Polynomial(2), TensorProduct((Gaussian(1.0), Gaussian(1.0)), ((0,), (1,)))], ids=repr
)
def test_a_noise_that_does_not_say_that_its_columns_are_independent_is_refused_where_that_matters(kernel: Any) -> None:
    for noise in (Line(), IndependentSum((Line(), Normal(1.0)))):
        for noises in ((noise, Dirac()), (Dirac(), noise), (noise, noise)):
            with pytest.raises(NoClosedFormError, match="correlates columns"):
                expected(kernel, X, X, *noises)
    with pytest.raises(NoClosedFormError, match="does not say what it is on some of the columns"):
        Line().columns((0,))
    one = np.ones((2, 1))  # a single column is independent of no other
    same = (expected(Polynomial(2), one, one, noise, noise) for noise in (Line(), Normal(1.0)))
    np.testing.assert_array_equal(*same)


def test_beside_a_blankout_a_diagonal_covariance_gives_the_mean_over_what_is_blanked() -> None:
    x, y, kernel, noise = np.array([[0.5, -0.3]]), np.array([[0.4, 0.2]]), Gaussian(0.5), Normal(np.diag([1.0, 2.0]))
    masks = np.array([(0, 0), (0, 1), (1, 0), (1, 1)])
    whole = np.mean([expected(kernel, x, y * mask, noise) for mask in masks])
    assert expected(kernel, x, y, noise, Blankout(0.5))[0, 0] == pytest.approx(whole, rel=1e-13)
