"""Bets on ranks, and the wealth that results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, final

import numpy as np
from scipy.special import ndtri

from ...core.array import Array

_SHIFTS = np.array([0.125, 0.25, 0.5, 1.0, 2.0])
_SPREADS = np.array([0.6, 0.8, 1.25, 1.6])
_WAVES = np.repeat([3, 4, 5, 6], 4)
_HEIGHTS = np.tile([0.3, 0.8, -0.3, -0.8], 4)
N_UPWARDS = len(_SHIFTS)
"""The first bets: that values are larger than before."""
_PRIOR = np.repeat([1.0, 0.4, 0.15], [2 * len(_SHIFTS), len(_SPREADS), len(_WAVES)])
N_BETS = len(_PRIOR)
BROKE = -1e6
"""The logarithm of a wealth of practically nothing: JSON has no -inf."""


def log_gains(ranks: Array, bets: int) -> Array:
    r"""Return the log densities on [0, 1] of the first ``bets`` bets at ranks (b, K), shape (b, K, S).

    In the normal scores :math:`q = Φ^{-1}(p)`, which are N(0, 1) without drift, these are the likelihood ratios of
    N(±θ, 1) for shifts θ from 1/8 to 2 and of N(0, σ²) for four σ; then 1 + λ cos(k π p) for local changes.
    """
    normal = ndtri(ranks)[..., None]
    upwards = _SHIFTS * normal - _SHIFTS**2 / 2
    if bets <= N_UPWARDS:
        return np.asarray(upwards[..., :bets])
    spreads = -(normal**2) * (_SPREADS**-2 - 1) / 2 - np.log(_SPREADS)
    waves = np.log1p(_HEIGHTS * np.cos(np.pi * _WAVES * ranks[..., None]))
    return np.concatenate([upwards, -_SHIFTS * normal - _SHIFTS**2 / 2, spreads, waves], axis=-1)[..., :bets]


@final
@dataclass(frozen=True, eq=False)
class Wealth:
    r"""What K gamblers own, each on ranks of its own: the sum over S bets of :math:`M_t = (M_{t-1} + m_t) f(p_t)`.

    m is what is paid into a bet before row t, f a density on [0, 1]. Ranks that are uniform and independent give
    E(M_t | earlier ranks) = M_{t-1} + m_t.
    """

    log_shares: Array
    """The logarithms of what stands on every bet, shape (K, S)."""

    @classmethod
    def of(cls, money: Array, bets: int = N_BETS) -> Self:
        """Spread money, one amount for every gambler, over bets."""
        return cls(_spread(money, bets))

    def bet(self, ranks: Array, money: Array | None = None) -> tuple[Wealth, Array]:
        """Bet on ranks (b, K) one row after the other; return what is owned then, and the log wealth after each (b, K).

        ``money`` has the same shape: what the gamblers are paid before every row.
        """
        bets = self.log_shares.shape[1]
        gains = np.cumsum(log_gains(ranks, bets), axis=0)
        owned = self.log_shares[None]
        if money is not None:
            before = np.concatenate([np.zeros_like(gains[:1]), gains[:-1]])
            owned = np.logaddexp.accumulate(np.concatenate([owned, _spread(money, bets) - before]), axis=0)[1:]
        shares = np.maximum(owned + gains, BROKE)
        return Wealth(shares[-1]), log_total(shares)


def log_total(log_shares: Array) -> Array:
    """Return the logarithm of the sum over the last axis."""
    most = log_shares.max(axis=-1)
    return np.asarray(most + np.log(np.exp(log_shares - most[..., None]).sum(axis=-1)))


def _spread(money: Array, bets: int) -> Array:
    """Return the log share of every bet in amounts of any shape, shape (..., S)."""
    prior = _PRIOR[:bets] / _PRIOR[:bets].sum()
    return np.asarray(np.log(np.maximum(money, np.finfo(np.float64).tiny))[..., None] + np.log(prior))
