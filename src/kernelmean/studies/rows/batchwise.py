"""Whether a study reads its tables batch by batch, and what it then cannot do."""

from __future__ import annotations

from ...inference.adaptive.many_kernels import NAMED
from ...inference.request import ESTIMATORS as PLAIN
from ...tables import limits
from ...tables.columns import Encoding

AUTO = "auto"


def row_limit(estimator: str) -> int | None:
    """Return the number of rows above which a comparison reads batch by batch; None if it always holds all rows."""
    if estimator in PLAIN:
        return limits.TEST_LIMIT
    return limits.ADAPTIVE_LIMIT if estimator in (AUTO, *NAMED) else None


def check_rules(encoding: Encoding) -> None:
    """Raise for a rule for missing cells that needs all rows in memory."""
    missing = encoding.missing
    if "noise" in ([missing] if isinstance(missing, str) else [*missing.values()]):
        raise ValueError(
            "noise in missing cells gives every row a kernel of its own, which needs all rows in memory; write "
            "missing='category' or 'drop', or hold the rows, or a part of them, in memory: "
            "kernelmean.read(..., in_memory=True)"
        )
