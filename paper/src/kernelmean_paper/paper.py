"""The paper's names of estimators, its two readings of the bandwidth, and its printed numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from kernelmean import KME, MKME, MMKME, KernelMean
from kernelmean.estimators import FKMSE, SKMSE

ESTIMATORS: Mapping[str, Callable[..., KernelMean]] = MappingProxyType(
    {"KME": KME, "S-KMSE": SKMSE, "F-KMSE": FKMSE, "MKME": MKME, "MMKME": MMKME}
)
"""The five estimators by the paper's names, in its order."""

BASELINES = ("KME", "S-KMSE", "F-KMSE")
"""The paper's baselines."""

BANDWIDTHS: Mapping[str, str] = MappingProxyType(
    {"median": "θ² = median of squared distances", "median-unsquared": "θ² = median of distances"}
)
"""The rule that the paper prints, and the one that matches the published curves of Muandet et al. (2014)."""


@dataclass(frozen=True)
class PrintedTable:
    """Numbers as the paper prints them, by row and estimator, and what it prints in bold.

    Examples
    --------
    >>> table = PrintedTable.read("0.05 0.10  .07 .06 .075 .06 *.1")
    >>> table.values["0.05 0.10"]["S-KMSE"], sorted(table.bold["0.05 0.10"])
    (0.06, ['MMKME'])
    """

    values: Mapping[str, Mapping[str, float]]
    bold: Mapping[str, frozenset[str]]

    @classmethod
    def read(cls, text: str) -> PrintedTable:
        """Return the table from lines with a key and one number per estimator; bold ones begin with a star."""
        values, bold = {}, {}
        for line in text.strip().splitlines():
            words = line.split()
            key, cells = " ".join(words[: -len(ESTIMATORS)]), words[-len(ESTIMATORS) :]
            values[key] = {name: float(cell.lstrip("*")) for name, cell in zip(ESTIMATORS, cells, strict=True)}
            bold[key] = frozenset(name for name, cell in zip(ESTIMATORS, cells, strict=True) if cell[0] == "*")
        return cls(MappingProxyType(values), MappingProxyType(bold))


TABLE1 = PrintedTable.read("""
5 7.9538 7.8613 8.2966 7.8204 *7.6027
6 9.1763 9.2631 9.3052 9.0218 *9.0133
7 11.3587 11.2612 11.3377 *11.0209 11.1506
8 14.0386 13.2274 13.2631 13.2302 *13.0608
9 14.1509 14.0739 14.3102 14.0137 *14.0102
10 16.0481 15.8311 15.0027 15.0543 *14.9256
""")
"""Test NLL on t-distributions, n = 100, by dimension d."""


TABLE2 = PrintedTable.read("""
15 36.1393 19.8977 *16.2368 17.2840 17.5206
30 19.3506 17.2619 16.0031 15.4565 *15.4375
60 16.8827 15.1718 14.8837 14.4377 *14.3526
90 14.9235 14.9216 14.6258 *14.4310 14.5587
120 14.4762 14.1780 14.2349 14.0212 *14.0138
150 14.5205 14.0224 14.0583 *13.8726 13.9737
""")
"""The same, d = 10, by sample size n."""


TABLE3 = PrintedTable.read("""
wine 15.8832 15.6951 15.2647 15.2105 *15.0128
glass 9.3762 *9.3493 9.8883 9.5733 *9.3488
bodyfat 27.4102 27.2059 27.9233 *26.9305 26.9582
svmguide2 27.3456 28.4625 27.2999 26.9327 *26.8865
ionosphere 33.2007 32.5539 32.5544 32.5503 *32.4799
housing 15.7106 17.4248 11.2465 *10.6317 12.3365
sonar 77.6716 74.7398 76.0413 74.0239 *73.8970
specft 52.6763 49.6952 *49.6642 49.7394 49.8805
bupa 6.7521 6.7382 6.7520 6.4515 *6.2730
lymphography 42.5804 46.8639 34.2432 27.1871 *26.0653
primary 35.8407 33.1766 34.6557 *26.9263 28.6515
flag 37.7335 37.3129 14.1088 *13.5311 14.8627
hayes 6.7454 5.9180 6.1711 *5.6200 5.8683
wbdc 32.3002 27.1686 27.1380 27.1122 *26.6011
australian 5.5765 5.3334 5.2259 5.3703 *5.2407
""")
"""Test NLL by data set."""


TABLE4 = PrintedTable.read("""
0.05 0.10 0.070 0.060 0.075 0.060 *0.100
0.05 0.15 0.045 0.065 0.045 0.065 *0.240
0.05 0.20 0.035 0.105 0.009 0.035 *0.485
0.05 0.25 0.170 0.460 0.175 0.015 *0.715
0.05 0.30 0.070 0.370 0.355 0.007 *0.880
0.10 0.10 0.095 0.095 0.095 0.065 *0.175
0.10 0.15 0.095 0.120 0.125 0.095 *0.380
0.10 0.20 0.075 0.220 0.245 0.075 *0.610
0.10 0.25 0.070 0.460 0.460 0.070 *0.775
0.10 0.30 0.160 0.665 0.635 0.160 *0.915
0.15 0.10 0.125 0.150 0.140 0.100 *0.320
0.15 0.15 0.130 0.180 0.190 0.135 *0.455
0.15 0.20 0.120 0.345 0.375 0.120 *0.695
0.15 0.25 0.185 0.650 0.655 0.185 *0.835
0.15 0.30 0.320 0.835 0.805 0.320 *0.940
""")
"""Power of HSIC on Eckerle4, by level α and share η: '0.05 0.10'."""
