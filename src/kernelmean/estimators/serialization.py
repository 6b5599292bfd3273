"""Objects as trees of names and numbers, and back: only classes of a fixed registry, made by their own constructors."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass, fields, is_dataclass, replace
from functools import cache, partial, reduce
from importlib import import_module
from operator import add
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from ..core.array import Array, to_numpy
from ..core.frozen import FrozenAttributes, sealed
from ..core.validate import names_in
from ..embedding.embedding import Embedding, embed
from ..embedding.features import FeaturePart, FeatureSums
from ..embedding.features.base import FeatureMap, Total
from ..embedding.parts import PointPart
from ..embedding.score import Score
from ..kernels.any_kernel import KernelFunction, Precomputed
from ..kernels.bandwidth import Bandwidth
from ..kernels.base import Kernel
from ..noise.base import Noise
from ..noise.normal import Normal
from ..noise.sampled import Sampled
from ..report.description import Shown
from ..tables.columns.kinds import Coding, ColumnKind
from .base import MeanEstimator
from .filters import Filter

AnyArray = npt.NDArray[Any]
_DERIVED = ("kernel_", "noise_", "weights_")
_HOMES = (
    "conditional",
    "tables.columns",
    "embedding.features",
    "inference",
    "studies.changes",
    "studies.comparison",
    "studies.covariate_shift",
    "studies.dependence",
    "studies.groups",
    "studies.density",
    "studies.estimate",
)
"""More modules with classes that files may name; given by name, because some are in higher layers."""
_PACKAGE = __package__.partition(".")[0]
_MOST_DRAWS = 2**20
_DTYPES = {"f": "<f8", "i": "<i8", "u": "<i8", "b": "|b1"}


@dataclass(frozen=True)
class Kind:
    """How one class is written and rebuilt."""

    cls: type
    names: tuple[str, ...]
    make: Callable[..., Any]
    get: Callable[[Any, str], Any] = getattr


@cache
def saved_kinds() -> Mapping[str, Kind]:
    """Return every class that a file may name: kernels, noises, estimators, features, results, and what they hold."""
    for home in _HOMES:
        import_module(f"{_PACKAGE}.{home}")
    values: list[type[Any]] = [
        cls
        for base in (Kernel, Noise, Filter, FeatureMap)
        for cls in _concrete(base)
        if is_dataclass(cls) and cls not in (KernelFunction, Precomputed)
    ]
    parts = [(cls, partial(_checked, cls)) for base in (ColumnKind, Coding) for cls in _concrete(base)]
    values += [PointPart, FeaturePart, FeatureSums, Score, Total]
    table = {cls.__name__: Kind(cls, _field_names(cls), cls) for cls in values}
    table |= {cls.__name__: Kind(cls, _field_names(cls), make) for cls, make in parts}
    table["Sampled"] = replace(table["Sampled"], make=_sampled)
    table["Normal"] = Kind(Normal, ("covariance", "form"), Normal.of_form)
    table["Bandwidth"] = Kind(Bandwidth, ("value", "rule", "exact", "n_points"), Bandwidth, _get_bandwidth)
    table["PointPart"] = replace(table["PointPart"], make=_points)
    table["Embedding"] = Kind(Embedding, ("kernel", "parts"), _embedding)
    results: list[type[Shown]] = [cls for cls in _concrete(Shown) if cls.holds is not None]
    for cls in dict.fromkeys(part for result in results for part in (result, *(result.holds or ()))):
        # a model in the style of scikit-learn is written as its parameters and its fitted attributes
        model = Kind(cls, ("parameters", "fitted"), partial(_model, cls), _get_model)
        is_value = is_dataclass(cls) and not issubclass(cls, BaseEstimator)
        value = Kind(cls, _field_names(cls), partial(_checked, cls)) if is_value else model
        table[cls.__name__] = value
    for model_class in (cls for cls in _concrete(FrozenAttributes) if cls.holds is not None):
        table[model_class.__name__] = Kind(
            model_class, ("parameters", "fitted"), partial(_model, model_class), _get_model
        )
        for cls in model_class.holds:
            table[cls.__name__] = Kind(cls, _field_names(cls), partial(_checked, cls))
    for cls in _concrete(MeanEstimator):
        table[cls.__name__] = Kind(cls, ("parameters", "fitted"), partial(_estimator, cls), _get_estimator)
    return table


def _field_names(cls: Any) -> tuple[str, ...]:
    return tuple(field.name for field in _kept(cls))


def _kept(cls: Any) -> list[Field[Any]]:
    return [field for field in fields(cls) if field.metadata.get("kept", True)]


def check_savable(value: Any, error: type[Exception]) -> Any:
    """Return ``value`` if files may hold it: an embedding, an estimator, a kernel, a noise, a filter, a result."""
    if isinstance(value, Embedding | MeanEstimator | Kernel | Noise | Filter | FeatureMap):
        return value
    kind = saved_kinds().get(type(value).__name__)
    if isinstance(value, BaseEstimator) and kind is not None and type(value) is kind.cls:
        return value
    if not (isinstance(value, Shown) and value.holds is not None):
        raise error(
            f"{value!r} cannot be saved or loaded: it is not an embedding, an estimator of means, "
            "a kernel, noise, filter or result; pickle keeps other objects, for the versions that are installed"
        )
    return value


def encode(value: Any, arrays: list[AnyArray]) -> Any:
    """Return a value as JSON; arrays are appended to ``arrays`` and named by their position.

    Raises
    ------
    TypeError
        When a value is not part of the library, a number, a text, an array, or a collection of these.
    """
    plain = value.item() if isinstance(value, np.generic) else value
    if plain is None or isinstance(plain, bool | int | str) or (type(plain) is float and math.isfinite(plain)):
        return plain
    cls = plain if isinstance(plain, type) else type(plain)
    kind = saved_kinds().get(cls.__name__)
    if kind is not None and cls is kind.cls:
        if plain is cls:
            return {"class": cls.__name__}
        return {"type": cls.__name__, "fields": {name: encode(kind.get(plain, name), arrays) for name in kind.names}}
    return _collection(to_numpy(plain), arrays)


def _collection(value: Any, arrays: list[AnyArray]) -> dict[str, Any]:
    """Return an array, a sequence or a dictionary as JSON; or an infinite number or NaN, which JSON lacks."""
    if isinstance(value, np.ndarray):
        return _array(value, arrays)
    if isinstance(value, float):
        return {"float": str(value)}
    if isinstance(value, tuple | list):
        return {type(value).__name__: [encode(item, arrays) for item in value]}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"dict": {key: encode(item, arrays) for key, item in value.items()}}
    raise TypeError(
        f"{value!r} cannot be saved: a file holds kernels, noises, embeddings and estimators of kernelmean, numbers, "
        "texts and arrays, but no functions and no Gram matrices"
    )


def decode(tree: Any, arrays: Sequence[AnyArray]) -> Any:
    """Return the value that :func:`encode` wrote.

    Raises
    ------
    ValueError
        When the tree has another shape, names an unknown class, or names an array twice (a small file could then ask
        for any amount of memory).
    """
    return _decode(tree, dict(enumerate(arrays)))


_Arrays = dict[int, AnyArray]
"""Arrays, each to be used once."""


def _taken(arrays: _Arrays, number: Any) -> AnyArray:
    if type(number) is not int or number not in arrays:
        raise ValueError("its header names an array that is not there, or names it twice")
    return arrays.pop(number)


def _decode(tree: Any, arrays: _Arrays) -> Any:
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


_READERS: Mapping[str, Callable[[Any, _Arrays], Any]] = {
    "array": lambda content, arrays: _taken(arrays, content),
    "texts": lambda content, _: np.array([None if text is None else str(text) for text in content], dtype=object),
    "times": lambda content, arrays: _taken(arrays, content[1]).astype(_time_type(content[0])),
    "class": lambda content, _: saved_kinds()[content].cls,
    "float": lambda content, _: float(content),
    "tuple": lambda content, arrays: tuple(_decode(item, arrays) for item in content),
    "list": lambda content, arrays: [_decode(item, arrays) for item in content],
    "dict": lambda content, arrays: {key: _decode(item, arrays) for key, item in content.items()},
}


def _make(name: str, tree: Any, arrays: _Arrays) -> Any:
    kind = saved_kinds().get(name)
    if kind is None:
        raise ValueError(f"it holds a {name!r}, which this version of kernelmean does not know")
    if not isinstance(tree, dict) or {*tree} != {*kind.names}:
        raise ValueError(f"its {name} has other fields than {', '.join(kind.names)}")
    return kind.make(*(_decode(tree[name], arrays) for name in kind.names))


def _concrete(base: type[Any]) -> list[type[Any]]:
    classes = [cls for child in base.__subclasses__() for cls in (child, *_concrete(child))]
    ours = (cls for cls in classes if cls.__module__.startswith(f"{_PACKAGE}."))
    return [cls for cls in dict.fromkeys(ours) if not inspect.isabstract(cls)]


def _array(array: AnyArray, arrays: list[AnyArray]) -> dict[str, Any]:
    """Store an array in one of the three types that files hold; names of columns become texts."""
    if array.dtype.kind in "OU" and array.ndim == 1 and all(item is None or isinstance(item, str) for item in array):
        return {"texts": array.tolist()}
    if array.dtype.kind in "mM":
        arrays.append(np.ascontiguousarray(array).view("<i8"))
        return {"times": [array.dtype.str, len(arrays) - 1]}
    if array.dtype.kind not in _DTYPES:
        raise TypeError(f"an array of type {array.dtype} cannot be saved; convert it to numbers first")
    arrays.append(np.asarray(array, dtype=_DTYPES[array.dtype.kind], order="C"))
    return {"array": len(arrays) - 1}


def _time_type(name: Any) -> np.dtype[Any]:
    if not (isinstance(name, str) and name[:3] in ("<M8", "<m8")):
        raise ValueError(f"its header names {name!r}, which is not a type of times")
    return np.dtype(name)


def _checked(cls: Any, *values: Any) -> Any:
    """Make a value of a result, after checking that its fields have their annotated types."""
    hints = get_type_hints(cls)
    for each, value in zip(_kept(cls), values, strict=True):
        if not _fits(value, hints[each.name]):
            raise ValueError(f"the {each.name} of its {cls.__name__} is no {each.type}")
    return cls(*values)


def _fits(value: Any, hint: Any) -> bool:
    """Return whether a value has an annotated type; contents of arrays and of unparametrized types are not checked."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        fits = any(_fits(value, one) for one in arguments)
    elif origin is Literal:
        fits = value in arguments
    elif origin is tuple:
        items = arguments[:1] * len(value) if arguments[-1] is Ellipsis and isinstance(value, tuple) else arguments
        fits = isinstance(value, tuple) and len(value) == len(items) and all(map(_fits, value, items))
    elif origin is not None and isinstance(value, dict):
        fits = issubclass(dict, origin) and all(_fits(item, arguments[-1]) for item in value.values())
    elif hint in (float, int):
        fits = isinstance(value, int if hint is int else (int, float)) and not isinstance(value, bool)
    else:
        fits = hint is Any or isinstance(value, hint if origin is None else origin)
    return fits


def _get_model(model: Any, name: str) -> dict[str, Any]:
    parameters = model.get_params(deep=False)
    return dict(parameters) if name == "parameters" else {k: v for k, v in vars(model).items() if k not in parameters}


def _model(cls: Any, parameters: Any, fitted: Any) -> Any:
    """Make a model with its parameters and its fitted attributes."""
    model, needed = cls(**parameters), {each.name for each in fields(cls) if not each.init}
    if fitted and set(fitted) - {"feature_names_in_"} != needed:
        raise ValueError(f"its {cls.__name__} lacks fitted attributes, or has others")
    hints = get_type_hints(cls)
    for name, value in fitted.items():
        if not _fits(value, hints.get(name, Any)):
            raise ValueError(f"the {name} of its {cls.__name__} is no {hints[name]}")
        setattr(model, name, sealed(value))
    return model


def _get_bandwidth(bandwidth: Bandwidth, name: str) -> Any:
    return float(bandwidth) if name == "value" else getattr(bandwidth, name)


def _get_estimator(estimator: MeanEstimator, name: str) -> dict[str, Any]:
    if name == "parameters":
        return dict(estimator.get_params(deep=False))
    return {key: value for key, value in vars(estimator).items() if _is_fitted_name(key) and key not in _DERIVED}


def _is_fitted_name(name: str) -> bool:
    return name.endswith("_") and not name.startswith("_")


def _estimator(cls: Callable[..., MeanEstimator], parameters: Any, fitted: Any) -> MeanEstimator:
    """Make an estimator with its parameters and its fitted attributes."""
    estimator = cls(**parameters)
    if not all(_is_fitted_name(name) for name in fitted):
        raise ValueError("its estimator has attributes that are not fitted ones")
    mu = fitted.get("embedding_")
    if fitted and not (isinstance(mu, Embedding) and fitted.get("n_features_in_") == mu.shape[1]):
        raise ValueError("its estimator lacks an embedding of as many columns as it was fitted to")
    for name, value in fitted.items():
        setattr(estimator, name, value)
    if isinstance(mu, Embedding):
        estimator.embedding_ = replace(mu, names=names_in(estimator))
        estimator.kernel_, estimator.noise_ = mu.kernel, mu.noise
        if mu.features is None:
            estimator.weights_ = mu.weights
    return estimator


def _sampled(noise: Any, n_samples: Any, seed: Any) -> Sampled:
    if isinstance(n_samples, int) and n_samples > _MOST_DRAWS:
        raise ValueError(
            f"its noise asks for {n_samples:,} draws around every point, at most {_MOST_DRAWS:,} are loaded"
        )
    return Sampled(noise, n_samples, seed)


def _points(points: Any, weights: Any, noise: Any) -> PointPart:
    """Make a part from arrays that were read for it alone, without a copy."""
    return PointPart(sealed(points), sealed(weights), noise)


def _embedding(kernel: Any, parts: Any) -> Embedding:
    """Make an embedding part by part, with all checks of :func:`embed`, and evaluate it on one of its points."""
    known = (PointPart, FeaturePart)
    if not isinstance(kernel, Kernel) or not parts or not all(isinstance(part, known) for part in parts):
        raise ValueError("its embedding lacks a kernel or points")
    if not all(isinstance(noise, Noise) for part in parts for noise in part.noises):
        raise ValueError("its embedding lacks a noise")
    mu = reduce(add, (_part_alone(part, kernel) for part in parts))
    _check_fit(mu)
    return mu


def _part_alone(part: PointPart | FeaturePart, kernel: Kernel) -> Embedding:
    if isinstance(part, PointPart):
        return embed(part.points, kernel, weights=part.weights, noise=part.noise)
    if part.features.kernel != kernel:
        raise ValueError("its embedding has features of another kernel")
    return part.embedding()


def _check_fit(mu: Embedding) -> None:
    if mu.features is not None:
        for noise in mu.parts[0].noises:
            mu.features.check_noise(noise)
        return
    origin: Array = mu.points[:1]
    mu.kernel(origin, origin)
    for part in mu.point_parts:
        copy = part.noise.take(slice(0, 1)).sample(part.points[:1], np.random.default_rng(0))
        if copy.shape != origin.shape:
            raise ValueError("its noise does not fit the number of columns")
