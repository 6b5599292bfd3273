"""Every recorded call gives the numbers that were written down; p-values exactly."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checkered import mostly_slow
from record import calls, write
from record.compared import HERE, agree, all_expected, differences, tolerance
from record.registry import CALLS, recorded, two_processes

EXPECTED = all_expected()


def changes(name: str, folder: Path, client: Callable[[], Any]) -> list[str]:
    """Return a line for every value of a call that is not the recorded one."""
    today = write.entry_of(CALLS[name], CALLS[name].run(folder, client))
    assert today.get("wider") == EXPECTED[name].get("wider")
    return differences(EXPECTED[name], today["values"])


def no_client() -> Any:
    raise AssertionError("a call of one process asked for a cluster")


LONG = ("estimate/all estimators", "commands/estimate and info", "commands/density", "density/held out, mkme")
"""Calls that choose for many estimators or densities; other calls choose for each of them."""
IN_ONE_PROCESS = sorted(name for name, call in CALLS.items() if not call.on_cluster)


@pytest.mark.parametrize("name", mostly_slow(IN_ONE_PROCESS, *(name for name in IN_ONE_PROCESS if name not in LONG)))
def test_same_numbers(name: str, tmp_path: Path) -> None:
    if missing := CALLS[name].missing:
        pytest.skip(f"{name} needs {', '.join(missing)}")
    changed = changes(name, tmp_path, no_client)
    assert not changed, "\n".join(changed)


def test_same_numbers_on_two_processes(tmp_path: Path) -> None:
    """One test, so that one cluster is started, however tests are shared out."""
    pytest.importorskip("dask", reason="clusters need the extra 'dask'")
    pytest.importorskip("distributed", reason="clusters need the extra 'dask'")
    names = sorted(name for name, call in CALLS.items() if call.on_cluster)
    with two_processes() as client:
        changed = {name: changes(name, tmp_path, lambda: client) for name in names}
    assert len(names) >= 8
    lines = [f"{name}: {line}" for name, lines in changed.items() for line in lines]
    assert not lines, "\n".join(lines)


def test_every_call_is_recorded_and_every_record_has_a_call() -> None:
    assert sorted(EXPECTED) == sorted(CALLS)
    assert calls.__doc__


def test_all_groups_are_there() -> None:
    """A module that is not collected would take its calls and its records out of sight together."""
    groups = {name.split("/")[0] for name in CALLS}
    assert {path.stem for path in (HERE / "expected").glob("*.json")} == groups
    assert len(CALLS) >= 150


def size(value: Any) -> float:
    """The largest number in a value, 0 where there is none."""
    if isinstance(value, list):
        return max(map(size, value), default=0.0)
    return abs(value) if isinstance(value, int | float) else 0.0


def perturbed(value: Any, by: float) -> Any:
    """The value with its largest number changed by a share of it, or another text."""
    if isinstance(value, list) and value:
        flat = [size(item) for item in value]
        place = flat.index(max(flat))
        return [*value[:place], perturbed(value[place], by), *value[place + 1 :]]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value * (1 + by) if value else by
    return f"not {value}"


def test_a_changed_number_is_seen() -> None:
    """Every value is noticed when one of its numbers moves by a hundred times the tolerance, 1 in 10⁸ in general."""
    for name, entry in EXPECTED.items():
        for key, value in entry["values"].items():
            allowed = tolerance(entry, key)
            assert agree(key, value, copy.deepcopy(value), allowed), f"{name}: {key}"
            assert not agree(key, value, perturbed(value, 100 * allowed), allowed), f"{name}: {key}"


def test_only_what_changed_is_told() -> None:
    entry = {"values": {"a": 1.0, "b": [1.0, 2.0], "c": "cyclic"}}
    assert differences(entry, {"a": 1.0, "b": [1.0, 2.1], "c": "cyclic"}) == ["b was [1.0, 2.0], is [1.0, 2.1]"]
    assert differences(entry, {"a": 1.0, "b": [1.0, 2.0], "c": "gemm"}) == ["c was cyclic, is gemm"]


def test_a_value_less_or_more_is_seen() -> None:
    entry = {"values": {"statistic": 1.0, "pvalue": 0.05}}
    assert differences(entry, {"statistic": 1.0}) == ["pvalue is missing"]
    assert differences(entry, {**entry["values"], "gap": 2.0}) == ["gap is new"]


@pytest.mark.parametrize(
    ("recorded_value", "today"),
    [
        ([1.0, 2.0], [1.0]),
        ([1.0], 1.0),
        (None, 1.0),
        ([None, 1.0], [0.0, 1.0]),
        (True, 1),
        ("a", None),
        ([[1.0, 2.0]], [[1.0, 2.1]]),
    ],
)
def test_other_shapes_and_kinds_are_seen(recorded_value: Any, today: Any) -> None:
    assert differences({"values": {"a": recorded_value}}, {"a": today})


def test_numbers_beside_missing_ones_are_compared_up_to_rounding() -> None:
    entry = {"values": {"gaps": [None, 1.0]}}
    assert not differences(entry, {"gaps": [None, 1.0 + 1e-13]})
    assert differences(entry, {"gaps": [None, 1.0 + 1e-9]})


def test_p_values_are_compared_exactly_and_others_up_to_rounding() -> None:
    entry = {"values": {"pvalue": 0.05, "statistic": 0.05}}
    assert differences(entry, {"pvalue": 0.05 * (1 + 1e-12), "statistic": 0.05 * (1 + 1e-12)}) == [
        f"pvalue was 0.05, is {0.05 * (1 + 1e-12)}"
    ]


def test_other_numbers_are_written_with_a_reason_only() -> None:
    old, new = {"values": {"statistic": 1.0}}, {"values": {"statistic": 1.1}}
    with pytest.raises(ValueError, match=r"statistic was 1\.0, is 1\.1"):
        write.updated(old, new, None)
    assert write.updated(old, new, "the sign was wrong") == {**new, "reasons": ["the sign was wrong"]}
    assert write.updated(old, {"values": {"statistic": 1.0 + 1e-14}}, None) is old
    wider = {**old, "wider": {"statistic": [1e-3, "lax"]}}
    with pytest.raises(ValueError, match="tolerances were None"):
        write.updated(old, wider, None)


def test_every_wider_tolerance_has_a_reason() -> None:
    for entry in EXPECTED.values():
        for allowed, reason in entry.get("wider", {}).values():
            assert allowed <= 1e-5
            assert len(reason) > 10


def test_two_calls_with_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two calls are named"):
        recorded(next(iter(CALLS)))(dict)


def test_calls_use_public_names_only() -> None:
    """So that each is rewritten by one line when a name moves."""
    for path in (HERE / "calls").glob("*.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) < 400
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and not node.attr.endswith("__"):
                assert not node.attr.startswith("_"), f"{path.name}:{node.lineno} uses {node.attr}"
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("kernelmean"):
                assert "._" not in (node.module or "")
                assert not any(name.name.startswith("_") for name in node.names)
