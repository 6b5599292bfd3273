"""Data sets are the same wherever they come from; damage is found, named and mended."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kernelmean.tables import read_frame
from kernelmean_paper import sources
from kernelmean_paper.data_sets import DATA_SETS, DataSet, Home
from kernelmean_paper.originals import delimited, libsvm, plain
from kernelmean_paper.sources import Sources

ORIGINAL = b"1,1.50,g,7\r\n2,-0.25,b,?\r\n"
TABLE = b"u,v,target\n7,1.5,1\n,-0.25,0\n"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, site) -> Path:
    """Return an empty cache, with one small data set among the data sets whose home is the local server."""
    home = Home((f"{site.url}/small.data",), delimited((3, 1, 2), codes={2: {"g": "1", "b": "0"}}))
    small = DataSet(("u", "v", "target"), hashlib.sha256(TABLE).hexdigest(), (home,))
    monkeypatch.setattr(sources, "DATA_SETS", {**DATA_SETS, "small": small})
    monkeypatch.setattr("pooch.core.time.sleep", lambda _: None)
    site.files["/small.data"] = ORIGINAL
    return tmp_path / "cache"


class TestBuiltIn:
    @pytest.mark.parametrize(("name", "shape"), [("wine", (178, 14)), ("wbdc", (569, 31)), ("eckerle4", (35, 2))])
    def test_without_network(self, name: str, shape: tuple[int, int], tmp_path: Path) -> None:
        data = Sources(online=False, cache=tmp_path / "none").load(name)
        assert {column.shape for column in data.values()} == {shape[:1]}
        assert len(data) == shape[1]
        assert not (tmp_path / "none").exists()

    def test_codes_of_classes_are_those_of_the_original(self) -> None:
        ours, theirs = Sources().load("wbdc"), read_frame("wbdc")
        np.testing.assert_array_equal(ours["target"], 1 - theirs["target"])
        np.testing.assert_array_equal(ours["radius_mean"], theirs["mean radius"])
        np.testing.assert_array_equal(Sources().load("wine")["target"], read_frame("wine")["target"] + 1)


class TestFolder:
    def test_a_good_file(self, tmp_path: Path, cache: Path) -> None:
        (tmp_path / "small.csv").write_bytes(TABLE)
        frame = Sources(tmp_path, cache, online=False).load("small")
        assert list(frame) == ["u", "v", "target"]
        np.testing.assert_array_equal(frame["u"], [7, np.nan])

    def test_a_damaged_file_is_named(self, tmp_path: Path, cache: Path) -> None:
        (tmp_path / "small.csv").write_bytes(TABLE.replace(b"7", b"8"))
        with pytest.raises(ValueError, match=r"small\.csv is damaged: its SHA-256 is .* copy it again"):
            Sources(tmp_path, cache).load("small")

    def test_a_damaged_file_is_not_replaced_by_what_is_built_in(self, tmp_path: Path) -> None:
        (tmp_path / "wine.csv").write_bytes(b"x\n1\n")
        with pytest.raises(ValueError, match=r"wine\.csv is damaged"):
            Sources(tmp_path).load("wine")

    def test_no_folder(self, tmp_path: Path) -> None:
        with pytest.raises(NotADirectoryError, match="there is no folder"):
            Sources(tmp_path / "none")

    def test_unknown_names(self) -> None:
        with pytest.raises(ValueError, match="no data set 'wines'"):
            Sources().load("wines")


class TestDownload:
    def test_once(self, site, cache: Path) -> None:
        said: list[str] = []
        for _ in range(2):
            frame = Sources(cache=cache, say=said.append).load("small")
            np.testing.assert_array_equal(frame["v"], [1.5, -0.25])
        assert len(site.asked) == 1
        assert said == [f"small is downloaded from {site.url}/small.data"]
        assert (cache / "small.csv").read_bytes() == TABLE
        assert [path.name for path in cache.iterdir()] == ["small.csv"]

    def test_a_damaged_cache_is_found_and_mended(self, site, cache: Path) -> None:
        Sources(cache=cache).load("small")
        (cache / "small.csv").write_bytes(TABLE[:-1])
        said: list[str] = []
        assert len(Sources(cache=cache, say=said.append).load("small")["u"]) == 2
        assert "is damaged and is downloaded again" in said[0]
        assert (cache / "small.csv").read_bytes() == TABLE

    @pytest.mark.parametrize("lengths", [True, False])
    def test_with_and_without_a_length(self, site, cache: Path, lengths: bool) -> None:
        site.lengths = lengths
        assert len(Sources(cache=cache).load("small")["u"]) == 2

    def test_a_connection_that_breaks_off_is_tried_again(self, site, cache: Path) -> None:
        site.breaks = [5]
        assert len(Sources(cache=cache).load("small")["u"]) == 2
        assert len(site.asked) == 2

    def test_a_server_that_is_down_for_a_moment(self, site, cache: Path) -> None:
        site.errors = [503, 500]
        assert len(Sources(cache=cache).load("small")["u"]) == 2

    def test_a_connection_that_breaks_off_every_time(self, site, cache: Path) -> None:
        site.breaks = [5, 5, 5]
        with pytest.raises(FileNotFoundError, match=r"/small\.data: .*5 bytes read"):
            Sources(cache=cache).load("small")
        assert list(cache.iterdir()) == []

    def test_a_server_that_stays_down(self, site, cache: Path) -> None:
        site.errors = [503] * 3
        with pytest.raises(FileNotFoundError, match=r"/small\.data: the server answers 503 Service Unavailable; put"):
            Sources(cache=cache).load("small")
        assert len(site.asked) == 3

    @pytest.mark.parametrize("host", ["127.0.0.1:1", "name.invalid"])
    def test_nobody_there(self, cache: Path, host: str) -> None:
        home = Home((f"http://{host}/small.data",), delimited())
        sources.DATA_SETS["small"] = replace(sources.DATA_SETS["small"], homes=(home,))
        with pytest.raises(FileNotFoundError, match=rf"http://{host}/small.data: .*\[Errno") as error:
            Sources(cache=cache).load("small")
        assert "\n" not in str(error.value)

    def test_the_folder_of_the_environment(self, site, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("KERNELMEAN_CACHE", str(cache))
        Sources().load("small")
        assert (cache / "small.csv").read_bytes() == TABLE

    def test_what_a_kill_left_is_no_table(self, site, cache: Path) -> None:
        cache.mkdir()
        (cache / "tmpabc").write_bytes(TABLE[:7])
        assert len(Sources(cache=cache).load("small")["u"]) == 2

    @pytest.mark.parametrize(
        ("content", "text"),
        [
            (
                ORIGINAL.replace(b"1.50", b"1.51"),
                "/small.data: SHA256 hash .* does not match the known hash",
            ),
            (b"<html>moved</html>", "/small.data: the file is not in the form that it had"),
            (ORIGINAL[:12], "/small.data: SHA256 hash .* does not match the known hash"),
        ],
        ids=["digit", "page", "cut"],
    )
    def test_wrong_content_is_refused(self, site, cache: Path, content: bytes, text: str) -> None:
        site.files["/small.data"] = content
        with pytest.raises(FileNotFoundError, match=text):
            Sources(cache=cache).load("small")
        assert list(cache.iterdir()) == []

    def test_the_second_home(self, site, cache: Path) -> None:
        first = Home((f"{site.url}/gone",), delimited())
        sources.DATA_SETS["small"] = replace(
            sources.DATA_SETS["small"], homes=(first, *sources.DATA_SETS["small"].homes)
        )
        assert len(Sources(cache=cache).load("small")["u"]) == 2

    def test_more_than_any_data_set_has(self, site, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sources, "_LARGEST", 20)
        with pytest.raises(FileNotFoundError, match=r"/small\.data: the server sends more than 20 bytes; put small"):
            Sources(cache=cache).load("small")

    def test_a_file_that_is_gone(self, site, cache: Path) -> None:
        site.files.clear()
        with pytest.raises(
            FileNotFoundError, match=r"data: the server answers 404 Not Found; put small\.csv .* --data"
        ):
            Sources(cache=cache).load("small")

    @pytest.mark.parametrize("there", [b"", b"u,v\n"], ids=["empty", "damaged"])
    def test_offline(self, site, cache: Path, there: bytes) -> None:
        cache.mkdir()
        (cache / "small.csv").write_bytes(there)
        with pytest.raises(FileNotFoundError, match=r"small is (not|damaged) in .* and downloads are off"):
            Sources(cache=cache, online=False).load("small")
        assert not site.asked


class TestConverters:
    @pytest.mark.parametrize(
        ("text", "number"),
        [("18.00", "18"), ("+1", "1"), ("-0.0", "0"), ("1e-05", "0.00001"), ("100", "100"), (".5", "0.5"), ("?", "")],
    )
    def test_numbers(self, text: str, number: str) -> None:
        assert plain(text) == number

    def test_sparse_rows(self) -> None:
        assert libsvm(3)(["1.07 1:2.50 3:-1\n+2 2:4\n"]) == [["2.5", "0", "-1", "1.07"], ["0", "4", "0", "2"]]

    def test_text_around_a_table(self) -> None:
        text = "A study of 3 men\n\n  1.0 2 3.50\n 4 5 six\n 7 8 9\nThe end.\n"
        assert delimited((2, 0), separator=None, cells=3)([text]) == [["3.5", "1"], ["9", "7"]]


def padded(value: str, digits: int) -> str:
    return f"{float(value):.{digits}f}"


def fixed(cells: list[str], widths: str) -> str:
    return "".join(f"{float(cell):{width}f}" for cell, width in zip(cells, widths.split(), strict=True))


def svm(cells: list[str]) -> str:
    return " ".join([cells[-1], *(f"{number}:{cell}" for number, cell in enumerate(cells[:-1], 1))])


def first(cells: list[str]) -> str:
    return ",".join([cells[-1], *cells[:-1]])


def coded(cells: list[str], letters: str, place: int, *before: str) -> str:
    letter = letters[int(cells[-1])]
    return ",".join([*before, *cells[:-1][:place], letter, *cells[:-1][place:]])


HOUSING = "8.5 7.2 8.3 3.0 8.4 8.4 7.2 8.4 4.0 7.1 7.2 7.2 7.2 7.2"
COLORS = ["-", "black", "blue", "brown", "gold", "green", "orange", "red", "white"]


def flag(cells: list[str]) -> str:
    cells = [COLORS[int(cell)] if place in (15, 26, 27) else cell for place, cell in enumerate(cells)]
    return ",".join(["Country", *cells[:5], cells[-1], *cells[5:-1]])


def glass(number: int, cells: list[str]) -> str:
    return ",".join([str(number), padded(cells[0], 5), *(padded(cell, 2) for cell in cells[1:-1]), cells[-1]])


BACK = {
    "wine": lambda _, cells: first(cells),
    "glass": glass,
    "bodyfat": lambda _, cells: svm(cells),
    "svmguide2": lambda _, cells: svm(cells),
    "ionosphere": lambda _, cells: coded(cells, "bg", 34),
    "housing": lambda _, cells: svm(cells),
    "sonar": lambda _, cells: coded([*(padded(cell, 4) for cell in cells[:-1]), cells[-1]], "RM", 60),
    "specft": lambda _, cells: first(cells),
    "bupa": lambda _, cells: ",".join([*cells[:5], padded(cells[5], 1), cells[6]]),
    "lymphography": lambda _, cells: first(cells),
    "primary": lambda _, cells: first([cell or "?" for cell in cells]),
    "flag": lambda _, cells: flag(cells),
    "hayes": lambda number, cells: ",".join([str(number), *cells] if number <= 132 else cells),
    "wbdc": lambda number, cells: coded(cells, "BM", 0, str(number)),
    "australian": lambda _, cells: " ".join(cells),
}
"""From a row of the table back to a line of the original at the first home."""
PUBLISHED = {
    "glass": "dd67373f4baf2807345df02cbfef2093d342e61ad0d82a4fb79af43ef8ce449d",
    "sonar": "e90434cdbf00fcf93ffa911fe447ae25606979658e60f1d32e155c3b5240234d",
    "lymphography": "e17d22d071341af08a505a10eb558afc835e302b02c8b381c1fa3dd305731935",
}
"""SHA-256 of UCI's own files, as Julia packages that download them have registered them."""


@pytest.mark.data
class TestSharedFolder:
    @pytest.fixture
    def rows(self, shared_data: Path):
        def read(name: str) -> list[list[str]]:
            return [line.split(",") for line in (shared_data / f"{name}.csv").read_text().splitlines()[1:]]

        return read

    @pytest.mark.parametrize("name", sorted(DATA_SETS))
    def test_every_file_is_taken(self, name: str, shared_data: Path) -> None:
        assert Sources(shared_data, online=False).load(name).keys() == set(DATA_SETS[name].columns)

    def test_the_checksums_are_those_of_its_readme(self, shared_data: Path) -> None:
        readme = (shared_data / "README.md").read_text()
        assert all(f"{data_set.sha256}  {name}.csv" in readme for name, data_set in DATA_SETS.items())

    @pytest.mark.parametrize("name", sorted(BACK))
    def test_there_and_back(self, name: str, rows, site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        lines = [BACK[name](number, cells) for number, cells in enumerate(rows(name), 1)]
        home = DATA_SETS[name].homes[0]
        cuts = {"specft": [80], "hayes": [132]}.get(name, [])
        files = [f"/{url.rpartition('/')[2]}" for url in home.urls]
        for file, start, stop in zip(files, [0, *cuts], [*cuts, None], strict=True):
            site.files[file] = "".join(f"{line}\n" for line in lines[start:stop]).encode()
        local = replace(home, urls=tuple(site.url + file for file in files))
        monkeypatch.setattr(sources, "DATA_SETS", {name: replace(DATA_SETS[name], homes=(local,))})
        monkeypatch.setattr(sources, "_built_in", lambda _: None)
        assert Sources(cache=tmp_path).load(name).keys() == set(DATA_SETS[name].columns)
        assert (tmp_path / f"{name}.csv").is_file()

    @pytest.mark.parametrize("name", sorted(PUBLISHED))
    def test_the_way_back_ends_at_the_very_file_of_the_home(self, name: str, rows) -> None:
        text = "".join(f"{BACK[name](number, cells)}\n" for number, cells in enumerate(rows(name), 1))
        assert hashlib.sha256(text.encode()).hexdigest() == PUBLISHED[name]

    def test_the_same_of_the_training_part_of_hayes(self, rows) -> None:
        named = rows("hayes_train")
        assert [cells[1:] for cells in named] == rows("hayes")[:132]
        text = "".join(f"{','.join(cells)}\n" for cells in named)
        assert hashlib.sha256(text.encode()).hexdigest() == (
            "7d7ca47e6d9076863fef2810c80a44a28fe7beffbc17473d4a4948100cffb2dc"
        )

    def test_the_same_of_the_training_part_of_spectf(self, rows) -> None:
        text = "\r\n".join(first(cells) for cells in rows("specft")[:80])
        assert hashlib.sha256(text.encode()).hexdigest() == (
            "9c837e4fd4b7931d9be5304989e39f284f35f767518ffd4dfd42a6a519a9f30c"
        )

    def test_the_second_home_of_housing(self, rows) -> None:
        text = "".join(fixed(cells, HOUSING) + "\n" for cells in rows("housing"))
        assert hashlib.sha256(text.encode()).hexdigest() == (
            "baadf72995725d76efe787b664e1f083388c79ba21ef9a7990d87f774184735a"
        )
        home = DATA_SETS["housing"].homes[1]
        assert sources._is("housing", sources._table("housing", home, [text]))

    def test_the_second_home_of_bodyfat(self, rows) -> None:
        lines = ["  ".join([cells[-1], *cells[:-1]]) for cells in rows("bodyfat")]
        text = "\n".join(["Lists estimates for 252 men", "", *lines, "", "Roger W. Johnson"])
        home = DATA_SETS["bodyfat"].homes[1]
        assert sources._is("bodyfat", sources._table("bodyfat", home, [text]))
