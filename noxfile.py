#!/usr/bin/env -S uv run --script
# /// script
# dependencies = ["nox>=2025.10.14"]
# ///
"""The parts of `.ci/run` by name, for those who have nox: `nox --list` shows them, `nox -s style types` runs two."""

import nox

nox.needs_version = ">=2025.10.14"
nox.options.default_venv_backend = "none"  # .ci/run makes its own

PARTS = {
    "style": "ruff, linter and formatter",
    "types": "mypy",
    "layers": "imports run downward only",
    "suite": "all tests that decide",
    "compiled": "tests of compiled parts, a fresh kernel and a Dask cluster",
    "kills": "processes that are stopped and killed",
    "lowest": "the lowest versions of what the package needs",
    "documentation": "the site without warnings, and its links",
    "wheels": "wheel and sdist, and what a bare installation can do",
}


def part(name: str, about: str) -> None:
    """Make a session of one part of the whole check."""

    def run(session: nox.Session) -> None:
        session.run("bash", ".ci/run", name, external=True)

    run.__doc__ = about
    nox.session(run, name=name, default=name in ("style", "types", "layers", "suite"))


for each in PARTS.items():
    part(*each)

if __name__ == "__main__":
    nox.main()
