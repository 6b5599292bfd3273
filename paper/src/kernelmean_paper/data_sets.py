"""The data sets of the paper: column names, the checksum of the table as CSV, and where to find the original."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import final

from .originals import Convert, delimited, libsvm

_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"
_STATLIB = "http://lib.stat.cmu.edu/datasets"


@final
@dataclass(frozen=True)
class Home:
    """Where to find the files of a data set, and how they become its table."""

    urls: tuple[str, ...]
    convert: Convert


@final
@dataclass(frozen=True)
class DataSet:
    """A table of numbers: cells separated by commas, one header line, blank if missing, no trailing zeros."""

    columns: tuple[str, ...]
    sha256: str
    homes: tuple[Home, ...]


def _named(text: str) -> tuple[str, ...]:
    """Return names from text, with the target as the last column."""
    return (*text.split(), "target")


def _numbered(prefix: str, count: int, width: int = 0) -> tuple[str, ...]:
    return (*(f"{prefix}{number:0{width}d}" for number in range(1, count + 1)), "target")


def _uci(convert: Convert, *places: str) -> tuple[Home, ...]:
    return (Home(tuple(f"{_UCI}/{place}" for place in places), convert),)


def _class_first(columns: int) -> Convert:
    return delimited((*range(1, columns + 1), 0))


_CELLS = "radius texture perimeter area smoothness compactness concavity concave_points symmetry fractal_dimension"
_COLORS = {"black": "1", "blue": "2", "brown": "3", "gold": "4", "green": "5", "orange": "6", "red": "7", "white": "8"}
_MEASURES = "neck chest abdomen hip thigh knee ankle biceps forearm wrist"

DATA_SETS: Mapping[str, DataSet] = MappingProxyType(
    {
        "wine": DataSet(
            _named(
                "alcohol malic_acid ash alcalinity_of_ash magnesium total_phenols flavanoids nonflavanoid_phenols "
                "proanthocyanins color_intensity hue od280_od315 proline"
            ),
            "11cef3156054cbc3f610b0b1f0412eab1d907b29c2bded588dbcd690f5bd5091",
            _uci(_class_first(13), "wine/wine.data"),
        ),
        "glass": DataSet(
            _named("ri na mg al si k ca ba fe"),
            "fe49e9c0a781a9b1ccc6a327aa32e82b8398315a89a7c2e28847c3b782b790cb",
            _uci(delimited(range(1, 11)), "glass/glass.data"),
        ),
        "bodyfat": DataSet(
            _named(f"body_fat_percent age weight height {_MEASURES}"),
            "3a0a368906ee34f6383739027243ec08fa473d5439c0eca7bd1804b3b2568da4",
            (
                Home((f"{_LIBSVM}/regression/bodyfat",), libsvm(14)),
                Home((f"{_STATLIB}/bodyfat",), delimited((*range(1, 15), 0), separator=None, cells=15)),
            ),
        ),
        "svmguide2": DataSet(
            _numbered("f", 20),
            "fe09e67366968a1f4a91a6f2911b15dfa97839f431bb6002c8751a2c39ddf924",
            (Home((f"{_LIBSVM}/multiclass/svmguide2",), libsvm(20)),),
        ),
        "ionosphere": DataSet(
            _numbered("a", 34, 2),
            "60b84fbe95dc44d250e07f41fd184230a42acf61bdb6d0375b30fca604df0a8e",
            _uci(delimited(codes={34: {"g": "1", "b": "0"}}), "ionosphere/ionosphere.data"),
        ),
        "housing": DataSet(
            _named("crim zn indus chas nox rm age dis rad tax ptratio b lstat"),
            "16c598fd3d671d61344893e70198d3f06a27372b376ca9df5015d60c948e9ff0",
            (
                Home((f"{_LIBSVM}/regression/housing",), libsvm(13)),
                *_uci(delimited(separator=None), "housing/housing.data"),
            ),
        ),
        "sonar": DataSet(
            _numbered("band", 60, 2),
            "d5c3f843adf6fe148adc9dce84a09f3a31a13de855e5c52032c98af840816075",
            _uci(delimited(codes={60: {"M": "1", "R": "0"}}), "undocumented/connectionist-bench/sonar/sonar.all-data"),
        ),
        "specft": DataSet(
            (*(f"f{region}{state}" for region in range(1, 23) for state in "rs"), "target"),
            "61fc90e74fc7a544bb86b8507dddd3c009e0ab4ca13d40ef19cc1174dad717f6",
            _uci(_class_first(44), "spect/SPECTF.train", "spect/SPECTF.test"),
        ),
        "bupa": DataSet(
            _named("mcv alkphos sgpt sgot gammagt drinks"),
            "4244ccd1d0604a062de5aced361eca6d8fe8ec1fafeb7560b853d5c02b93bec6",
            _uci(delimited(), "liver-disorders/bupa.data"),
        ),
        "lymphography": DataSet(
            _named(
                "lymphatics block_of_affere bl_of_lymph_c bl_of_lymph_s by_pass extravasates regeneration_of "
                "early_uptake_in lym_nodes_dimin lym_nodes_enlar changes_in_lym defect_in_node changes_in_node "
                "changes_in_stru special_forms dislocation_of exclusion_of_no no_of_nodes_in"
            ),
            "e19232169edb1fc1682a3a6c4adc6a9a1d7b68ed4cba1ee123c981ea6583b4a4",
            _uci(_class_first(18), "lymphography/lymphography.data"),
        ),
        "primary": DataSet(
            _named(
                "age sex histologic_type degree_of_diffe bone bone_marrow lung pleura peritoneum liver brain skin neck "
                "supraclavicular axillar mediastinum abdominal"
            ),
            "25fd82fd9488ea67c0315d79f15de1375e8a8e1aea1add2cd6958412fe43071a",
            _uci(_class_first(17), "primary-tumor/primary-tumor.data"),
        ),
        "flag": DataSet(
            _named(
                "landmass zone area population language bars stripes colours red green blue gold white black orange "
                "mainhue circles crosses saltires quarters sunstars crescent triangle icon animate text topleft "
                "botright"
            ),
            "8719f7fe8f7b1610e57d3e46d605f3053453ccacfa9c49a7483f10ba823a839e",
            _uci(
                delimited((*range(1, 6), *range(7, 30), 6), codes=dict.fromkeys((17, 28, 29), _COLORS)),
                "flags/flag.data",
            ),
        ),
        "hayes": DataSet(
            _named("hobby age educational_level marital_status"),
            "763af282b23e0c589e76de5b0a3284f5fd4fd8cd722aa12698050af346ab71ad",
            _uci(delimited(range(-5, 0)), "hayes-roth/hayes-roth.data", "hayes-roth/hayes-roth.test"),
        ),
        "wbdc": DataSet(
            _named(" ".join(f"{name}_{kind}" for kind in ("mean", "se", "worst") for name in _CELLS.split())),
            "71bd7621e99be2c2ca02c817a589e3561ecf50ee9c04d82feb25cfa7ab186ebc",
            _uci(delimited((*range(2, 32), 1), codes={1: {"M": "1", "B": "0"}}), "breast-cancer-wisconsin/wdbc.data"),
        ),
        "australian": DataSet(
            _numbered("a", 14),
            "852ac1a37c35dde0d8549367e9759db803e3ec88143f42dd2d83898d27bc0693",
            _uci(delimited(separator=None), "statlog/australian/australian.dat"),
        ),
        "eckerle4": DataSet(("y", "x"), "879517ce33e864a022988439336864505f3eb186e09c6333476681e45c02e44d", ()),
    }
)
"""By the names that the paper's tables use; eckerle4 comes with kernelmean."""
