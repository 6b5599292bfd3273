r"""Leave-one-out in feature space, from sums over the rows alone.

The Fourier features of a frequency have norm :math:`\sqrt{w_j}` for every row, and noise multiplies them by
d_j = φ_v(ω_j). With :math:`p_j = |\hat μ_j|^2` the power of the mean at a frequency, L and Q of the score have

.. math:: Σ_{ij} L_{ij} = n^2 Σ_j d_j p_j, \quad L_{ii} = Σ_j d_j w_j, \quad Q: d_j^2 \text{ in place of } d_j,

so one pass over the rows, which sums their features, gives the score of every noise. With second moments of the
features, the same is true for landmarks: see ``noise_scores.py``.
"""

from __future__ import annotations

from ...noise.base import Noise
from ...noise.dirac import Dirac
from ...noise.normal import Normal
from ..embedding import Embedding
from ..score import Means, diagonal_share
from .embedding import sums_of
from .fourier import Fourier
from .landmarks import Landmarks
from .noise_scores import DampedScore, NoiseScore, ProjectedRows, ProjectedScore


def leave_one_out(mu: Embedding, noise: Noise | None = None) -> Means:
    r"""Return the means that make up the leave-one-out score, exact for the kernel of the features.

    Parameters
    ----------
    mu : Embedding
        By features, without noise and weights.
    noise : Noise, optional
        The noise that the estimate adds to the rows; none is the empirical mean. With landmarks, embed the rows with
        ``moments=True`` (:func:`embed`): rows are replaced by their projections, and noise acts on the landmarks.

    Returns
    -------
    Means
        ``means.score().value`` is :math:`\frac1n Σ_i |φ(x_i) - \hat μ^{(-i)}|^2`; ``means.best_scale()`` the factor of
        S-KMSE.

    Raises
    ------
    ValueError
        When rows are weighted, have noise already, or are fewer than two, or ``mu`` is a sum or a multiple of others.
    TypeError
        When ``mu`` is not by features, or the noise neither damps them nor has a closed form for landmarks.

    Examples
    --------
    >>> from kernelmean import features
    >>> from kernelmean.kernels import Gaussian
    >>> mu = features.embed([[0.0], [1.0], [3.0]], features.fourier(Gaussian(1.0), dim=1))
    >>> leave_one_out(mu).best_scale() < 1
    True
    """
    rows, features = sums_of(mu), mu.features
    noise = Dirac() if noise is None else noise
    weight, squares = rows.sums.value[:2]
    if not weight == squares == rows.count:
        raise ValueError("the rows are weighted, but leave-one-out needs equal weights; embed them without weights")
    if rows.noise != Dirac():
        raise ValueError(f"the rows have the noise {rows.noise!r} already; embed them without noise first")
    if isinstance(features, Landmarks) and noise != Dirac():
        return ProjectedRows.of(mu, features).means(noise)
    n, mean, squared_norm = rows.count, rows.mean, rows.sums.value[2] / weight
    alpha = diagonal_share(n, "loocv")
    once = features.damped(mean, noise)
    own, own_squared = squared_norm, squared_norm
    if isinstance(features, Fourier):
        damping = features.damping(noise)
        own, own_squared = float(features.weights @ damping), float(features.weights @ damping**2)
    cross, square = (
        float((n * total - one) / (n - 1)) for total, one in ((mean @ once, own), (once @ once, own_squared))
    )
    return Means(squared_norm, cross, (1 - alpha) * square + alpha * own_squared)


def choose_noise(mu: Embedding, form: str = "isotropic") -> Normal:
    r"""Return the Gaussian noise that the leave-one-out score of a feature embedding chooses: MKME or MMKME.

    Parameters
    ----------
    mu : Embedding
        By features, without noise and weights; landmarks need a Gaussian kernel and moments.
    form : {"isotropic", "diagonal"}
        One σ² (MKME), or one variance per column (MMKME).

    Returns
    -------
    Normal
        ``km.MKME().fit(mu)`` is the estimate.

    Raises
    ------
    TypeError
        When the features are landmarks of a kernel that is not Gaussian.
    ValueError
        When rows are weighted, noisy, or fewer than two, or landmarks lack their moments.

    Notes
    -----
    Exact for the kernel of the features. An evaluation takes O(M d) for M frequencies and O(r² d) for r landmarks,
    whatever the number of rows. Xia et al. (2021), eq. (loocv).

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmean import features
    >>> from kernelmean.kernels import Gaussian
    >>> X = np.random.default_rng(0).normal(size=(200, 1))
    >>> mu = features.embed(X, features.fourier(Gaussian(1.0), dim=1))
    >>> noise = features.choose_noise(mu)
    >>> features.leave_one_out(mu, noise).score() < features.leave_one_out(mu).score()
    True
    """
    if form not in ("isotropic", "diagonal"):
        raise ValueError(f"form is {form!r}; pass 'isotropic' or 'diagonal'")
    leave_one_out(mu)
    score = noise_score(mu)
    return Normal.diagonal(score.diagonal()) if form == "diagonal" else Normal(score.isotropic())


def noise_score(mu: Embedding) -> NoiseScore:
    """Return the score of an embedding by features as a function of the noise; errors as in :func:`choose_noise`."""
    rows = sums_of(mu)
    if isinstance(mu.features, Fourier):
        return DampedScore(mu.features, rows.mean, rows.count)
    return ProjectedScore(ProjectedRows.of(mu, mu.features))
