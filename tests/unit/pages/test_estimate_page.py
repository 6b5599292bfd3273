"""The page of estimates says what the scores and the noises of the estimators are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kernelmean.report import to_html
from kernelmean.studies.estimate import Fits, fit_all

ROWS = np.random.default_rng(0).normal([0.0, 5.0], [1.0, 3.0], size=(60, 2))


@pytest.fixture(scope="module")
def fits() -> Fits:
    return replace(fit_all(ROWS), name="data.csv", seed=4, notes=("one row was left out",))


def test_the_scores_are_those_of_the_estimators(fits: Fits) -> None:
    page = fits.document()
    assert (page.title, page.headline) == ("Estimates of the kernel mean of data.csv", fits.verdict())
    (table,), (chart,) = page.sections[0].tables, page.sections[0].charts
    assert [row[0] for row in table.rows] == list(fits.estimators)
    ((_, values),) = chart.panels[0].series
    kme = fits.estimators["kme"].loocv_
    assert values == pytest.approx([kme - one.loocv_ for one in fits.estimators.values()])
    assert f"the longest is that of {fits.best}" in chart.text


def test_every_column_has_the_noise_that_was_chosen(fits: Fits) -> None:
    (table,) = fits.document().sections[1].tables
    assert table.header == ("column", "of the column", "mkme", "mmkme", "vpmkme")
    assert [row[0] for row in table.rows] == ["x0", "x1"]
    for j, row in enumerate(table.rows):
        assert float(row[1]) == pytest.approx(ROWS[:, j].std(), rel=1e-3)
        for name, cell in zip(table.header[2:], row[2:], strict=True):
            assert float(cell) == pytest.approx(fits.parameters(name)["noise"][j], rel=1e-3)


def test_notes_and_the_seed_are_on_the_page(fits: Fits) -> None:
    page = fits.document()
    assert ("Seed", "4") in page.made_by
    assert "One row was left out." in page.sections[-1].items
    assert "<h1>Estimates of the kernel mean of data.csv</h1>" in to_html(page)
    assert fits.to_html() == to_html(page)
