"""What the tests of the engine share: small experiments in a module that worker processes can import, a web server."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest


class Site:
    """Files by their path, how a server gives them out, and what was asked of it."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.asked: list[tuple[str, str | None]] = []
        self.breaks: list[int] = []
        """Bytes after which the next answers break off."""
        self.errors: list[int] = []
        """Status codes of the next answers."""
        self.ranges, self.lengths = True, True
        self.url = ""

    def part(self, path: str, asked: str | None) -> tuple[int, bytes, str | None]:
        """Return status, body and Content-Range of an answer."""
        whole = self.files[path]
        if asked is None or not self.ranges:
            return 200, whole, None
        start = int(asked.removeprefix("bytes=").removesuffix("-"))
        if start >= len(whole):
            return 416, b"", f"bytes */{len(whole)}"
        return 206, whole[start:], f"bytes {start}-{len(whole) - 1}/{len(whole)}"


class Handler(BaseHTTPRequestHandler):
    site: Site

    def do_GET(self) -> None:
        asked = self.headers.get("Range")
        self.site.asked.append((self.path, asked))
        if self.site.errors or self.path not in self.site.files:
            self.send_error(self.site.errors.pop(0) if self.site.errors else 404)
            return
        status, body, content_range = self.site.part(self.path, asked)
        self.send_response(status)
        if content_range is not None:
            self.send_header("Content-Range", content_range)
        if self.site.lengths:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: self.site.breaks.pop(0)] if self.site.breaks else body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(autouse=True)
def syncs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the files that were put on the disk: here it is not waited for."""
    done: list[int] = []
    monkeypatch.setattr(os, "fsync", done.append)
    return done


@pytest.fixture
def synthetic(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the module of small experiments, under a name that worker processes find too."""
    monkeypatch.syspath_prepend(Path(__file__).parent)
    import synthetic

    monkeypatch.setattr(synthetic.Fast, "pause", 0.0)
    return synthetic


@pytest.fixture
def site() -> Iterator[Site]:
    """Yield a server on this machine."""
    site = Site()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("SiteHandler", (Handler,), {"site": site}))
    site.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield site
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def shared_data() -> Path:
    """Return the folder of data beside the clone."""
    folder = Path(__file__).parents[3] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the shared data folder is not there")
    return folder
