"""Where two tables differ.

The tables hold wines of two cultivars, with 13 measurements each. One exact test says whether the tables differ at
all. Then every column has its own test, with p-values adjusted for the 13 tests.

The pictures show where in a column the two tables differ. The curve, the *witness*, is above 0 where the first cultivar
has more wines and below 0 where the second has. If both cultivars had one distribution it would stay inside the grey
band everywhere, with probability 0.95. Ticks are the wines.

Picture: three panels for the columns proline, alcohol and color intensity. In each the curve leaves the grey
band on both sides: upwards at high values, where cultivar 0 has more wines, and downwards at low values.
"""

from sklearn.datasets import load_wine

from kernelmean.studies import plots
from kernelmean.studies.comparison import compare

wine = load_wine(as_frame=True)
first, second = (wine.data[wine.target == cultivar] for cultivar in (0, 1))

result = compare(first, second, names=("cultivar 0", "cultivar 1"))
print(result.verdict())
for column in result.columns[:4]:
    print(f"{column.name:16} gap {column.gap:+.2f} standard deviations within, adjusted p = {column.adjusted:.3f}")

names = [column.name for column in result.columns[:3]]
plots.save(plots.column_witnesses(first, second, names, names=result.names), "where_two_tables_differ.svg")
