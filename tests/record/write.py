"""Write down what the recorded calls answer: ``python tests/record/write.py [NAME ...] [--reason TEXT]``.

New calls are added, and entries without a call dropped. An entry with other numbers than before is refused, unless
``--reason`` says why they changed; the reason stays beside the entry. Names are prefixes, such as ``mmd/``.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from record import calls  # noqa: F401 (registers the calls)
from record.compared import HERE, all_expected, differences
from record.registry import CALLS, Call, two_processes


def entry_of(call: Call, values: dict[str, Any]) -> dict[str, Any]:
    """Return what is written for a call, as JSON gives it back."""
    wider = {key: list(pair) for key, pair in call.wider.items() if key in values or key == "*"}
    entry = {"values": without_nan(values), **({"wider": wider} if wider else {})}
    return json.loads(json.dumps(entry, allow_nan=False))


def without_nan(value: Any) -> Any:
    """Return a value with None in the place of NaN, which JSON has not."""
    if isinstance(value, dict):
        return {key: without_nan(of) for key, of in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(item) for item in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def updated(old: dict[str, Any] | None, new: dict[str, Any], reason: str | None) -> dict[str, Any]:
    """Return the entry to write; the old one where nothing changed, so that last digits stay.

    Raises
    ------
    ValueError
        When numbers or tolerances changed and no reason is given.
    """
    if old is None:
        return new
    changed = differences({**new, "values": old["values"]}, new["values"])
    if old.get("wider") != new.get("wider"):
        changed.append(f"tolerances were {old.get('wider')}, are {new.get('wider')}")
    if not changed:
        return old
    if not reason:
        raise ValueError("; ".join(changed))
    return {**new, "reasons": [*old.get("reasons", []), reason]}


def write(entries: dict[str, Any]) -> None:
    """Write the entries, one file for each group, a line for each value."""
    groups = {name.split("/")[0] for name in entries}
    (HERE / "expected").mkdir(exist_ok=True)
    for path in (HERE / "expected").glob("*.json"):
        if path.stem not in groups:
            path.unlink()
    for group in groups:
        own = {name: entry for name, entry in sorted(entries.items()) if name.split("/")[0] == group}
        (HERE / "expected" / f"{group}.json").write_text(in_lines(own) + "\n", encoding="utf-8")


def in_lines(value: Any, depth: int = 0) -> str:
    """Return JSON with one line for each value, lists on one line."""
    if not isinstance(value, dict) or not value:
        return json.dumps(value, ensure_ascii=False)
    lines = ",\n".join(" " * (depth + 1) + f"{json.dumps(key)}: {in_lines(of, depth + 1)}" for key, of in value.items())
    return "{\n" + lines + "\n" + " " * depth + "}"


def main() -> int:
    """Run the calls and write their numbers; return 1 when one changed without a reason."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help="prefixes of names; all by default")
    parser.add_argument("--reason", help="why numbers changed")
    options = parser.parse_args()
    entries = {name: entry for name, entry in all_expected().items() if name in CALLS}
    refused = 0
    with ExitStack() as stack:
        client = cache(lambda: stack.enter_context(two_processes()))
        for name, call in CALLS.items():
            if not name.startswith(tuple(options.names) or "") or call.missing:
                continue
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            try:
                new = entry_of(call, call.run(Path(folder), client))
                entries[name] = updated(entries.get(name), new, options.reason)
            except ValueError as error:
                print(f"{name}: {error}", file=sys.stderr)
                refused = 1
    write(entries)
    return refused


if __name__ == "__main__":
    sys.exit(main())
