"""The state of the code that trials depend on: what a trial reaches, without the code that makes pages of findings."""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple

from .experiment import Experiment
from .versions import LIBRARY, PAGES

_FOLDER, _OURS = Path(__file__).parent, __package__
_ROOTS = ("trial", "generator", "needs")
_RUN, _DATA = ("workers", "measured"), ("sources", "Sources")


@cache
def trial_digest(kind: type[Experiment]) -> str:
    """Return twelve hexadecimal digits of the code that trials of an experiment depend on.

    This is the library, without the code that prints and draws; the definitions that ``trial``, ``generator`` and
    ``needs`` of the experiment reach by the names in them; and the code that runs trials and loads data. Comments and
    docstrings do not count, nor does code that judges findings and describes them. A name that may mean two things
    counts as both.

    Parameters
    ----------
    kind : type
        The class of the experiment.
    """
    reach = _Reach(kind)
    digest = hashlib.sha256(_library().encode())
    for place in sorted(reach.found):
        digest.update(f"{place.module}\0{place.name}\0{reach.found[place]}\0".encode())
    return digest.hexdigest()[:12]


@cache
def _library() -> str:
    """Return the code that all trials may use: kernelmean without pages and command line."""
    texts = []
    for path in sorted(LIBRARY.rglob("*.py")):
        place = path.relative_to(LIBRARY)
        if place.parts[0] not in PAGES:
            texts.append(f"{place.as_posix()}\0{_bare(ast.parse(path.read_bytes()))}\0")
    return "".join(texts)


class _Place(NamedTuple):
    """A name in a module; a member of a class has the name of the class before its own."""

    module: str
    name: str


@dataclass
class _Module:
    """The definitions and imports of a module by name, and its other statements."""

    defined: dict[str, list[ast.stmt]] = field(default_factory=dict)
    imported: dict[str, _Place] = field(default_factory=dict)
    others: list[ast.stmt] = field(default_factory=list)


class _Reach:
    """The definitions that trials of an experiment reach; of its own classes, only members whose names occur."""

    def __init__(self, kind: type[Experiment]) -> None:
        self.found: dict[_Place, str] = {}
        self._seen: set[_Place] = set()
        self._said = set(_ROOTS)
        self._kinds = {_Place(each.__module__, each.__qualname__) for each in kind.__mro__}
        self._classes: dict[_Place, ast.ClassDef] = {}
        for place in self._kinds:
            self._reach(place) if "." not in place.name else self._reach_all(place.module)
        self._reach(_Place(f"{_OURS}.{_RUN[0]}", _RUN[1]))
        if kind.needs is not Experiment.needs:
            self._reach(_Place(f"{_OURS}.{_DATA[0]}", _DATA[1]))
        while self._members():
            pass

    def _members(self) -> bool:
        """Add the members of the experiment's classes whose names have occurred; return whether any were new."""
        before = len(self.found)
        for place, node in list(self._classes.items()):
            for statement in node.body:
                for name in _names(statement):
                    member = _Place(place.module, f"{place.name}.{name}")
                    if member not in self.found and (name in self._said or name.startswith("__")):
                        self._add(member, statement)
                        self._said |= {each.id for each in ast.walk(statement) if isinstance(each, ast.Name)}
        return len(self.found) > before

    def _reach(self, place: _Place) -> None:
        if place in self._seen or not self._followed(place.module):
            return
        self._seen.add(place)
        module = _module(place.module)
        if place.name in module.imported:
            self._reach(module.imported[place.name])
        for number, statement in enumerate(module.defined.get(place.name, ())):
            if place in self._kinds and isinstance(statement, ast.ClassDef):
                self._classes[place] = statement
                for node in (*statement.bases, *statement.decorator_list):
                    self._look(place.module, node)
            else:
                self._add(_Place(place.module, f"{place.name} {number}"), statement)
        for number, statement in enumerate(module.others):
            self._add(_Place(place.module, f"{number}"), statement)

    def _reach_all(self, module: str) -> None:
        for name in _module(module).defined:
            self._reach(_Place(module, name))

    def _add(self, place: _Place, statement: ast.stmt) -> None:
        if place not in self.found:
            self.found[place] = _bare(statement)
            self._look(place.module, statement)

    def _look(self, module: str, node: ast.AST) -> None:
        """Follow all names in a piece of code."""
        for each in ast.walk(node):
            if isinstance(each, ast.Name):
                self._reach(_Place(module, each.id))
            elif isinstance(each, ast.Attribute):
                self._said.add(each.attr)
                if isinstance(each.value, ast.Name):
                    self._reach(_within(module, each.value.id, each.attr))
            elif isinstance(each, ast.Constant) and isinstance(each.value, str):
                self._said.add(each.value)
            elif isinstance(each, ast.ImportFrom | ast.Import):
                for place in _imports(module, each).values():
                    self._reach(place)

    def _followed(self, module: str) -> bool:
        """Return whether a module belongs to this package, or is one outside it that holds the experiment."""
        return f"{module}.".startswith(f"{_OURS}.") or (
            module in {place.module for place in self._kinds if place.module not in ("builtins", "abc")}
        )


def _within(module: str, name: str, attribute: str) -> _Place:
    """Return the place of an attribute when the name before it is that of a module."""
    target = _module(module).imported.get(name)
    return _Place(f"{target.module}.{target.name}" if target else "", attribute)


@cache
def _module(name: str) -> _Module:
    """Return the contents of a module; empty if it has no file."""
    path, module = _file(name), _Module()
    if path is None:
        return module
    for statement in ast.parse(path.read_bytes()).body:
        names = list(_names(statement))
        for each in names:
            module.defined.setdefault(each, []).append(statement)
        if isinstance(statement, ast.Import | ast.ImportFrom):
            module.imported |= _imports(name, statement)
        elif not names and not _is_text(statement):
            module.others.append(statement)
            for inner in ast.walk(statement):
                if isinstance(inner, ast.Import | ast.ImportFrom):
                    module.imported |= _imports(name, inner)
    return module


def _file(module: str) -> Path | None:
    if not f"{module}.".startswith(f"{_OURS}."):
        file = getattr(sys.modules.get(module), "__file__", None)
        return Path(file) if file and file.endswith(".py") else None
    base = _FOLDER.joinpath(*module.split(".")[1:])
    return next((path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()), None)


def _imports(module: str, node: ast.Import | ast.ImportFrom) -> dict[str, _Place]:
    """Return the names that an import statement binds, with their places."""
    if isinstance(node, ast.Import):
        return {}
    parts = module.split(".") if (file := _file(module)) and file.name == "__init__.py" else module.split(".")[:-1]
    base = parts[: len(parts) - node.level + 1] if node.level else []
    source = ".".join([*base, *([node.module] if node.module else [])])
    return {each.asname or each.name: _Place(source, each.name) for each in node.names}


def _names(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a definition or assignment binds."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        yield from (each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name))


def _bare(node: ast.AST) -> str:
    """Return code without comments and without bare strings, such as docstrings."""
    return ast.unparse(_Silent().visit(node))


class _Silent(ast.NodeTransformer):
    """Removes bare strings from code."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        """Replace a bare string with a statement that does nothing."""
        return ast.Pass() if _is_text(node) else node


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
