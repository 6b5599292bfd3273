"""A document with everything that one may hold, and texts that try to break out of it."""

from __future__ import annotations

import pytest

from kernelmean.report import Band, Chart, Curve, Document, Panel, Section, TextTable

HOSTILE = (
    '"><script>alert(1)</script><img src="https://example.org/x.png"> & | `code` $1$ _a_ *b* '
    "[c](javascript:d) <!-- e -->"
)
SIZES = (10.0, 20.0, 50.0, 100.0)


def curves(labels: tuple[str, ...], errors: bool = True) -> tuple[Curve, ...]:
    values = {label: tuple((1.0 + k) / x for x in SIZES) for k, label in enumerate(labels)}
    return tuple(Curve(label, SIZES, y, tuple(v / 9 for v in y) if errors else None) for label, y in values.items())


def figures() -> tuple[Chart, ...]:
    estimators = ("KME", "S-KMSE", "F-KMSE", "MKME", "MMKME", "VPMKME", "oracle", "adaptive")
    two = tuple(
        Panel(title, "n", "mean loss", curves(estimators), x_log=True, y_log=True) for title in ("squared", "unsquared")
    )
    many = tuple(k / 10 for k in range(100))
    valley = Curve("MKME", many, tuple((x - 4.0) ** 2 for x in many), (0.5,) * 100)
    line = Curve("KME", (0.0, 9.9), (16.0, 16.0), dashed=True)
    marked = Panel("", "σ²", "loss", (valley, line), marks=(("chosen", 3.0), ("best", 4.0)))
    level = Panel(
        HOSTILE, HOSTILE, HOSTILE, curves((HOSTILE,)), bands=(Band(HOSTILE, 0.03, 0.07), Band("wide", 0, 0.1))
    )
    return (
        Chart("losses", "Mean loss against sample size", two, "MKME lies below KME at every size."),
        Chart("valley", "Loss against noise", (marked,), "The loss falls to a least value, then rises."),
        Chart("level", HOSTILE, (level,) * 2, HOSTILE),
    )


@pytest.fixture(scope="session")
def charts_of_all_kinds() -> tuple[Chart, ...]:
    return figures()


@pytest.fixture(scope="session")
def document() -> Document:
    wide = TextTable(
        "Mean loss; the best in bold",
        ("data set", *(f"column {k}" for k in range(12))),
        tuple((name, *(f"{k}.25 ± 0.01" for k in range(12))) for name in ("wine", "glass", HOSTILE)),
        frozenset({(0, 3), (2, 0)}),
    )
    hostile = Section(HOSTILE, (HOSTILE, "\x00\x1b\ud800"), (wide,), figures()[2:], ((HOSTILE, HOSTILE),))
    first = Section("Figure 2: σ² = 0?", ("Plain words.", "- no list"), (wide,), figures()[:2], (("trials", "30"),))
    same = Section("Figure 2: σ² = 0?", ("Another of the same title.",))
    unbroken = Section("Content", ("word" * 60,), settings=(("word" * 30, "word" * 60),))
    summary = ("Most of it reproduces.", HOSTILE)
    return Document(
        "The paper, reproduced", summary, (first, hostile, same, unbroken), (("seed", "0"), ("commit", "c0ffee" * 7))
    )
