"""Data of any length in constant memory: sums over batches that merge, and tests of them in one pass."""

from typing import TYPE_CHECKING

from ...core import lazy as _lazy
from ..one_pass import OnePass
from .bins import BinSums
from .pilot import drawn_rows
from .shifts import PairStream, pair_stream
from .two_sample import TwoSampleStream, two_sample_stream

if TYPE_CHECKING:
    from .table_features import TableFeatures
    from .table_pass import TablePass

__all__ = [
    "BinSums",
    "OnePass",
    "PairStream",
    "TableFeatures",
    "TablePass",
    "TwoSampleStream",
    "drawn_rows",
    "pair_stream",
    "two_sample_stream",
]

_lazy.attach(
    __name__,
    {"table_features": "TableFeatures", "table_pass": "TablePass"},
    gone={
        "MeanStream": "kernelmean.features.embed(X, features, moments=True), kernelmean.features.pooled, and "
        "kernelmean.MKME().fit(sums)",
        "mmd_stream_test": 'kernelmean.mmd_test(X, Y, scheme="one-pass")',
        "hsic_stream_test": 'kernelmean.hsic_test(X, Y, scheme="one-pass")',
    },
)

del TYPE_CHECKING
