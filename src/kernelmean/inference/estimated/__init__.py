"""Statistics of estimators whose weights or parameters are found anew under every permutation."""
