"""Statistics of estimators whose weights or parameters are found again under every permutation."""
