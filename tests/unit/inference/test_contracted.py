import numpy as np
import pytest
from scipy.spatial.distance import cdist

from kernelmean.inference.estimated.contracted_mmd import ContractedMMD


def definition(points, order, n_first, r, kind):
    """MMD² of one permutation, from the moved points."""
    samples = [points[order < n_first], points[order >= n_first]]
    first, second = (own.mean(axis=0) + r * (own - own.mean(axis=0)) for own in samples)

    def mean(a, b, *, own):
        gram = np.exp(-0.5 * cdist(a, b, "sqeuclidean"))
        n = len(a)
        return (gram.sum() - n) / (n * (n - 1)) if own and kind == "u" else gram.mean()

    return mean(first, first, own=True) + mean(second, second, own=True) - 2 * mean(first, second, own=False)


@pytest.mark.parametrize("kind", ["u", "v"])
@pytest.mark.parametrize("r", [1.0, 0.7, 0.01])
@pytest.mark.parametrize("apart", [0.5, 6.0, 300.0])
def test_every_permutation_has_the_value_of_the_moved_points(apart, r, kind):
    rng = np.random.default_rng(5)
    points = rng.normal(size=(13, 2)) + apart * (np.arange(13) < 5)[:, None]
    points -= points.mean(axis=0)
    batch = np.array([np.arange(13), *(rng.permutation(13) for _ in range(40))])
    found = ContractedMMD(points, 5, r, 0.25, kind)(batch)
    expected = [0.25 * definition(points, order, 5, r, kind) for order in batch]
    np.testing.assert_allclose(found, [expected], rtol=1e-12, atol=1e-15)
