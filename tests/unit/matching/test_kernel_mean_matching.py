"""The estimator: finite everywhere, monotone, near the truth, and plain about what it cannot do."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from checkered import checkered, mostly_slow
from kernelmean.density import COVARIANCE_TYPES, KernelMeanMatching, KMeansPrototypes
from kernelmean.embedding import embed
from kernelmean.estimators import MKME
from kernelmean.kernels import Gaussian, Laplacian, Linear
from kernelmean.noise import Blankout, Laplace, Normal, Uniform

ESTIMATORS = ("kme", "s-kmse", "f-kmse", "mkme", "mmkme", "vpmkme")


@pytest.mark.filterwarnings("ignore:n_components is")
@pytest.mark.filterwarnings("ignore:. rows are too few")
@parametrize_with_checks([KernelMeanMatching(3, prototypes=KMeansPrototypes(n_init=1))])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow  # whose rows go the same way, to fewer steps
@pytest.mark.filterwarnings("ignore:n_components is")
@pytest.mark.filterwarnings("ignore:. rows are too few")
@parametrize_with_checks([KernelMeanMatching(2, update="weights", estimator="kme")])
def test_scikit_learn_checks_of_weights(estimator, check):
    check(estimator)


def blobs(n=120, dim=2, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, dim)) * 0.6 + rng.choice([-2.0, 2.0], size=(n, 1))


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("update", ["weights", "all"])
def test_every_target_finds_the_blobs(name, update):
    mix = KernelMeanMatching(4, estimator=name, update=update, random_state=0).fit(blobs())
    truth = np.log(0.5 * np.exp(-0.5 * ((blobs(seed=1)[:, None] - [[-2.0] * 2, [2.0] * 2]) ** 2).sum(-1) / 0.36).sum(1))
    assert mix.score(blobs(seed=1)) > truth.mean() - np.log(2 * np.pi * 0.36) - 0.35
    assert mix.weights_.sum() == pytest.approx(1.0, abs=1e-12)
    assert np.all(np.diff(mix.objective_path_) <= 1e-12)


@pytest.mark.parametrize("kind", COVARIANCE_TYPES)
def test_joint_fits_descend_and_the_path_is_the_distance(kind):
    mix = KernelMeanMatching(
        3, covariance_type=kind, early_stopping=False, kernel=Gaussian("median"), random_state=0, max_iter=3000
    ).fit(blobs())
    assert np.all(np.diff(mix.objective_path_) <= 0)
    assert mix.converged_
    gap = mix.embedding() - mix.target_
    assert gap @ gap == pytest.approx(mix.objective_path_[-1] + mix.target_ @ mix.target_, abs=1e-12)
    assert mix.covariances_.shape == {"spherical": (3,), "diag": (3, 2), "tied": (2, 2), "full": (3, 2, 2)}[kind]


@pytest.mark.parametrize("kind", COVARIANCE_TYPES)
def test_an_exact_mixture_is_recovered(kind):
    """Matching the embedding of a mixture of the same form, from wrong prototypes, brings the distance to nothing."""
    truth = {
        "spherical": np.array([0.5, 1.5]),
        "diag": np.array([[0.5, 1.0], [1.5, 0.4]]),
        "tied": np.array([[1.0, 0.4], [0.4, 0.7]]),
        "full": np.array([[[1.0, 0.4], [0.4, 0.7]], [[0.6, -0.2], [-0.2, 1.1]]]),
    }[kind]
    means = np.array([[-2.0, 0.0], [2.0, 1.0]])
    noise = {"spherical": Normal.isotropic, "diag": Normal.diagonal}.get(kind, Normal)(truth)
    mu = embed(means, Gaussian(1.5), weights=[0.3, 0.7], noise=noise)
    mix = KernelMeanMatching(
        covariance_type=kind, prototypes=(means[::-1] * 0.7, np.ones_like(truth) * 0.1 + truth * 0.5)
    ).fit_embedding(mu)
    order = np.argsort(mix.means_[:, 0])
    np.testing.assert_allclose(mix.weights_[order], [0.3, 0.7], atol=1e-4)
    np.testing.assert_allclose(mix.means_[order], means, atol=1e-3)
    np.testing.assert_allclose(mix.covariances_ if kind == "tied" else mix.covariances_[order], truth, atol=1e-3)


def test_weights_only_keeps_the_prototypes():
    means, spreads = np.array([[-2.0, -2.0], [2.0, 2.0], [9.0, 9.0]]), np.full(3, 0.36)
    mix = KernelMeanMatching(prototypes=(means, spreads), update="weights", random_state=0).fit(blobs())
    np.testing.assert_array_equal(mix.means_, means)
    np.testing.assert_array_equal(mix.covariances_, spreads)
    np.testing.assert_allclose(mix.weights_, [0.5, 0.5, 0.0], atol=0.1)
    assert mix.weights_[2] < 0.01


@pytest.mark.parametrize("kernel", [Laplacian(2.0), Linear(), Gaussian(1.0) + Gaussian(4.0)])
def test_other_kernels_match_weights(kernel):
    mix = KernelMeanMatching(3, kernel=kernel, estimator="kme", update="weights", random_state=0).fit(blobs())
    assert np.isfinite(mix.score(blobs(seed=1)))
    assert mix.kernel_ == kernel
    with pytest.raises(TypeError, match='update="weights"'):
        KernelMeanMatching(3, kernel=kernel, estimator="kme", early_stopping=False).fit(blobs())


def awkward():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    return {
        "constant column": np.column_stack([X, np.ones(40)]),
        "doubled rows": np.repeat(X[:8], 5, axis=0),
        "few distinct rows": np.repeat(X[:4], 10, axis=0),
        "an outlier": np.vstack([X, np.full((1, 3), 1e6)]),
        "an offset": X + 1e6,
        "tiny": X * 1e-8,
        "discrete": np.round(X),
        "fewer rows than components": X[:6],
        "two rows": X[:2],
        "more columns than rows": rng.normal(size=(9, 12)),
        "heavy tails": rng.standard_t(1, size=(40, 3)),
    }


@pytest.mark.filterwarnings("ignore:n_components is", "ignore:2 rows are too few", "ignore:column . varies more than")
@pytest.mark.parametrize(
    ("name", "update", "kind"), checkered(list(awkward()), ["weights", "all"], COVARIANCE_TYPES, every=8)
)
def test_awkward_data_give_finite_scores(name, update, kind):
    X = awkward()[name]
    steps = {"max_iter": 100} if update == "all" else {}
    mix = KernelMeanMatching(10, update=update, covariance_type=kind, random_state=0, **steps).fit(X)
    assert np.isfinite(mix.score_samples(X + X.std() * 0.1)).all()
    assert np.isfinite(mix.sample(10)).all()


@pytest.mark.filterwarnings("ignore:n_components is", "ignore:the fit did not converge")
@pytest.mark.parametrize("name", mostly_slow(ESTIMATORS, "s-kmse", "vpmkme"))
def test_joint_fits_that_are_not_stopped_stay_finite(name):
    rng = np.random.default_rng(0)
    X = rng.standard_t(5, size=(15, 10))
    mix = KernelMeanMatching(10, estimator=name, early_stopping=False, random_state=0).fit(X)
    assert np.isfinite(mix.score_samples(rng.standard_t(5, size=(1000, 10)))).all()


@pytest.mark.parametrize("covariance_type", COVARIANCE_TYPES)
def test_columns_of_very_different_scales_warn_and_lead_to_nonsense(covariance_type):
    narrow = np.random.default_rng(0).gamma(2.0, size=(200, 1)) * 0.2
    X = np.hstack([narrow, 4.0 * narrow[::-1], np.zeros((200, 1))])
    options = {"update": "weights", "covariance_type": covariance_type, "random_state": 0}
    KernelMeanMatching(2, **options).fit(X)
    with pytest.warns(UserWarning, match="column 1 varies more than 5 times as much as column 0.*StandardScaler"):
        mix = KernelMeanMatching(2, **options).fit(X * [1.0, 8.0, 1.0])
    assert mix.sample(2000)[:, 0].std() > 1.5 * narrow.std()
    frame = pd.DataFrame(X[:, :2] * [1.0, 2.0], columns=["pedigree", "BMI"])
    with pytest.warns(UserWarning, match="column 'BMI' varies more than 5 times as much as column 'pedigree'"):
        KernelMeanMatching(2, **options).fit(frame)


def test_fewer_distinct_rows_than_components_say_so():
    with pytest.warns(UserWarning, match="the data have 6 distinct rows"):
        mix = KernelMeanMatching(10, update="weights", random_state=0).fit(awkward()["fewer rows than components"])
    assert mix.n_components_ == 6


def test_two_rows_cannot_be_held_out():
    with pytest.warns(UserWarning, match="too few to hold some out"):
        mix = KernelMeanMatching(1, random_state=0).fit(np.array([[0.0], [1.0]]))
    assert mix.n_iter_ == 0


def test_choices_are_made_on_held_out_rows():
    mix = KernelMeanMatching(6, random_state=0).fit(blobs())
    assert [trial.factor for trial in mix.trials_] == [0.1, 0.3, 1.0, 3.0]
    assert mix.validation_score_ == max(trial.score for trial in mix.trials_)
    median = KernelMeanMatching(1, kernel=Gaussian("median"), update="weights").fit(blobs()).bandwidth_
    best = max(mix.trials_, key=lambda trial: trial.score)
    assert mix.bandwidth_ == pytest.approx(np.sqrt(best.factor) * median)
    assert mix.n_iter_ == best.n_iter


def test_weights_of_rows_move_the_mixture():
    X = blobs()
    left = (X[:, 0] < 0).astype(float)
    mix = KernelMeanMatching(2, random_state=0).fit(X, sample_weight=left)
    assert (mix.means_[:, 0] < 0).all()
    heavy = KernelMeanMatching(2, estimator="kme", kernel=Gaussian("median"), update="weights", random_state=0)
    heavy.fit(X, sample_weight=1.0 + 8.0 * left)
    share = (1.0 + 8.0 * left) @ left / (1.0 + 8.0 * left).sum()
    assert heavy.weights_[heavy.means_[:, 0] < 0].sum() == pytest.approx(share, abs=0.03)
    with pytest.raises(ValueError, match="sample_weight is zero everywhere, or"):
        mix.fit(X, sample_weight=-left)


def test_embeddings_made_elsewhere():
    X = blobs()
    halves = 0.5 * embed(X[:60], Gaussian(1.5)) + 0.5 * embed(X[60:], Gaussian(1.5), noise=Normal(0.1))
    mix = KernelMeanMatching(2, random_state=0).fit_embedding(halves, X_val=blobs(seed=2))
    assert mix.score(blobs(seed=1)) > -2.8
    assert mix.trials_[0].n_iter == mix.n_iter_
    direct = KernelMeanMatching(2, random_state=0).fit_embedding(halves)
    assert direct.converged_
    with pytest.raises(ValueError, match="no weight of the embedding is positive"):
        mix.fit_embedding(-1.0 * halves)


@pytest.mark.parametrize("noise", [Laplace(0.3), Uniform(0.5), Normal.diagonal(np.full((120, 2), 0.1)), Blankout(0.1)])
def test_weights_match_embeddings_with_other_noises(noise):
    mu = embed(blobs(), Gaussian(1.5), noise=noise)
    mix = KernelMeanMatching(2, update="weights", random_state=0).fit_embedding(mu)
    assert np.all(np.diff(mix.objective_path_) <= 0)
    added = 0.0 if isinstance(noise, Blankout) else noise.moments(2, 2)[2].mean()
    plain = KernelMeanMatching(2, update="weights", random_state=0).fit_embedding(embed(blobs(), Gaussian(1.5)))
    np.testing.assert_allclose(mix.covariances_, plain.covariances_ + added, rtol=1e-9)


def test_a_fit_that_does_not_rest_warns():
    with pytest.warns(ConvergenceWarning, match="did not converge in 2 steps"):
        KernelMeanMatching(3, early_stopping=False, kernel=Gaussian("median"), max_iter=2, random_state=0).fit(blobs())


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"update": "means"}, ValueError, "update is 'means'"),
        ({"covariance_type": "round"}, ValueError, "covariance_type is 'round'"),
        ({"estimator": "kde"}, ValueError, "estimator is 'kde'"),
        ({"estimator": 3}, TypeError, "km.KernelMean"),
        ({"n_components": 0}, ValueError, "n_components is 0"),
        ({"n_components": 2.5}, ValueError, "n_components is 2.5, an integer"),
        ({"n_components": [2, 3]}, ValueError, r"n_components is \[2, 3\], an integer"),
        ({"max_iter": 0}, ValueError, "max_iter is 0, an integer"),
    ],
)
def test_refusals(options, error, text):
    with pytest.raises(error, match=text):
        KernelMeanMatching(**({"n_components": 2} | options)).fit(blobs())


@pytest.mark.parametrize("n", [60, 900])  # 900: sums over bins
def test_bandwidths_that_share_their_distances_find_what_each_finds_alone(n):
    X = np.random.default_rng(0).normal(size=(n, 3))
    mix = KernelMeanMatching(3, update="weights", random_state=0).fit(X)
    alone = MKME(bandwidth=float(mix.bandwidth_)).fit(X)
    assert mix.target_.noise.covariance == pytest.approx(alone.noise_.covariance, rel=1e-6)
    again = KernelMeanMatching(3, update="weights", kernel=Gaussian(float(mix.bandwidth_)), random_state=0).fit(X)
    np.testing.assert_allclose(mix.target_(X[:5]), again.target_(X[:5]), rtol=1e-6)


@pytest.mark.parametrize(
    ("covariance_type", "exponent"), checkered(["spherical", "diag", "tied", "full"], [-200, -30, 1, 200])
)
def test_a_joint_fit_does_not_depend_on_the_units_of_the_data(covariance_type, exponent):
    """Steps in the data's own units went nowhere at 1e-18 and at 1e60, and nothing told so."""
    X, unit = np.random.default_rng(0).normal(size=(30, 2)), 4.0**exponent
    options = {"early_stopping": False, "max_iter": 6, "random_state": 0, "covariance_type": covariance_type}
    with pytest.warns(ConvergenceWarning):
        plain, other = (KernelMeanMatching(2, **options).fit(rows) for rows in (X, unit * X))
    start = plain.start(X)
    assert np.abs(plain.means_ - start.means).max() > 0.01
    np.testing.assert_allclose(other.means_ / unit, plain.means_, rtol=1e-6)
    np.testing.assert_allclose(other.covariances_ / unit / unit, plain.covariances_, rtol=1e-6)
    np.testing.assert_allclose(other.weights_, plain.weights_, rtol=1e-6)


@pytest.mark.parametrize(
    "options",
    [
        {"kernel": Gaussian(9.0)},
        {"estimator": "kme"},
    ],
    ids=str,
)
def test_an_embedding_brings_its_kernel_and_estimate_and_other_options_raise(options):
    mu = embed(blobs()[:12], Gaussian(1.5))
    with pytest.raises(ValueError, match=f"leave {next(iter(options))}= out"):
        KernelMeanMatching(2, random_state=0, **options).fit_embedding(mu)


@pytest.mark.parametrize("options", [{"max_iter": 5}, {"early_stopping": False}], ids=str)
def test_weights_that_are_solved_for_in_one_step_take_no_option_of_steps(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"leave {next(iter(options))}= out"):
        KernelMeanMatching(2, update="weights", **options).fit(blobs())


def test_a_far_origin_changes_no_fit():
    X = blobs()
    near, far = (KernelMeanMatching(2, random_state=0, max_iter=20).fit(rows) for rows in (X, X + 1e4))
    assert far.score(X + 1e4) == pytest.approx(near.score(X), abs=1e-4)
    gap = far.embedding() - far.target_
    assert gap @ gap == pytest.approx(far.objective_path_[-1] + far.target_ @ far.target_, abs=1e-10)


class Halves(BaseEstimator):
    """An estimate of two parts."""

    def __init__(self, kernel=None):
        self.kernel = kernel

    def fit(self, X):
        self.embedding_ = 0.5 * embed(X[::2], self.kernel) + 0.5 * embed(X[1::2], self.kernel)
        return self


def test_rows_cannot_be_weighted_when_the_estimate_has_other_points():
    mix = KernelMeanMatching(2, estimator=Halves(), update="weights", random_state=0).fit(blobs())
    assert len(mix.target_.parts) == 2
    with pytest.raises(ValueError, match="does not keep one weight per row"):
        mix.fit(blobs(), sample_weight=np.arange(1, 121))
