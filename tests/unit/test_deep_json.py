"""JSON that is nested too deep is refused by every Python, whatever its parser takes."""

import io
import json
import time

import numpy as np
import pytest

from kernelmean.core import parse
from kernelmean.estimators import files as saving


@pytest.mark.parametrize("depth", [1, 2, 100, 200])
def test_objects_and_lists_in_each_other_are_read(depth: int) -> None:
    assert parse("[" * depth + "]" * depth) == json.loads("[" * depth + "]" * depth)
    assert isinstance(parse(b'{"a":' * depth + b"1" + b"}" * depth), dict)


@pytest.mark.parametrize("depth", [201, 1000, 5000, 100_000])
def test_deeper_ones_are_refused_by_every_python(depth: int) -> None:
    for text in ("[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth, "[" * depth):
        with pytest.raises(ValueError, match="nested too deep"):
            parse(text)


def test_brackets_in_texts_are_no_depth() -> None:
    text = json.dumps(["[" * 1000, '\\"{[' * 1000, "]" * 500, {"[" * 300: "\\"}])
    assert parse(text) == json.loads(text)


@pytest.mark.parametrize("text", ['"\\"' * 200_000, '"' + "a" * 400_000, '["\\', '[["' * 100_000, "]" * 400_000])
def test_damaged_texts_are_refused_in_linear_time(text: str) -> None:
    start = time.process_time()
    with pytest.raises(ValueError, match=r"."):
        parse(text)
    assert time.process_time() - start < 5.0  # milliseconds; a quadratic search takes minutes


class _Full(io.BytesIO):
    """A disk that has room for some bytes only."""

    def write(self, data: object) -> int:
        if self.tell() > 1000:
            raise OSError(27, "File too large")
        return super().write(data)  # type: ignore[arg-type]


def test_a_full_disk_leaves_no_open_buffer() -> None:
    """From Python 3.12 on collecting one that was left open says so on stderr, or ends the process."""
    with pytest.raises(OSError, match="too large") as failed:
        saving._write(_Full(), "{}", [np.zeros(100), np.zeros(1000)])
    values = [value for each in failed.traceback for value in each.frame.f_locals.values()]
    buffers = [value for value in values if type(value) is io.BytesIO]
    assert buffers
    for buffer in buffers:
        buffer.close()  # raises BufferError where a view is open
