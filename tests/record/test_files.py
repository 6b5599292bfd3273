"""Files that commit 76d487a wrote are read with the numbers that they had, or refused in one line."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from record import write_files
from record.compared import HERE, differences

FILES = HERE / "files"
EXPECTED: dict[str, dict[str, Any]] = json.loads((FILES / "expected.json").read_text(encoding="utf-8"))
LOADED = {name: values for name, values in EXPECTED.items() if "refused" not in values}
REFUSED = [name for name, values in EXPECTED.items() if "refused" in values]
X, Y = write_files.X, write_files.Y


def of_embedding(name: str) -> dict[str, Any]:
    mu = km.load(FILES / name)
    return {"norm": mu.norm(), "values": write_files.values_of(mu)}


def of_estimator(name: str) -> dict[str, Any]:
    fit = km.load(FILES / name)
    assert km.estimators.files.read_columns(FILES / name) == ("a", "b")
    weights = np.asarray(fit.embedding_.weights).tolist()
    loocv = getattr(fit, "loocv_", None)
    mu = fit.embedding_
    return {"norm": mu.norm(), "values": write_files.values_of(mu), "weights": weights, "loocv": loocv}


def of_features(name: str) -> dict[str, Any]:
    mean = km.load(FILES / name)
    return {"norm": mean.norm(), "values": np.asarray(mean(write_files.GRID)).tolist()}


def of_stream(name: str) -> dict[str, Any]:
    result = km.load(FILES / name).test(n_resamples=49, rng=1)
    return {"statistic": float(result.statistic), "pvalue": result.pvalue}


def of_sums(name: str) -> dict[str, Any]:
    """Go on with sums that were saved after five rows of X."""
    scheme = km.streaming.OnePass(n_frequencies=8)
    options: dict[str, Any] = {"estimator": km.MKME(km.kernels.Gaussian(1.5)), "n_resamples": 49, "rng": 1}
    with TemporaryDirectory() as folder:
        first = km.read(X, checkpoint=shutil.copy(FILES / name, folder))
        result = km.mmd_test(first, Y, scheme=scheme, **options)
    return {"statistic": float(result.statistic), "pvalue": result.pvalue}


def of_means(name: str) -> dict[str, Any]:
    stream = km.load(FILES / name)
    mean = stream.estimate("kme")
    return {"rows": stream.rows, "norm": mean.norm(), "values": np.asarray(mean(write_files.GRID)).tolist()}


def of_result(name: str) -> dict[str, Any]:
    result = km.TestResult.from_json((FILES / name).read_text(encoding="utf-8"))
    null = np.asarray(result.null_distribution)
    return {
        "statistic": float(result.statistic),
        "pvalue": result.pvalue,
        "null": [float(null.min()), float(null.max())],
        "sizes": list(result.sizes),
    }


READ: dict[str, Callable[[str], dict[str, Any]]] = {
    "embedding": of_embedding,
    "estimator": of_estimator,
    "features": of_features,
    "stream": of_stream,
    "sums": of_sums,
    "means": of_means,
    "result": of_result,
}


@pytest.mark.parametrize("name", LOADED)
def test_earlier_files_load_with_equal_numbers(name: str) -> None:
    kind = name.split(".")[0].split()[0]
    assert not differences({"values": LOADED[name]}, READ[kind](name))


def in_batches(A: Any, B: Any, *, seed: int, passes: Any = None, checkpoint: Any = None, **given: Any) -> Any:
    """Compare two tables batch by batch."""
    first = km.read(A, in_memory=False, passes=passes, checkpoint=checkpoint)
    return km.compare(first, km.read(B, in_memory=False), rng=seed, **given)


def once(*, seed: int, checkpoint: Path, n_frequencies: int, n_resamples: int, estimator: str) -> Any:
    """Test two samples in one pass."""
    assert estimator == "kme"
    scheme = km.streaming.OnePass(n_frequencies=n_frequencies)
    options: dict[str, Any] = {"kernel": km.kernels.Gaussian(1.5), "n_resamples": n_resamples, "rng": seed}
    return km.mmd_test(km.read(X, checkpoint=checkpoint), Y, scheme=scheme, **options)


def gone_on(*, seed: int, checkpoint: Path, **_: Any) -> Any:
    """Go on with a monitor that paired rows."""
    return km.DriftMonitor(write_files.rows(2, 60), seed=seed).resume(checkpoint.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", REFUSED)
def test_earlier_checkpoints_are_refused_in_one_line(name: str) -> None:
    """Two do not say of which rows they are, so going on from them could add up other rows; one is of other bets."""
    path = FILES / name
    content = path.read_bytes()
    options: dict[str, Any] = {"n_resamples": 49, "n_frequencies": 8, "seed": 1, "estimator": "kme"}
    if "monitor" in name:
        call = gone_on
    elif "compare" in name:
        frames = (pd.DataFrame({"a": table[:6, 0]}) for table in (X, Y))
        call = partial(in_batches, *frames)
    else:
        call = once
    with pytest.raises(ValueError, match=EXPECTED[name]["refused"]) as error:
        call(checkpoint=path, **options)
    assert len(str(error.value).splitlines()) == 1
    assert path.read_bytes() == content


def test_all_files_are_listed_and_small() -> None:
    there = {path.name: path.stat().st_size for path in FILES.iterdir() if path.name != "expected.json"}
    assert set(there) == set(EXPECTED)
    assert max(there.values()) < 20_000
    assert sum(there.values()) < 300_000
    assert len(there) >= 35
