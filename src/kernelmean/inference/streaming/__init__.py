"""A kernel mean in constant memory, fitted batch by batch."""

from ...core import lazy as _lazy
from .mean import MeanStream

__all__ = ["MeanStream"]

_lazy.attach(
    __name__,
    {},
    gone={
        "BinSums": 'kernelmean.mmd_test(X, Y, scheme="bins")',
        "TableFeatures": "kernelmean.compare(A, B)",
        "TablePass": "kernelmean.compare(A, B)",
        "TwoSampleStream": 'kernelmean.mmd_test(X, Y, scheme="bins")',
        "drawn_rows": 'kernelmean.mmd_test(X, Y, scheme="bins")',
        "hsic_stream_test": 'kernelmean.hsic_test(X, Y, scheme="bins")',
        "mmd_stream_test": 'kernelmean.mmd_test(X, Y, scheme="bins")',
        "two_sample_stream": 'kernelmean.mmd_test(X, Y, scheme="bins")',
    },
)
