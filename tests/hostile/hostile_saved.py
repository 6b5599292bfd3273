"""Damaged, forged and foreign files in the place of what `save` writes, each a function of a path."""

from __future__ import annotations

import io
import json
import os
import pickle
import stat
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import kernelmean as km

X = np.random.default_rng(0).standard_normal((5, 2))
Damage = Callable[[Path], Any]
MARKER = "marker"


class Payload:
    """What a pickle executes: it makes a file."""

    def __reduce__(self) -> Any:
        return (open, (MARKER, "w"))


PICKLE = pickle.dumps(Payload())
GAUSSIAN: Any = {"type": "Gaussian", "fields": {"bandwidth": 1.0}}
DIRAC: Any = {"type": "Dirac", "fields": {}}


@cache
def valid(what: str = "embedding") -> bytes:
    """Return the bytes of a good file."""
    values = {
        "embedding": lambda: km.embed(X, km.kernels.Gaussian(1.0)),
        "mixture": lambda: km.embed(X, km.kernels.Gaussian(1.0), noise=km.noise.Normal(np.eye(2))),
        "estimator": lambda: km.MKME(bandwidth=1.0).fit(X),
        "features": lambda: km.features.embed(X, km.features.fourier(km.kernels.Gaussian(1.0), 2, 4)),
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "value.npz"
        km.save(values[what](), path, columns=["left", "right"])
        return path.read_bytes()


def members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def archive(contents: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as file:
        for name, content in contents.items():
            file.writestr(zipfile.ZipInfo(name), content, method)
    return buffer.getvalue()


def npy(array: Any, **options: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, **options)
    return buffer.getvalue()


def npy_header(text: str, body: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    """Return an array file with any text where its type and shape stand."""
    head = text.encode() + b"\n"
    length = struct.pack("<H" if version == b"\x01\x00" else "<I", len(head))
    return b"\x93NUMPY" + version + length + head + body


def described(shape: str, descr: str = "'<f8'", fortran: str = "False", body: bytes = b"") -> bytes:
    return npy_header(f"{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}", body)


def writes(data: bytes | Callable[[], bytes]) -> Damage:
    return lambda path: path.write_bytes(data() if callable(data) else data)


def with_members(what: str = "embedding", method: int = zipfile.ZIP_STORED, **changes: bytes | None) -> Damage:
    """Replace members, by names in which __ is a point; None takes one out."""

    def damage(path: Path) -> None:
        contents: dict[str, bytes | None] = {**members(valid(what))}
        contents |= {name.replace("__", "."): content for name, content in changes.items()}
        path.write_bytes(archive({name: data for name, data in contents.items() if data is not None}, method))

    return damage


def extra(name: str, content: bytes = b"x", what: str = "embedding") -> Damage:
    return lambda path: path.write_bytes(archive({**members(valid(what)), name: content}))


def with_header(change: Callable[[dict[str, Any]], Any], what: str = "embedding") -> Damage:
    """Change the header, in place or by what the change returns."""

    def damage(path: Path) -> None:
        contents = members(valid(what))
        header = json.loads(contents["header.json"])
        changed = change(header)
        text = json.dumps(header if changed is None else changed)
        path.write_bytes(archive({**contents, "header.json": text.encode()}))

    return damage


def header_text(change: Callable[[str], str]) -> Damage:
    def damage(path: Path) -> None:
        contents = members(valid())
        path.write_bytes(archive({**contents, "header.json": change(contents["header.json"].decode()).encode()}))

    return damage


def forged(value: Any, *arrays: bytes) -> Damage:
    """Write a file of the right form around any value."""
    header = {"format": "kernelmean", "version": 1, "columns": [], "arrays": len(arrays), "value": value}
    named = {f"a{number}.npy": array for number, array in enumerate(arrays)}
    return writes(lambda: archive({"header.json": json.dumps(header).encode(), **named}))


def part(points: Any = None, weights: Any = None, noise: Any = None) -> Any:
    found = {"points": {"array": 0}, "weights": {"array": 1}} if points is None else {"points": points}
    weighted = {"weights": weights} if weights is not None or points is not None else {}
    return {"type": "PointPart", "fields": {**found, **weighted, "noise": DIRAC if noise is None else noise}}


def embedding(*parts: Any, kernel: Any = None) -> Any:
    fields = {"kernel": GAUSSIAN if kernel is None else kernel, "parts": {"tuple": list(parts or [part()])}}
    return {"type": "Embedding", "fields": fields}


def with_noise(kind: str, **fields: Any) -> Damage:
    return forged(embedding(part(noise={"type": kind, "fields": fields})), npy(X), npy(np.full(5, 0.2)))


def with_kernel(kind: str, **fields: Any) -> Damage:
    return forged(embedding(kernel={"type": kind, "fields": fields}), npy(X), npy(np.full(5, 0.2)))


def normal(covariance: Any, form: str) -> Damage:
    noise = {"type": "Normal", "fields": {"covariance": {"array": 2}, "form": form}}
    return forged(embedding(part(noise=noise)), npy(X), npy(np.full(5, 0.2)), npy(np.asarray(covariance)))


def estimator(fitted: dict[str, Any], parameters: dict[str, Any] | None = None) -> Damage:
    fields = {"parameters": {"dict": parameters or {}}, "fitted": {"dict": fitted}}
    return forged({"type": "KernelMean", "fields": fields})


def with_byte(signature: bytes, offset: int, value: int) -> Damage:
    """Set a byte of the zip format, counted from the start of every record with this signature."""

    def damage(path: Path) -> None:
        data = bytearray(valid())
        position = data.find(signature)
        while position >= 0:
            data[position + offset] = value
            position = data.find(signature, position + 1)
        path.write_bytes(data)

    return damage


def duplicated(name: str) -> Damage:
    """Put a member there twice: the second one is written under a name of the same length."""

    def damage(path: Path) -> None:
        contents, placeholder = members(valid()), "z" * len(name)
        data = archive({**contents, placeholder: contents[name]})
        path.write_bytes(data.replace(placeholder.encode(), name.encode()))

    return damage


def symlinked(path: Path) -> None:
    """Store the first array as a link to a file of the system, as archives of Unix do."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, content in members(valid()).items():
            info = zipfile.ZipInfo(name)
            info.external_attr = (stat.S_IFLNK | 0o777) << 16 if name == "a0.npy" else 0
            file.writestr(info, b"/etc/passwd" if name == "a0.npy" else content)
    path.write_bytes(buffer.getvalue())


def overlapping(path: Path) -> None:
    """Let every array but the last hold all that follow it: a small file that would fill any memory."""
    many, filler = 40, np.zeros(2**14).tobytes()
    names = [f"a{number}.npy" for number in range(many)]
    tails, data = {}, filler
    for name in reversed(names):
        data += b"\0" * (-len(data) % 8)
        content = described(f"({len(data) // 8},)", body=data)
        tails[name] = content
        data = _local(name, content) + content
    header = {"format": "kernelmean", "version": 1, "columns": [], "arrays": many, "value": {"array": 0}}
    text = json.dumps(header).encode()
    whole, places, at = _local("header.json", text) + text + data, {}, len(_local("header.json", text) + text)
    for name in names:
        places[name] = at
        at += len(_local(name, b"")) + len(tails[name]) - len(_rest(tails, names, name))
    places["header.json"] = 0
    directory = b"".join(_central(n, tails.get(n, text), places[n]) for n in ["header.json", *names])
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, many + 1, many + 1, len(directory), len(whole), 0)
    path.write_bytes(whole + directory + end)


def _rest(tails: dict[str, bytes], names: list[str], name: str) -> bytes:
    """Return what of a member's content belongs to the members behind it."""
    later = names.index(name) + 1
    if later == len(names):
        return b""
    inner = _local(names[later], tails[names[later]]) + tails[names[later]]
    return inner + b"\0" * (-len(inner) % 8)


def _local(name: str, content: bytes) -> bytes:
    crc = zlib.crc32(content)
    fields = (b"PK\3\4", 20, 0, 0, 0, 33, crc, len(content), len(content), len(name), 0)
    return struct.pack("<4s5H3L2H", *fields) + name.encode()


def _central(name: str, content: bytes, place: int) -> bytes:
    crc = zlib.crc32(content)
    sizes = (crc, len(content), len(content), len(name), 0, 0, 0, 0, 0, place)
    return struct.pack("<4s6H3L5H2L", b"PK\1\2", 20, 20, 0, 0, 0, 33, *sizes) + name.encode()


@cache
def _deflated_zeros() -> bytes:
    contents = {**members(valid()), "a0.npy": described("(12500000, 2)", body=bytes(2 * 10**8))}
    return archive(contents, zipfile.ZIP_DEFLATED)


def bomb(path: Path) -> None:
    """Deflate an array of zeros of 200 MB into 200 kB."""
    path.write_bytes(_deflated_zeros())


def lying(size: int) -> Damage:
    """Declare another size of all members than they have."""

    def damage(path: Path) -> None:
        data = bytearray(valid())
        for signature, offset in ((b"PK\1\2", 20), (b"PK\3\4", 18)):
            position = data.find(signature)
            while position >= 0:
                struct.pack_into("<LL", data, position + offset, size, size)
                position = data.find(signature, position + 1)
        path.write_bytes(data)

    return damage


def linked(path: Path) -> None:
    path.symlink_to("nowhere.npz")


def a_folder(path: Path) -> None:
    path.mkdir()


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


PLACES: dict[str, Damage] = {"folder": a_folder, "link to nowhere": linked}
if hasattr(os, "mkfifo"):
    PLACES |= {"pipe": a_pipe, "endless device": endless}


def cut(what: str, share: float) -> Damage:
    return writes(lambda: valid(what)[: int(share * len(valid(what)))])


def flipped(what: str, number: int, many: int) -> Damage:
    """Flip one bit of a member's content."""

    def damage(path: Path) -> None:
        data = bytearray(valid(what))
        places = [data.find(content) + k for content in members(valid(what)).values() for k in range(len(content))]
        place = places[number * len(places) // many]
        data[place] ^= 1 << (number % 8)
        path.write_bytes(data)

    return damage


def fields(header: dict[str, Any]) -> dict[str, Any]:
    inside: dict[str, Any] = header["value"]["fields"]
    return inside


def first_part(header: dict[str, Any]) -> dict[str, Any]:
    inside: dict[str, Any] = fields(header)["parts"]["tuple"][0]["fields"]
    return inside


def first_mean(header: dict[str, Any]) -> dict[str, Any]:
    inside: dict[str, Any] = first_part(header)["terms"]["tuple"][0]["fields"]
    return inside


def scaled(kernel: Any) -> dict[str, Any]:
    return {"type": "Scaled", "fields": {"factor": 1.0, "kernel": kernel}}


def nested(depth: int) -> str:
    """Return a header with a kernel within kernels."""
    kernel = '{"type": "Scaled", "fields": {"factor": 1.0, "kernel": ' * depth + json.dumps(GAUSSIAN) + "}}" * depth
    return f'{{"format": "kernelmean", "version": 1, "columns": [], "arrays": 0, "value": {kernel}}}'


DEEP = 100_000
CONTAINERS: dict[str, Damage] = {
    "empty": writes(b""),
    "text": writes(b"a,b\n1,2\n"),
    "pickle": writes(PICKLE),
    "foreign npz": lambda path: np.savez(path, a0=X),
    "only the end of an archive": writes(b"PK\5\6" + bytes(18)),
    "an archive in an archive": writes(lambda: archive({"mean.npz": valid()})),
    "encrypted": with_byte(b"PK\x01\x02", 8, 1),
    "compressed": with_members(method=zipfile.ZIP_DEFLATED),
    "bomb": bomb,
    "sizes of gigabytes": lying(2**32 - 2),
    "overlapping members": overlapping,
    "member too many": extra("a9.npy"),
    "absolute member": extra("/tmp/marker"),
    "member above": extra("../marker"),
    "Python member": extra("__init__.py", b"open('marker', 'w')"),
    "member twice": duplicated("a0.npy"),
    "link": symlinked,
    "member too few": with_members(a1__npy=None),
    "no header": with_members(header__json=None),
}
HEADERS: dict[str, Damage] = {
    "header is no JSON": with_members(header__json=b"{"),
    "header is a pickle": with_members(header__json=PICKLE),
    "header is not UTF-8": with_members(header__json=b"\xff\xfe{"),
    "header is a list": with_header(lambda header: [header]),
    "header of objects in each other": with_members(header__json=b'{"a":' * DEEP + b"1" + b"}" * DEEP),
    "header too large": with_members(header__json=b" " * (2**24 + 1)),
    "another format": with_header(lambda header: header.update(format="other")),
    "later version": with_header(lambda header: header.update(version=99)),
    "no value": with_header(lambda header: header.pop("value") and None),
    "array count": with_header(lambda header: header.update(arrays=10**9)),
    "member of the header twice": header_text(lambda text: text[:-1] + ', "version": 1}'),
    "NaN in the header": header_text(lambda text: text.replace("1.0", "NaN")),
    "number too large": header_text(lambda text: text.replace("1.0", "1e999")),
    "integer of 100 000 digits": header_text(lambda text: text.replace("1.0", "9" * 100_000)),
    "value is a number": with_header(lambda header: header.update(value=3.0)),
    "value is a class": with_header(lambda header: header.update(value={"class": "Embedding"})),
    "value is a part": with_header(lambda header: header.update(value=fields(header)["parts"]["tuple"][0])),
    "value is a module": with_header(lambda header: header["value"].update(type="os.system")),
    "unknown field": with_header(lambda header: fields(header).update(extra=1)),
    "field lacks": with_header(lambda header: fields(header).pop("kernel") and None),
    "unknown tag": with_header(lambda header: first_part(header).update(points={"eval": "1"})),
    "two tags": with_header(lambda header: first_part(header).update(points={"array": 0, "list": []})),
}
OBJECTS: dict[str, Damage] = {
    "kernel is a number": with_header(lambda header: fields(header).update(kernel=1)),
    "kernels in each other": writes(lambda: archive({"header.json": nested(5000).encode()})),
    "scaled text": forged(scaled("x")),
    "sum of texts": with_kernel("Sum", terms={"tuple": ["a"]}),
    "bandwidth is text": with_kernel("Gaussian", bandwidth="wide"),
    "bandwidth is negative": with_kernel("Gaussian", bandwidth=-1.0),
    "bandwidth is NaN": with_kernel("Gaussian", bandwidth={"float": "nan"}),
    "bandwidths of other columns": with_kernel("Gaussian", bandwidth={"tuple": [1.0, 2.0, 3.0]}),
    "degree is huge text": with_kernel("Polynomial", degree="9" * 50, offset=1.0),
    "similarity out of range": with_kernel("Categorical", similarity=2.0),
    "columns that are not": with_kernel(
        "TensorProduct", kernels={"tuple": [GAUSSIAN]}, columns={"tuple": [{"tuple": [7]}]}
    ),
    "noise is text": with_header(lambda header: first_part(header).update(noise="none")),
    "noise of other columns": with_noise("Blankout", probability={"tuple": [0.1] * 3}, value=0.0),
    "scale is NaN": with_noise("Laplace", scale={"float": "nan"}),
    "draws beyond count": with_noise("Sampled", noise=DIRAC, n_samples=10**12, seed=0),
    "negative variance": normal(-1.0, "isotropic"),
    "variances of other columns": normal([1.0, 1.0, 1.0], "diagonal"),
    "indefinite covariance": normal([[1.0, 2.0], [2.0, 1.0]], "full"),
    "covariances of other rows": normal(np.stack([np.eye(2)] * 4), "full"),
    "form of covariance unknown": normal(1.0, "round"),
    "no parts": forged({"type": "Embedding", "fields": {"kernel": GAUSSIAN, "parts": {"tuple": []}}}),
    "estimator of nothing": estimator({"loocv_": 1.0}),
    "estimator with methods": estimator({"fit": 1.0}),
    "estimator with unknown parameters": estimator({}, {"command": "rm"}),
    "estimator of another number of columns": with_header(
        lambda header: fields(header)["fitted"]["dict"].update(n_features_in_=3), "estimator"
    ),
    "features of other strata": with_header(
        lambda header: first_part(header)["features"]["fields"].update(strata={"tuple": []}), "features"
    ),
    "features without sums": with_header(lambda header: first_part(header).update(terms={"tuple": []}), "features"),
    "features of another kernel": with_header(
        lambda header: fields(header).update(kernel={"type": "Gaussian", "fields": {"bandwidth": 2.0}}), "features"
    ),
    "features times infinity": with_header(
        lambda header: first_mean(header).update(factor={"float": "inf"}), "features"
    ),
    "features whose noise fits other columns": with_header(
        lambda header: first_mean(header).update(
            noise={"type": "Normal", "fields": {"covariance": {"list": [1.0, 1.0, 1.0]}, "form": "diagonal"}}
        ),
        "features",
    ),
}
ARRAYS: dict[str, Damage] = {
    "array out of range": with_header(lambda header: first_part(header).update(points={"array": 7})),
    "array named by text": with_header(lambda header: first_part(header).update(points={"array": "a0"})),
    "one array in 10 000 parts": forged(embedding(*[part()] * 10_000), npy(np.zeros((1000, 100))), npy(np.ones(1000))),
    "NaN": with_members(a0__npy=npy(np.where(X > 0, np.nan, X))),
    "other shape": with_members(a0__npy=npy(X[:-1])),
    "no rows": with_members(a0__npy=npy(X[:0]), a1__npy=npy(np.zeros(0))),
    "a million million rows without columns": forged(
        embedding(part({"array": 0}, {"array": 1})), described(f"({10**12}, 0)"), npy(np.ones(5))
    ),
    "other type": with_members(a0__npy=npy(X.astype(np.float32))),
    "text array": with_members(a0__npy=npy(np.full((5, 2), "a"))),
    "object array that runs": with_members(a0__npy=npy(np.array([Payload()]), allow_pickle=True)),
    "structured": with_members(a0__npy=npy(np.zeros(5, dtype=[("x", "<f8"), ("y", "O")]), allow_pickle=True)),
    "void of a terabyte": with_members(a0__npy=described("(5, 2)", f"'|V{2**40}'", body=X.tobytes())),
    "type is unknown": with_members(a0__npy=described("(5, 2)", "'evil'", body=X.tobytes())),
    "column order": with_members(a0__npy=npy(np.asfortranarray(X))),
    "array is no array": with_members(a0__npy=b"0123456789"),
    "array of another version": with_members(a0__npy=npy_header("{}", version=b"\x02\x00")),
    "array promises a million gigabytes": with_members(a0__npy=described("(100000000000000, 2)")),
    "shape that overflows to the right size": with_members(a0__npy=described(f"({2**63 + 5}, 2)", body=X.tobytes())),
    "negative shape": with_members(a0__npy=described("(-5, -2)", body=X.tobytes())),
    "shape of an expression": with_members(a0__npy=described("(__import__('os').mkdir('marker'), 2)")),
    "header of brackets": with_members(a0__npy=npy_header("(" * 9000)),
    "data cut": with_members(a0__npy=npy(X)[:-8]),
}
KINDS = ("embedding", "mixture", "estimator", "features")
CUTS = {f"cut after {share:.0%} of {what}": cut(what, share) for what in KINDS for share in (0.2, 0.97)}
FLIPS = {f"bit {number} of {what}": flipped(what, number, 4) for what in KINDS for number in range(4)}
SAVED = {**CONTAINERS, **HEADERS, **OBJECTS, **ARRAYS, **CUTS, **FLIPS, **PLACES}
BOMBS = (
    "bomb",
    "sizes of gigabytes",
    "overlapping members",
    "header of objects in each other",
    "one array in 10 000 parts",
    "array promises a million gigabytes",
    "a million million rows without columns",
    "draws beyond count",
    "endless device",
    "void of a terabyte",
)
