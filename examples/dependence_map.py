"""Which columns depend on which.

Every pair of columns of the iris measurements has an exact test of independence, and a *strength*: 0 for independent
columns, at most 1. Unlike a correlation, it also sees a dependence that goes up and down again. Stars mark pairs whose
p-value, adjusted for the number of pairs, is at most 0.05.

Picture: a heat map of four columns by four columns. All pairs carry a star; petal length and petal width are the
darkest cell, sepal length and sepal width the lightest.
"""

from sklearn.datasets import load_iris

from kernelmean.studies import plots
from kernelmean.studies.dependence import dependence

result = dependence(load_iris(as_frame=True).data)
print(result.verdict())
plots.save(plots.dependence_map(result), "dependence_map.svg")
