"""Hostile tables: text that is none, Parquet files of any kind, other formats under the ending of a table."""

from __future__ import annotations

import gzip
import io
import pickle
import struct
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet
from hostile_saved import MARKER, PICKLE, PLACES, Damage, Payload, archive, described, npy, writes

GOOD = "a,b\n1,2\n2,1\n3,5\n4,3\n"


def text(content: str, encoding: str = "utf-8") -> Damage:
    return writes(content.encode(encoding))


def rows(cell: str, many: int = 4) -> Damage:
    """Put a cell among numbers."""
    return text("a,b\n" + "1,2\n" * many + f"{cell},3\n")


def table(**columns: Any) -> pa.Table:
    return pa.table(columns)


@cache
def valid_parquet() -> bytes:
    rng = np.random.default_rng(0)
    return _parquet(table(a=rng.normal(size=50), b=rng.normal(size=50), kind=["x", "y"] * 25))


def _parquet(content: pa.Table, **options: Any) -> bytes:
    buffer = io.BytesIO()
    parquet.write_table(content, buffer, **options)
    return buffer.getvalue()


TEXTS: dict[str, Damage] = {
    "empty": writes(b""),
    "one letter": writes(b"a"),
    "byte order mark": writes(b"\xef\xbb\xbf"),
    "blank lines": text("\n" * 1000),
    "blanks": text(" " * 1000),
    "carriage returns": text("\r" * 1000),
    "header only": text("a,b\n"),
    "header and blank lines": text("a,b\n\n\n\n"),
    "header without end": text("a,b"),
    "no header": text("1,2\n3,4\n5,6\n7,8\n"),
    "too few cells": text("a,b\n1,2\n3\n4,5\n"),
    "too many cells": text("a,b\n1,2\n3,4,5\n6,7\n"),
    "too many cells at the end": text("a,b\n" + "1,2\n" * 5000 + "1,2,3\n"),
    "name twice": text("a,a\n1,2\n3,4\n"),
    "name twice after blanks": text("a, a\n1,2\n3,4\n"),
    "no name": text("a,\n1,2\n3,4\n"),
    "zero byte": text("a,b\n1,2\n3,\0\n"),
    "zero bytes": writes(bytes(10_000)),
    "zero byte far behind": text("a,b\n" + "1,2\n" * 40_000 + "3,\0\n"),
    "UTF-16 that is cut": writes(GOOD.encode("utf-16")[:-1]),
    "UTF-16 without mark": text(GOOD, "utf-16-le"),
    "UTF-16 of the other order": text(GOOD, "utf-16-be"),
    "UTF-32": text(GOOD, "utf-32"),
    "Latin-1 cell": text("a,b\n1,2\n3,é\n4,5\n", "latin-1"),
    "Latin-1 name": text("a,é\n1,2\n3,4\n", "latin-1"),
    "half a letter": writes(b"a,b\n1,2\n3,\xc3\n4,5\n"),
    "surrogate": writes(b"a,b\n1,2\n3,\xed\xa0\x80\n4,5\n"),
    "overlong letter": writes(b"a,b\n1,2\n3,\xc0\xaf\n4,5\n"),
    "every byte": writes(bytes(range(256)) * 8),
    "every byte but zero": writes(bytes(range(1, 256)) * 8),
    "quote that stays open": text('a,b\n1,2\n3,"4\n5,6\n7,8\n'),
    "quote that stays open in the header": text('a,"b\n1,2\n3,4\n'),
    "quotes only": text('"' * 999),
    "commas only": text("," * 999 + "\n"),
    "semicolons and decimal commas": text("a;b\n1,5;2\n2,5;1\n3,5;5\n"),
    "terminal codes": rows("\x1b[2J\x1b]0;owned\x07"),
    "terminal codes in a name": text("a,\x1b[31mb\n1,2\n3,x\n"),
    "text that turns round": rows("\u202e1"),
    "formula": rows("=cmd|' /C calc'!A0"),
    "Python": rows("__import__('os').mkdir('marker')"),
    "number beyond float64": rows("1e400"),
    "number beyond float64 below": rows("-1e400"),
    "NaN": rows("nan"),
    "infinity": rows("inf"),
    "minus infinity": rows("-Infinity"),
    "blank": rows(""),
    "question mark": rows("?"),
    "underscored": rows("1_000"),
    "complex": rows("1+2j"),
    "Arabic digits": rows("٣"),
    "full-width digits": rows("１"),
    "integer beyond 2^53": rows("9007199254740993"),
    "integer of 100 000 digits": rows("9" * 100_000),
    "fraction of 100 000 digits, and a letter": rows("0." + "9" * 100_000 + "x"),
    "date among numbers": rows("2020-01-01"),
    "letters far behind": rows("x", 60_000),
    "field of 20 MB": rows("x" * 2 * 10**7),
    "number of 20 MB": rows("1" * 2 * 10**7),
    "header of 50 000 columns": text(",".join(f"c{k}" for k in range(50_000)) + "\n1\n"),
    "gzip": writes(gzip.compress(GOOD.encode())),
    "gzip bomb": writes(lambda: gzip.compress(bytes(10**8), 9)),
    "archive": writes(lambda: archive({"table.csv": GOOD.encode()})),
    "pickle": writes(PICKLE),
    "PDF": writes(b"%PDF-1.7\n1 0 obj <<>> endobj\n"),
    "ELF": writes(b"\x7fELF\x02\x01\x01" + bytes(64)),
    "Parquet": writes(valid_parquet),
    "HTML": text("<!DOCTYPE html>\n<html><body>Not found</body></html>\n"),
    "JSON": text('[{"a": 1, "b": 2}, {"a": 3, "b": 4}]'),
}


def stored(make: Callable[[], pa.Table], **options: Any) -> Damage:
    return writes(lambda: _parquet(make(), **options))


def typed(values: list[Any], kind: Any, **options: Any) -> Damage:
    return stored(lambda: table(a=[1.0] * len(values), b=pa.array(values, kind)), **options)


def cut(share: float) -> Damage:
    return writes(lambda: valid_parquet()[: int(share * len(valid_parquet()))])


def footer(length: int) -> Damage:
    """Declare another length of the footer."""
    return writes(lambda: valid_parquet()[:-8] + struct.pack("<l", length) + b"PAR1")


def flipped_footer(number: int) -> Damage:
    """Overwrite some bytes of the footer."""

    def damage(path: Path) -> None:
        data = bytearray(valid_parquet())
        length = struct.unpack("<l", data[-8:-4])[0]
        start = len(data) - 8 - length
        data[start + number * 3 : start + number * 3 + 8] = b"\xff" * 8
        path.write_bytes(data)

    return damage


def evil_extension(path: Path) -> None:
    """Name a type whose description is a pickle, as old versions of Arrow unpacked it."""
    field = pa.field(
        "b",
        pa.int64(),
        metadata={
            "ARROW:extension:name": "arrow.py_extension_type",
            "ARROW:extension:metadata": PICKLE.decode("latin-1"),
        },
    )
    schema = pa.schema([pa.field("a", pa.string()), field])
    path.write_bytes(_parquet(pa.Table.from_arrays([pa.array(["x", "y"]), pa.array([1, 2])], schema=schema)))


def billions(path: Path) -> None:
    """Say in the footer that there are a billion rows where there are fifty."""
    data = valid_parquet()
    start = len(data) - 8 - struct.unpack("<l", data[-8:-4])[0]
    changed = data[start:-8].replace(b"\x16\x64", b"\x16\xfe\xff\xff\xff\x0f")
    path.write_bytes(data[:start] + changed + struct.pack("<l", len(changed)) + b"PAR1")


def more_rows_in_a_group(path: Path) -> None:
    """Say of the only group of rows that it has billions, and of the file that it has two; fuzzing found this."""
    data = _parquet(table(a=["x", "y"]), store_schema=False)
    start = len(data) - 8 - struct.unpack("<l", data[-8:-4])[0]
    head, _, rest = data[start:-8].rpartition(b"\x16\x04")  # the last field that holds the number two
    footer = head + b"\x16\x8c\xd0\xff\xe1\x84\x01" + rest
    path.write_bytes(data[:start] + footer + struct.pack("<l", len(footer)) + b"PAR1")


def swelling(path: Path) -> None:
    """Store a text of 1 MB once, for 200 000 rows: 200 GB when it is read."""
    words = pa.DictionaryArray.from_arrays(pa.array(np.zeros(200_000, dtype=np.int32)), pa.array(["x" * 10**6]))
    path.write_bytes(_parquet(table(a=np.zeros(200_000), b=words), store_schema=False))


PARQUETS: dict[str, Damage] = {
    "empty": writes(b""),
    "text": text(GOOD),
    "pickle": writes(PICKLE),
    "magic only": writes(b"PAR1PAR1"),
    "magic and nothing": writes(b"PAR1" + bytes(100) + b"PAR1"),
    "encrypted": writes(lambda: valid_parquet()[:-4] + b"PARE"),
    "wrong magic": writes(lambda: valid_parquet()[:-4] + b"PAR2"),
    "footer of 2 GB": footer(2**31 - 1),
    "footer of less than nothing": footer(-1),
    "footer of nothing": footer(0),
    "footer too short": footer(40),
    "no rows": stored(lambda: table(a=pa.array([], "float64"), b=pa.array([], "float64"))),
    "no columns": stored(lambda: table(a=[1.0]).drop_columns(["a"])),
    "nameless column": stored(lambda: table(a=[1.0, 2.0]).rename_columns([""])),
    "name twice": stored(lambda: pa.table([[1.0, 2.0], [3.0, 4.0]], names=["a", "a"])),
    "name twice after blanks": stored(lambda: pa.table([[1.0, 2.0], [3.0, 4.0]], names=["a", "a "])),
    "index only": stored(lambda: table(__index_level_0__=[1, 2, 3])),
    "lists": typed([[1], [2, 3]], None),
    "structures": typed([{"x": 1}, {"x": 2}], None),
    "maps": typed([[("k", 1)], [("l", 2)]], pa.map_(pa.string(), pa.int64())),
    "lists of lists of lists": typed([[[[1]]], [[[2]]]], None),
    "bytes": typed([b"\xff\xfe", b"\0"], pa.binary()),
    "bytes of one length": typed([b"\xff\xfe", b"\0\1"], pa.binary(2)),
    "decimals of 70 digits": typed([Decimal("9" * 70), Decimal("1")], pa.decimal256(76, 2)),
    "nothing but missing": typed([None, None], pa.null()),
    "missing numbers": typed([1.0, None], pa.float64()),
    "NaN": typed([1.0, float("nan")], pa.float64()),
    "infinity": typed([1.0, float("inf")], pa.float64()),
    "integers beyond 2^53": typed([2**62 + 1, 1], pa.int64()),
    "integers beyond 2^63": typed([2**64 - 1, 1], pa.uint64()),
    "times of an unknown zone": typed([1, 2], pa.timestamp("us", "Mars/Phobos")),
    "times beyond all calendars": typed([2**62, -(2**62)], pa.timestamp("us")),
    "days beyond all calendars": typed([2**31 - 1, -(2**31)], pa.date32()),
    "durations": typed([timedelta(days=1), timedelta(days=2)], pa.duration("us")),
    "times of day": typed([1, 2], pa.time64("us")),
    "dates": typed([datetime(2020, 1, 1), datetime(2021, 1, 1)], pa.timestamp("us")),
    "not UTF-8": stored(lambda: table(a=[1.0, 2.0], b=_bad_text())),
    "a type that is a pickle": evil_extension,
    "metadata that are a pickle": stored(lambda: table(a=["x", "y"]).replace_schema_metadata({"pandas": PICKLE})),
    "a schema that is a pickle": stored(
        lambda: table(a=["x", "y"]).replace_schema_metadata({"ARROW:schema": PICKLE}), store_schema=False
    ),
    "a billion rows of fifty": billions,
    "billions of rows in the group of two": more_rows_in_a_group,
    "terminal codes in a name": stored(lambda: pa.table([["x", "y"]], names=["\x1b[31ma\nb"])),
    **{f"cut after {share:.0%}": cut(share) for share in (0.01, 0.2, 0.5, 0.8, 0.95, 0.999)},
    **{f"footer overwritten {k}": flipped_footer(k) for k in range(4)},
}


def _bad_text() -> pa.Array:
    offsets = pa.py_buffer(np.array([0, 2, 4], dtype=np.int32).tobytes())
    return pa.StringArray.from_buffers(2, offsets, pa.py_buffer(b"\xff\xfeab"))


def _feather() -> bytes:
    buffer = io.BytesIO()
    feather.write_feather(pa.table({"a": [1.0, 2.0]}), buffer, compression="uncompressed")
    return buffer.getvalue()


def _arrow() -> bytes:
    sink = io.BytesIO()
    content = pa.table({"a": [1.0, 2.0]})
    with pa.ipc.new_stream(sink, content.schema) as writer:
        writer.write_table(content)
    return sink.getvalue()


def cut_feather(share: float) -> Damage:
    return writes(lambda: _feather()[: int(share * len(_feather()))])


def _batches(make: Callable[[], pa.Table]) -> Damage:
    """Write whatever a table holds as an Arrow IPC file, unchecked."""

    def content() -> bytes:
        sink = io.BytesIO()
        with pa.ipc.new_file(sink, make().schema) as writer:
            writer.write_table(make())
        return sink.getvalue()

    return writes(content)


def flipped_feather(number: int) -> Damage:
    """Overwrite some bytes, in the footer or before it."""

    def damage(path: Path) -> None:
        data = bytearray(_feather())
        start = len(data) - 10 - (number + 1) * 24
        data[start : start + 8] = b"\xff" * 8
        path.write_bytes(data)

    return damage


FEATHERS: dict[str, Damage] = {
    "empty": writes(b""),
    "text": text(GOOD),
    "magic only": writes(b"ARROW1\0\0ARROW1"),
    "pickle": writes(PICKLE),
    "version 1": writes(b"FEA1" + bytes(64) + b"FEA1"),
    "no rows": _batches(lambda: table(a=pa.array([], "float64"))),
    "lists": _batches(lambda: table(a=[[1], [2, 3]])),
    "not UTF-8": _batches(lambda: table(a=_bad_text())),
    "name twice": _batches(lambda: pa.table([[1.0, 2.0], [3.0, 4.0]], names=["a", "a"])),
    "nothing but missing": _batches(lambda: table(a=pa.nulls(3))),
    "rows beyond memory": _batches(
        lambda: table(**{f"a{k}": pa.Array.from_buffers(pa.null(), 2**31 - 1, [None]) for k in range(200)})
    ),
    "indices beyond the dictionary": _batches(
        lambda: table(a=pa.DictionaryArray.from_arrays(pa.array([0, 9], "int32"), pa.array(["x"]), safe=False))
    ),
    **{f"overwritten {k}": flipped_feather(k) for k in range(4)},
}


def lines(*rows: str) -> Damage:
    return text("\n".join(rows) + "\n")


LINES_OF_JSON: dict[str, Damage] = {
    "empty": writes(b""),
    "blank lines": text("\n" * 100),
    "CSV": text(GOOD),
    "array": lines('[{"a": 1}, {"a": 2}]'),
    "numbers": lines("1", "2"),
    "other keys": lines('{"a": 1, "b": 2}', '{"a": 1}'),
    "more keys": lines('{"a": 1}', '{"a": 1, "b": 2}'),
    "key twice": lines('{"a": 1, "a": 2}', '{"a": 1, "a": 2}'),
    "key twice after blanks": lines('{"a": 1, "a ": 2}', '{"a": 1, "a ": 2}'),
    "no keys": lines("{}", "{}"),
    "key without a name": lines('{"": 1}', '{"": 2}'),
    "nested object": lines('{"a": {"b": 1}}', '{"a": {"b": 2}}'),
    "nested list": lines('{"a": [1]}', '{"a": [2]}'),
    "nested too deep": lines('{"a": ' + "[" * 10**5 + "]" * 10**5 + "}"),
    "cut": text('{"a": 1}\n{"a": '),
    "numbers and text": lines('{"a": 1}', '{"a": "x"}'),
    "truth values and numbers": lines('{"a": true}', '{"a": 1}'),
    "integer beyond 2^53": lines('{"a": 9007199254740993}', '{"a": 1}'),
    "integer of 100 000 digits": lines('{"a": ' + "9" * 10**5 + "}", '{"a": 1}'),
    "infinity": lines('{"a": Infinity}', '{"a": 1}'),
    "NaN": lines('{"a": NaN}', '{"a": 1}'),
    "null only": lines('{"a": null}', '{"a": null}'),
    "Latin-1": writes('{"a": "é"}\n'.encode("latin-1")),
    "surrogate": lines('{"a": "\\ud800"}', '{"a": "x"}'),
    "terminal codes": lines('{"a\\u001b[31m": "\\u001b[2J"}', '{"a\\u001b[31m": "x"}'),
    "zero byte": writes(b'{"a": 1}\n\0\n'),
}
OTHERS: dict[str, tuple[str, Damage]] = {
    **{f"feather, cut after {share:.0%}": (".feather", cut_feather(share)) for share in (0.01, 0.2, 0.5, 0.8, 0.95)},
    **{f"feather, {name}": (".feather", build) for name, build in {**FEATHERS, **PLACES}.items()},
    **{f"JSON lines, {name}": (".jsonl", build) for name, build in {**LINES_OF_JSON, **PLACES}.items()},
    "feather as Parquet": (".parquet", writes(_feather)),
    "arrow stream": (".arrow", writes(_arrow)),
    "arrow as text": (".csv", writes(_arrow)),
    "npy": (".npy", writes(lambda: npy(np.eye(4)))),
    "npy of objects": (".npy", writes(lambda: npy(np.array([Payload()]), allow_pickle=True))),
    "npy as text": (".csv", writes(lambda: npy(np.eye(4)))),
    "npy of a terabyte as Parquet": (".parquet", writes(lambda: described(f"({2**37}, 1)"))),
    "npz": (".npz", writes(lambda: archive({"a.npy": npy(np.eye(3))}))),
    "npz as Parquet": (".pq", writes(lambda: archive({"a.npy": npy(np.eye(3))}))),
    "pickled table": (".pkl", writes(pickle.dumps({"a": [1, 2]}))),
    "pickle that runs": (".pickle", writes(PICKLE)),
    "workbook": (".xlsx", writes(lambda: archive({"xl/workbook.xml": b"<x/>"}))),
    "no ending": ("", text(GOOD)),
    "compressed text that is cut": (".csv.gz", writes(gzip.compress(GOOD.encode() * 99)[:-20])),
    "compressed text with a changed sum": (".csv.gz", writes(gzip.compress(GOOD.encode())[:-8] + bytes(8))),
    "compressed text that is none": (".csv.gz", text(GOOD)),
    "compressed zeros": (".csv.gz", writes(lambda: gzip.compress(bytes(10**8), 9))),
    "compressed twice": (".csv.gz", writes(gzip.compress(gzip.compress(GOOD.encode())))),
    "compressed text as text": (".tsv", writes(gzip.compress(GOOD.encode()))),
}
TABLES: dict[str, tuple[str, Damage]] = {
    **{f"CSV, {name}": (".csv", build) for name, build in {**TEXTS, **PLACES}.items()},
    **{f"Parquet, {name}": (".parquet", build) for name, build in {**PARQUETS, **PLACES}.items()},
    **OTHERS,
}
__all__ = ["GOOD", "MARKER", "TABLES"]
