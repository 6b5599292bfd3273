"""Saving and loading: files hold names and numbers only, so no code is ever executed from a file.

A file is an uncompressed zip archive like numpy's npz: ``header.json`` says what the object is, and each array is one
``.npy`` member. Nothing is unpickled, and nothing is trusted: sizes, types and shapes are checked before memory is
allocated, and objects are made by their own constructors.
"""

from __future__ import annotations

import errno
import io
import json
import os
import struct
import tokenize
import warnings
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np

from ..core.disk import check_regular, is_special, parse, plain, whole_file, write_file
from ..embedding.embedding import Embedding
from ..report.description import Shown
from .serialization import AnyArray, check_savable, decode, encode

FORMAT, VERSION = "kernelmean", 1
_HEADER = "header.json"
_LARGEST_HEADER = 2**24
_LONGEST_EMPTY = 2**20
"""The most rows or columns of an array without numbers: the objects made from it may have as many."""
_DTYPES = ("<f8", "<i8", "|b1")
_OTHER_FORMATS = (
    *(".json", ".html", ".htm", ".csv", ".tsv", ".txt", ".md", ".xml", ".yaml", ".xlsx", ".parquet", ".feather"),
    *(".pdf", ".png", ".svg", ".pkl", ".pickle"),
)
_EPOCH = (1980, 1, 1, 0, 0, 0)
# RuntimeError, with NotImplementedError and RecursionError: members that are encrypted, of a later zip, nested too deep
_DAMAGE = (
    *(ValueError, TypeError, LookupError, AttributeError, AssertionError),
    *(RuntimeError, OverflowError, EOFError, struct.error),
)


def save(value: Any, path: str | os.PathLike[str], *, columns: Iterable[str] = ()) -> None:
    """Save an embedding, an estimator, a kernel, a noise or a result of the library to a file.

    Parameters
    ----------
    value : Embedding, KernelMean or another estimator of means, Kernel, Noise, TestResult or another result
        What to save. A comparison of tables is saved with their rows.
    path : str or path
        The file, such as mean.npz. An existing one is replaced in one step, when the new one is complete. A device is
        written to. A result whose name ends in .json or .html is written as what ``to_dict`` and ``to_html`` return,
        which :func:`load` does not read.
    columns : iterable of str
        The names of the columns, for readers; :func:`read_columns` returns them.

    Raises
    ------
    TypeError
        When the object is none of these, or holds something that is not part of the library: a kernel of your own, or
        a random generator.
    ValueError
        When the name of the file ends as those of another format do, such as .csv.
    OSError
        When the file cannot be written.

    Notes
    -----
    The same object gives the same bytes. ``plan`` belongs to a machine and is not saved.

    Examples
    --------
    >>> import tempfile, kernelmean as km
    >>> path = tempfile.mkdtemp() + "/mean.npz"
    >>> save(km.embed([[0.0], [1.0]], km.kernels.Gaussian(1.0)), path)
    >>> load(path)
    Embedding(n=2, d=1, kernel=Gaussian(bandwidth=1.0), noise=Dirac())
    """
    text = _text(value, Path(path).suffix.lower())
    if text is not None:
        write_file(os.fspath(path), text.encode())
        return
    check_ending(path)
    names = value.names or () if isinstance(value, Embedding) else ()
    arrays: list[AnyArray] = []
    tree = encode(check_savable(value, TypeError), arrays)
    header = {
        "format": FORMAT,
        "version": VERSION,
        "columns": list(columns) or list(names),
        "arrays": len(arrays),
        "value": tree,
    }
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {str(target.parent)!r} to save {target.name!r} in; make it first")
    text = json.dumps(header, allow_nan=False)
    if is_special(target):
        buffer = io.BytesIO()
        _write(buffer, text, arrays)
        write_file(target, buffer.getvalue())
        return
    with whole_file(target) as file:
        _write(file, text, arrays)


def _text(value: Any, ending: str) -> str | None:
    """Return a result as the text that the name of its file promises, None for what :func:`load` reads."""
    write: Any = getattr(value, {".json": "to_dict", ".html": "to_html"}.get(ending, ""), None)
    if write is None or not isinstance(value, Shown):
        return None
    return str(write()) if ending == ".html" else json.dumps(plain(write()), indent=2) + "\n"


def check_ending(path: str | os.PathLike[str]) -> None:
    """Raise when the name of a file that :func:`load` is to read ends as those of another format do."""
    if Path(path).suffix.lower() in _OTHER_FORMATS:
        raise ValueError(
            f"{os.fspath(path)} would be no {Path(path).suffix} file: what kernelmean.load reads is an archive of "
            "arrays; let its name end in .npz. Results are also saved as .json and .html, and to_frame() has rows"
        )


def load(path: str | os.PathLike[str]) -> Any:
    """Return the object that :func:`save` wrote.

    Parameters
    ----------
    path : str or path
        The file.

    Raises
    ------
    ValueError
        When the file is damaged, was not written by kernelmean, or was written by a later version of it.
    OSError
        When there is no such file, or it cannot be read.
    """
    return _guarded(path, lambda header, arrays: _named(_value(header, arrays), header["columns"]))


def _named(value: Any, columns: list[str]) -> Any:
    """Return an embedding with the names of its columns, if they were saved; anything else as it is."""
    if isinstance(value, Embedding) and len(columns) == value.shape[1]:
        return replace(value, names=tuple(str(name) for name in columns))
    return value


def read_columns(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """Return the names of the columns that were saved with an object; see :func:`load` for errors."""
    return _guarded(path, lambda header, _: tuple(str(name) for name in header["columns"]))


def _value(header: Mapping[str, Any], arrays: list[AnyArray]) -> Any:
    return check_savable(decode(header["value"], arrays), ValueError)


def _guarded(path: str | os.PathLike[str], read: Any) -> Any:
    """Return what ``read`` makes of a file's header and arrays; anything wrong with them is one plain error."""
    check_regular(Path(path))
    try:
        with zipfile.ZipFile(path) as archive, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of headers in odd forms, which are refused
            header = _read_header(archive)
            arrays = [_read_array(archive, f"a{number}.npy") for number in range(header["arrays"])]
            return read(header, arrays)
    except zipfile.BadZipFile as error:
        raise ValueError(f"{os.fspath(path)} is damaged or was not written by kernelmean ({error})") from error
    except (*_DAMAGE, OSError) as error:
        if isinstance(error, OSError) and error.errno != errno.EINVAL:  # which a jump to before the file's start raises
            raise
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"{os.fspath(path)} cannot be loaded: {reason}; save it again with kernelmean.save") from error


def _write(file: BinaryIO, header: str, arrays: list[AnyArray]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(_HEADER, _EPOCH), header)
        for number, array in enumerate(arrays):
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, array, allow_pickle=False)
            # no getbuffer(): where the disk is full an open view of it ends Python 3.12 when it is collected
            archive.writestr(zipfile.ZipInfo(f"a{number}.npy", _EPOCH), buffer.getvalue())


def _read_header(archive: zipfile.ZipFile) -> dict[str, Any]:
    """Return the header, or raise when the archive is not ours, has a later version, or holds other members."""
    if _HEADER not in archive.namelist():
        raise ValueError("it was not written by kernelmean")
    _check_member(archive.getinfo(_HEADER), _LARGEST_HEADER)
    header = parse(archive.read(_HEADER))
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ValueError("it was not written by kernelmean")
    if header.get("version") != VERSION:
        raise ValueError(f"it has version {header.get('version')!r} of the format, this kernelmean reads {VERSION}")
    members = [_HEADER, *(f"a{number}.npy" for number in range(len(archive.namelist()) - 1))]
    if header.get("arrays") != len(members) - 1 or sorted(archive.namelist()) != sorted(members):
        raise ValueError("it lacks members, or has others than its header says")
    if sum(member.file_size for member in archive.infolist()) > _size(archive):
        raise ValueError("its members overlap")
    return header


def _check_member(member: zipfile.ZipInfo, largest: int) -> None:
    """Raise when a member is compressed (a small file could then fill the memory) or too large."""
    if member.compress_type != zipfile.ZIP_STORED or member.file_size != member.compress_size:
        raise ValueError(f"its member {member.filename} is compressed, which kernelmean never does")
    if member.file_size > largest:
        raise ValueError(f"its member {member.filename} is too large")


def _read_array(archive: zipfile.ZipFile, name: str) -> AnyArray:
    """Return one array, if its size is what its type and shape require."""
    member = archive.getinfo(name)
    _check_member(member, _size(archive))
    with archive.open(member) as file:
        if np.lib.format.read_magic(file) != (1, 0):
            raise ValueError(f"its member {name} is not an array of the expected form")
        shape, fortran_order, dtype = _array_header(file, name)
        size = int(np.prod(shape, dtype=object)) * dtype.itemsize
        if (
            dtype.str not in _DTYPES
            or fortran_order
            or min(shape, default=0) < 0
            or max(shape, default=0) > max(size, _LONGEST_EMPTY)
            or file.tell() + size != member.file_size
        ):
            raise ValueError(f"its member {name} has the wrong type or size")
        return np.frombuffer(file.read(), dtype=dtype).reshape(shape).copy()


def _size(archive: zipfile.ZipFile) -> int:
    return Path(archive.filename or "").stat().st_size


def _array_header(file: IO[bytes], name: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return the shape, the order and the type of an array; numpy parses them as a literal, which may be too deep."""
    try:
        return np.lib.format.read_array_header_1_0(file)
    except (MemoryError, SyntaxError, tokenize.TokenError) as error:
        raise ValueError(f"its member {name} is not an array of the expected form") from error
