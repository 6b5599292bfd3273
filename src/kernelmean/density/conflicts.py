"""Options of kernel mean matching of which one leaves another without effect."""

from __future__ import annotations

from inspect import signature
from typing import Any

from ..core.words import refuse


def check_conflicts(model: Any) -> None:
    """Raise when an option was passed to a ``KernelMeanMatching`` that another one leaves without effect."""

    def refused(reason: str, *names: str) -> None:
        _refuse(model, reason, *names)

    if model.kernel is not None:
        refused(f"kernel={model.kernel!r} has its bandwidth already", "bandwidth", "bandwidth_factors")
    if not (isinstance(model.bandwidth, str) and model.bandwidth == "validation"):
        refused(f"bandwidth={model.bandwidth!r} is not searched", "bandwidth_factors")
    if model.prototypes is not None:
        refused(
            "prototypes= brings the start", "n_components", "pooling", "pool_over", "ridge", "kmeans_n_init", "n_init"
        )
    if model.update == "weights":
        reason = "update='weights' solves for the weights in one step"
        refused(reason, "early_stopping", "n_iter_no_change", "max_iter", "tol")
    if model.update == "all" and not model.early_stopping:
        refused("early_stopping=False stops at max_iter or tol only", "n_iter_no_change")


def check_embedding_conflicts(model: Any, held_out: bool) -> None:
    """Raise when an option was passed that a fit to an embedding, with rows ``held_out`` or none, has no use for."""
    _refuse(model, "the embedding brings its kernel and its estimate", "estimator", "kernel")
    _refuse(model, "the embedding brings its kernel", "bandwidth", "bandwidth_factors")
    _refuse(model, "no row of an embedding is held out, X_val= has such rows", "validation_fraction")
    if not held_out:
        _refuse(model, "without X_val= a joint fit is not stopped early", "n_iter_no_change")


def _refuse(model: Any, reason: str, *names: str) -> None:
    defaults = {name: each.default for name, each in signature(type(model)).parameters.items()}
    refuse(reason, **{name: (getattr(model, name), defaults[name]) for name in names})
