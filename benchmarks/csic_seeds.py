"""The seeds of the data sets of "Conditional independence testing using kernelized cumulants" (CSIC).

Its authors derive the seed of a data set from what it is, so that anyone draws the same rows: the first eight bytes,
the lowest first, of the SHA-256 hash of a list in JSON. Two seeds of their archive are checked here.
"""

from __future__ import annotations

import json
from hashlib import sha256

ROOT, NAMESPACE, STRENGTH = 20261008, "confirmation_y2_v1", 8.0
ARCHIVED = {("U2", 200, 0, 0): 9203777034570763191, ("C1", 200, 2, 0): 13069698349541448673}
"""Seeds by case, number of rows, number of columns of Z and number of the data set."""


def csic_seed(case: str, n: int, d: int, number: int) -> int:
    """Return the seed of a data set; cases are U0, U1 and U2 of pairs (d = 0), and C0, C1 and C2 given d columns."""
    study = "main_conditional" if d else "main_unconditional"
    facts = [ROOT, NAMESPACE, "data", study, case, n, d, STRENGTH, number]
    return int.from_bytes(sha256(json.dumps(facts, separators=(",", ":")).encode()).digest()[:8], "little")


if any(csic_seed(*facts) != seed for facts, seed in ARCHIVED.items()):
    raise AssertionError("the seeds are not those of the archive")
