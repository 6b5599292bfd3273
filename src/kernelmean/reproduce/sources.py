"""Data sets by name, the same to the last digit wherever they come from: built in, a folder, or their public homes."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, final

import numpy as np

from .._disk import write_whole
from .._table import Frame
from .._words import listed
from .catalogue import DATA_SETS, DataSet, Home
from .download import download
from .lock import locked

CACHE = "KERNELMEAN_CACHE"
"""The environment variable that names another folder for downloads."""


@final
@dataclass(frozen=True)
class Sources:
    """Where data sets are looked for: a folder, what is built in, earlier downloads, and the web.

    Parameters
    ----------
    folder : Path, optional
        Holds NAME.csv for some names.
    cache : Path, optional
        For downloads; None is the user's cache.
    online : bool
        Whether to download what is nowhere else.
    say : callable
        Takes lines for the user.

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

    def load(self, name: str) -> Frame:
        """Return a data set, checked against its checksum.

        Raises
        ------
        ValueError
            When the name is unknown, or the file in the folder is not as it ought to be.
        FileNotFoundError
            When it is nowhere and cannot be downloaded.

        Examples
        --------
        >>> len(Sources(online=False).load("wbdc"))
        569
        """
        if name not in DATA_SETS:
            raise ValueError(f"there is no data set {name!r}; there are {listed(DATA_SETS)}")
        return _frame(name, self._in_folder(name) or _built_in(name) or self._in_cache(name))

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
        """Return a download, made now where it was not made before or is damaged."""
        cache = self.cache or _user_cache()
        path = cache / f"{name}.csv"
        content = path.read_bytes() if path.is_file() else b""
        if _is(name, content):
            return content
        if not self.online:
            raise FileNotFoundError(
                f"{name} is {'damaged in' if content else 'not in'} {cache} and downloads are off; {_mend(name)}"
            )
        if content:
            self.say(f"{path} is damaged and is downloaded again")
        cache.mkdir(parents=True, exist_ok=True)
        with locked(cache / f".{name}.lock", f"another process downloads {name}", wait=True):
            if path.is_file() and _is(name, path.read_bytes()):  # by a process that was waited for
                return path.read_bytes()
            content = self._from_web(name, cache)
            write_whole(path, content)
        return content

    def _from_web(self, name: str, cache: Path) -> bytes:
        reasons = []
        for home in DATA_SETS[name].homes:
            for _ in range(2):  # a part of another state of the file spoils the whole: once more from the start
                try:
                    content, fresh = self._from_home(name, home, cache)
                except (ConnectionError, ValueError) as error:
                    reasons.append(str(error))
                    break
                if _is(name, content):
                    return content
                reasons.append(f"{', '.join(home.urls)} does not hold the {name} of the paper (other numbers or rows)")
                if fresh:
                    break
        raise FileNotFoundError(f"{name} cannot be downloaded: {'; '.join(dict.fromkeys(reasons))}; {_mend(name)}")

    def _from_home(self, name: str, home: Home, cache: Path) -> tuple[bytes, bool]:
        """Return the table of a home, and whether all of it was got now."""
        parts = [cache / f".{name}.{url.rpartition('/')[2]}.part" for url in home.urls]
        fresh = not any(part.exists() for part in parts)
        self.say(f"{name} is downloaded from {listed(home.urls)}")
        contents = [download(url, part) for url, part in zip(home.urls, parts, strict=True)]
        for part in parts:
            part.unlink()
        return _table(DATA_SETS[name], home, [content.decode("latin-1") for content in contents]), fresh


def _table(data_set: DataSet, home: Home, texts: Sequence[str]) -> bytes:
    """Return the CSV of a table from the texts of its home."""
    try:
        rows = home.convert(texts)
    except (ValueError, IndexError) as error:
        raise ValueError(f"{', '.join(home.urls)} is not in the form that it had: {error}") from error
    return _csv([data_set.columns, *rows])


def _built_in(name: str) -> bytes | None:
    """Return a table that comes with this package or with scikit-learn, when it is the right one."""
    content = None
    if name == "eckerle4":
        content = resources.files("kernelmean").joinpath("data/eckerle4.csv").read_bytes()
    elif name in ("wine", "wbdc"):
        from sklearn import datasets

        wine = name == "wine"
        bunch: Any = datasets.load_wine() if wine else datasets.load_breast_cancer()
        target = bunch.target + 1 if wine else 1 - bunch.target  # cultivars from 1; malignant is 1, not 0
        values = np.column_stack([bunch.data, target]).tolist()
        content = _csv([DATA_SETS[name].columns, *([repr(v).removesuffix(".0") for v in row] for row in values)])
    return content if content is not None and _is(name, content) else None


def _frame(name: str, content: bytes) -> Frame:
    header, *lines = content.decode("ascii").splitlines()
    values = np.array([[float(cell or "nan") for cell in line.split(",")] for line in lines])
    return Frame(dict(zip(header.split(","), values.T.copy(), strict=True)), name)


def _csv(rows: Sequence[Sequence[str]]) -> bytes:
    return "".join(",".join(row) + "\n" for row in rows).encode()


def _is(name: str, content: bytes) -> bool:
    return _digest(content) == DATA_SETS[name].sha256


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _mend(name: str) -> str:
    return f"put {name}.csv into a folder and name that with --data, or connect to the network and use --download"


def _user_cache() -> Path:
    """Return the folder for downloads."""
    if os.environ.get(CACHE):
        return Path(os.environ[CACHE])
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "kernelmean" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "kernelmean"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kernelmean"
