"""Mutation testing of the expected kernels, the leave-one-out scores and the permutation engine.

``python tests/mutation/run.py [PATTERN ...]`` copies the tree to a folder (``--work``), where mutmut makes the mutants
and finds out which test calls which function, tries the mutants of the modules that match a pattern (of the paths below
``src/kernelmean``; all where none is given) that were not tried yet, and writes ``results.json`` beside this file.
``--again`` tries survivors once more, after tests were added. ``page.py`` makes the page of the documentation from it.

mutmut leaves decorated functions alone; in the copy a decorator becomes a call below its function, so that properties
and registered closed forms are mutated as well. ``loop.py`` tries the mutants, many times faster than a run of pytest
for each.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import fnmatch
import json
import os
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from page import mutation, reason, rules

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
RESULTS = HERE / "results.json"
SOURCE = "src/kernelmean/"
FIRST = "kernelmean.inference.engine.x_in_units__mutmut_1"  # mutmut runs this one alone, and makes all mutants for it
CASES = 12  # of a test, before the next test has its turn
NONE = "none.x_none__mutmut_0"  # changes nothing
OVERHEAD = 0.005  # seconds to call a test
LENIENCE = 5.0, 3.0  # a mutant is stopped after so many seconds of the processor, and so many times those of its tests
KEPT = {"abstractmethod", "overload"}
MUTMUT_OWN = {"staticmethod", "classmethod"}
OUTCOMES = {0: "survived", -14: "timeout", -27: "timeout", 33: "no tests", None: "not run"}
"""By exit code; any other is a failure, or a crash."""
SURVIVING = {"survived", "no tests"}


def undecorated(source: str) -> str:
    """Return ``source`` with the decorators of functions and methods written as calls below them."""
    lines = source.splitlines()
    for node in sorted(_functions(ast.parse(source)), key=lambda node: -node.lineno):
        names = [ast.unparse(decorator) for decorator in node.decorator_list]
        if KEPT & {name.rsplit(".", 1)[-1] for name in names} or (len(names) == 1 and names[0] in MUTMUT_OWN):
            continue
        call = node.name
        for name in reversed(names):
            call = f"{name}({call})"
        lines.insert(node.end_lineno or node.lineno, f"{' ' * node.col_offset}{node.name} = {call}")
        del lines[node.decorator_list[0].lineno - 1 : node.lineno - 1]
    return "\n".join(lines) + "\n"


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    for body in (tree.body, *(node.body for node in classes)):
        yield from (node for node in body if isinstance(node, ast.FunctionDef) and node.decorator_list)


def copy(work: Path) -> list[str]:
    """Bring the files of the tree to ``work``, and return the names of those that differed there."""
    changed = []
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True)
    names = listed.stdout.decode().splitlines()
    mutated = {str(path) for path in mutated_files()}
    for name in names:
        if not (ROOT / name).is_file() or HERE in (ROOT / name).parents:
            continue
        content = (ROOT / name).read_bytes()
        if name in mutated:
            content = undecorated(content.decode()).encode()
        target = work / name
        if not target.exists() or target.read_bytes() != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            (work / "mutants" / name).unlink(missing_ok=True)
            changed.append(name)
    return changed


def mutated_files() -> list[Path]:
    """Return the files that are mutated, relative to the root."""
    options = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mutmut"]
    files = (path.relative_to(ROOT) for pattern in options["only_mutate"] for path in sorted(ROOT.glob(pattern)))
    return [path for path in files if not any(fnmatch.fnmatch(str(path), p) for p in options["do_not_mutate"])]


def _environment(**more: str) -> dict[str, str]:
    return {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONPATH": "", **more}


def jobs(work: Path, names: Iterable[str], slowest: float, total: float) -> Iterator[tuple[str, list[str], float]]:
    """Return mutants with some of their tests, none above ``slowest``, ``total`` seconds in all, and a limit."""
    stats = json.loads((work / "stats.json").read_text())
    seconds = {test: each + OVERHEAD for test, each in stats["duration_by_test"].items()}
    covering = stats["tests_by_mangled_function_name"]
    breadth = Counter(test for tests in covering.values() for test in tests)
    for name in names:
        kept, spent = [], 0.0
        for test in by_turns(covering.get(name.partition("__mutmut_")[0], ()), seconds, breadth):
            if not kept or (spent + seconds[test] <= total and seconds[test] <= slowest):
                kept.append(test)
                spent += seconds[test]
        yield name, kept, LENIENCE[0] + LENIENCE[1] * spent


def by_turns(tests: Iterable[str], seconds: dict[str, float], breadth: Counter[str]) -> list[str]:
    """Return tests, those first that are quick and call few functions, and a few cases of each before many of any."""
    turns: Counter[str] = Counter()
    order = {}
    for test in sorted(tests, key=lambda test: (seconds[test], test)):
        function = test.partition("[")[0]
        order[test] = turns[function] // CASES
        turns[function] += 1
    return sorted(order, key=lambda test: (order[test], seconds[test] * breadth[test]))


def attempt(work: Path, wanted: list[tuple[str, list[str], float]]) -> None:
    """Try mutants with their tests, after all of these without a mutant, and keep the exit codes where mutmut does."""
    listed, done = work / "jobs.txt", work / "jobs.done"
    tests = sorted({test for _, some, _ in wanted for test in some})
    listed.write_text("".join(json.dumps(job) + "\n" for job in [(NONE, tests, 3600.0), *wanted] if job[1]))
    done.write_text("".join(json.dumps([name, 33]) + "\n" for name, tests, _ in wanted if not tests))
    files = sorted({test.partition("::")[0] for test in tests})
    options = ["-q", "--tb=no", "--assert=plain", "--rootdir=."]
    options += ["-p", "loop", "-p", "no:cacheprovider", "-p", "no:xdist"]
    with (work / "log").open("a") as log:
        subprocess.run(
            [sys.executable, "-m", "pytest", *options, *files],
            cwd=work / "mutants",
            env=_environment(MUTANTS=str(listed), PYTHONPATH=f"{work}/mutants/src:{HERE}", MUTANT_UNDER_TEST=""),
            stdout=log,
            stderr=subprocess.STDOUT,
            check=False,
        )
    codes = dict(map(json.loads, done.read_text().splitlines()))
    if codes.pop(NONE, 0):
        done.unlink()
        raise RuntimeError(f"tests fail without a mutant; see {work / 'log'}")
    keep(work)
    if missing := len(wanted) - len(codes):
        raise RuntimeError(f"{missing} mutants were not tried; see {work / 'log'}")


def keep(work: Path) -> None:
    """Move the exit codes that were found to the files of mutmut."""
    done = work / "jobs.done"
    if not done.exists():
        return
    codes = dict(map(json.loads, done.read_text().splitlines()))
    for meta in (work / "mutants/src").rglob("*.meta"):
        known = json.loads(meta.read_text())
        known["exit_code_by_key"] |= {name: codes[name] for name in known["exit_code_by_key"] if name in codes}
        meta.write_text(json.dumps(known, indent=4))
    done.unlink()


def prepare(work: Path) -> None:
    """Let mutmut make the mutants and learn which test calls which function; what it prints goes to a file."""
    stats, kept = work / "mutants/mutmut-stats.json", work / "stats.json"
    changed = copy(work)
    if not changed and kept.exists():
        return
    if kept.exists():
        stats.write_text(json.dumps(without_tests(json.loads(kept.read_text()), changed)))
    command = [sys.executable, "-m", "mutmut", "run", "--max-children", "1", FIRST]
    with (work / "log").open("w") as log:
        subprocess.run(command, cwd=work, stdout=log, stderr=subprocess.STDOUT, check=True, env=_environment())
    kept.write_text(stats.read_text())


def without_tests(stats: dict[str, Any], files: Iterable[str]) -> dict[str, Any]:
    """Forget the tests of some files, so that mutmut runs them anew: their cases may have other names."""
    prefixes = tuple(f"{name}::" for name in files)
    calls = stats["tests_by_mangled_function_name"].items()
    return {
        **stats,
        "duration_by_test": {t: s for t, s in stats["duration_by_test"].items() if not t.startswith(prefixes)},
        "tests_by_mangled_function_name": {f: [t for t in ts if not t.startswith(prefixes)] for f, ts in calls},
    }


def outcomes(work: Path, path: Path) -> dict[str, str]:
    """Return what became of every mutant of a file."""
    meta = work / "mutants" / f"{path}.meta"
    codes = json.loads(meta.read_text())["exit_code_by_key"] if meta.exists() else {}
    return {name: OUTCOMES.get(code, "killed") for name, code in codes.items()}


def changes(work: Path, path: Path, names: Iterable[str]) -> Iterator[dict[str, str]]:
    """Say of some mutants in which function they change what to what."""
    mutated = work / "mutants" / path
    lines = mutated.read_text().splitlines()
    spans = json.loads(Path(f"{mutated}.spans").read_text())["spans"]
    for name in names:
        mutant = name.rpartition(".")[2]
        original = mutant.rpartition("__mutmut_")[0] + "__mutmut_orig"
        old, new = (
            [line.strip().replace(key, "") for line in lines[spans[key][0] - 1 : spans[key][1]]]
            for key in (original, mutant)
        )
        pairs = list(difflib.ndiff(old, new))
        function = mutant.rpartition("__mutmut_")[0].removeprefix("x_").removeprefix("xǁ").replace("ǁ", ".")
        yield {
            "function": function,
            "before": " ".join(line[2:] for line in pairs if line.startswith("- ")),
            "after": " ".join(line[2:] for line in pairs if line.startswith("+ ")),
        }


def run(work: Path, files: Iterable[Path], again: bool, gaps: bool, slowest: float, total: float) -> None:
    """Run the mutants of ``files`` that did not run yet, with ``again`` the survivors once more."""
    keep(work)  # what a run that was stopped had found
    wanted = {"not run"} | (SURVIVING if again else set())
    found = {name: outcome for path in files for name, outcome in outcomes(work, path).items() if outcome in wanted}
    names = [name for name, outcome in found.items() if not (gaps and outcome in SURVIVING and explained(work, name))]
    if names:
        attempt(work, list(jobs(work, names, slowest, total)))


def explained(work: Path, name: str) -> bool:
    """Whether ``reasons.toml`` says why a mutant survives."""
    path = Path("src", *name.split(".")[:-1]).with_suffix(".py")
    (change,) = changes(work, path, [name])
    return reason(rules(), str(path).removeprefix(SOURCE), mutation(change))[0] != "gap"


def summary(work: Path, before: dict[str, Any]) -> dict[str, Any]:
    """Return what is known of every module; of those that are not in ``work``, what was known before."""
    modules = {}
    for path in mutated_files():
        name = str(path).removeprefix(SOURCE)
        found = outcomes(work, path)
        survivors = [mutant for mutant, outcome in found.items() if outcome in SURVIVING]
        modules[name] = {
            "outcomes": dict(sorted(Counter(found.values()).items())),
            "survivors": list(changes(work, path, survivors)),
        }
        if "not run" in found.values() and name in before:
            modules[name] = before[name]
    return {"mutmut": version("mutmut"), "modules": modules}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("patterns", nargs="*", default=["*"], metavar="PATTERN")
    parser.add_argument("--work", type=Path, default=Path(gettempdir()) / "kernelmean-mutants")
    parser.add_argument("--again", action="store_true", help="try the survivors once more")
    parser.add_argument("--gaps", action="store_true", help="of the survivors only those without a reason")
    parser.add_argument("--slowest", type=float, default=1.0, help="leave out tests above so many seconds")
    parser.add_argument("--total", type=float, default=3.0, help="seconds of tests for a mutant")
    options = parser.parse_args()
    files = [f for f in mutated_files() if any(fnmatch.fnmatch(str(f)[len(SOURCE) :], p) for p in options.patterns)]
    prepare(options.work)
    run(options.work, files, options.again, options.gaps, options.slowest, options.total)
    for path in files:
        print(str(path).removeprefix(SOURCE), dict(Counter(outcomes(options.work, path).values())), flush=True)
    before = json.loads(RESULTS.read_text())["modules"] if RESULTS.exists() else {}
    RESULTS.write_text(json.dumps(summary(options.work, before), indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
