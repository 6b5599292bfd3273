"""Which calls are recorded, by name: each is a function that returns numbers and short texts under names."""

from __future__ import annotations

import inspect
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

Values = dict[str, Any]
"""From the name of a value to a number, a list of numbers, a text, or None."""


@dataclass(frozen=True)
class Call:
    """One recorded call.

    Attributes
    ----------
    name : str
        ``group/what/variant``.
    function : callable
        Takes ``folder``, an empty folder, or ``client``, of two Dask processes, where it has such a parameter.
    needs : tuple of str
        Modules that may be missing, in which case the call is skipped.
    wider : dict
        From the name of a value to a relative tolerance and why the usual one is too narrow; "*" stands for all but
        p-values and leave-one-out scores, which are flat where a search ends.
    """

    name: str
    function: Callable[..., Values]
    needs: tuple[str, ...] = ()
    wider: Mapping[str, tuple[float, str]] = field(default_factory=dict)

    @property
    def missing(self) -> list[str]:
        """The modules that this call needs and that are not installed."""
        return [module for module in self.needs if find_spec(module) is None]

    @property
    def on_cluster(self) -> bool:
        """Whether this call asks for two processes."""
        return "client" in inspect.signature(self.function).parameters

    def run(self, folder: Path, client: Callable[[], Any]) -> Values:
        """Return the numbers of this call today."""
        there: dict[str, Callable[[], Any]] = {"folder": lambda: folder, "client": client}
        wanted = inspect.signature(self.function).parameters
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings are the business of other tests
            return self.function(**{name: make() for name, make in there.items() if name in wanted})


CALLS: dict[str, Call] = {}
Wider = Mapping[str, tuple[float, str]]

SEARCHED: Wider = {
    "*": (1e-5, "parameters are where an optimiser ends, which differs by versions of SciPy and of BLAS")
}
SMALL_EIGENVALUES: Wider = {
    "*": (1e-8, "members with a small λ divide by small eigenvalues, whose last digits differ by processors")
}
_SEARCHING = ("f-kmse", "fcose", "mmkme", "vpmkme", "tied", "contraction", "of a laplacian", "of a matern", "of a poly")
_GIVEN = ("given strength", "s-kmse of a laplacian")


def where_searched(estimator: str = "", **_: str) -> Wider:
    """Return wider tolerances for the estimators whose parameters an optimiser finds; others are found to the end."""
    searching = any(word in estimator for word in _SEARCHING) and not any(word in estimator for word in _GIVEN)
    return SEARCHED if searching else {}


def recorded(
    name: str,
    *,
    needs: Iterable[str] = (),
    wider: Wider | Callable[..., Wider] | None = None,
    **choices: Iterable[Any] | Mapping[str, Any],
) -> Callable[[Callable[..., Values]], Callable[..., Values]]:
    """Register a function under a name; with ``choices``, once for each combination of them.

    ``@recorded("mmd/{scheme}", scheme=["random", "auto"])`` makes two calls with ``scheme=`` filled in; a choice
    that is a dict from labels to values shows its labels in the name and passes its values. ``wider`` may be a function
    of the labels.
    """
    labeled = [
        [(key, label, value) for label, value in (of.items() if isinstance(of, Mapping) else zip(of, of, strict=True))]
        for key, of in ((key, of if isinstance(of, Mapping) else list(of)) for key, of in choices.items())
    ]

    def register(function: Callable[..., Values]) -> Callable[..., Values]:
        for chosen in product(*labeled):
            labels = {key: str(label) for key, label, _ in chosen}
            full = name.format(**labels)
            if full in CALLS:
                raise ValueError(f"two calls are named {full!r}")
            filled = _without(function, {key: value for key, _, value in chosen})
            tolerances = wider(**labels) if callable(wider) else wider or {}
            CALLS[full] = Call(full, filled, tuple(needs), dict(tolerances))
        return function

    return register


def _without(function: Callable[..., Values], given: Mapping[str, Any]) -> Callable[..., Values]:
    """Return the function with arguments filled in, and without them in its signature."""
    filled = partial(function, **given)
    signature = inspect.signature(function)
    rest = [parameter for key, parameter in signature.parameters.items() if key not in given]
    filled.__signature__ = signature.replace(parameters=rest)  # type: ignore[attr-defined]
    return filled


@contextmanager
def two_processes() -> Iterator[Any]:
    """A Dask client of two processes with a thread each."""
    import distributed

    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with (
        tempfile.TemporaryDirectory() as scratch,
        warnings.catch_warnings(),
        distributed.LocalCluster(**options, local_directory=scratch) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client
