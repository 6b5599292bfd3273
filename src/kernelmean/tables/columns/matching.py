"""The columns of two tables are matched by name, or by position where one has no names."""

from __future__ import annotations

from dataclasses import replace

from ...core.points import column_order
from ...core.table import Frame
from ...core.words import count, listed


def match_columns(A: Frame, B: Frame) -> tuple[Frame, bool]:
    """Return ``B`` with its columns in the order of ``A``, and whether they had to be moved.

    Columns without names, as in an array, are in the order of those of ``A`` and take their names.

    Raises
    ------
    ValueError
        When the two do not have the same column names, or one has no names and they differ in number.
    """
    order = column_order(A, B)
    if order is None:
        raise _other_columns(A, B)
    if A.named and B.named:
        return B.select(A.names), A.names != B.names
    return replace(B.called(A.names), named=A.named), False


def _other_columns(A: Frame, B: Frame) -> ValueError:
    if not (A.named and B.named):
        numbers = f"{A.source} has {count(len(A.names), 'column')} and {B.source} has {len(B.names)}"
        return ValueError(f"the two tables differ in their columns: {numbers}; both must describe the same variables")
    differ = [
        f"only in {one.source}: {listed(extra)}"
        for one, other in ((A, B), (B, A))
        if (extra := [name for name in one.names if name not in other.names])
    ]
    common = [name for name in A.names if name in B.names]
    spelled = {_letters(name): name for name in A.names if name not in B.names}
    same = [(spelled[key], name) for name in B.names if name not in A.names and (key := _letters(name)) in spelled]
    if same:
        question = " and ".join(f"is {theirs!r} the same as {ours!r}" for ours, theirs in same)
        differ.append(f"{question}?")
    mend = "rename them to match"
    if common:
        mend = f"compare the common ones with kernelmean.read(..., columns={common!r})"
    return ValueError(f"{A.source} and {B.source} have different columns ({'; '.join(differ)}); {mend}")


def _letters(name: str) -> str:
    """Return what remains of a name without case, spaces and signs."""
    return "".join(letter for letter in name.casefold() if letter.isalnum()) or name
