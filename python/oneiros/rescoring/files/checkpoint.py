"""Checkpoint of a run over a file, so that an interrupted run can be resumed.

A folder next to the output, ``.NAME.rescore``, contains a journal (JSON lines: the task, then a
line per finished part) and the scores of the finished parts. A lock on it excludes other processes.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import stat
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from oneiros.runtime.dataclasses import asdict, dataclass
from oneiros.runtime.files import naming_full
from oneiros.scoring.row_scores import BLOCK

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

__all__ = ["JOURNAL", "Checkpoint", "FinishedPart", "earlier_task", "file_checksum", "hold_folder"]

JOURNAL: Final = "journal"
"""Name of the file whose lines are the task, then the finished parts."""
_SCORES: Final = "scores"
_READ_BYTES: Final = 2**20
_DRAFT: Final = "draft"


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedPart:
    """A scored part of the input."""

    sizes: list[int]
    """Rows of each piece; the scores file contains each profile's scores, piece by piece."""
    checksum: int
    """CRC-32 of the part's bytes in the scores file, or of its own file."""
    future_counts: list[int]
    """Rows with times after ``now``, by profile."""
    unscored: list[int]
    """Rows that score NaN, by profile."""


@contextmanager
def hold_folder(target: Path) -> Iterator[Path]:
    """Create or reuse the folder next to ``target``, and lock it for the block.

    It is removed at the end of the block if it is empty.

    Raises:
        BlockingIOError: another process works on the same output.
        OSError: the folder's name is taken by something else, or it cannot be created.
    """
    folder = target.with_name(f".{target.name}.rescore")
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    while True:
        folder.mkdir(mode=0o700, exist_ok=True)
        try:
            descriptor = os.open(folder, flags)
        except FileNotFoundError:  # the process that had locked it has just removed it
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(descriptor)
            message = "another process is writing this file"
            raise BlockingIOError(error.errno, message, str(target)) from None
        if _is_still(folder, descriptor):
            break
        os.close(descriptor)  # removed by its previous owner while we waited: create another
    try:
        with naming_full(target):
            yield folder
    finally:
        with contextlib.suppress(OSError):  # not empty: its contents are kept
            folder.rmdir()
        os.close(descriptor)


class Checkpoint:
    """The journal and the scores in a locked folder.

    Args:
        folder: from :func:`hold_folder`.
        task: describes the run; plain JSON values.
        dtype: dtype of the scores.
        profile_count: number of scores per row.
    """

    def __init__(
        self, folder: Path, task: Mapping[str, Any], *, dtype: np.dtype[Any], profile_count: int
    ) -> None:
        self._folder = folder
        self._dtype = dtype
        self._width = dtype.itemsize * profile_count
        self._profile_count = profile_count
        self.parts: list[FinishedPart] = []
        self._offsets = [0]
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        self._journal = os.fdopen(os.open(folder / JOURNAL, flags, 0o600), "r+b")
        self._scores = os.open(folder / _SCORES, flags, 0o600)
        self.draft.unlink(missing_ok=True)
        is_resumed = earlier_task(folder) == task
        try:
            if is_resumed:
                self._resume()
            else:
                self._begin(task)
        except BaseException:
            with contextlib.suppress(OSError):  # the disk may be full
                self.close()
            if not is_resumed:
                self.remove()
            raise

    @property
    def draft(self) -> Path:
        """Path of the output until it is complete."""
        return self._folder / _DRAFT

    def append(self, pieces: Iterable[bytes]) -> tuple[list[int], int]:
        """Write the scores of the next part, piece by piece.

        Args:
            pieces: each the joined bytes of all profiles' scores of some rows.

        Returns:
            The rows of each piece, and the checksum.
        """
        offset, checksum, sizes = self._offsets[-1], 0, []
        for piece in pieces:
            _write_all(self._scores, piece, offset)
            offset += len(piece)
            checksum = zlib.crc32(piece, checksum)
            sizes.append(len(piece) // self._width)
        return sizes, checksum

    def finish_part(self, part: FinishedPart) -> None:
        """Record in the journal that the next part is done."""
        # Nothing is synced. After a power loss scores may be missing whose line is there, which shows in
        # the checksum when the run is resumed.
        line = json.dumps(asdict(part)).encode() + b"\n"
        self._journal.write(line)
        self._journal.flush()
        self._keep(part)

    def pieces(self, number: int) -> Iterator[list[Array]]:
        """Yield each piece of a finished part: the scores of every profile."""
        offset = self._offsets[number]
        for size in self.parts[number].sizes:
            data = os.pread(self._scores, size * self._width, offset)
            offset += size * self._width
            yield list(np.frombuffer(data, self._dtype).reshape(self._profile_count, size))

    def close(self) -> None:
        """Close the files; finished parts remain for the next run."""
        try:
            self._journal.close()
        finally:
            os.close(self._scores)

    def remove(self) -> None:
        """Delete all files of the checkpoint."""
        for name in (_DRAFT, _SCORES, JOURNAL):
            (self._folder / name).unlink(missing_ok=True)

    def _begin(self, task: Mapping[str, Any]) -> None:
        self._journal.seek(0)
        self._journal.truncate()
        os.ftruncate(self._scores, 0)
        self._journal.write(json.dumps(task).encode() + b"\n")
        self._journal.flush()

    def _resume(self) -> None:
        """Reuse the leading parts whose scores are intact; drop everything after them."""
        self._journal.seek(0)
        end = len(self._journal.readline())
        for line in self._journal:
            part = _read_part(line)
            if part is None or not self._is_whole(part):
                break
            self._keep(part)
            end += len(line)
        self._journal.seek(end)
        self._journal.truncate()
        os.ftruncate(self._scores, self._offsets[-1])

    def _keep(self, part: FinishedPart) -> None:
        self.parts.append(part)
        self._offsets.append(self._offsets[-1] + sum(part.sizes) * self._width)

    def _is_whole(self, part: FinishedPart) -> bool:
        offset, checksum = self._offsets[-1], 0
        for size in part.sizes:
            checksum = zlib.crc32(os.pread(self._scores, size * self._width, offset), checksum)
            offset += size * self._width
        return checksum == part.checksum and os.fstat(self._scores).st_size >= offset


def earlier_task(folder: Path) -> dict[str, Any] | None:
    """Return the task of an earlier run; None if there was none or its journal is damaged."""
    try:
        with (folder / JOURNAL).open("rb") as file:
            task = json.loads(file.readline())
    except (FileNotFoundError, ValueError):
        return None
    return task if isinstance(task, dict) else None


def _read_part(line: bytes) -> FinishedPart | None:
    """Parse a line of the journal; None if it is incomplete or invalid."""
    if not line.endswith(b"\n"):
        return None
    try:
        part = FinishedPart(**json.loads(line))
        is_sound = all(0 <= size <= BLOCK for size in part.sizes)
    except (ValueError, TypeError):
        return None
    return part if is_sound else None


def file_checksum(path: Path) -> int:
    """Return the CRC-32 of a file."""
    checksum = 0
    with path.open("rb") as file:
        while block := file.read(_READ_BYTES):
            checksum = zlib.crc32(block, checksum)
    return checksum


def _is_still(folder: Path, descriptor: int) -> bool:
    """Return whether the path still refers to the open folder."""
    try:
        named = folder.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISDIR(named.st_mode) and os.path.samestat(named, os.fstat(descriptor))


def _write_all(descriptor: int, data: bytes, offset: int) -> None:
    view = memoryview(data)
    while view:
        written = os.pwrite(descriptor, view, offset)
        view, offset = view[written:], offset + written
