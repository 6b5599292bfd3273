"""How many rows a study takes by default: as many as take minutes."""

from __future__ import annotations

FIT_LIMIT, ADAPTIVE_LIMIT, TEST_LIMIT, ESTIMATE_LIMIT = 5000, 20_000, 100_000, 1_000_000
"""The rows for a density, for an adaptive test, for a test with one kernel, and for estimates by features."""
