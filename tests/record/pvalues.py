"""Which p-values each version gives: ``python tests/record/pvalues.py`` writes those of this one, and the page of all.

The calls are few and public, their data built in or drawn from fixed seeds, so that anybody can make them. The file of
a version that was released is never written again; that of the version at work may be until then.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import kernelmean as km

ROOT = Path(__file__).parents[2]
VERSIONS, PAGE = Path(__file__).parent / "versions", ROOT / "docs" / "pvalues.md"
SETUP = """
import numpy as np
import kernelmean as km

rng = np.random.default_rng(2024)
X, Y = rng.normal(size=(80, 3)), rng.normal(0.3, 1.2, size=(70, 3))
Z = X**2 + rng.normal(size=(80, 3))
wine = np.asarray(km.tables.read_table("wine"))
first, second = (wine[wine[:, -1] == cultivar, :4][::3] for cultivar in (0, 1))
"""
CALLS = {
    "two samples": "km.mmd_test(X, Y, rng=0).pvalue",
    "two samples, one kernel": 'km.mmd_test(X, Y, estimator="kme", rng=0).pvalue',
    "two samples, mkme": 'km.mmd_test(X, Y, estimator="mkme", n_resamples=199, rng=0).pvalue',
    "independence": "km.hsic_test(X[:, :1], Z[:, 1:2], rng=0).pvalue",
    "independence, one kernel": 'km.hsic_test(X[:, :1], Z[:, 1:2], estimator="kme", rng=0).pvalue',
    "pairs": "km.paired_mmd_test(X, X + 0.1 * Z, rng=0).pvalue",
    "three samples": "km.k_sample_test(X[:40], X[40:], Y, rng=0).pvalue",
    "three variables": "km.dhsic_test(X[:, :1], X[:, 1:2], Z[:, 2:], rng=0).pvalue",
    "two series": "km.wild_mmd_test(X[:70], Y, block_length=5, rng=0).pvalue",
    "two tables": "km.compare(first, second, rng=0).pvalue",
    "columns of two tables": "max(column.pvalue for column in km.compare(first, second, rng=0).columns)",
    "pairs of columns": "max(pair.pvalue for pair in km.dependence(first, rng=0).pairs)",
    "change points": "km.changes(np.concatenate([X, Y]), rng=0).pvalue",
    "monitor": "km.DriftMonitor(X, seed=0).update(Y).pvalue",
}
"""What is asked, and the expression that answers it."""


def computed(names: Any = CALLS) -> dict[str, float]:
    """Return the p-values of this version."""
    place: dict[str, Any] = {}
    exec(SETUP, place)
    return {name: float(eval(CALLS[name], place)) for name in names}


def recorded() -> dict[str, dict[str, float]]:
    """Return the p-values of every version, the oldest first."""
    files = sorted(VERSIONS.glob("*.json"), key=lambda path: tuple(map(int, path.stem.split("."))))
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in files}


def is_released(version: str) -> bool:
    """Say whether the changelog has a date for a version."""
    heading = re.search(rf"^## {re.escape(version)}, (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    return heading is not None and heading[1] != "unreleased"


def page() -> str:
    """Return the page."""
    versions = recorded()
    rows = ["| call | " + " | ".join(versions) + " |", "|---|" + "--:|" * len(versions)]
    rows += [
        f"| {name} | " + " | ".join(f"{of[name]:.6g}" if name in of else "" for of in versions.values()) + " |"
        for name in dict.fromkeys(name for of in versions.values() for name in of)
    ]
    calls = "\n".join(f'    "{name}": {expression},' for name, expression in CALLS.items())
    shown = 'for name, p in pvalues.items():\n    print(f"{name:28}{p:.6g}")'
    program = f"{SETUP.strip()}\npvalues = {{\n{calls}\n}}\n{shown}"
    return f"""# Did my p-value change?

The same call with the same seed gives the same p-value, as long as the version is the same. Another version may give
another one, because its default looks with other kernels, say. Both are valid p-values; they answer the same question
by other permutations or another statistic. The changelog says which version changes which, and this table shows it for
some calls. Its numbers are those of the versions of NumPy and SciPy in `constraints.txt`. Other versions, and other
processors, change the last digits of statistics, and a p-value only where two statistics tie to these digits.

{chr(10).join(rows)}

To check your installation, run these calls and compare what they print:

```python
{program}
```

If a p-value of your own has changed: `--json` says the version, the seed and how the p-value was computed. When all of
these and your data are the same and the p-value is not, please report it with what `kernelmean --version --verbose`
prints.
"""


def main() -> int:
    """Write the p-values of this version, unless they are those of a release, and the page."""
    path, found = VERSIONS / f"{km.__version__}.json", computed()
    known = recorded().get(km.__version__)
    if known not in (None, found) and is_released(km.__version__):
        print(f"{km.__version__} is released with other p-values; give the version a new number", file=sys.stderr)
        return 1
    VERSIONS.mkdir(exist_ok=True)
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
