"""How many rows a study takes without being asked for it: what lasts minutes."""

from __future__ import annotations

FIT_LIMIT, ADAPTIVE_LIMIT, TEST_LIMIT, ESTIMATE_LIMIT = 5000, 20_000, 100_000, 1_000_000
"""The rows of a density, of an adaptive test, of a test of one kernel, and of estimates by features."""
