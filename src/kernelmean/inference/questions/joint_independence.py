"""Several variables over the same rows, each against all others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, final

from ...core.array import Array, as_host
from ...core.points import Names
from ...core.row_order import check_one_order_of_all
from ...core.table import as_table
from ..adaptive.candidates import Evaluated, joint_candidates
from ..adaptive.many_kernels import Adaptive
from ..designs.design import AnyDesign
from ..designs.joint import ManyVariables
from ..resampling import Resampling
from ..samples import names_of
from ..statistics import StatisticForm
from .base import OfMany, Tables
from .pairs import Pairs


@final
@dataclass(frozen=True, eq=False)
class JointIndependence(OfMany):
    """Several variables: are they jointly independent.

    Attributes
    ----------
    variables : tuple of arrays of shape (n, d_l)
        Row i of each is one observation.
    names : tuple of names
        The names of the columns of every variable, None for an array.
    design, asked
        As of :class:`Question`; the design is that the rows of all variables but the first change places.
    """

    variables: tuple[Array, ...]
    names: tuple[Names, ...]

    noun, two, test = "variables", "test two variables", "hsic_test"

    @classmethod
    def of(cls, data: Any, design: AnyDesign) -> Self:
        """Check several variables, two or more."""
        cls.refuse(design)
        check_one_order_of_all({f"variables[{position}]": table for position, table in enumerate(data)})
        tables = [as_table(table, f"variable {position}") for position, table in enumerate(data)]
        variables = tuple(table.values for table in tables)
        rows = [len(table) for table in variables]
        if len(set(rows)) > 1 or rows[0] < 2:
            raise ValueError(f"the variables have {rows} rows; all need equally many, at least two")
        names = tuple(names_of([table]) for table in tables)
        return cls(variables, names, design=ManyVariables(len(variables)))

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the number of observations."""
        return (len(self.variables[0]),)

    @property
    def tables(self) -> Tables:
        """Return the variables."""
        return self.variables

    @property
    def table_names(self) -> tuple[str, ...]:
        """Return the variables by their positions."""
        return tuple(f"variable {position}" for position in range(len(self.variables)))

    @property
    def members(self) -> int:
        """Return the number of variables."""
        return len(self.variables)

    def of_both(self) -> Pairs:
        """Return the question of the two variables."""
        (X, Y), (first, second) = self.variables, self.names
        return Pairs(X, Y, (first, second), asked=self.asked)

    def evaluated(self, adaptive: Adaptive, statistic: StatisticForm, how: Resampling) -> Evaluated:
        """Return the statistics of kernels that are the same for all variables."""
        ensemble = joint_candidates(adaptive, tuple(map(as_host, self.tables)), how.rng)
        return ensemble.evaluated(lambda tables, part, resampling: self.over(tables, part, statistic, resampling), how)
