"""Objects as trees of names and numbers, and back: only classes of a fixed registry, made by their own constructors."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import numpy.typing as npt

from ._array import Array
from .embedding import Embedding, Part, embed
from .kernels.bandwidth import Bandwidth
from .kernels.base import Kernel
from .noise.base import Noise
from .noise.normal import Normal

AnyArray = npt.NDArray[Any]
_DTYPES = {"f": "<f8", "i": "<i8", "u": "<i8", "b": "|b1"}


@dataclass(frozen=True)
class Kind:
    """How one class is written and made again."""

    cls: type
    names: tuple[str, ...]
    make: Callable[..., Any]


def kinds() -> dict[str, Kind]:
    """Return every class that a file may name: all kernels and noises of the library, and what embeddings hold."""
    values = [cls for base in (Kernel, Noise) for cls in _concrete(base)]
    table = {cls.__name__: Kind(cls, tuple(field.name for field in fields(cls)), cls) for cls in values}
    table["Normal"] = Kind(Normal, ("covariance", "form"), _normal)
    table["Bandwidth"] = Kind(Bandwidth, ("value", "rule", "exact", "n_points"), Bandwidth)
    table["Part"] = Kind(Part, ("points", "weights", "noise"), Part)
    table["Embedding"] = Kind(Embedding, ("kernel", "parts"), _embedding)
    return table


def encode(value: Any, arrays: list[AnyArray]) -> Any:
    """Return a value as JSON; arrays are appended to ``arrays`` and named by their position.

    Raises
    ------
    TypeError
        When a value is not of the library, a number, a text, an array, or a collection of such.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        return {"array": _store(value, arrays)}
    kind = _kind_of(value)
    if kind is not None:
        parts = {name: encode(_get(value, name), arrays) for name in kind.names}
        return {"type": kind.cls.__name__, "fields": parts}
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, tuple | list):
        return {type(value).__name__: [encode(item, arrays) for item in value]}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"dict": {key: encode(item, arrays) for key, item in value.items()}}
    raise TypeError(
        f"{value!r} cannot be saved: a file holds kernels, noises and embeddings of kernelmean, numbers, texts "
        "and arrays"
    )


def decode(tree: Any, arrays: Sequence[AnyArray]) -> Any:
    """Return the value that :func:`encode` wrote.

    Raises
    ------
    ValueError
        When the tree is not of that shape, or names an unknown class.
    """
    if tree is None or isinstance(tree, bool | int | float | str):
        return tree
    if isinstance(tree, dict) and set(tree) == {"type", "fields"}:
        return _make(tree["type"], tree["fields"], arrays)
    if not isinstance(tree, dict) or len(tree) != 1:
        raise ValueError("its header is not of the expected form")
    ((tag, content),) = tree.items()
    if tag not in _READERS:
        raise ValueError(f"its header has the unknown entry {tag!r}")
    return _READERS[tag](content, arrays)


_READERS: Mapping[str, Callable[[Any, Sequence[AnyArray]], Any]] = {
    "array": lambda content, arrays: arrays[content],
    "float": lambda content, _: float(content),
    "tuple": lambda content, arrays: tuple(decode(item, arrays) for item in content),
    "list": lambda content, arrays: [decode(item, arrays) for item in content],
    "dict": lambda content, arrays: {key: decode(item, arrays) for key, item in content.items()},
}


def _make(name: str, tree: Any, arrays: Sequence[AnyArray]) -> Any:
    known = kinds()
    if name not in known:
        raise ValueError(f"it holds a {name!r}, which this version of kernelmean does not know")
    kind = known[name]
    if not isinstance(tree, dict) or set(tree) != set(kind.names):
        raise ValueError(f"its {name} has other fields than {', '.join(kind.names)}")
    return kind.make(*(decode(tree[field], arrays) for field in kind.names))


def _concrete(base: type) -> list[type]:
    """Return the dataclasses of the library below ``base``."""
    found = [cls for child in base.__subclasses__() for cls in (child, *_concrete(child))]
    own = (cls for cls in found if cls.__module__.startswith(f"{__package__}."))
    return [cls for cls in dict.fromkeys(own) if is_dataclass(cls) and not inspect.isabstract(cls)]


def _kind_of(value: Any) -> Kind | None:
    kind = kinds().get(type(value).__name__)
    return kind if kind is not None and type(value) is kind.cls else None


def _get(value: Any, name: str) -> Any:
    return float(value) if name == "value" and isinstance(value, Bandwidth) else getattr(value, name)


def _store(array: AnyArray, arrays: list[AnyArray]) -> int:
    """Append an array in one of the three types that files hold, and return its position."""
    if array.dtype.kind not in _DTYPES:
        raise TypeError(f"an array of type {array.dtype} cannot be saved; convert it to numbers first")
    arrays.append(np.asarray(array, dtype=_DTYPES[array.dtype.kind], order="C"))
    return len(arrays) - 1


def _normal(covariance: Any, form: str) -> Normal:
    makers = {"isotropic": Normal.isotropic, "diagonal": Normal.diagonal, "full": Normal}
    return makers[form](covariance)


def _embedding(kernel: Any, parts: Any) -> Embedding:
    """Make an embedding part by part, with all checks of :func:`embed`, and evaluate it on one of its points."""
    if not isinstance(kernel, Kernel) or not parts or not all(isinstance(part, Part) for part in parts):
        raise ValueError("its embedding lacks a kernel or points")
    if not all(isinstance(part.noise, Noise) for part in parts):
        raise ValueError("its embedding lacks a noise")
    mu = reduce(add, (embed(part.points, kernel, weights=part.weights, noise=part.noise) for part in parts))
    _check_fit(mu)
    return mu


def _check_fit(mu: Embedding) -> None:
    """Raise when the kernel or a noise does not fit the number of columns."""
    origin: Array = mu.parts[0].points[:1]
    mu.kernel(origin, origin)
    for part in mu.parts:
        copy = part.noise.take(slice(0, 1)).sample(part.points[:1], np.random.default_rng(0))
        if copy.shape != origin.shape:
            raise ValueError("its noise does not fit the number of columns")
