"""Options of kernel mean matching of which one leaves another without effect."""

from __future__ import annotations

from inspect import signature
from typing import Any

from .._conflicts import refuse


def check_conflicts(model: Any) -> None:
    """Raise when an option was passed to a ``KernelMeanMatching`` that another one leaves without effect."""
    defaults = {name: each.default for name, each in signature(type(model)).parameters.items()}

    def refused(reason: str, *names: str) -> None:
        refuse(reason, **{name: (getattr(model, name), defaults[name]) for name in names})

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
