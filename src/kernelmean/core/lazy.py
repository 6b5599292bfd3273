"""Public names that are imported on first use (PEP 562, also for names that submodules share)."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from types import ModuleType
from typing import Any


class LazyPackage(ModuleType):
    """A package whose public names are imported on first use.

    Importing a submodule sets it as an attribute of its package. If a function has the name of its submodule, the name
    means the function, even if the submodule was imported first. This needs a class, not the two functions of PEP 562.
    """

    _homes: Mapping[str, str]

    def __getattr__(self, name: str) -> Any:
        home = self._homes.get(name)
        if home is not None:
            module = import_module(f"{self.__name__}.{home}")
            value = getattr(module, name) if hasattr(module, name) else import_module(f"{module.__name__}.{name}")
            setattr(self, name, value)
            return value
        if not name.startswith("_") and find_spec(f"{self.__name__}.{name}") is not None:
            return import_module(f"{self.__name__}.{name}")
        homes = [] if name.startswith("_") else self._packages_with(name)
        hint = f"; write {' or '.join(homes)}" if homes else ""
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}{hint}")

    def _packages_with(self, name: str) -> list[str]:
        """Return the full names of those that subpackages make public."""
        packages = [f"{self.__name__}.{each.name}" for each in iter_modules(self.__path__) if each.ispkg]
        return [f"{each}.{name}" for each in packages if name in getattr(import_module(each), "__all__", ())]

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, ModuleType) and self._homes.get(name) == name:
            value = getattr(value, name)
        super().__setattr__(name, value)

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        """Pickle by name, as libraries that pickle modules do with other modules."""
        return import_module, (self.__name__,)

    def __dir__(self) -> list[str]:
        return sorted({*vars(self), *self.__all__, *(each.name for each in iter_modules(self.__path__) if each.ispkg)})


def attach(package: str, names: Mapping[str, str] | None = None) -> None:
    """Make a package lazy: its submodules, and ``names``, the names of every submodule separated by blanks."""
    module = sys.modules[package]
    vars(module)["_homes"] = {name: home for home, group in (names or {}).items() for name in group.split()}
    module.__class__ = LazyPackage
