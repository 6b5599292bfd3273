"""The verbs of a result: how large a difference is, where it lies, and which rows and columns it comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.array import RngLike
from ..plan.plan import DEFAULT, Plan

if TYPE_CHECKING:
    from .explain import (
        Attribution,
        Contributions,
        DependenceSize,
        EffectSize,
        EquivalenceResult,
        JointWitness,
        Witness,
        WitnessBands,
    )
    from .explain.subjects import Subject
    from .statistics import StatisticForm


class Explained:
    """What a result can say about the rows that were tested, with the kernel of its test.

    A test of many kernels has no kernel of its own. It is explained with one reference kernel: a Gaussian whose
    bandwidth is the median distance of the rows, with columns in units of their spread. The outcome names the kernel.

    With strata, clusters or weights, or in pairs, everything is about what the test compares: weighted means, or
    weighted covariances, within strata. p-values and bands come from the permutations of the design, and intervals
    from its units.
    """

    question: Any
    kernel: Any

    def effect_size(
        self, *, level: float = 0.95, n_resamples: int = 999, rng: RngLike = None, plan: Plan = DEFAULT
    ) -> EffectSize | DependenceSize:
        r"""Return the size of the difference of two samples, or of a dependence, with confidence intervals.

        The intervals invert tests of every possible distance, by one simulation of the fluctuations of the feature
        means (:mod:`kernelmean.inference.explain.fluctuation`). They hold when the distributions are equal, nearly
        equal, or far apart.

        Parameters
        ----------
        level : float
            The confidence level of each interval on its own, with half of the rest on either side.
        n_resamples : int
            Gaussian multiplier draws, at least 99.
        rng : int, Generator, or None
            The seed.
        plan : Plan

        Returns
        -------
        EffectSize or DependenceSize

        Raises
        ------
        ValueError
            When the result holds no data, or is not of two samples or variables, or is of series; a sample has fewer
            than three rows, clusters or pairs, or there are fewer than four pairs of variables; strata are too small;
            nothing varies; or the level is not in (0, 1).

        Notes
        -----
        A distance depends on its kernel: to compare sizes between data sets, pass the test a fixed bandwidth. The
        intervals take the kernel as given.
        For equal distributions the interval is exact: it covers with a probability of at least 1 - (1 - level)/2 for
        all n and m, since it begins above 0 only where the permutation test rejects at (1 - level)/2. Otherwise, and
        for dependence, it is asymptotic; ``docs/explain.md`` has the measured coverage. Every sample borrows three rows
        of the other, for values that it may have missed. ``standard_error``² = 4 (⟨D, CD⟩ - tr C²)₊ + 2 tr C², C the
        covariance of μ̂_X - μ̂_Y, tr C² unbiased from centered Gram matrices. The first term is the variance of Gretton
        et al. (2012), corollary 16, for different distributions, the second that of theorem 12 for equal ones;
        Sutherland et al. (2017) keep both. Alignments are normalised as by Cortes et al. (2012), eq. (2), with unbiased
        estimates as by Székely & Rizzo (2014).
        With a design units are drawn instead of rows: clusters, pairs, or rows with their weights, in every stratum on
        its own. Where a stratum of a sample has a single unit, ten or more strata are the units.
        O(n² n_resamples) time for n rows in all, O(n r n_resamples) where the Gram matrix has rank r; memory
        O(n batch).

        Examples
        --------
        >>> import kernelmean as km
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> X, Y = rng.normal(size=(80, 1)), rng.normal(1.0, size=(60, 1))
        >>> size = km.mmd_test(X, Y, kernel=km.kernels.Gaussian(1.0), rng=0).effect_size(rng=0)
        >>> size.distance.low < 0.42 < size.distance.high  # the exact MMD is 0.421
        True
        """
        from .explain import effect_size

        return effect_size(self._subject(plan), level=level, n_resamples=n_resamples, rng=rng)

    def equivalence(
        self,
        margin: float,
        *,
        unit: str = "distance",
        method: str = "simulated",
        level: float = 0.95,
        n_resamples: int = 999,
        rng: RngLike = None,
        plan: Plan = DEFAULT,
    ) -> EquivalenceResult:
        r"""Test the hypothesis MMD ≥ margin against MMD < margin, or the same for √HSIC.

        The p-value is the share of the simulated fluctuations, the observed one counted, under which a true distance of
        ``margin`` gives an estimate no larger than the observed one. With ``method="bound"`` it is a bound that holds
        for all distributions and sizes.

        Parameters
        ----------
        margin : float
            The largest difference, or dependence, that does not matter. It depends on the kernel: fix the bandwidth of
            the test before you see the data.
        unit : {"distance", "explained", "alignment"}
            What the margin is: "distance", an MMD or √HSIC; "explained", for two samples, a share of the feature
            variance as in :class:`~kernelmean.inference.explain.EffectSize`; "alignment", for two variables, an
            alignment.
        method : {"simulated", "bound"}
            "bound" is for two samples without a design, and needs far more rows, a kernel with 0 ≤ k(x, y) ≤ k(0) and
            unit "distance".
        level : float
            1 - α.
        n_resamples, rng, plan
            As in :meth:`effect_size`.

        Returns
        -------
        EquivalenceResult

        Raises
        ------
        ValueError
            As :meth:`effect_size`; when the margin is not positive, or exceeds every possible distance; or when a bound
            is needed (you asked for it, or all rows are equal) and the kernel or the unit has none.

        Notes
        -----
        "simulated" is asymptotic, with the simulation and the cost of :meth:`effect_size`; its level at the margin is
        measured in ``docs/explain.md``. If all rows of both samples are equal, there is nothing to simulate: the bound
        is used instead, and ``method`` says so. Few rows cannot show equivalence: p is then large even for equal
        samples.
        "bound" is exact for every n and m, and conservative: with K = k(0) and c = 1/n + 1/m,
        :math:`P(|\mathrm{MMD} - \widehat{\mathrm{MMD}}_V| > \sqrt{Kc} + t) ≤ \exp(-t^2 / (Kc))` by McDiarmid's
        inequality, since one row of n moves the difference of means by at most √(2K)/n (after Gretton et al. 2012,
        theorem 7).

        Examples
        --------
        >>> import kernelmean as km
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> X, Y = rng.normal(size=(400, 1)), rng.normal(size=(300, 1))
        >>> km.mmd_test(X, Y, kernel=km.kernels.Gaussian(1.0), rng=0).equivalence(0.25, rng=0).equivalent
        True
        """
        from .explain import Hypothesis, equivalence

        hypothesis = Hypothesis(margin, unit, level)
        return equivalence(self._subject(plan), hypothesis, method=method, n_resamples=n_resamples, rng=rng)

    def witness(
        self,
        points: Any = None,
        *,
        level: float = 0.95,
        n_resamples: int = 999,
        rng: RngLike = None,
        plan: Plan = DEFAULT,
    ) -> Witness | JointWitness | WitnessBands:
        """Return the function that best separates the samples, or pairs from independent ones; or bands at points.

        Parameters
        ----------
        points : array of shape (p, d), optional
            For two samples: where to evaluate the difference of the means, with simultaneous permutation bands. The
            points must not depend on which row is in which sample; you may pass the pooled rows.
        level : float
            1 - α: when the distributions are equal, the difference stays inside the band at all points with at least
            this probability, exactly.
        n_resamples, rng
            For the bands: all permutations if there are at most n_resamples + 1. n_resamples must be at least 99.
        plan : Plan

        Returns
        -------
        Witness or JointWitness
            A function of points, or of pairs of points.
        WitnessBands
            Where points were passed.

        Raises
        ------
        ValueError
            When the result holds no data, or is not of two samples or variables, or is of series; the means are equal,
            or a variable is constant; points have other columns; or you ask for bands with two variables.

        Notes
        -----
        The function is the difference of the means of the test's estimator, with its weights and noise. Bands are for
        plain means under the kernel of the test, which contains a noise twice. A point outside the bands shows that the
        distributions differ. That they differ at this very point is an interpretation, not a theorem: the witness is a
        smoothed difference of densities. O(n² d) time once, and O(n d) per point; O(p n n_resamples) with bands.
        Gretton et al. (2012), section 2.3; Gretton et al. (2005), section 3.

        Examples
        --------
        >>> import kernelmean as km
        >>> result = km.mmd_test([[0.0], [0.5]], [[3.0], [3.5]], kernel=km.kernels.Gaussian(1.0))
        >>> result.witness()([[0.0], [3.0]]).round(2)
        array([ 0.69, -0.67])
        """
        from .explain import PairSubject, joint_witness, subject_of, witness, witness_bands
        from .explain.subjects import check_columns, check_explained

        check_columns(check_explained(self.question), self.kernel)
        subject = subject_of(self, plan, weighted=points is None)
        if isinstance(subject, PairSubject):
            if points is None:
                return joint_witness(subject)
            raise ValueError("bands are for two samples; for two variables call witness()(X, Y) at pairs of points")
        if points is None:
            return witness(*subject.means)
        return witness_bands(subject, points, level=level, n_resamples=n_resamples, rng=rng)

    def contributions(self, statistic: StatisticForm | None = None, *, plan: Plan = DEFAULT) -> Contributions:
        r"""Return what every observation adds to MMD², :math:`f(x_i)/n` and :math:`-f(y_j)/m`, or to HSIC.

        f = μ_X - μ_Y is the witness, and :math:`\mathrm{MMD}^2 = \overline{f(x)} - \overline{f(y)}`. For the unbiased
        statistic the witness at an observation comes from all the others: its own term is left out of its own mean. A
        pair adds :math:`n^{-2} \sum_j \bar K_{ij} \bar Z_{ij}` to HSIC, the cross-covariance operator at its centered
        features; "u" replaces the centered matrices by the U-centered ones and n² by n(n-3).

        Parameters
        ----------
        statistic : {"u", "v"}, optional
            The unbiased statistic, the default for two samples without a design, or the V-statistic, the default
            otherwise.
        plan : Plan

        Returns
        -------
        Contributions

        Raises
        ------
        ValueError
            When the result holds no data, or is not of two samples or variables, or is of series, or there are too few
            rows for the statistic, or you ask for the unbiased one of a design.

        Notes
        -----
        O(n² d) time for n rows in all, O(block²) memory. Gretton et al. (2012), eq. (3), (5) and section 2.3; Gretton
        et al. (2005), eq. (9), with n² for (n - 1)²; Song et al. (2012), eq. (5), in the form of Székely & Rizzo
        (2014).

        Examples
        --------
        >>> import kernelmean as km
        >>> result = km.mmd_test([[0.0], [0.1], [2.0]], [[2.1], [1.9]], kernel=km.kernels.Gaussian(0.5))
        >>> found = result.contributions()
        >>> found.values.round(2)
        array([ 0.16,  0.16, -0.33,  0.3 ,  0.3 ])
        >>> bool(abs(found.values.sum() - result.statistic) < 1e-12)
        True
        """
        from .explain import SampleSubject, contributions

        subject = self._subject(plan)
        usual: StatisticForm = "u" if isinstance(subject, SampleSubject) else "v"
        return contributions(subject, usual if statistic is None else statistic)

    def attribute(
        self,
        *,
        kernel: Any = None,
        estimator: Any = None,
        adjustment: str = "max-t",
        names: Any = None,
        groups: Any = None,
        n_resamples: int = 999,
        rng: RngLike = None,
        scheme: str = "auto",
        plan: Plan = DEFAULT,
    ) -> Attribution:
        r"""Test every column, or every pair of columns, on its own, with p-values that hold for all together.

        All columns share the same permutations. Their statistics become approximate p-values, each from its mean,
        standard deviation and skewness over the permutations; the step-down max-T method of Westfall & Young adjusts
        these.

        Parameters
        ----------
        kernel : str, class or Kernel, or a tuple of two, optional
            A family (by default Gaussian) or a kernel with a rule for its bandwidth: every column gets its own
            bandwidth, with θ in standard deviations of the column, and for ``drop`` all columns are divided by their
            standard deviations. Or a fixed kernel in the units of the data, which must take one column; if it has one
            bandwidth per axis, each column gets its own. For two variables a tuple has the kernel of X and that of Y.
        estimator : str, KernelMean or callable, or a tuple of two, optional
            "kme"; or "mkme", "mmkme" or a KernelMean without filter, whose noise is fitted to each column.
        adjustment : {"max-t", "holm"}
            "holm" (1979) needs no assumption, but n_resamples of at least 20 d at level 0.05.
        names : sequence of str, or a tuple of two, optional
            The columns; by default those of the data frame.
        groups : dict from str to sequence of int, or a tuple of two, optional
            Columns that span several coordinates, as in ``TableEncoder.groups_``. Each is tested as a whole, with a
            kernel on its block, and named once. Every coordinate must be in exactly one block.
        n_resamples, rng, scheme
            As in :func:`kernelmean.mmd_test`.
        plan : Plan

        Returns
        -------
        Attribution
            For two variables its columns are pairs of names.

        Raises
        ------
        ValueError
            When the result holds no data, or is not of two samples or variables, or is of series, or there are too few
            rows.

        Notes
        -----
        When no column differs, and none jointly with another, P(any adjusted p ≤ α) ≤ α exactly, for every n and m.
        When some differ, the same holds for wrongly named columns, provided that the columns that do not differ one by
        one do not differ jointly either (subset pivotality). It does not cover samples in which columns have equal
        distributions but depend on each other differently; "holm" does. For pairs it holds exactly when X and Y are
        independent. When some pairs depend on each other, it holds for wrongly named ones if X and Y are jointly
        independent once the columns of the dependent pairs are left out. Ties count, p is never 0. Constant columns
        have p = 1. Swapping X and Y changes nothing, nor does shifting or rescaling a column, except for rounding.
        The cost is d tests of one column and O(n² d) time for the drops (with groups, for the drop of each group); for
        two variables, d e tests of pairs. Westfall & Young (1993), algorithm 4.1.

        Examples
        --------
        >>> import kernelmean as km
        >>> import numpy as np
        >>> rng = np.random.default_rng(1)
        >>> X, Y = rng.normal(size=(40, 3)), rng.normal([0.0, 1.5, 0.0], size=(60, 3))
        >>> km.mmd_test(X, Y, rng=0).attribute(rng=0).differing()
        ('x1',)
        """
        from .explain import ColumnTests, attribute
        from .explain.subjects import check_columns, check_explained
        from .permutations import check_scheme
        from .request import ESTIMATORS, asked
        from .resampling import Resampling

        check_scheme(scheme)
        question = check_columns(check_explained(self.question), self.kernel)
        estimators = asked(kernel, estimator, ESTIMATORS, len(question.table_names), adaptive=False)
        how = Resampling.of(scheme, n_resamples, rng, plan)
        return attribute(question, ColumnTests(estimators.sides, adjustment, how, plan), names, groups)

    def _subject(self, plan: Plan) -> Subject:
        from .explain import subject_of

        return subject_of(self, plan)
