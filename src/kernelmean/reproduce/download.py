"""Small files from the web: what was got of one before an interruption is not asked for again."""

from __future__ import annotations

import re
import time
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

_TIMEOUT, _ATTEMPTS, _PAUSE = 20.0, 4, 0.5
_CHUNK, _LARGEST = 2**16, 2**26


def download(url: str, part: Path, pause: float = _PAUSE) -> bytes:
    """Return a file; ``part`` holds what there is of it, now and after an interruption.

    Parameters
    ----------
    url : str
        An address of http or https.
    part : Path
        A file that may be there from an earlier try; the caller removes it when it is done with the content.
    pause : float
        Seconds before the second try, doubled for each later one.

    Raises
    ------
    ConnectionError
        When the server cannot be reached, has no such file, or broke off every time.
    """
    reason = ""
    for attempt in range(_ATTEMPTS):
        time.sleep(pause * 2 ** (attempt - 1) if attempt else 0)
        try:
            if _advance(url, part):
                return part.read_bytes()
            reason = f"the connection broke off after {part.stat().st_size:,} bytes"
        except HTTPError as error:
            if error.code < 500:
                raise ConnectionError(f"{url}: the server answers {error.code} {error.reason}") from error
            reason = f"the server answers {error.code} {error.reason}"
        except (URLError, HTTPException, TimeoutError, ConnectionError) as error:
            reason = str(getattr(error, "reason", "") or error or type(error).__name__)
    raise ConnectionError(f"{url}: {reason}")


def _advance(url: str, part: Path) -> bool:
    """Get what is missing of a file; return whether it is whole."""
    have = part.stat().st_size if part.exists() else 0
    headers = {"User-Agent": "kernelmean", **({"Range": f"bytes={have}-"} if have else {})}
    try:
        with urlopen(Request(url, headers=headers), timeout=_TIMEOUT) as response:
            return _append(response, part, have)
    except HTTPError as error:
        if error.code != 416:
            raise
        whole = _total(error.headers.get("Content-Range")) == have
        if not whole:
            part.unlink()
        return whole or _advance(url, part)


def _append(response: HTTPResponse, part: Path, have: int) -> bool:
    """Write a response to the end of ``part``, or over it when the server sends the whole file."""
    resumed = response.status == 206
    sent = response.headers.get("Content-Range")
    if resumed and not (sent or "").startswith(f"bytes {have}-"):
        raise ConnectionError(f"asked for the bytes from {have}, the server sends {sent}")
    length = response.headers.get("Content-Length")
    total = _total(sent) if resumed else None if length is None else int(length)
    with part.open("ab" if resumed else "wb") as file:
        while chunk := response.read(_CHUNK):
            file.write(chunk)
            if file.tell() > _LARGEST:
                raise ConnectionError(f"the server sends more than {_LARGEST:,} bytes")
    return total is None or part.stat().st_size == total


def _total(content_range: str | None) -> int | None:
    """Return the length of the whole file from "bytes 10-19/20" or "bytes */20"."""
    found = re.fullmatch(r"bytes .*/(\d+)", content_range or "")
    return int(found[1]) if found else None
