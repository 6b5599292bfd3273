"""Say whether two wheels hold the same files: python .ci/same_files.py ONE.whl OTHER.whl."""

from __future__ import annotations

import sys
from zipfile import ZipFile


def differences(one: str, other: str) -> list[str]:
    """Return a line for every file that only one of two archives has, or that differs."""
    with ZipFile(one) as first, ZipFile(other) as second:
        a, b = ({name: archive.read(name) for name in archive.namelist()} for archive in (first, second))
    return [
        f"{name}: only in {one if name in a else other}" if (name in a) != (name in b) else f"{name}: differs"
        for name in sorted({*a, *b})
        if a.get(name) != b.get(name)
    ]


if __name__ == "__main__":
    found = differences(*sys.argv[1:])
    print("\n".join(found) or f"both wheels hold the same files: {sys.argv[1]}")
    sys.exit(1 if found else 0)
