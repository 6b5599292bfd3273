"""kernelmean describe: what every column of a table is taken for, and why. No column stops it."""

from __future__ import annotations

from ..tables.limits import ESTIMATE_LIMIT
from .options import MixedTable, OneTable, RowsOutput, Seed
from .parameters import command


@command(
    "kernelmean describe data.csv",
    "kernelmean describe data.csv --dates dmy --ordinal size=low,mid,high",
)
def describe(data: OneTable, seed: Seed, table: MixedTable, numbers: RowsOutput) -> None:
    """Show what every column of a table is taken for, why, and which option changes that.

    If compare or dependence stop at a column, this says at which one, and what
    to write. With --by, compare may stop at more columns: those that number the
    rows within a group. A table of more than a million rows is read to its end,
    and the values shown are those of a random part of its rows.
    """
    from .inputs import described, reading  # slow to import, which help can do without
    from .progress import progress

    output = numbers.output
    output.check(data.data)
    with progress(numbers.quiet) as step:
        result = described(data, table, reading(table, seed.seed, ESTIMATE_LIMIT), step)
    output.write(result.describe(), result.to_dict, result.rows)
