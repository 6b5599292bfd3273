"""Sums over permutations of pairs: rotations on factors, on tiles and in stripes of any number of rows; and lists."""
