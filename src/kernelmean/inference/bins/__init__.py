"""Tests of any number of rows: features of all of them are added up in bins, and permutations exchange the bins."""
