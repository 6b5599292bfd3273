"""Long work says beforehand how long it takes: once, by its own rate, and not where nobody should be told."""

from __future__ import annotations

import pytest

from kernelmean.cli.progress import forecast, progress
from kernelmean.core.words import Notice

Told = list[tuple[str, int, int]]


def told(seconds: float, batches: int, known: bool = True) -> Told:
    """Return what is told of batches of 100 rows that take so many seconds each."""
    found: Told = []
    now = [0.0]
    report = forecast(lambda *step: found.append(step), lambda: now[0])
    for k in range(1, batches + 1):
        now[0] += seconds
        report("first pass", 100 * k, 100 * batches if known else 100 * k)
    return found


def notices(found: Told) -> list[str]:
    return [label for label, _, _ in found if isinstance(label, Notice)]


def test_the_rest_is_told_once_by_the_rate_so_far() -> None:
    found = told(0.5, 200)
    assert notices(found) == ["first pass: about 98 seconds more"]
    assert [step for step in found if not isinstance(step[0], Notice)] == [
        ("first pass", 100 * k, 20_000) for k in range(1, 201)
    ]
    assert [done for label, done, _ in found if isinstance(label, Notice)] == [300]


@pytest.mark.parametrize(("seconds", "batches", "known"), [(0.5, 20, True), (0.01, 300, True), (1.0, 200, False)])
def test_short_work_and_work_of_unknown_length_are_not_told(seconds: float, batches: int, known: bool) -> None:
    assert notices(told(seconds, batches, known)) == []


@pytest.mark.parametrize("quiet", [True, False])
def test_lines_go_to_stderr_and_quiet_says_nothing(
    quiet: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("kernelmean.core.pace.LONG", 0.0)
    monkeypatch.setattr("kernelmean.core.pace._SURE_AFTER", 0.0)
    with progress(quiet) as report:
        for k in range(1, 4):
            report("rows", k, 10**9)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("rows: about ") == (0 if quiet else 1)
