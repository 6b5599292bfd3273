"""Data of any length in constant memory: sums over batches that merge, and tests of them in one pass."""

from typing import TYPE_CHECKING

from ...core import lazy as _lazy
from .bins import BinSums
from .mean import MeanStream
from .pilot import drawn_rows
from .two_sample import TwoSampleStream, two_sample_stream

if TYPE_CHECKING:
    from .table_features import TableFeatures
    from .table_pass import TablePass

__all__ = [
    "BinSums",
    "MeanStream",
    "TableFeatures",
    "TablePass",
    "TwoSampleStream",
    "drawn_rows",
    "two_sample_stream",
]

_lazy.attach(
    __name__,
    {"table_features": "TableFeatures", "table_pass": "TablePass"},
    gone={
        "mmd_stream_test": 'kernelmean.mmd_test(X, Y, scheme="bins")',
        "hsic_stream_test": 'kernelmean.hsic_test(X, Y, scheme="bins")',
    },
)

del TYPE_CHECKING
