"""The origin of a result: versions of Python and the libraries, the state of the code, the commit."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import kernelmean
from kernelmean import __version__

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "joblib")
_FOLDER = Path(__file__).parent
LIBRARY = Path(str(kernelmean.__file__)).parent
PAGES = ("cli", "report", "studies")
"""The parts of the library that print and draw, and change no result."""


def versions() -> dict[str, str]:
    """Return the versions that results may depend on."""
    libraries = {name: _version(name) for name in _LIBRARIES}
    return {"kernelmean": __version__, "python": platform.python_version(), **libraries}


def maker(code: str) -> dict[str, str]:
    """Return what makes trials now: the versions, the digest of the code that they reach, and the machine."""
    return {**versions(), "code": code, "machine": platform.machine()}


@cache
def code_digest() -> str:
    """Return twelve hexadecimal digits of the source of both packages, without the code that prints and draws."""
    digest = hashlib.sha256()
    for folder in (LIBRARY, _FOLDER):
        for path in sorted(folder.rglob("*.py")):
            place = path.relative_to(folder)
            if place.parts[0] not in (*PAGES, "command.py"):
                digest.update(f"{folder.name}/{place.as_posix()}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


def commit() -> str | None:
    """Return the commit of the work tree of both packages, with "+ changes" if files differ; None without one."""
    head = _git("rev-parse", "HEAD")
    if head is None or _git("ls-files", "--error-unmatch", "__init__.py") is None:
        return None  # installed inside the work tree of another project
    return f"{head} + changes" if _git("status", "--porcelain", "--", ".", str(LIBRARY)) else head


def _git(*arguments: str) -> str | None:
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0"}
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=_FOLDER, env=environment, capture_output=True, text=True, timeout=20, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"
