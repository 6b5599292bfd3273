"""Write ``docs/mutation.md`` from ``results.json``, which ``run.py`` wrote, and the reasons in ``reasons.toml``.

A reason is a rule: ``files`` (a pattern of paths below ``src/kernelmean``), ``change`` (a regular expression, found in
"before → after" of a survivor), ``kind`` (a key of ``KINDS``) and ``why``. The first rule that fits is the reason.
"""

from __future__ import annotations

import fnmatch
import json
import re
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
CONTEXT = 30  # letters before and after what a mutant changes
PAGE = HERE.parents[1] / "docs/mutation.md"
KINDS = {
    "same": "no call shows a difference: the value is the same, or is never read",
    "speed": "costs time or memory only: the sizes of batches and tiles, what is tried first, what is kept",
    "wording": "the wording of a message or a name; the tests check its kind and its content",
    "gap": "no reason is known: no test notices it",
}
HEAD = """# Mutation testing

Do the tests notice when the code is wrong? [mutmut](https://mutmut.readthedocs.io) changes one thing at a time: a sign,
a number, a comparison, an argument. Then the tests that call the changed function run. The mutant is *killed* if one of
them fails, or if they take three times as long as they should (a timeout). It *survives* if none fails.

The study covers the expected kernels, the leave-one-out scores, and the permutation engine with its statistics,
schemes and p-values: {files} files, {mutants} mutants, mutmut {version}. mutmut skips decorated functions. So the
command works on a copy in which a decorator is a call below its function; that way registered closed forms and
properties are mutated too. A mutant meets the quickest tests that call its function, a few seconds in all. Code
that Numba compiles (`compiled.py`) is left out; the tests compare it with the NumPy loops. A kill stays valid as
long as the function is unchanged. Survivors are tried again when tests are added.

Timeouts count as killed. We found the reasons of survivors by reading the code, not by proof. The last column
leaves out those that we call equivalent or about cost; the column "share killed" leaves out nothing.

To repeat the study: `pip install mutmut`, `python tests/mutation/run.py` and `python tests/mutation/page.py`.

"""


@cache
def rules() -> list[dict[str, str]]:
    """Return the rules, in their order."""
    return tomllib.loads((HERE / "reasons.toml").read_text())["rule"]


def reason(rules: list[dict[str, str]], path: str, change: str) -> tuple[str, str]:
    """Return the kind and the reason of a survivor."""
    for rule in rules:
        if fnmatch.fnmatch(path, rule.get("files", "*")) and re.search(rule["change"], change):
            return rule["kind"], rule["why"]
    return "gap", KINDS["gap"]


def mutation(survivor: dict[str, str]) -> str:
    """Return what the rules are searched in."""
    return f"{survivor['before']} → {survivor['after']}"


def share(killed: int, of: int) -> str:
    """Return a percentage, never rounded up."""
    return f"{int(1000 * killed / of) / 10:.1f} %" if of else "–"


def row(name: str, found: Counter[str], kinds: Counter[str]) -> str:
    """Return one line of the table."""
    mutants, killed = found.total(), found["killed"] + found["timeout"]
    cells = [name, *(str(n) for n in (mutants, found["killed"], found["timeout"], mutants - killed))]
    cells += [share(killed, mutants), str(kinds["same"] + kinds["speed"])]
    return f"| {' | '.join([*cells, share(killed, mutants - kinds['same'] - kinds['speed'])])} |"


def written(results: dict[str, Any], rules: list[dict[str, str]]) -> str:
    """Return the page."""
    table, listed, waiting = [], [], []
    total, kinds = Counter[str](), Counter[str]()
    for path, module in results["modules"].items():
        found = Counter(module["outcomes"])
        if found["not run"]:
            waiting.append(path)
            continue
        judged = [(*reason(rules, path, mutation(s)), s) for s in module["survivors"]]
        own = Counter(kind for kind, *_ in judged)
        total, kinds = total + found, kinds + own
        if found:
            table.append(row(f"`{path}`", found, own))
        if judged:
            listed += [f"### {path}", "", *survivors(judged), ""]
    text = HEAD.format(files=len(table), mutants=total.total(), version=results["mutmut"])
    columns = ["module", "mutants", "killed", "timeouts", "survived", "share killed"]
    columns += ["of the survivors equivalent or about cost", "share of the others"]
    lines = [f"| {' | '.join(columns)} |", f"|---|{'---:|' * 7}", *table, row("**all**", total, kinds)]
    text += "\n".join(lines) + "\n\n"
    if waiting:
        text += f"Not yet run: {', '.join(f'`{path}`' for path in waiting)}.\n\n"
    text += "## Survivors\n\n" + "\n".join(f"- **{kind}** ({kinds[kind]}): {what}" for kind, what in KINDS.items())
    return text + "\n\n" + "\n".join(listed).rstrip() + "\n"


def survivors(judged: list[tuple[str, str, dict[str, str]]]) -> list[str]:
    """Return a list of the survivors of a module, those of one reason together."""
    lines = []
    for kind, why in dict.fromkeys((kind, why) for kind, why, _ in judged):
        own = [s for k, w, s in judged if (k, w) == (kind, why)]
        lines += [f"- **{kind}** ({len(own)}): {why}"]
        lines += [f"    - `{s['function']}`: {' → '.join(map(code, shortened(s['before'], s['after'])))}" for s in own]
    return lines


def shortened(before: str, after: str) -> tuple[str, str]:
    """Return both without most of what they begin and end with alike."""
    start = max(0, alike(before, after) - CONTEXT)
    stop = max(0, alike(before[:start:-1], after[:start:-1]) - CONTEXT)
    ends = "… " if start else "", " …" if stop else ""
    first, second = (f"{ends[0]}{text[start : len(text) - stop]}{ends[1]}" for text in (before, after))
    return first, second


def alike(first: str, second: str) -> int:
    """Return the number of letters with which both begin."""
    return next(
        (k for k, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), min(len(first), len(second))
    )


def code(text: str) -> str:
    """Return source as a code span."""
    fence = "``" if "`" in text else "`"
    return f"{fence}{text}{fence}" if text else "nothing"


def main() -> None:
    results = json.loads((HERE / "results.json").read_text())
    PAGE.write_text(written(results, rules()))


if __name__ == "__main__":
    main()
