"""Statistics of estimators whose weights or parameters are fitted again under every permutation."""
