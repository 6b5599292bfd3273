"""The page in a real browser: a headless Chromium, asked by its debugging protocol through pipes."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from kernelmean.report import SHADES, Document, Section, TextTable, html

NAMES = ("chromium", "chromium-browser", "google-chrome")
WIRE = "import os, sys; [os.dup2(int(sys.argv[k]), 2 + k) for k in (1, 2)]; os.execv(sys.argv[3], sys.argv[3:])"
"""The browser reads commands from 3 and answers at 4."""
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe", "about:blank")


def executable() -> str | None:
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Page:
    """An open page; ``events`` keeps what the browser told of it."""

    def __init__(self, commands: int, answers: int) -> None:
        self._commands, self._answers = commands, answers
        self._number, self._session, self._rest = 0, None, b""
        self.events: list[dict[str, Any]] = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **parameters: Any) -> Any:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            part = os.read(self._answers, 1 << 20)
            if not part:
                raise RuntimeError("the browser has gone")
            self._rest += part
        text, self._rest = self._rest.split(b"\0", 1)
        message = json.loads(text)
        if "method" in message:
            self.events.append(message)
        return message

    def open(self, path: Path, *, width: int, dark: bool = False) -> None:
        self.events.clear()
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=844, deviceScaleFactor=1, mobile=width < 600)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])
        self.ask("Page.navigate", url=path.as_uri())
        while not self.heard("Page.loadEventFired"):
            self._next()

    def heard(self, method: str) -> list[dict[str, Any]]:
        return [event["params"] for event in self.events if event["method"] == method]

    def value(self, script: str) -> Any:
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        for kind in ("rawKeyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=9)

    def screenshot(self, path: Path) -> None:
        shot = self.ask("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))


@contextmanager
def opened(program: str) -> Iterator[Page]:
    """Start a browser and yield a page of it."""
    to_browser, commands = os.pipe()
    answers, from_browser = os.pipe()

    with TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        wired = [sys.executable, "-c", WIRE, str(to_browser), str(from_browser)]
        arguments = [*wired, program, f"--user-data-dir={profile}", *FLAGS]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        process = subprocess.Popen(arguments, pass_fds=(to_browser, from_browser), **quiet)
        os.close(to_browser)
        os.close(from_browser)
        try:
            yield Page(commands, answers)
        finally:
            process.kill()
            process.wait()
            os.close(commands)
            os.close(answers)


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    program = executable()
    if program is None:
        pytest.skip(f"no browser is installed (one of {', '.join(NAMES)}): pages are not looked at")
    with opened(program) as one:
        yield one


@pytest.fixture(scope="module")
def file(document: Document, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(html.render(document), encoding="utf-8")
    return path


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [320, 390, 1200])
def test_the_page_fits_loads_nothing_and_says_nothing(page: Page, file: Path, width: int, dark: bool) -> None:
    page.open(file, width=width, dark=dark)
    assert page.value("innerWidth") == width
    page.value("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert page.value("document.documentElement.scrollWidth") <= width
    asked = [event["request"]["url"] for event in page.heard("Network.requestWillBeSent")]
    assert [url for url in asked if not url.startswith("data:")] == [file.as_uri()]
    assert not page.heard("Log.entryAdded")
    assert not page.heard("Runtime.consoleAPICalled")
    assert not page.heard("Runtime.exceptionThrown")
    ink, ground = page.value("(s => [s.color, s.backgroundColor])(getComputedStyle(document.body))")
    shown = [SHADES[part].dark if dark else SHADES[part].light for part in ("ink", "surface")]
    assert [hexadecimal(ink), hexadecimal(ground)] == shown


def test_wide_tables_scroll_in_their_own_boxes_and_pictures_are_seen(page: Page, file: Path) -> None:
    page.open(file, width=390)
    wide = "[...document.querySelectorAll('.scroll')].filter(box => box.scrollWidth > box.clientWidth).length"
    assert page.value(wide) >= 2
    if not page.value("document.querySelectorAll('svg').length"):
        pytest.skip("charts need the extra 'plot'")
    sizes = page.value("[...document.querySelectorAll('svg.panel')].map(one => one.getBoundingClientRect().width)")
    assert len(sizes) == 5
    assert all(300 < size <= 390 for size in sizes)
    drawn = "[...document.querySelectorAll('svg.panel')].every(one => one.getBBox().width > 200)"
    assert page.value(drawn)


def test_keys_reach_the_skip_link_first_and_then_every_link_and_box(page: Page, file: Path) -> None:
    page.open(file, width=390)
    reached = []
    unfolded = "[...document.querySelectorAll('a, summary, :is(.scroll, button):not(details:not([open]) *)')].length"
    for _ in range(page.value(unfolded)):
        page.press("Tab")
        reached.append(page.value("document.activeElement.className || document.activeElement.localName"))
        assert page.value("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert reached[0] == "skip"
    assert {"a", "scroll", "summary", "button"} <= set(reached)
    assert reached.count("skip") == 1


def hexadecimal(color: str) -> str:
    return "#" + "".join(f"{int(part):02x}" for part in re.findall(r"\d+", color)[:3])


SORTED = """(() => {{
  const table = document.querySelector(".scroll > table"), button = table.querySelectorAll("thead button")[{column}];
  button.click();
  const cells = [...table.tBodies[0].rows].map(row => row.cells[{column}].textContent);
  return [button.parentElement.getAttribute("aria-sort"), cells];
}})()"""


def test_a_click_on_a_head_sorts_the_table(page: Page, tmp_path: Path) -> None:
    rows = tuple(zip("bdca", ("1,200", "−6.2e−08", "–", "< 0.001"), strict=True))
    document = Document("T", (), (Section("S", tables=(TextTable("Numbers", ("name", "value"), rows),)),))
    path = tmp_path / "table.html"
    path.write_text(html.render(document), encoding="utf-8")
    page.open(path, width=1280)
    assert page.value(SORTED.format(column=1)) == ["descending", ["1,200", "< 0.001", "−6.2e−08", "–"]]
    assert page.value(SORTED.format(column=1)) == ["ascending", ["−6.2e−08", "< 0.001", "1,200", "–"]]
    assert page.value(SORTED.format(column=0)) == ["ascending", list("abcd")]
    assert page.value("document.querySelectorAll('[aria-sort]').length") == 1
    assert not page.heard("Log.entryAdded")
