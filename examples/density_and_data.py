"""A density beside its data.

Is the mixture that was fitted a good picture of the table? Its marginals show it: of each column beside a histogram,
and of each pair of columns as lines of equal density, inside which are 25, 50, 75 and 95 % of the rows.

Picture: three rows and three columns of panels, of three measurements of iris flowers. On the diagonal histograms with
a curve over each, that of petal length with two separate hills; beside it clouds of points with closed lines around
them, in two separate groups wherever petals are measured.
"""

from sklearn.datasets import load_iris

from kernelmean.studies import plots
from kernelmean.studies.density import fit_densities

rows = load_iris(as_frame=True).data.iloc[:, :3]
result = fit_densities(rows, estimator="mkme", n_components=[4], covariance_type="full")
for candidate in result.candidates:
    print(f"{candidate.name:22}{candidate.loss:.2f} nats a row")
plots.save(result.plot(), "density_and_data.svg")
