"""Downloads go on where they broke off, and say plainly why they cannot."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kernelmean.reproduce.download import download

CONTENT = np.random.default_rng(0).bytes(200_000)


@pytest.fixture
def part(tmp_path: Path) -> Path:
    return tmp_path / "a.part"


def get(site, part: Path) -> bytes:
    return download(f"{site.url}/a", part, pause=0.001)


class TestWhatComes:
    @pytest.mark.parametrize("lengths", [True, False])
    def test_the_file(self, site, part: Path, lengths: bool) -> None:
        site.files["/a"], site.lengths = CONTENT, lengths
        assert get(site, part) == CONTENT
        assert site.asked == [("/a", None)]

    def test_a_broken_connection_is_taken_up_again(self, site, part: Path) -> None:
        site.files["/a"], site.breaks = CONTENT, [70_000, 1]
        assert get(site, part) == CONTENT
        assert site.asked == [("/a", None), ("/a", "bytes=70000-"), ("/a", "bytes=70001-")]

    def test_what_an_earlier_process_got_is_not_asked_for_again(self, site, part: Path) -> None:
        site.files["/a"] = CONTENT
        part.write_bytes(CONTENT[:1234])
        assert get(site, part) == CONTENT
        assert site.asked == [("/a", "bytes=1234-")]

    def test_a_file_that_is_whole_already(self, site, part: Path) -> None:
        site.files["/a"] = CONTENT
        part.write_bytes(CONTENT)
        assert get(site, part) == CONTENT

    def test_a_part_longer_than_the_file_is_dropped(self, site, part: Path) -> None:
        site.files["/a"] = CONTENT
        part.write_bytes(CONTENT + b"more")
        assert get(site, part) == CONTENT
        assert site.asked == [("/a", f"bytes={len(CONTENT) + 4}-"), ("/a", None)]

    def test_a_server_without_ranges_sends_all_again(self, site, part: Path) -> None:
        site.files["/a"], site.ranges, site.breaks = CONTENT, False, [50_000]
        assert get(site, part) == CONTENT
        assert site.asked == [("/a", None), ("/a", "bytes=50000-")]

    def test_a_server_that_is_down_for_a_moment(self, site, part: Path) -> None:
        site.files["/a"], site.errors = CONTENT, [503, 500]
        assert get(site, part) == CONTENT


class TestWhatDoesNot:
    def test_no_such_file(self, site, part: Path) -> None:
        with pytest.raises(ConnectionError, match=r"/a: the server answers 404"):
            get(site, part)
        assert len(site.asked) == 1

    def test_broken_every_time(self, site, part: Path) -> None:
        site.files["/a"], site.breaks = CONTENT, [10, 10, 10, 10]
        with pytest.raises(ConnectionError, match="broke off after 40 bytes"):
            get(site, part)
        assert part.read_bytes() == CONTENT[:40]

    def test_no_server(self, part: Path) -> None:
        with pytest.raises(ConnectionError, match="refused"):
            download("http://127.0.0.1:1/a", part, pause=0.001)

    def test_no_such_host(self, part: Path) -> None:
        with pytest.raises(ConnectionError, match=r"^http://name.invalid/a: "):
            download("http://name.invalid/a", part, pause=0.001)

    def test_a_wrong_range(self, site, part: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        site.files["/a"] = CONTENT
        part.write_bytes(CONTENT[:100])
        monkeypatch.setattr(site, "part", lambda *_: (206, CONTENT[50:], "bytes 50-199999/200000"))
        with pytest.raises(ConnectionError, match="asked for the bytes from 100, the server sends bytes 50-"):
            get(site, part)
        assert part.read_bytes() == CONTENT[:100]
