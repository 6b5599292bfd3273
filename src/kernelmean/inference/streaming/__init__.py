"""Data of any length in constant memory: batches, sums that merge, and tests in one pass."""

from .bins import BinSums
from .hsic import hsic_stream_test
from .mean import MeanStream
from .mmd import mmd_stream_test
from .shifts import PairStream, pair_stream
from .two_sample import TwoSampleStream, two_sample_stream

__all__ = [
    "BinSums",
    "MeanStream",
    "PairStream",
    "TwoSampleStream",
    "hsic_stream_test",
    "mmd_stream_test",
    "pair_stream",
    "two_sample_stream",
]
