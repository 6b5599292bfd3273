"""Data sets by name, the same to the last digit from any source: built in, a folder, or their original locations."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, final

import numpy as np

from .arrays import Array
from .data_sets import DATA_SETS, Home
from .experiment import Columns
from .originals import plain
from .wording import listed

CACHE = "KERNELMEAN_CACHE"
"""The environment variable for another download folder."""
_RETRIES, _TIMEOUT, _LARGEST = 2, 20.0, 2**26
_BUILT_IN: Mapping[str, Callable[[Array], Array]] = MappingProxyType(
    {"eckerle4": lambda column: column, "wine": lambda kind: kind + 1, "wbdc": lambda kind: 1 - kind}
)
"""Converts the last column to that of the originals: cultivars from 1; malignant is 1, not 0."""


@final
@dataclass(frozen=True)
class Sources:
    """Where to look for data sets: a folder, the built-in tables, earlier downloads, and the web.

    Parameters
    ----------
    folder : Path, optional
        Holds NAME.csv for some names.
    cache : Path, optional
        The folder for downloads; None is the user's cache.
    online : bool
        Whether to download data sets that are found nowhere else.
    say : callable
        Called with lines for the user.

    Raises
    ------
    NotADirectoryError
        When there is no such folder.
    """

    folder: Path | None = None
    cache: Path | None = None
    online: bool = True
    say: Callable[[str], None] = field(default=lambda _: None)

    def __post_init__(self) -> None:
        if self.folder is not None and not self.folder.is_dir():
            raise NotADirectoryError(
                f"there is no folder {str(self.folder)!r}; name that which holds the data, as glass.csv"
            )

    def load(self, name: str) -> Columns:
        """Return a data set, checked against its checksum.

        Raises
        ------
        ValueError
            When the name is unknown, or the file in the folder does not have the right checksum.
        FileNotFoundError
            When it is found nowhere and cannot be downloaded.

        Examples
        --------
        >>> len(Sources(online=False).load("wbdc")["target"])
        569
        """
        if name not in DATA_SETS:
            raise ValueError(f"there is no data set {name!r}; there are {listed(DATA_SETS)}")
        return _columns(self._in_folder(name) or _built_in(name) or self._in_cache(name))

    def _in_folder(self, name: str) -> bytes | None:
        path = None if self.folder is None else self.folder / f"{name}.csv"
        if path is None or not path.is_file():
            return None
        content = path.read_bytes()
        if not _is(name, content):
            raise ValueError(
                f"{path} is damaged: its SHA-256 is {_digest(content)}, that of {name} is {DATA_SETS[name].sha256}; "
                "copy it again, or remove it to have it downloaded"
            )
        return content

    def _in_cache(self, name: str) -> bytes:
        """Return a download; download it now if it is missing or damaged."""
        import pooch  # slow to import

        pooch.get_logger().setLevel("WARNING")  # what the user is to know goes through ``say``
        registry = {_file(each): f"sha256:{data_set.sha256}" for each, data_set in DATA_SETS.items()}
        place, variable = (self.cache, None) if self.cache else (pooch.os_cache("kernelmean"), CACHE)
        store = pooch.create(place, "", env=variable, registry=registry, retry_if_failed=_RETRIES)
        path = store.abspath / _file(name)
        trouble = "damaged in" if path.is_file() else "not in"
        if not path.is_file() or not _is(name, path.read_bytes()):
            if not self.online:
                raise FileNotFoundError(f"{name} is {trouble} {store.abspath} and downloads are off; {_mend(name)}")
            if path.is_file():
                self.say(f"{path} is damaged and is downloaded again")
            self._download(name, store)
        return path.read_bytes()

    def _download(self, name: str, store: Any) -> None:
        """Get a table from the first of its homes that still has it; the cache only takes tables with the checksum."""
        from requests import RequestException

        reasons = []
        for home in DATA_SETS[name].homes:
            self.say(f"{name} is downloaded from {listed(home.urls)}")
            store.urls = {_file(name): home.urls[0]}
            try:
                store.fetch(_file(name), downloader=partial(_write_table, name=name, home=home))
            except (ValueError, RequestException) as error:
                reasons.append(f"{', '.join(home.urls)}: {_reason(error)}")
            else:
                return
        raise FileNotFoundError(f"{name} cannot be downloaded: {'; '.join(reasons)}; {_mend(name)}")


class _Bounded(io.BytesIO):
    """A file in memory with a size limit."""

    def write(self, data: Any) -> int:
        """Write some bytes."""
        if self.tell() + len(data) > _LARGEST:
            raise ValueError(f"the server sends more than {_LARGEST:,} bytes")
        return super().write(data)


def _write_table(_: str, output: str, store: Any, *, name: str, home: Home) -> None:
    """Write the table of a data set from the files at a home; a downloader for pooch, which checks the table."""
    from pooch import HTTPDownloader

    files = [_Bounded() for _ in home.urls]
    for url, file in zip(home.urls, files, strict=True):
        HTTPDownloader(timeout=_TIMEOUT)(url, file, store)
    Path(output).write_bytes(_table(name, home, [file.getvalue().decode("latin-1") for file in files]))


def _table(name: str, home: Home, texts: Sequence[str]) -> bytes:
    """Return the CSV of a data set from the texts at a home."""
    try:
        rows = home.convert(texts)
    except (ValueError, IndexError) as error:
        raise ValueError(f"the file is not in the form that it had: {error}") from error
    return _csv([DATA_SETS[name].columns, *rows])


def _reason(error: Exception) -> str:
    """Return why a download failed."""
    response = getattr(error, "response", None)
    if response is not None:
        return f"the server answers {response.status_code} {response.reason}"
    bottom: BaseException = error
    while isinstance(error, OSError) and (below := bottom.__cause__ or bottom.__context__) is not None:
        bottom = below  # requests and urllib3 wrap one error into the next
    return str(bottom) or type(bottom).__name__


def _file(name: str) -> str:
    return f"{name}.csv"


def _built_in(name: str) -> bytes | None:
    """Return a table that comes with kernelmean, if it is the right one."""
    if name not in _BUILT_IN:
        return None
    from kernelmean.tables import read_table  # slow to import, which help can do without

    values = read_table(name).values.copy()
    values[:, -1] = _BUILT_IN[name](values[:, -1])
    cells = ([plain(repr(value)) for value in row] for row in values.tolist())
    content = _csv([DATA_SETS[name].columns, *cells])
    return content if _is(name, content) else None


def _columns(content: bytes) -> Columns:
    header, *lines = content.decode("ascii").splitlines()
    values = np.array([[float(cell or "nan") for cell in line.split(",")] for line in lines])
    return dict(zip(header.split(","), values.T.copy(), strict=True))


def _csv(rows: Sequence[Sequence[str]]) -> bytes:
    return "".join(",".join(row) + "\n" for row in rows).encode()


def _is(name: str, content: bytes) -> bool:
    return _digest(content) == DATA_SETS[name].sha256


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _mend(name: str) -> str:
    return f"put {name}.csv into a folder and name that with --data, or connect to the network and use --download"
