"""Draw docs/figures/report.png, the picture of the README: the top of the report of the README's own command.

    python docs/picture.py

Needs the extras ``cli`` and ``plot``, and a Chromium. The report is the file that the command writes, as it is.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).parent
PICTURE = DOCS / "figures" / "report.png"
COMMAND = re.compile(r"^\$ kernelmean (.*)$", flags=re.MULTILINE)
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SIZE = (1100, 720)


def write_report(page: Path) -> None:
    """Run the command of the README with ``--html``."""
    found = COMMAND.search((DOCS.parent / "README.md").read_text(encoding="utf-8"))
    if found is None:
        raise ValueError(
            "README.md has no line that begins with '$ kernelmean': write one, the picture is of its report"
        )
    command = [sys.executable, "-m", "kernelmean", *shlex.split(found[1]), "--html", str(page)]
    subprocess.run(command, check=True, capture_output=True)


def photograph(page: Path, picture: Path) -> None:
    """Write what a browser shows of the top of a page.

    Raises
    ------
    FileNotFoundError
        When no browser is installed.
    """
    browser = next((path for path in map(shutil.which, BROWSERS) if path), None)
    if browser is None:
        raise FileNotFoundError(f"a browser is needed, one of {', '.join(BROWSERS)}")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--window-size={SIZE[0]},{SIZE[1]}"]
    command = [browser, *options, f"--screenshot={picture}", page.as_uri()]
    subprocess.run(command, check=True, capture_output=True)


def main() -> None:
    """Write the report to a temporary folder and its picture beside the other figures."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        write_report(page)
        photograph(page, PICTURE)
    print(f"{PICTURE.name}: {PICTURE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
