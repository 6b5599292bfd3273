"""What everybody sees first: names, signatures, and refusals of data that are sparse."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import explained
import kernelmean as km

KERNEL = km.kernels.Gaussian(1.0)
SPARSE: dict[str, tuple[Any, str]] = {
    "SciPy matrix": (scipy.sparse.csr_matrix(np.eye(5)), ".toarray()"),
    "SciPy array": (scipy.sparse.coo_array(np.eye(5)), ".toarray()"),
    "pandas table": (pd.DataFrame(np.eye(5)).astype(pd.SparseDtype("float")), ".sparse.to_dense()"),
    "pandas table in part": (
        pd.DataFrame({"a": np.arange(5.0), "b": pd.arrays.SparseArray(np.arange(5.0))}),
        "['b']})",
    ),
    "pandas Series": (pd.Series(pd.arrays.SparseArray(np.arange(5.0))), ".sparse.to_dense()"),
}
TAKERS: dict[str, Callable[[Any], Any]] = {
    "mmd_test": lambda X: km.mmd_test(X, X),
    "hsic_test": lambda X: km.hsic_test(X, X),
    "k_sample_test": lambda X: km.k_sample_test(X, X, X),
    "dhsic_test": lambda X: km.dhsic_test(X, X),
    "mmd_test of pairs": lambda X: km.mmd_test(X, X, design=km.Design(paired=True)),
    "mmd_test in bins": lambda X: km.mmd_test(X, X, scheme="bins"),
    "fit_test": lambda X: km.fit_test(X, lambda n, rng: rng.normal(size=(n, 5))),
    "ci_test": lambda X: km.ci_test(X, X, X),
    "closer_test": lambda X: km.closer_test(np.eye(5), np.ones((3, 5)), X),
    "compare": lambda X: km.compare(X, X),
    "dependence": km.dependence,
    "witness": lambda X: explained.witness(X, X),
    "embed": lambda X: km.embed(X, KERNEL),
    "an embedding": km.embed([[0.0]], KERNEL),
    "expected": lambda X: km.expected(KERNEL, X, X),
    "MKME": lambda X: km.MKME().fit(X),
    "MedianOfMeans": lambda X: km.estimators.MedianOfMeans().fit(X),
    "KernelMeanMatching": lambda X: km.KernelMeanMatching().fit(X),
    "TableEncoder": lambda X: km.TableEncoder().fit(X),
    "DriftMonitor": km.DriftMonitor,
    "median_bandwidth": km.median_bandwidth,
    "read": km.read,
    "match_weights": lambda X: km.match_weights(X, X),
}


@pytest.mark.parametrize("kind", SPARSE)
@pytest.mark.parametrize("taker", TAKERS)
def test_sparse_data_are_refused_with_what_makes_them_dense(taker: str, kind: str) -> None:
    data, mend = SPARSE[kind]
    with pytest.raises(TypeError, match="sparse") as error:
        TAKERS[taker](data)
    assert str(error.value).endswith(mend)


@pytest.mark.filterwarnings("ignore:Sparse")
@pytest.mark.parametrize("taker", TAKERS)
def test_sparse_tensors_are_refused(taker: str) -> None:
    torch = pytest.importorskip("torch")
    for data in (torch.eye(5).to_sparse(), torch.eye(5).to_sparse_csr()):
        with pytest.raises(TypeError, match=r"a sparse tensor \(torch.sparse.*\.to_dense\(\)"):
            TAKERS[taker](data)


def test_the_top_has_few_names() -> None:
    new = {
        "ConditionalMean",
        "DistributionEncoder",
        "GroupMeans",
        "ci_test",
        "closer_test",
        "fit_test",
        "match_weights",
    }
    assert len({*km.__all__} - new) <= 30


def test_the_package_lists_public_names_only() -> None:
    others = {name for name in dir(km) if not name.startswith("_")} - {*km.__all__}
    assert not [name for name in others if not inspect.ismodule(getattr(km, name))]
    assert not hasattr(km, "TYPE_CHECKING")
    assert {"estimators", "kernels", "noise"} <= {*dir(km)}


def test_a_name_of_a_subpackage_is_told_where_it_is() -> None:
    with pytest.raises(
        AttributeError, match=r"^module 'kernelmean' has no attribute 'SKMSE'; write kernelmean\.estimators\.SKMSE$"
    ):
        km.SKMSE  # noqa: B018 (only looked up)
    with pytest.raises(AttributeError, match=r"^module 'kernelmean' has no attribute 'nonsense'$"):
        km.nonsense  # noqa: B018


def test_an_option_of_other_functions_is_told_where_it_is() -> None:
    with pytest.raises(TypeError, match=r"no option 'given' \(what holds .*kernelmean\.ci_test\(X, Y, Z\)"):
        km.dependence("iris", y="target", given="petal width (cm)")  # type: ignore[call-arg]


def test_signatures_show_no_addresses() -> None:
    for name in km.__all__:
        found = getattr(km, name)
        members = [found, *(getattr(found, each) for each in dir(found) if not each.startswith("_"))]
        for each in members:
            if callable(each) and not isinstance(each, type(km)):
                try:
                    text = str(inspect.signature(each))
                except (ValueError, TypeError):
                    continue
                assert " at 0x" not in text, (name, text)
                assert "<object" not in text, (name, text)
