"""Colours: legible by WCAG's contrast, and lines that the colour-blind can tell apart."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from kernelmean.report import LOOKS, SHADES, looks

MODES = ("light", "dark")
VISIONS = {
    "all cones": np.eye(3),
    "no red cone": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no green cone": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "no blue cone": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
"""Linear RGB as seen without one kind of cones: Machado, Oliveira & Fernandes (2009), severity 1."""


def linear(color: str) -> np.ndarray:
    value = np.array([int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def contrast(one: str, two: str) -> float:
    """Return the contrast ratio of WCAG 2."""
    low, high = sorted(float(linear(color) @ [0.2126, 0.7152, 0.0722]) for color in (one, two))
    return (high + 0.05) / (low + 0.05)


def lab(rgb: np.ndarray) -> np.ndarray:
    """Return CIE L*a*b* of linear RGB."""
    xyz = np.array(
        [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]]
    )
    x, y, z = (xyz @ np.clip(rgb, 0, 1)) / [0.95047, 1.0, 1.08883]
    f = [np.cbrt(t) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z)]
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def shade(part: str, mode: str) -> str:
    return getattr(SHADES[part], mode)


@pytest.mark.parametrize("mode", MODES)
def test_texts_have_the_contrast_of_level_aa(mode: str) -> None:
    pairs = [(text, ground) for text in ("ink", "muted", "link") for ground in ("surface", "raised")]
    for text, ground in pairs:
        assert contrast(shade(text, mode), shade(ground, mode)) >= 4.5, (text, ground)


@pytest.mark.parametrize("mode", MODES)
def test_lines_axes_and_focus_have_the_contrast_of_graphics(mode: str) -> None:
    for part in (*(look.part for look in LOOKS), "edge", "link"):
        assert contrast(shade(part, mode), shade("surface", mode)) >= 3.0, part


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("mode", MODES)
def test_no_two_lines_look_alike(mode: str, vision: str) -> None:
    """Differences of 20 in CIE L*a*b* are seen at a glance; 2.3 is just noticeable."""
    seen = {look.part: lab(np.asarray(VISIONS[vision]) @ linear(shade(look.part, mode))) for look in LOOKS}
    for (one, first), (two, second) in combinations(seen.items(), 2):
        assert np.linalg.norm(first - second) > 20, (one, two)


def test_estimators_look_the_same_in_every_chart() -> None:
    alone, together = looks(["MKME"]), looks(["other", "more", "KME", "MKME"])
    assert alone["MKME"] == together["MKME"]
    assert len(set(together.values())) == 4
    qualified = looks(["MKME, fixed", "KME (σ² = 0)", "KMEans", "MKME"])
    assert qualified["KME (σ² = 0)"] == together["KME"]
    assert qualified["MKME"] == alone["MKME"]
    assert len(set(qualified.values())) == 4
    many = looks(f"line {k}" for k in range(20))
    assert len(set(many.values())) == len(LOOKS)
