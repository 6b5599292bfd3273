"""How much the numbers of Tables 1 and 2 scatter over distributions, at d = 10, n = 100."""

from __future__ import annotations

import numpy as np

from .density_tasks import TARGETS, StudentT, quietly, stopped
from .experiment import Context, Finding
from .paper import ESTIMATORS
from .t_tables import FREEDOM, TEST_ROWS

ROWS, DIM = 100, 10
NLL = "nll"


def over_distributions(rng: np.random.Generator, _: Context) -> list[Finding]:
    """Measure the test NLL of the five estimators on one t-distribution, with early stopping by NLL as in the paper."""
    law = StudentT.random(DIM, float(FREEDOM), rng)
    fits = quietly(stopped, law.task(ROWS, TEST_ROWS, rng, int(rng.integers(2**31))))
    return [Finding(name, NLL, fits[target].nll) for target, name in zip(TARGETS, ESTIMATORS, strict=True)]
