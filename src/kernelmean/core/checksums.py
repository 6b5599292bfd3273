"""JSON that two readers cannot read differently, and a checksum in it that finds every change."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Collection, Mapping
from itertools import accumulate
from typing import Any

SEAL = "sha256"
_DEEPEST = 200
"""How deep objects and lists may stand in each other. From Python 3.12 on the parser itself takes thousands."""
_OTHERS = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[^"\[\]{}]+', re.DOTALL)
"""What is no bracket: texts, also one that never ends, and all else."""


def parse(text: str | bytes, *, infinite: bool = False) -> Any:
    """Return what a text of JSON holds.

    Raises
    ------
    ValueError
        When it is no JSON, uses a name twice, is nested too deep, or holds NaN or infinite numbers without
        ``infinite``.
    """
    options: dict[str, Any] = {} if infinite else {"parse_constant": _refuse, "parse_float": _finite}
    plain = text if isinstance(text, str) else text.decode(json.detect_encoding(text), "surrogatepass")
    steps = (1 if letter in "[{" else -1 if letter in "]}" else 0 for letter in _OTHERS.sub("", plain))
    if max(accumulate(steps), default=0) > _DEEPEST:  # objects and lists in each other
        raise ValueError("its JSON is nested too deep")
    return json.loads(plain, object_pairs_hook=_object, **options)


def sealed(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object of JSON with its checksum."""
    return {**content, SEAL: _digest(content)}


def unsealed(content: Any, names: Collection[str]) -> dict[str, Any]:
    """Return an object of JSON without its checksum; one from before there were checksums has none.

    Raises
    ------
    ValueError
        When it has other members than ``names``, or was changed since it was sealed.
    """
    if not isinstance(content, dict) or set(content) - {SEAL} != set(names):
        raise ValueError(f"an object in braces with {', '.join(names)} is needed, and nothing else in it")
    plain = {name: value for name, value in content.items() if name != SEAL}
    if SEAL in content and content[SEAL] != _digest(plain):
        raise ValueError("its checksum does not fit; it was altered")
    return plain


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is used twice in one object of its JSON")
    return found


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"its JSON holds {text[:20]}, which is too large for a number")
    return number


def _refuse(constant: str) -> Any:
    raise ValueError(f"its JSON holds {constant}, which is no number of JSON")
