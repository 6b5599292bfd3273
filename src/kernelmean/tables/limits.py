"""How many rows a study takes by default, as many as take minutes, and how many categories a column may have."""

from __future__ import annotations

FIT_LIMIT, ADAPTIVE_LIMIT, TEST_LIMIT, ESTIMATE_LIMIT = 5000, 20_000, 100_000, 1_000_000
"""The rows for a density, for an adaptive test, for a test with one kernel, and for estimates by features."""
MAX_CATEGORIES = 256
"""The categories of a column that have a coordinate each; rarer ones share one."""
MOST_COUNTED = 2**16
"""The categories of a column that are counted; a column of more is refused."""
