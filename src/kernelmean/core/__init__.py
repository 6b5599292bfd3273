"""The base layer: arrays of any library, validation, rules by type, tables with names, messages, files on disk."""

from typing import TYPE_CHECKING

from . import lazy as _lazy

if TYPE_CHECKING:
    from .array import as_host, home, is_foreign, joined, like, to_numpy
    from .disk import parse, write_file
    from .roots import rising_roots
    from .simplex_qp import solve_simplex_qp
    from .type_rules import Rules
    from .words import Notice, printable

__all__ = [
    "Notice",
    "Rules",
    "as_host",
    "home",
    "is_foreign",
    "joined",
    "like",
    "parse",
    "printable",
    "rising_roots",
    "solve_simplex_qp",
    "to_numpy",
    "write_file",
]

_lazy.attach(
    __name__,
    {
        "array": "as_host home is_foreign joined like to_numpy",
        "roots": "rising_roots",
        "disk": "parse write_file",
        "type_rules": "Rules",
        "simplex_qp": "solve_simplex_qp",
        "words": "Notice printable",
    },
)

del TYPE_CHECKING
