"""The log of trials: exact, and neither a kill nor damage on the disk goes unnoticed."""

from __future__ import annotations

import json
import math
import os
import zlib
from pathlib import Path

import numpy as np
import pytest

from kernelmean_paper import Finding, store
from kernelmean_paper.store import Trial, open_log, read_log, write_whole

ORIGIN = {"experiment": "e", "seed": 0, "version": "1"}
MAKER = {"code": "abc"}
VALUES = [0.1, -0.0, 5e-324, 1.7976931348623157e308, math.pi, 1e22, float("inf"), float("-inf"), float("nan")]


def trial(number: int) -> Trial:
    return Trial("d=5, n=10", number, (Finding("kme", "loss", number + 0.1), Finding("MKME, σ²", "a\nb", 2.0)), 0.25)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a log of five trials."""
    path = tmp_path / "e.jsonl"
    log, notes = open_log(path, ORIGIN, MAKER)
    assert notes == []
    with log:
        for number in range(5):
            log.append(trial(number))
    return path


def numbers(path: Path) -> list[int]:
    return [number for _, number in read_log(path).trials]


class TestRoundTrip:
    def test_trials(self, path: Path) -> None:
        contents = read_log(path)
        assert list(contents.trials.values()) == [trial(number) for number in range(5)]
        assert (contents.origin, contents.makers, contents.damaged, contents.torn) == (ORIGIN, (MAKER,), (), False)

    def test_every_number_to_the_last_bit(self, tmp_path: Path) -> None:
        values = [*VALUES, *np.random.default_rng(0).normal(size=100) * 10.0 ** np.arange(-50, 50)]
        log, _ = open_log(tmp_path / "e.jsonl", ORIGIN, MAKER)
        with log:
            log.append(Trial("s", 0, tuple(Finding("m", str(i), value) for i, value in enumerate(values)), 0.0))
        found = [finding.value for finding in read_log(tmp_path / "e.jsonl").trials["s", 0].findings]
        assert np.array(found).tobytes() == np.array(values).tobytes()

    def test_every_trial_is_put_on_the_disk(self, path: Path, syncs: list[int]) -> None:
        log, _ = open_log(path, ORIGIN, MAKER)
        with log:
            for number in (5, 6):
                before = len(syncs)
                log.append(trial(number))
                assert len(syncs) == before + 1

    def test_a_line_is_json(self, path: Path) -> None:
        records = [json.loads(line) for line in path.read_text().splitlines()]
        assert [record.get("trial") for record in records] == [None, None, 0, 1, 2, 3, 4]
        assert all(len(record["crc32"]) == 8 for record in records)

    def test_another_state_of_the_code_is_recorded(self, path: Path) -> None:
        for code in ("abc", "def", "def"):
            log, _ = open_log(path, ORIGIN, {"code": code})
            with log:
                log.append(trial(len(log.trials)))
        assert read_log(path).makers == ({"code": "abc"}, {"code": "def"})
        assert len(numbers(path)) == 8

    def test_an_empty_file_is_a_new_log(self, tmp_path: Path) -> None:
        (tmp_path / "e.jsonl").touch()
        log, _ = open_log(tmp_path / "e.jsonl", ORIGIN, MAKER)
        with log:
            assert log.trials == {}


class TestDamage:
    def test_a_kill_at_any_byte(self, path: Path) -> None:
        whole = path.read_bytes()
        ends = [place for place, byte in enumerate(whole, 1) if byte == ord("\n")]
        for cut in sorted({*range(ends[3], len(whole), 3), *ends[3:-1], *(end - 1 for end in ends[4:])}):
            path.write_bytes(whole[:cut])
            log, notes = open_log(path, ORIGIN, MAKER)
            with log:
                kept = [number for _, number in log.trials]
                assert kept == list(range(sum(end <= cut for end in ends) - 2))
                assert bool(notes) == (cut not in ends)
                for number in range(len(kept), 5):
                    log.append(trial(number))
            assert path.read_bytes() == whole

    def test_a_changed_byte_anywhere(self, path: Path) -> None:
        whole = path.read_bytes()
        lines = whole.splitlines(keepends=True)
        start = len(lines[0])
        rng = np.random.default_rng(0)
        for place in [start, len(whole) - 2, *rng.integers(start, len(whole) - 1, 150)]:
            spoilt = bytearray(whole)
            spoilt[place] ^= int(rng.integers(1, 256))
            path.write_bytes(spoilt)
            log, notes = open_log(path, ORIGIN, MAKER)
            with log:
                assert len(notes) == 1
                assert "had been changed since written" in notes[0]
                assert all(log.trials[key] == trial(key[1]) for key in log.trials)
                assert 3 <= len(log.trials) <= 5
            assert open_log(path, ORIGIN, MAKER)[1] == []

    def test_damaged_lines_are_kept_aside(self, path: Path) -> None:
        lines = path.read_text().splitlines()
        lines[3], lines[5] = lines[3].replace("1.1", "1.2"), "nonsense"
        path.write_text("\n".join(lines) + "\n")
        log, notes = open_log(path, ORIGIN, MAKER)
        with log:
            assert [number for _, number in log.trials] == [0, 2, 4]
        assert "2 lines (4, 6)" in notes[0]
        assert path.with_suffix(".damaged").read_text().splitlines() == [lines[3], lines[5]]

    @pytest.mark.parametrize("change", [{"seed": 1}, {"version": "2"}, {"experiment": "f"}])
    def test_lines_of_another_origin_are_damaged(self, path: Path, tmp_path: Path, change: dict[str, object]) -> None:
        other = tmp_path / "other.jsonl"
        log, _ = open_log(other, {**ORIGIN, **change}, MAKER)
        with log:
            for number in range(3, 8):
                log.append(trial(number))
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join([*lines[:5], *other.read_bytes().splitlines(keepends=True)[2:]]))
        log, notes = open_log(path, ORIGIN, MAKER)
        with log:
            assert [number for _, number in log.trials] == [0, 1, 2]
        assert "5 lines (6, 7, 8, 9, 10)" in notes[0]
        assert "come from another log" in notes[0]

    @pytest.mark.parametrize("change", [{}, {"seed": 1}])
    def test_joined_logs_are_refused_and_not_touched(self, path: Path, change: dict[str, object]) -> None:
        other = path.with_name("other.jsonl")
        open_log(other, {**ORIGIN, **change}, MAKER)[0].__exit__(None, None, None)
        path.write_bytes(joined := path.read_bytes() + other.read_bytes())
        for read in (read_log, lambda path: open_log(path, ORIGIN, MAKER)):
            with pytest.raises(ValueError, match="line 8 is the first line of a log, so logs were joined"):
                read(path)
        assert path.read_bytes() == joined

    @pytest.mark.parametrize(
        "record",
        [
            {},
            {"note": "hello"},
            {"made by": "me"},
            {"setting": "s", "trial": 0, "findings": [], "seconds": 0.0, "more": 1},
            {"setting": "s", "trial": 0, "findings": [["m", 1.0]], "seconds": 0.0},
            {"setting": "s", "trial": 0, "findings": 3, "seconds": 0.0},
            {"setting": "s", "trial": 0, "findings": [["m", "v", "x"]], "seconds": 0.0},
            {"setting": "s", "trial": 0, "findings": [["m", "v", [1]]], "seconds": 0.0},
        ],
    )
    def test_what_is_neither_trial_nor_maker_is_damaged(self, path: Path, record: dict[str, object]) -> None:
        with path.open("a") as file:
            file.write(store._line(record, store._start(ORIGIN)))
        assert read_log(path).damaged == (8,)
        log, notes = open_log(path, ORIGIN, MAKER)
        with log:
            assert [number for _, number in log.trials] == [0, 1, 2, 3, 4]
        assert "1 line (8)" in notes[0]

    def test_a_checksum_does_not_make_a_line_json(self, path: Path) -> None:
        with path.open("a") as file:
            file.write(f'nonsense, "crc32": "{zlib.crc32(b"nonsense", store._start(ORIGIN)):08x}"}}\n')
        assert read_log(path).damaged == (8,)

    def test_the_format_before_is_refused(self, path: Path) -> None:
        path.write_text(store._line({"format": 1, **ORIGIN}))
        with pytest.raises(ValueError, match=r"another version of kernelmean \(format 1, this one writes 2\)"):
            open_log(path, ORIGIN, MAKER)

    def test_reading_changes_nothing(self, path: Path) -> None:
        path.write_bytes(path.read_bytes()[:-5])
        before = path.read_bytes()
        assert read_log(path).torn
        assert path.read_bytes() == before

    @pytest.mark.parametrize("first", [b"", b"{}\n", b'{"seed": 0}\n', b"\xff\n"])
    def test_without_its_first_line_it_is_refused(self, path: Path, first: bytes) -> None:
        path.write_bytes(first + b"".join(path.read_bytes().splitlines(keepends=True)[1:]))
        with pytest.raises(ValueError, match="the first line, which says of which seed"):
            open_log(path, ORIGIN, MAKER)

    @pytest.mark.parametrize(
        ("change", "text"),
        [
            ({"seed": 1}, "trials of seed 0, this run is of seed 1"),
            ({"version": "2"}, "trials of version 1, this run is of version 2"),
            ({"experiment": "f"}, "trials of experiment e, this run is of experiment f"),
        ],
    )
    def test_another_origin_is_refused_and_not_touched(self, path: Path, change: dict[str, object], text: str) -> None:
        path.write_bytes(path.read_bytes()[:-5])
        before = path.read_bytes()
        with pytest.raises(ValueError, match=text):
            open_log(path, {**ORIGIN, **change}, MAKER)
        assert path.read_bytes() == before

    def test_a_full_disk(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        write = os.write
        log, _ = open_log(path, ORIGIN, MAKER)
        with log, monkeypatch.context() as patch:
            patch.setattr(os, "write", lambda file, data: write(file, data[:30]))
            with pytest.raises(OSError, match="no room for another trial"):
                log.append(trial(5))
        log, notes = open_log(path, ORIGIN, MAKER)
        with log:
            assert [number for _, number in log.trials] == [0, 1, 2, 3, 4]
        assert "not written to its end" in notes[0]


class TestFiles:
    def test_a_failed_write_leaves_the_old_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = tmp_path / "a"
        write_whole(path, b"old")

        def fail(_: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match="No space"):
            write_whole(path, b"new")
        assert [(each.name, each.read_bytes()) for each in tmp_path.iterdir()] == [("a", b"old")]
