"""The options that several commands share: their types, defaults, help, and what their texts mean.

A command takes some of these values, and the parser sees their fields in the order of `parameters.takes_options`.
"""

from .outputs import Quiet, ReportOutput, RowsOutput
from .tables import (
    SOURCE,
    BatchTable,
    GivenOption,
    MixedTable,
    NumberTable,
    OneTable,
    TwoTables,
    level_orders,
    margins_from,
    missing_rule,
    option_words,
    split_names,
)
from .testing import (
    AUTO,
    BandwidthOption,
    Cluster,
    PairTest,
    Resamples,
    RowsOfOne,
    RowsOfTwo,
    ScaleOption,
    Seed,
    Threads,
    TwoSampleTest,
    bandwidth_from,
)
from .watched import Watched

__all__ = [
    "AUTO",
    "SOURCE",
    "BandwidthOption",
    "BatchTable",
    "Cluster",
    "GivenOption",
    "MixedTable",
    "NumberTable",
    "OneTable",
    "PairTest",
    "Quiet",
    "ReportOutput",
    "Resamples",
    "RowsOfOne",
    "RowsOfTwo",
    "RowsOutput",
    "ScaleOption",
    "Seed",
    "Threads",
    "TwoSampleTest",
    "TwoTables",
    "Watched",
    "bandwidth_from",
    "level_orders",
    "margins_from",
    "missing_rule",
    "option_words",
    "split_names",
]
