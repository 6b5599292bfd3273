"""The border at which arrays freeze: what a value keeps is its own, and nobody can write to it.

An array counts as frozen when it is a read-only view of an array that was frozen here: nobody can make it writable
again by its own flag, and slices of it are frozen too. A read-only view of a caller's array does not count: its owner
may make that writable again. Arrays of other libraries cannot be made read-only; they are copied where they come in.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

from .array import is_foreign, namespace

_SEALED: WeakValueDictionary[int, npt.NDArray[Any]] = WeakValueDictionary()
"""The arrays whose memory was frozen here, by their ids, as long as they are alive."""


def owned(x: Any, source: Any) -> Any:
    """Return a frozen array of the numbers in ``x``, which was made of what a caller passed, ``source``.

    It is copied, but where ``x`` is frozen already or surely has memory of its own: one copy, never two.
    """
    if is_foreign(x):
        return namespace(x).asarray(x, copy=True)
    if isinstance(source, np.ndarray):
        is_own = is_frozen(x) or not np.may_share_memory(x, source)
    else:
        is_own = isinstance(source, list | tuple)
    return sealed(x if is_own else np.array(x, order="C"))


def copied_elsewhere(x: Any) -> Any:
    """Return an array of another library than NumPy, where nothing can be frozen, as a copy; anything else as it is."""
    return owned(x, x) if is_foreign(x) else x


def sealed(x: Any) -> Any:
    """Return an array that nobody else holds, or one that is frozen already, as a frozen one, without a copy.

    Views are copied, since the whole could still be changed; anything but NumPy's arrays stays as it is.
    """
    if not isinstance(x, np.ndarray) or is_frozen(x):
        return x
    own = x if x.base is None and type(x) is np.ndarray else np.array(x, order="C")
    own.flags.writeable = False
    _SEALED[id(own)] = own
    return own.view()


def is_frozen(x: Any) -> bool:
    """Whether an array is a read-only view of an array that was frozen here."""
    base = x.base
    if x.flags.writeable or not isinstance(base, np.ndarray) or base.flags.writeable:
        return False
    return _SEALED.get(id(base)) is base


class Frozen:
    """A value, a dataclass, whose arrays are its own and read-only; a copy or a pickle of it as well.

    Subclasses with a ``__post_init__`` of their own call this one first.
    """

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            object.__setattr__(self, name, _kept(value))

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, _sealed_all(value))


class FrozenAttributes:
    """An estimator of scikit-learn's manner whose copies and pickles have read-only arrays, as it has itself."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({name: _sealed_all(value) for name, value in state.items()})  # type: ignore[misc]


def _kept(value: Any) -> Any:
    """Return what a value keeps of one of its fields: arrays, and tuples of arrays, frozen."""
    if isinstance(value, np.ndarray):
        return owned(value, value)
    if type(value) is tuple and any(isinstance(item, np.ndarray) for item in value):
        return tuple(map(_kept, value))
    return value


def _sealed_all(value: Any) -> Any:
    """Return what a pickle holds of a field, which nobody else has: arrays, and tuples of arrays, frozen."""
    return tuple(map(sealed, value)) if type(value) is tuple else sealed(value)
