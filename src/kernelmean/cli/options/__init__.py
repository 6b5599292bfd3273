"""The options of the commands, each once: its type, its default, what help says of it, and what its text means.

A command takes some of these values; the parser sees their fields, in the order of `parameters.takes_options`.
"""

from .outputs import JsonOutput, Quiet, ReportOutput, RowsOutput
from .tables import SOURCE, BatchTable, MixedTable, NumberTable, TwoTables
from .tests import AUTO, BandwidthOption, LongTables, PairTest, Scale, Seed, TwoSampleTest

__all__ = [
    "AUTO",
    "SOURCE",
    "BandwidthOption",
    "BatchTable",
    "JsonOutput",
    "LongTables",
    "MixedTable",
    "NumberTable",
    "PairTest",
    "Quiet",
    "ReportOutput",
    "RowsOutput",
    "Scale",
    "Seed",
    "TwoSampleTest",
    "TwoTables",
]
