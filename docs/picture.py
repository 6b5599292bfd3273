"""Draw docs/figures/report.png, the picture of the README: the first screen and the first charts of a real report.

    python docs/picture.py

Needs the extra ``plot`` and a Chromium. The report is that of two cultivars of wine, as ``to_html`` writes it, with the
section of its charts only.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

from sklearn.datasets import load_wine

import kernelmean as km
from kernelmean.report import Document, html

PICTURE = Path(__file__).parent / "figures" / "report.png"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SECTION, SIZE = "Where they differ", (820, 1020)


def report() -> Document:
    """Return the verdict and the charts of the report on two cultivars, four measurements of each."""
    wine = load_wine(as_frame=True)
    columns = ["proline", "alcohol", "color_intensity", "malic_acid"]
    first, second = (wine.data.loc[wine.target == kind, columns] for kind in (0, 1))
    page = km.compare(first, second, names=("cultivar 1", "cultivar 2")).document()
    return replace(page, sections=tuple(section for section in page.sections if section.title == SECTION))


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
        page.write_text(html.render(report()), encoding="utf-8")
        photograph(page, PICTURE)
    print(f"{PICTURE.name}: {PICTURE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
