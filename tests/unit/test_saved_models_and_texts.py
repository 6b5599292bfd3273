"""Files of fitted mixtures, and results saved under names that say what the file is."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import kernelmean as km

RNG = np.random.default_rng(0)
X = np.concatenate([RNG.normal(-2, 1, (30, 2)), RNG.normal(2, 0.5, (30, 2))])
MODELS: dict[str, tuple[dict[str, Any], Any]] = {
    "spherical": ({}, X),
    "full": ({"covariance_type": "full", "early_stopping": False, "kernel": km.kernels.Gaussian(1.0)}, X),
    "prototypes": ({"prototypes": km.density.KMeansPrototypes(ridge=0.1), "covariance_type": "diag"}, X),
    "tied": ({"covariance_type": "tied", "kernel": km.kernels.Gaussian("median")}, X),
    "weights": ({"update": "weights", "kernel": km.kernels.Gaussian(1.0)}, X),
    "data frame": ({}, pd.DataFrame(X, columns=["a", "b"])),
}
FITTED = ("weights_", "means_", "covariances_", "objective_path_")


@pytest.mark.parametrize("name", MODELS)
def test_a_fitted_mixture_comes_back_to_the_last_digit(name: str, tmp_path: Path) -> None:
    options, rows = MODELS[name]
    model = km.KernelMeanMatching(**{"n_components": 2, "random_state": 0, **options}).fit(rows)
    km.save(model, tmp_path / "mixture.npz")
    back = km.load(tmp_path / "mixture.npz")
    assert repr(back) == repr(model)
    for attribute in FITTED:
        assert getattr(back, attribute).tobytes() == getattr(model, attribute).tobytes(), attribute
        assert not getattr(back, attribute).flags.writeable
    assert back.score_samples(rows).tobytes() == model.score_samples(rows).tobytes()
    assert back.sample(7).tobytes() == model.sample(7).tobytes()
    assert (back.embedding() - back.target_).norm() == (model.embedding() - model.target_).norm()
    assert back.trials_ == model.trials_
    assert getattr(back, "feature_names_in_", None) is None or list(back.feature_names_in_) == ["a", "b"]
    km.save(back, tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == (tmp_path / "mixture.npz").read_bytes()


def test_a_mixture_that_matches_an_embedding_and_one_that_is_not_fitted_come_back_too(tmp_path: Path) -> None:
    model = km.KernelMeanMatching(2, random_state=0, early_stopping=False)
    for k, each in enumerate((model, model.fit_embedding(km.embed(X, km.kernels.Gaussian(1.0))))):
        km.save(each, tmp_path / f"{k}.npz")
        back = km.load(tmp_path / f"{k}.npz")
        assert back.get_params() == each.get_params()
        assert hasattr(back, "means_") == hasattr(each, "means_")


@pytest.mark.parametrize(("old", "new"), [('"n_iter_"', '"n_jter_"'), ('"converged_": ', '"converged_": "no", "x": ')])
def test_a_mixture_with_other_attributes_is_refused(old: str, new: str, tmp_path: Path) -> None:
    import zipfile

    km.save(km.KernelMeanMatching(2, random_state=0).fit(X), tmp_path / "good.npz")
    with zipfile.ZipFile(tmp_path / "good.npz") as good, zipfile.ZipFile(tmp_path / "bad.npz", "w") as bad:
        for name in good.namelist():
            text = good.read(name)
            if name == "header.json":
                assert old.encode() in text
                text = text.replace(old.encode(), new.encode())
            bad.writestr(name, text)
    with pytest.raises(ValueError, match=r"bad.npz cannot be loaded: its KernelMeanMatching"):
        km.load(tmp_path / "bad.npz")


def results() -> dict[str, Any]:
    A, B = RNG.normal(size=(2, 30, 2))
    return {
        "test": km.mmd_test(A, B, n_resamples=19, rng=0),
        "comparison": km.compare(A, B, n_resamples=19, rng=0),
        "dependence": km.dependence(A, n_resamples=19, rng=0),
    }


@pytest.mark.parametrize(
    ("name", "save"),
    [("test", km.save), ("dependence", km.save), ("comparison", lambda result, path: result.save(path))],
    ids=["test", "dependence", "comparison"],
)
def test_a_result_is_saved_as_what_the_name_of_its_file_says(name: str, save: Any, tmp_path: Path) -> None:
    result = results()[name]
    save(result, tmp_path / "r.json")
    content = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert content == json.loads(json.dumps(result.to_dict())) or any(map(_is_unknown, result.to_dict().values()))
    assert content.get("pvalue", 0) == result.to_dict().get("pvalue", 0)
    save(result, tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == result.to_html()
    for ending in (".npz", ""):
        save(result, tmp_path / f"r{ending}")
        assert str(km.load(tmp_path / f"r{ending}")) == str(result)
    for ending in (".csv", ".md", ".png", ".txt", ".pkl"):
        with pytest.raises(ValueError, match=rf"would be no \{ending} file.*end in .npz.*to_frame"):
            save(result, tmp_path / f"r{ending}")
        assert not (tmp_path / f"r{ending}").exists()


def _is_unknown(value: Any) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


@pytest.mark.parametrize("ending", [".json", ".html", ".CSV"])
def test_what_has_no_text_is_not_saved_as_text(ending: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"end in .npz"):
        km.save(km.embed(X, km.kernels.Gaussian(1.0)), tmp_path / f"mean{ending}")
