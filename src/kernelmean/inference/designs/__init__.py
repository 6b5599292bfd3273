"""Designs: strata, clusters, weights, pairs, several samples, several variables, and dependent rows."""
