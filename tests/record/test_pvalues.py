"""The p-values that are recorded for this version are those that it gives, and the page shows those of all versions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import kernelmean as km
from record import pvalues


@pytest.mark.parametrize("name", pvalues.CALLS)
def test_this_version_gives_what_is_recorded_for_it(name: str) -> None:
    expected = pvalues.recorded()[km.__version__]
    assert set(expected) == set(pvalues.CALLS)
    assert pvalues.computed([name]) == {name: pytest.approx(expected[name], rel=1e-10, abs=0.0)}


def test_the_page_shows_the_record() -> None:
    assert pvalues.PAGE.read_text(encoding="utf-8") == pvalues.page()


def test_what_was_released_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pvalues, "VERSIONS", tmp_path)
    monkeypatch.setattr(pvalues, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(pvalues, "CALLS", {"one": "0.5"})
    monkeypatch.setattr(pvalues, "computed", lambda: {"one": 0.5})
    path = tmp_path / f"{km.__version__}.json"
    for released, before, code, after in (
        (False, None, 0, 0.5),
        (False, 0.25, 0, 0.5),
        (True, 0.25, 1, 0.25),
        (True, 0.5, 0, 0.5),
    ):
        if before is not None:
            path.write_text(json.dumps({"one": before}))
        monkeypatch.setattr(pvalues, "is_released", lambda _, released=released: released)
        assert pvalues.main() == code
        assert json.loads(path.read_text()) == {"one": after}


def test_versions_stand_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pvalues, "VERSIONS", tmp_path)
    for version, found in {"0.10.0": {"one": 0.5}, "0.9.0": {"one": 0.25, "old": 1.0}}.items():
        (tmp_path / f"{version}.json").write_text(json.dumps(found))
    assert list(pvalues.recorded()) == ["0.9.0", "0.10.0"]
    assert "| one | 0.25 | 0.5 |\n| old | 1 |  |" in pvalues.page()


def test_a_date_in_the_changelog_is_a_release() -> None:
    assert not pvalues.is_released("99.0.0")
