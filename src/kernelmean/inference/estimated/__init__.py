"""Statistics of estimators whose weights are found again under every permutation."""
