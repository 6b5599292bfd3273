"""The examples in docstrings run."""

import doctest
import importlib
import pkgutil

import pytest

import kernelmean_paper

MODULES = sorted(module.name for module in pkgutil.walk_packages(kernelmean_paper.__path__, "kernelmean_paper."))


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
