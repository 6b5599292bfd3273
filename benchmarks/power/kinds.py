"""Does an adaptive test name the kind of a difference rightly? Writes the tables of docs/adaptive.md.

    python benchmarks/power/kinds.py run --trials 200 --question independence
    python benchmarks/power/kinds.py write

Only trials in which the test rejects at .05 count. Settings for design and settings held out are told apart.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from kind_cases import Setting, kind_settings

import kernelmean as km

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "kinds.json"
PAGE = HERE.parents[1] / "docs" / "adaptive.md"
BEGIN, END = "<!-- kinds: benchmarks/power/kinds.py write -->\n", "<!-- end of kinds -->"
QUESTIONS = "two samples", "independence"
N_RESAMPLES = 499
LEVEL = 0.05
NONE = "no clear kind"


def answers(question: str, setting: Setting, trials: int) -> Counter[str]:
    """Return how often every kind was named, over the trials in which the test rejects."""
    test = km.mmd_test if question == "two samples" else km.hsic_test
    found: Counter[str] = Counter()
    for trial in range(trials):
        result = test(*setting.data(trial), estimator="adaptive", n_resamples=N_RESAMPLES, rng=trial)
        if result.kind is not None:
            found[result.kind.name or NONE] += 1
    return found


def run(trials: int, questions: Sequence[str]) -> None:
    """Run all settings of some questions, and keep what was named in each."""
    kept = []
    for question in questions:
        for setting in (one for held_out in (False, True) for one in kind_settings(question, held_out=held_out)):
            begun = time.time()
            named = answers(question, setting, trials)
            right = sum(named[word] for word in setting.right) / max(1, named.total())
            print(f"{setting.name:48} {right:.2f} of {named.total():4} {time.time() - begun:5.1f} s", flush=True)
            own = {"question": question, "kind": setting.kind, "name": setting.name, "right": setting.right}
            kept.append({**own, "held_out": setting.held_out, "trials": trials, "named": dict(named.most_common())})
    others = [row for row in _read() if row["question"] not in questions]
    RESULTS.write_text(
        json.dumps(sorted(others + kept, key=lambda row: QUESTIONS.index(row["question"])), indent=1) + "\n"
    )


def _read() -> list[dict]:
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else []


def write() -> None:
    """Write the tables between the marks of the page."""
    rows = _read()
    before, _, rest = PAGE.read_text().partition(BEGIN)
    _, _, behind = rest.partition(END)
    PAGE.write_text("".join((before, BEGIN, "\n", *(f"{line}\n" for line in _tables(rows)), "\n", END, behind)))


def _tables(rows: Sequence[dict]) -> Iterator[str]:
    for number, question in enumerate(QUESTIONS):
        own = [row for row in rows if row["question"] == question]
        words = list(dict.fromkeys(word for row in own for word in row["right"]))
        words += [word for word in dict.fromkeys(w for row in own for w in row["named"]) if word not in (*words, NONE)]
        if number:
            yield ""
        yield f"| {question} | right, design | right, held out | {' | '.join((*words, NONE))} |"
        yield "|---" * (len(words) + 4) + "|"
        kinds = list(dict.fromkeys(row["kind"] for row in own))
        for kind in kinds:
            yield _line(kind, [row for row in own if row["kind"] == kind], (*words, NONE))
        means = [
            _mean([_right([r for r in own if r["kind"] == k and r["held_out"] == h]) for k in kinds]) for h in (0, 1)
        ]
        yield f"| mean | {means[0]} | {means[1]} |" + " |" * (len(words) + 1)


def _line(kind: str, rows: Sequence[dict], words: Sequence[str]) -> str:
    """Return a row: the shares that are right, and what was named, over all settings alike."""
    right = [_right([row for row in rows if row["held_out"] == held_out]) for held_out in (False, True)]
    named = [sum(row["named"].get(word, 0) / sum(row["named"].values()) for row in rows) / len(rows) for word in words]
    return f"| {kind} | {_short(right[0])} | {_short(right[1])} | {' | '.join(_short(x) if x else '' for x in named)} |"


def _right(rows: Sequence[dict]) -> float:
    """Return the share of rejections with the right words, the mean over the settings."""
    shares = [sum(row["named"].get(w, 0) for w in row["right"]) / sum(row["named"].values()) for row in rows]
    return sum(shares) / len(shares)


def _mean(shares: Sequence[float]) -> str:
    return _short(sum(shares) / len(shares))


def _short(share: float) -> str:
    return f"{share:.2f}".removeprefix("0")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("run", "write"))
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--question", choices=QUESTIONS, help="by default both")
    given = parser.parse_args()
    run(given.trials, [given.question] if given.question else QUESTIONS) if given.what == "run" else write()
