"""Many kernels under the same permutations, combined: which kernels, on which data, by which rule."""
