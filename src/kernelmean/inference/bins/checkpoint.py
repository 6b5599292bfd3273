"""Checkpoints of sums over rows: a file that records which rows and options its sums belong to."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any, Self, final

from ...core.array import Array
from ...core.validate import check_integer
from ...core.words import listed, written
from ...embedding.features.base import Summary
from ...estimators.files import load_state, save_state
from ..digest import RowDigest, option_text

_SECONDS = 60.0  # between two savings
_OPTIONS = {"n_resamples": "--resamples", "columns": "names of columns"}
Two = tuple[str, str]


@final
@dataclass(frozen=True)
class Record:
    """The rows and options that sums belong to."""

    options: Mapping[str, str]
    """The options of the call."""
    pilot: str
    """The digest of the rows that features were fitted to."""
    rows: tuple[int, int]
    """How many rows of each sample were read."""
    read: Two
    """The digests of these rows."""
    whole: Two | None
    """The digests of all rows; None if only a part was read so far."""

    @classmethod
    def of(cls, content: Any) -> Self:
        """Return what a file holds.

        Raises
        ------
        LookupError, TypeError, ValueError
            When it is of another form.
        """
        (n, m), (first, second), whole = content["rows"], content["read"], content["whole"]
        rows = check_integer(n, "rows", 0), check_integer(m, "rows", 0)
        all_rows = None if whole is None else (str(whole[0]), str(whole[1]))
        return cls(dict(content["options"]), str(content["pilot"]), rows, (str(first), str(second)), all_rows)

    @property
    def finished(self) -> bool:
        """Whether the sums hold all rows."""
        return self.read == self.whole


@final
class Checkpoint:
    """A file to which sums are saved, or from which they go on.

    Parameters
    ----------
    path : str or path
    options : dict
        All that the result depends on besides the rows.
    kind : type
        Of the sums.

    Attributes
    ----------
    found : Summary or None
        The sums of an earlier run,
    record : Record or None
        and what they belong to.

    Raises
    ------
    ValueError
        When the file holds something else, or sums of other options.
    """

    def __init__(self, path: str | os.PathLike[str], options: Mapping[str, Any], kind: type[Summary]) -> None:
        self.path = path
        self.pilot = ""
        self.whole: Two | None = None
        self._options = {name: option_text(value) for name, value in options.items()}
        self.found: Any = None
        self.record: Record | None = None
        if os.path.exists(path):
            self.found, self.record = self._read(kind)
            self.pilot, self.whole = self.record.pilot, self.record.whole

    def save(self, sums: Summary, digests: tuple[RowDigest, RowDigest], *, finished: bool = False) -> None:
        """Write the sums of the rows with these digests."""
        first, second = digests
        read = first.text, second.text
        whole = read if finished else self.whole
        record = Record(self._options, self.pilot, (first.rows, second.rows), read, whole)
        save_state(sums, self.path, asdict(record))

    def check_whole(self, digests: tuple[RowDigest, RowDigest], *sources: str) -> None:
        """Raise when the second pass read other rows than the first one."""
        for source, digest, whole in zip(sources, digests, self.whole or (None, None), strict=True):
            if whole is not None and digest.text != whole:
                raise ValueError(f"{source} was changed while it was read; run the same again once it stays as it is")

    def check_pilot(self, pilot: str, *sources: str) -> None:
        """Raise when features were fitted to other rows than these."""
        if self.record is not None and pilot != self.record.pilot:
            raise self.of_other_data(*sources)
        self.pilot = pilot

    def of_other_data(self, *sources: str) -> ValueError:
        """Return the error for sources whose rows differ from those of the sums."""
        return self._foreign(f"it belongs to other data than {' and '.join(sources)}")

    def damaged(self, why: object) -> ValueError:
        """Return the error for a file that does not hold what was saved."""
        return ValueError(f"{os.fspath(self.path)} is damaged ({why}); delete it to start over")

    def after(self, batches: Iterator[Array], table: int, digest: RowDigest, source: str) -> Iterator[Array]:
        """Return the batches after the rows in the sums; these rows are read again and must be the same."""
        assert self.record is not None
        rest = _beyond(batches, self.record.rows[table], digest)
        if digest.text != self.record.read[table]:
            raise self.of_other_data(source)
        if self.record.finished and any(len(batch) for batch in rest):
            raise self.of_other_data(source)
        return rest

    def _read(self, kind: type[Summary]) -> tuple[Summary, Record]:
        found, content = load_state(self.path)
        if not isinstance(found, kind):
            raise self._foreign(f"it holds no {kind.__name__}")
        if content is None:
            raise self._foreign("it was written by an earlier version, which did not record the data it belongs to")
        try:
            record = Record.of(content)
        except (LookupError, TypeError, ValueError) as error:
            raise self.damaged(error) from error
        names = [*self._options, *(name for name in record.options if name not in self._options)]
        differ = [name for name in names if record.options.get(name) != self._options.get(name)]
        if differ:
            called = [written("rng" if name == "seed" else name, _OPTIONS.get(name, f"--{name}")) for name in differ]
            raise self._foreign(f"it belongs to other options ({listed(called)})")
        return found, record

    def _foreign(self, why: str) -> ValueError:
        mend = written("pass another file as checkpoint=", "name another file with --checkpoint")
        return ValueError(f"{os.fspath(self.path)} is not of this test: {why}; delete it to start over, or {mend}")


@final
class Saving:
    """Saves the sums of a pass about once a minute, and at its end.

    Parameters
    ----------
    kept : Checkpoint
    digests : (RowDigest, RowDigest)
        The digests of the rows that the sums hold at first.
    """

    def __init__(self, kept: Checkpoint, digests: tuple[RowDigest, RowDigest]) -> None:
        self._kept, self._digests = kept, digests
        self._saved = time.monotonic()

    def added(self, sums: Summary, batches: Iterable[Array | None]) -> None:
        """Record batches that were added, one of each sample."""
        for batch, digest in zip(batches, self._digests, strict=True):
            if batch is not None:
                digest.add(batch)
        if time.monotonic() - self._saved >= _SECONDS:
            self._kept.save(sums, self._digests)
            self._saved = time.monotonic()

    def finish(self, sums: Summary) -> None:
        """Save the sums of all rows."""
        self._kept.save(sums, self._digests, finished=True)


def _beyond(batches: Iterator[Array], rows: int, digest: RowDigest) -> Iterator[Array]:
    """Add the first ``rows`` rows to a digest, and return the batches of the rows after them."""
    while digest.rows < rows:
        batch = next(batches, None)
        if batch is None:
            break
        left = rows - digest.rows
        digest.add(batch[:left])
        if len(batch) > left:
            return chain([batch[left:]], batches)
    return batches
