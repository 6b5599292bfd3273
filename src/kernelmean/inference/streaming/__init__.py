"""Data of any length in constant memory: sums over batches that merge, and tests of them in one pass."""

from ...core import lazy as _lazy
from ..one_pass import OnePass
from .bins import BinSums
from .mean import MeanStream
from .shifts import PairStream, pair_stream
from .two_sample import TwoSampleStream, two_sample_stream

__all__ = [
    "BinSums",
    "MeanStream",
    "OnePass",
    "PairStream",
    "TwoSampleStream",
    "pair_stream",
    "two_sample_stream",
]

_lazy.attach(
    __name__,
    gone={
        "mmd_stream_test": 'kernelmean.mmd_test(X, Y, scheme="one-pass")',
        "hsic_stream_test": 'kernelmean.hsic_test(X, Y, scheme="one-pass")',
    },
)
