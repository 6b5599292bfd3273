"""Dispatch tables: rules are registered for tuples of types and found by the nearest base classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, Generic, TypeVar

Rule = TypeVar("Rule", bound=Callable[..., Any])
Signature = tuple[type, ...]


class NoClosedFormError(TypeError):
    """There is no closed form for the expectation of a kernel under a noise."""


class Rules(Generic[Rule]):
    """A table from tuples of types to functions, searched along the method resolution orders.

    The nearest base class of the first argument decides, then that of the second, and so on; the order of registration
    never matters.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._table: dict[Signature, Rule] = {}

    def register(self, *signature: type) -> Callable[[Rule], Rule]:
        """Return a decorator that registers a function for ``signature``; registering twice is an error."""

        def decorate(rule: Rule) -> Rule:
            if signature in self._table:
                names = ", ".join(cls.__name__ for cls in signature)
                raise ValueError(f"{self.name}({names}) is registered already")
            self._table[signature] = rule
            return rule

        return decorate

    def find(self, *arguments: object) -> Rule | None:
        """Return the rule of the nearest registered signature, or None."""
        return self.find_types(*(type(argument) for argument in arguments))

    def find_types(self, *types: type) -> Rule | None:
        """Return the rule nearest to ``types``, or None."""
        for signature in product(*(cls.__mro__ for cls in types)):
            rule = self._table.get(signature)
            if rule is not None:
                return rule
        return None

    def __iter__(self) -> Iterator[Signature]:
        return iter(self._table)
