"""The paper's tables are copied without a slip: as many rows and bold numbers as printed, and their sums."""

from __future__ import annotations

import pytest

from kernelmean_paper import paper

TABLES = {
    "table1": (paper.TABLE1, 6, 6, 355.6844),
    "table2": (paper.TABLE2, 6, 6, 481.1487),
    "table3": (paper.TABLE3, 15, 16, 1940.7722),
    "table4": (paper.TABLE4, 15, 15, 20.956),
}


@pytest.mark.parametrize("name", TABLES)
def test_rows_bold_numbers_and_sums(name: str) -> None:
    table, rows, bold, total = TABLES[name]
    assert len(table.values) == rows
    assert sum(map(len, table.bold.values())) == bold
    assert sum(sum(row.values()) for row in table.values.values()) == pytest.approx(total, abs=1e-9)
