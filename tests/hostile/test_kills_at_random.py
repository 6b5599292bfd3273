"""Kills at random moments over everything that writes: no trial lost, no file damaged, the same result in the end.

    python -m pytest -m slow tests/hostile/test_kills_at_random.py -s

KERNELMEAN_KILLS is the number of kills, 100 without it; moments are random but seeded.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import killed
import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from kernelmean_paper.store import read_log

if os.name == "nt":
    pytest.skip("signals are those of Unix", allow_module_level=True)
pytestmark = pytest.mark.slow
KILLS = int(os.environ.get("KERNELMEAN_KILLS", "100")) // 4
"""Of every test here."""
SIGNALS = (signal.SIGKILL,) * 7 + (signal.SIGTERM, signal.SIGINT, signal.SIGTERM)
DAYS = 6


def moments(seed: int, longest: float) -> Iterator[tuple[float, signal.Signals]]:
    """Yield when to send what."""
    rng = np.random.default_rng(seed)
    while True:
        yield float(rng.uniform(0.0, longest)), SIGNALS[int(rng.integers(len(SIGNALS)))]


def shot(work: Callable[..., None], folder: Path, words: tuple[Any, ...], when: tuple[float, signal.Signals]) -> Any:
    """Start work, send a signal some time after it began; return the exit code.

    Python drops an interrupt that falls into the callback of a weak reference; then it is sent again, as a user would.
    """
    (folder / "began").unlink(missing_ok=True)
    process = killed.start(work, folder, *words)
    while not (folder / "began").exists() and process.is_alive():
        time.sleep(0.002)
    process.join(when[0])
    for _ in range(3):
        if process.is_alive():
            os.kill(process.pid, when[1])
            process.join(20)
    assert process.exitcode is not None
    return process.exitcode


def whole(work: Callable[..., None], folder: Path, *words: Any) -> float:
    """Run work to its end; return the seconds that it took after it began."""
    (folder / "began").unlink(missing_ok=True)
    process = killed.start(work, folder, *words)
    while not (folder / "began").exists() and process.is_alive():
        time.sleep(0.002)
    begin = time.monotonic()
    process.join(120)
    assert process.exitcode == 0, (folder / "errors.txt").read_text()
    return time.monotonic() - begin


def tell(what: str, codes: Counter[int], more: str) -> None:
    hit = sum(many for code, many in codes.items() if code != 0)
    print(f"\n{what}: {sum(codes.values())} kills, {hit} during work, {codes[0]} after its end {dict(codes)}; {more}")


def no_traceback(folder: Path) -> None:
    text = (folder / "errors.txt").read_text()
    assert "Traceback" not in text, text[-3000:]


def test_reproduce(tmp_path: Path) -> None:
    words = ("reproduce", "fast", "--full", "--jobs", "1", "--out", "out")
    codes: Counter[int] = Counter()
    folders = [tmp_path / name for name in ("undisturbed", "cut")]
    for folder in folders:
        folder.mkdir()
    seconds = whole(killed.reproduce, folders[0], *words)
    log, counts, rounds = folders[1] / "out" / "trials" / "fast.jsonl", [0], 0
    for when in moments(1, 0.8 * seconds):
        codes[shot(killed.reproduce, folders[1], words, when)] += 1
        counts.append(len(read_log(log).trials) if log.exists() else 0)
        assert counts[-1] >= counts[-2]
        if codes[0] > rounds:
            rounds += 1
            assert outcome(folders[1]) == outcome(folders[0])
            shutil.rmtree(folders[1] / "out")
            counts.append(0) if counts[-1] == 0 else counts.__setitem__(-1, 0)
        if sum(codes.values()) >= KILLS:
            break
    whole(killed.reproduce, folders[1], *words)
    assert outcome(folders[1]) == outcome(folders[0])
    no_traceback(folders[1])
    assert max(counts) > 0
    tell("reproduce", codes, f"trials stored after each: {counts}, then all 180")


def outcome(folder: Path) -> dict[str, Any]:
    """Return trials but their seconds, and what is reported but about the run."""
    keys = [json.loads(line) for line in (folder / "out" / "trials" / "fast.jsonl").read_text().splitlines()]
    trials = [(one["setting"], one["trial"], str(one["findings"])) for one in keys if "trial" in one]
    assert len(trials) == len(set(trials)) == 180
    results = json.loads((folder / "out" / "results.json").read_text())
    return {"trials": sorted(trials), "results": {name: each for name, each in results.items() if name != "run"}}


def tables(folder: Path, rows: int) -> None:
    folder.mkdir()
    rng = np.random.default_rng(0)
    for name, shift in (("first", 0.0), ("second", 0.3)):
        columns = {"a": rng.normal(shift, 1.0, rows), "b": rng.normal(size=rows), "kind": rng.choice(["x", "y"], rows)}
        pd.DataFrame(columns).to_csv(folder / f"{name}.csv", index=False)


def test_monitors(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("undisturbed", "cut")]
    for folder in folders:
        tables(folder, 600)
        for day in range(DAYS):
            rng = np.random.default_rng([7, day])
            columns = {"a": rng.normal(0.05 * day, 1.0, 300), "b": rng.normal(size=300), "kind": ["x", "y"] * 150}
            pd.DataFrame(columns).to_csv(folder / f"day{day}.csv", index=False)

    def words(days: int) -> tuple[str, ...]:
        named = [f"day{day}.csv" for day in range(days)]
        return ("monitor", "first.csv", *named, "--checkpoint", "state.json", "--json", "out.json")

    seconds = max(whole(killed.command, folders[0], *words(days)) for days in range(1, DAYS + 1))
    expected, codes, days = numbers(folders[0]), Counter[int](), 1
    for when in moments(3, 0.9 * seconds):
        code = shot(killed.command, folders[1], words(days), when)
        codes[code] += 1
        known = json.loads((folders[1] / "state.json").read_text())["batches"] if days > 1 or code == 0 else []
        assert len(known) in ((days,) if code == 0 else (days - 1, days))
        if code == 0 and days == DAYS:
            assert numbers(folders[1]) == expected
            (folders[1] / "state.json").unlink()
            days = 0
        days += code == 0
        if sum(codes.values()) >= KILLS:
            break
    whole(killed.command, folders[1], *words(DAYS))
    assert numbers(folders[1]) == expected
    no_traceback(folders[1])
    tell("monitor", codes, f"days at the end: {days - 1}, then all {DAYS}")


def numbers(folder: Path) -> dict[str, Any]:
    found = json.loads((folder / "out.json").read_text())
    return {name: found[name] for name in ("pvalue", "log_wealth", "log_peak", "n_rows", "detected_at")}


def test_saves(tmp_path: Path) -> None:
    both, codes, held = [each.parts[0].points for each in killed.means()], Counter[int](), Counter[int]()
    path = tmp_path / "mean.npz"
    begin = time.monotonic()
    for each in killed.means():
        km.save(each, path)
    saving = time.monotonic() - begin
    path.unlink()
    for when in moments(4, 4.0 * saving):
        codes[shot(killed.saves, tmp_path, (), when)] += 1
        if path.exists():
            held[[np.array_equal(km.load(path).parts[0].points, each) for each in both].index(True)] += 1
        if sum(codes.values()) >= KILLS:
            break
    assert held
    tell("saves", codes, f"the one or the other was found whole: {dict(held)}; parts left: {parts(tmp_path)}")


def parts(folder: Path) -> int:
    """Return how many files of killed writers lie beside; none of them has the name of an output."""
    return len(list(folder.glob(".*.new")))


def test_outputs(tmp_path: Path) -> None:
    folders = [tmp_path / "undisturbed", tmp_path / "cut"]
    for folder in folders:
        tables(folder, 60)
    names, good = killed.OUTPUTS[1::2], {}
    for seed in ("0", "1"):
        tested = ("--estimator", "kme", "--resamples", "19", "--seed", seed)
        seconds = whole(killed.command, folders[0], "compare", "first.csv", "second.csv", *tested, *killed.OUTPUTS)
        good[seed] = {name: (folders[0] / name).read_bytes() for name in names}
    codes, seen = Counter[int](), 0
    for when in moments(5, 4.0 * seconds):
        codes[shot(killed.writes, folders[1], (), when)] += 1
        for name in names:
            if (folders[1] / name).exists():
                seen += 1
                assert (folders[1] / name).read_bytes() in [each[name] for each in good.values()], name
        if sum(codes.values()) >= KILLS:
            break
    assert seen
    tell("outputs", codes, f"{seen} files found, all whole; parts left: {parts(folders[1])}")
