"""How the package is built: rooms, layers, lines, parameters, names, and what a call passes through.

    python benchmarks/house.py [--write]

Everything is read from the source as it stands, or measured by ``sys.setprofile`` in a fresh process. ``--write`` puts
the table into docs/evidence/house.md. A *room* is an entry at the root of the package; a *layer* is a step of the
longest chain of imports between rooms. Functions count where they are defined, their docstrings left out.
"""

from __future__ import annotations

import argparse
import ast
import json
import statistics
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "kernelmean"
REPORT = ROOT / "docs" / "evidence" / "house.md"
MANY = 8
LONG = 40
_OUTSIDE = {"__init__", "__main__", "__pycache__", "py.typed"}
_CALLS = {
    'mmd_test(X, Y, estimator="kme")': """
        import numpy as np
        X, Y = np.random.default_rng(0).normal(size=(2, 60, 2))
        km.mmd_test(X, Y, estimator="kme", rng=0)
        traced(lambda: km.mmd_test(X, Y, estimator="kme", rng=0))
    """,
    "KME().fit(X)": """
        import numpy as np
        X = np.random.default_rng(0).normal(size=(60, 2))
        km.KME().fit(X)
        traced(lambda: km.KME().fit(X))
    """,
    "kernelmean compare a.csv b.csv": """
        import numpy as np, os
        for name in ("a.csv", "b.csv"):
            rows = np.random.default_rng(0).normal(size=(60, 2))
            np.savetxt(name, rows, delimiter=",", header="u,v", comments="")
        from kernelmean.cli.app import run
        run(["compare", "a.csv", "b.csv", "--quiet"])
        traced(lambda: run(["compare", "a.csv", "b.csv", "--quiet"]))
    """,
}
_TRACER = """
import json, sys
import kernelmean as km

def traced(call):
    found = set()

    def see(frame, event, argument):
        if event == "call" and "/kernelmean/" in frame.f_code.co_filename and frame.f_code.co_name != "<module>":
            found.add((frame.f_code.co_filename, frame.f_code.co_qualname))

    sys.setprofile(see)
    try:
        call()
    finally:
        sys.setprofile(None)
    print(json.dumps([len({file for file, _ in found}), len(found)]))
"""


@dataclass(frozen=True)
class Module:
    """A source file: its dotted name below the package, its syntax tree, and its lines."""

    name: str
    tree: ast.Module
    lines: int

    code: int

    @property
    def room(self) -> str:
        return self.name.split(".")[0]

    @cached_property
    def functions(self) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
        return [node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


@lru_cache
def modules() -> tuple[Module, ...]:
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts) or "__init__"
        text = path.read_text()
        tree = ast.parse(text)
        found.append(Module(name, tree, text.count("\n"), code_lines(tree, text)))
    return tuple(found)


def code_lines(tree: ast.Module, text: str) -> int:
    """Return the number of lines that are neither blank nor a comment nor of a string that stands alone."""
    texts = [
        range(node.lineno, (node.end_lineno or node.lineno) + 1)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    ]
    told = {line for span in texts for line in span}
    lines = enumerate(text.splitlines(), 1)
    return sum(bool(line.strip()) and not line.lstrip().startswith("#") and k not in told for k, line in lines)


def rooms() -> list[str]:
    return sorted(
        entry.stem for entry in PACKAGE.iterdir() if entry.name not in _OUTSIDE and entry.stem not in _OUTSIDE
    )


def imports(module: Module, *, lazily: bool) -> Iterator[str]:
    """Yield the dotted names below the package that a file imports; inside of functions only ``lazily``."""
    is_package = (PACKAGE.joinpath(*module.name.split(".")) / "__init__.py").exists() or module.name == "__init__"
    here = [] if module.name == "__init__" else module.name.split(".")
    for node in ast.walk(module.tree) if lazily else _at_the_top(module.tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = here[: len(here) - node.level + is_package]
            target = [*base, *(node.module.split(".") if node.module else [])]
            for alias in node.names:
                yield _known([*target, alias.name])


def _at_the_top(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield the statements that run on import: not those of functions, nor those for type checkers only."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            yield node
        elif isinstance(node, ast.Try | ast.With):
            yield from (each for each in ast.walk(node) if isinstance(each, ast.ImportFrom))


def _known(parts: list[str]) -> str:
    names = {module.name for module in modules()}
    while parts and ".".join(parts) not in names:
        parts = parts[:-1]
    return ".".join(parts) or "__init__"


def layers() -> int:
    """Return the length of the longest chain of rooms of which each imports the next."""
    graph: dict[str, set[str]] = defaultdict(set)
    for module in modules():
        for target in imports(module, lazily=True):
            room = target.split(".")[0]
            if "__init__" not in (module.room, room) and room != module.room:
                graph[module.room].add(room)
    depth: dict[str, int] = {}

    def below(room: str, path: tuple[str, ...]) -> int:
        if room in path:
            raise ValueError(f"rooms import each other: {' -> '.join((*path, room))}")
        if room not in depth:
            depth[room] = 1 + max((below(each, (*path, room)) for each in sorted(graph[room])), default=0)
        return depth[room]

    return max(below(room, ()) for room in list(graph))


def cycles(*, lazily: bool) -> list[str]:
    """Return the groups of files that import each other, on import or (lazily) in functions; also within a room."""
    graph = {
        module.name: {each for each in imports(module, lazily=lazily) if each != module.name} for module in modules()
    }
    reach: dict[str, set[str]] = {}
    for name in graph:
        seen: set[str] = set()
        left = [name]
        while left:
            for target in graph.get(left.pop(), ()):
                if target not in seen:
                    seen.add(target)
                    left.append(target)
        reach[name] = seen
    packages = {
        module.name for module in modules() if (PACKAGE.joinpath(*module.name.split(".")) / "__init__.py").exists()
    }
    groups = {
        tuple(sorted({name, *(each for each in reach[name] if name in reach.get(each, ()))}))
        for name in graph
        if name in reach[name]
    }
    inside = [[name for name in group if name not in packages and name != "__init__"] for group in groups]
    return [", ".join(group) for group in inside if len(group) > 1]


def wide() -> list[str]:
    """Return the functions with many parameters; constructors of estimators and commands of the parser aside."""
    return [
        f"{module.name}:{function.name}"
        for module in modules()
        for function, owner in _owned(module.tree)
        if _parameters(function) >= MANY and not _is_constructor(function, owner) and not _is_command(function)
    ]


def _owned(tree: ast.AST, owner: ast.ClassDef | None = None) -> Iterator[tuple[ast.FunctionDef, ast.ClassDef | None]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield node, owner
        yield from _owned(node, node if isinstance(node, ast.ClassDef) else owner)


def _parameters(function: ast.FunctionDef) -> int:
    given = function.args
    named = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    return len(named) - bool(named and named[0].arg in ("self", "cls"))


def _is_constructor(function: ast.FunctionDef, owner: ast.ClassDef | None) -> bool:
    """Whether a function makes an estimator of scikit-learn, whose options are its parameters by convention."""
    fits = owner is not None and any(isinstance(each, ast.FunctionDef) and each.name == "fit" for each in owner.body)
    return function.name == "__init__" and (fits or (owner is not None and bool(owner.bases)))


def _is_command(function: ast.FunctionDef) -> bool:
    """Whether the parser of the command line calls a function: its parameters are annotated with options."""
    text = " ".join(ast.unparse(each.annotation) for each in function.args.args if each.annotation is not None)
    return "typer." in text


def owners() -> dict[str, list[str]]:
    """Return the names of classes that several files define."""
    found: dict[str, list[str]] = defaultdict(list)
    for module in modules():
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef):
                found[node.name].append(module.name)
    return {name: where for name, where in found.items() if len(where) > 1}


def lengths() -> list[int]:
    return [_length(function) for module in modules() for function in module.functions]


def _length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def helpers() -> int:
    """Return how many private functions of modules are named exactly once outside of their definition."""
    named: Counter[str] = Counter()
    for module in modules():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Name | ast.Attribute):
                named[node.id if isinstance(node, ast.Name) else node.attr] += 1
            elif isinstance(node, ast.ImportFrom):
                named.update(alias.name for alias in node.names)
    private = [
        node.name
        for module in modules()
        for node in module.tree.body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("_") and not node.decorator_list
    ]
    return sum(named[name] == 1 for name in private)


def inside_tests() -> int:
    """Return how many test files import what is inside of a room: a private name, or a file of a room."""
    return sum(any(map(_is_inside, ast.walk(ast.parse(path.read_text())))) for path in (ROOT / "tests").rglob("*.py"))


def _is_inside(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "kernelmean":
        return _is_internal((node.module or "").split("."), [alias.name for alias in node.names])
    if isinstance(node, ast.Import):
        return any(
            _is_internal(alias.name.split("."), []) for alias in node.names if alias.name.startswith("kernelmean")
        )
    return False


def _is_internal(path: list[str], names: list[str]) -> bool:
    private = any(word.startswith("_") and not word.startswith("__") for word in [*path, *names])
    return private or len(path) > 2


def passed(code: str) -> tuple[int, int]:
    """Return the files and the functions of the package that a call passes through, in a fresh process."""
    lines = [line.removeprefix("        ") for line in code.strip("\n").splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", _TRACER + "\n".join(lines)], cwd=folder, capture_output=True, text=True, check=True
        )
    files, functions = json.loads(done.stdout.strip().splitlines()[-1])
    return files, functions


def measured() -> dict[str, str]:
    """Return every figure by name."""
    import kernelmean as km

    all_lengths = lengths()
    calls = {name: "{} files, {} functions".format(*passed(code)) for name, code in _CALLS.items()}
    return {
        "lines in the wheel": f"{sum(module.lines for module in modules()):,}",
        "of these lines of code": f"{sum(module.code for module in modules()):,}",
        "rooms at the root of the package": str(len(rooms())),
        "import layers of rooms": str(layers()),
        **calls,
        f"functions with {MANY} parameters or more": str(len(wide())),
        "public names": str(len(km.__all__)),
        "groups of files that import each other": f"{len(cycles(lazily=False))} when they are imported, "
        f"{len(cycles(lazily=True))} with imports in functions",
        "class names with several owners": str(len(owners())),
        "functions": f"{len(all_lengths):,}",
        "median length of a function": f"{statistics.median(all_lengths):.0f} lines",
        f"functions above {LONG} lines": f"{sum(n > LONG for n in all_lengths) / len(all_lengths):.1%}",
        "private functions with one caller": str(helpers()),
        "test files that import what is inside of a room": str(inside_tests()),
    }


def page(figures: dict[str, str]) -> str:
    rows = "\n".join(f"| {name} | {value} |" for name, value in figures.items())
    written = "Written by `python benchmarks/house.py --write`."
    return f"# How the package is built\n\n{written}\n\n| | |\n| --- | --- |\n{rows}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the table into docs/evidence/house.md")
    parser.add_argument("--names", action="store_true", help="list what is counted, too")
    options = parser.parse_args()
    text = page(measured())
    print(text)
    if options.names:
        print("\n".join(["wide:", *wide(), "owners:", *map(str, owners().items()), "cycles:", *cycles(lazily=True)]))
    if options.write:
        REPORT.write_text(text)


if __name__ == "__main__":
    main()
