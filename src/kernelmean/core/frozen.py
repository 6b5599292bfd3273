"""Frozen arrays: a value keeps its own arrays, to which no other code can write.

An array counts as frozen if it is a read-only view of a read-only array that owns its memory. Then its own flag cannot
make it writable again, and its slices are frozen, too. Arrays of other libraries cannot be made read-only, so they are
copied on entry.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from .array import is_foreign, namespace


def owned(x: Any, source: Any) -> Any:
    """Return a frozen array of the numbers in ``x``, which was made from the ``source`` that a caller passed.

    ``x`` is copied unless it is frozen already or certainly has its own memory: one copy, never two.
    """
    if is_foreign(x):
        return namespace(x).asarray(x, copy=True)
    if isinstance(source, np.ndarray):
        is_own = is_frozen(x) or not np.may_share_memory(x, source)
    else:
        is_own = isinstance(source, list | tuple)
    return sealed(x if is_own else np.array(x, order="C"))


def copied_elsewhere(x: Any) -> Any:
    """Return a copy of an array of a library other than NumPy, which cannot be frozen; anything else as it is."""
    return owned(x, x) if is_foreign(x) else x


def sealed(x: Any) -> Any:
    """Freeze an array that no other code holds, or that is frozen already, without a copy.

    Views are copied, because the whole array could still be changed; anything but a NumPy array stays as it is.
    """
    if not isinstance(x, np.ndarray) or is_frozen(x):
        return x
    array = x if x.base is None and type(x) is np.ndarray else np.array(x, order="C")
    array.flags.writeable = False
    return array.view()


def is_frozen(x: Any) -> bool:
    """Return whether an array is a read-only view of a read-only array that owns its memory."""
    base = x.base
    if x.flags.writeable or not isinstance(base, np.ndarray):
        return False
    return base.flags.owndata and not base.flags.writeable


class Frozen:
    """A dataclass value whose arrays are its own and read-only, also in copies and pickles.

    Subclasses with their own ``__post_init__`` call this one first.
    """

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            object.__setattr__(self, name, _kept(value))

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, _sealed_all(value))


class FrozenAttributes:
    """An estimator in the style of scikit-learn whose arrays are read-only, also in copies and pickles."""

    holds: ClassVar[tuple[type[Any], ...] | None] = None
    """The classes of its parts, if it can be saved to files by its parameters and its fitted attributes."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({name: _sealed_all(value) for name, value in state.items()})  # type: ignore[misc]


def _kept(value: Any) -> Any:
    """Return the value of a field to keep: arrays, and tuples of arrays, frozen."""
    if isinstance(value, np.ndarray):
        return owned(value, value)
    if type(value) is tuple and any(isinstance(item, np.ndarray) for item in value):
        return tuple(map(_kept, value))
    return value


def _sealed_all(value: Any) -> Any:
    """Return the value of a field from a pickle, which no other code holds: arrays, and tuples of arrays, frozen."""
    return tuple(map(sealed, value)) if type(value) is tuple else sealed(value)
