"""Data of any length in constant memory: batches, sums that merge, and tests in one pass."""

from ...tables.batches import Batches, read_batches
from ...tables.frames import Frames, read_frames
from .bins import BinSums
from .hsic import hsic_stream_test
from .mean import MeanStream
from .mmd import mmd_stream_test
from .shifts import PairStream, pair_stream
from .two_sample import TwoSampleStream, two_sample_stream

__all__ = [
    "Batches",
    "BinSums",
    "Frames",
    "MeanStream",
    "PairStream",
    "TwoSampleStream",
    "hsic_stream_test",
    "mmd_stream_test",
    "pair_stream",
    "read_batches",
    "read_frames",
    "two_sample_stream",
]
