"""Files that commit 76d487a wrote are read with the numbers that they had, or refused in one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
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


def of_means(name: str) -> dict[str, Any]:
    mean = km.load(FILES / name)
    return {"rows": mean.shape[0], "norm": mean.norm(), "values": np.asarray(mean(write_files.GRID)).tolist()}


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
    "means": of_means,
    "result": of_result,
}


@pytest.mark.parametrize("name", LOADED)
def test_earlier_files_load_with_equal_numbers(name: str) -> None:
    kind = name.split(".")[0].split()[0]
    assert not differences({"values": LOADED[name]}, READ[kind](name))


def in_batches(A: Any, B: Any, *, seed: int, checkpoint: Any = None, **given: Any) -> Any:
    """Compare two tables batch by batch."""
    first = km.read(A, in_memory=False, checkpoint=checkpoint)
    return km.compare(first, km.read(B, in_memory=False), rng=seed, **given)


def gone_on(name: str) -> Any:
    """Go on with a monitor that paired rows."""
    text = (FILES / name).read_text(encoding="utf-8")
    return km.DriftMonitor(write_files.rows(2, 60), seed=1).resume(text)


@pytest.mark.parametrize("name", REFUSED)
def test_earlier_checkpoints_are_refused_in_one_line(name: str) -> None:
    """They hold sums of features of one kernel, or bets on pairs, which nothing goes on from any more."""
    path = FILES / name
    content = path.read_bytes()
    options: dict[str, Any] = {"n_resamples": 49, "estimator": "kme"}
    frames = (pd.DataFrame({"a": table[:6, 0]}) for table in (X, Y))
    compared = partial(in_batches, *frames, seed=1, checkpoint=path, **options)
    tested = partial(km.mmd_test, km.read(X, checkpoint=path), Y, scheme="bins", rng=1, **options)
    calls = (partial(gone_on, name),) if "monitor" in name else (compared, tested, partial(km.load, path))
    for call in calls:
        with pytest.raises(ValueError, match=EXPECTED[name]["refused"]) as error:
            call()
        assert len(str(error.value).splitlines()) == 1
        assert path.read_bytes() == content


def test_all_files_are_listed_and_small() -> None:
    there = {path.name: path.stat().st_size for path in FILES.iterdir() if path.name != "expected.json"}
    assert set(there) == set(EXPECTED)
    assert max(there.values()) < 20_000
    assert sum(there.values()) < 300_000
    assert len(there) >= 35
