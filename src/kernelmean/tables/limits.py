"""How many rows a study takes without being asked for it: what lasts minutes."""

from __future__ import annotations

FIT_LIMIT, ADAPTIVE_LIMIT, TEST_LIMIT = 5000, 20_000, 100_000
"""The rows of an estimate, of an adaptive test, and of a test of one kernel."""
