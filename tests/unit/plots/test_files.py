"""Pictures as files: the same bytes every time, with words for who cannot see them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kernelmean.studies import plots

RNG = np.random.default_rng(1)
X, Y = RNG.normal(size=(30, 2)), RNG.normal([0.0, 2.0], size=(25, 2))


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_files_are_written(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"picture.{ending}"
    plots.save(plots.column_witness(X[:, 0], Y[:, 0]), path)
    assert path.stat().st_size > 1000


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_a_file_says_neither_when_nor_by_what_it_was_written(tmp_path: Path, ending: str) -> None:
    paths = [tmp_path / f"{name}.{ending}" for name in ("one", "two")]
    for path in paths:
        plots.save(plots.column_witness(X[:, 0], Y[:, 0]), path)
    first, second = (path.read_bytes() for path in paths)
    assert first == second
    assert b"Matplotlib" not in first
    assert b"<metadata" not in first


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_a_file_says_what_is_to_be_seen(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"picture.{ending}"
    ax = plots.column_witness(X[:, 0], Y[:, 0], names=("old & grey", "new"))
    plots.save(ax, path)
    words = plots.alt_text(ax)
    if ending == "svg":
        text = path.read_text(encoding="utf-8")
        assert 'role="img" aria-labelledby="desc"' in text
        assert f'<desc id="desc">{words.replace("&", "&amp;")}</desc>' in text
    elif ending == "png":
        with pytest.importorskip("PIL.Image").open(path) as image:
            assert image.info["Description"] == words
    else:
        assert b"/Subject" in path.read_bytes()


def test_other_endings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"ends in \.png, \.svg or \.pdf"):
        plots.save(plots.column_witness(X[:, 0], Y[:, 0]), tmp_path / "picture.doc")
