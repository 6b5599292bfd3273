"""Small real tables that need no download: scikit-learn's own, and NIST's Eckerle4."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from importlib import resources
from types import MappingProxyType
from typing import Any

import numpy as np

from ..core.table import Frame


def _scikit_learn(name: str) -> Callable[[], Frame]:
    """Return a loader of a table of scikit-learn, its target as the last column."""

    def load() -> Frame:
        from sklearn import datasets

        bunch: Any = getattr(datasets, f"load_{name}")()
        values = np.column_stack([bunch.data, bunch.target]).astype(np.float64)
        return Frame(dict(zip([*bunch.feature_names, "target"], values.T, strict=True)), name)

    return load


def _eckerle4() -> Frame:
    """Return NIST's 35 measurements of transmittance (y) against wavelength (x); public domain."""
    text = resources.files(__package__).joinpath("data/eckerle4.csv").read_text(encoding="utf-8")
    header, *rows = csv.reader(text.splitlines())
    values = np.array(rows, dtype=np.float64)
    return Frame(dict(zip(header, values.T, strict=True)), "eckerle4")


BUILT_IN: Mapping[str, Callable[[], Frame]] = MappingProxyType(
    {
        "wine": _scikit_learn("wine"),
        "breast_cancer": _scikit_learn("breast_cancer"),
        "wbdc": _scikit_learn("breast_cancer"),
        "wdbc": _scikit_learn("breast_cancer"),
        "iris": _scikit_learn("iris"),
        "diabetes": _scikit_learn("diabetes"),
        "digits": _scikit_learn("digits"),
        "eckerle4": _eckerle4,
    }
)
"""The loaders of the built-in tables, by name."""
OTHER_NAMES = ("breast_cancer", "wdbc")
"""Names of wbdc that lists leave out."""
