"""Wealth of a gambler who bets against the null hypothesis: an e-process, by a mixture of strategies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, final

import numpy as np
from scipy.special import logsumexp

from ...core.array import Array

BETS = (0.0, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 0.95)
_CASH = 0.2  # of the prior on not betting
_SWITCHING = 0.5


@final
@dataclass(eq=False)
class Wealth:
    r"""The wealth :math:`K_t = \sum_s π_s \prod_{i≤t} (1 + λ_{s,i} u_{s,i})` of a mixture of strategies s.

    A strategy bets the share λ ∈ [0, 1) of what it has on payoffs u ∈ [-1, 1]. Where every payoff has conditional
    expectation zero given the past, K is a non-negative martingale that starts at 1, so that P(sup K ≥ 1/α) ≤ α.
    """

    log_shares: Array
    """The logarithms of what the strategies have: w witnesses, each with the bets ``BETS``, shape (w, 6)."""
    log_peak: float = 0.0
    """The logarithm of the largest wealth so far, 0 at the start."""

    @classmethod
    def start(cls, n_witnesses: int) -> Self:
        """Return a wealth of 1, dealt to the strategies."""
        return cls(_log_prior(n_witnesses))

    @property
    def log(self) -> float:
        """The logarithm of the wealth now."""
        return float(logsumexp(self.log_shares))

    def bet(self, payoffs: Array) -> Array:
        """Bet on payoffs (m, w) in [-1, 1], one row after the other; return the log wealth after each, shape (m,)."""
        gains = np.cumsum(np.log1p(payoffs[:, :, None] * np.array(BETS)), axis=0)
        path = logsumexp(self.log_shares + gains, axis=(1, 2))
        self.log_shares = self.log_shares + gains[-1]
        self.log_peak = max(self.log_peak, float(path.max()))
        return np.asarray(path)

    def switch(self, share: float) -> None:
        """Deal a share of the wealth anew by the prior: a strategy that failed before a drift may win after it.

        The sum does not change. Fixed share, Herbster & Warmuth (1998); with a share of κ Δt/t a change at time t costs
        a factor of the order of t.
        """
        rho = min(_SWITCHING * share, 0.5)
        anew = _log_prior(len(self.log_shares)) + np.log(rho) + self.log
        self.log_shares = np.logaddexp(self.log_shares + np.log1p(-rho), anew)


def _log_prior(n_witnesses: int) -> Array:
    """Return the logarithms of the prior, shape (w, 6)."""
    bets = len(BETS) - 1
    prior = np.array([_CASH, *[(1.0 - _CASH) / bets] * bets]) / n_witnesses
    return np.tile(np.log(prior), (n_witnesses, 1))
