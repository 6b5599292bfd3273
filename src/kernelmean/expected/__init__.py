"""Expectations of kernels under noise."""
