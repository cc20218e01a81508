"""Files that are written atomically."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from oneiros.store.connections import sync_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import BinaryIO

    from oneiros.model.memory import Memory

__all__ = [
    "draft_of",
    "foreign_file",
    "naming_full",
    "new_file",
    "require_replaceable",
    "write_jsonl",
]

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Error numbers of failed writes, for which the system does not report a file name."""

_STORE_SUFFIXES = ("", "-wal", "-shm", "-journal", "-snapshot", "-dream")
"""Suffixes of a store's path in the names of its files."""

_FRESH_SECONDS: Final = 60.0
"""A draft is locked within this time."""


def foreign_file(name: str, path: str, store: str) -> Path:
    """Return a path that is neither a folder nor one of a store's files.

    Args:
        name: the argument's name, for messages.
        path: the path to check.
        store: the path of the store.

    Raises:
        ValueError: the path is a folder or one of the store's files.
    """
    store_files = {os.path.realpath(store) + suffix for suffix in _STORE_SUFFIXES}
    if os.path.realpath(path) in store_files:
        msg = f"{name}: must be another file than the store's own, got {path!r}"
        raise ValueError(msg)
    if Path(path).is_dir():
        msg = f"{name}: must be a file's name, got the folder {path!r}"
        raise ValueError(msg)
    return Path(path)


def require_replaceable(name: str, path: Path) -> None:
    """Refuse a path that :func:`new_file` would not replace.

    Args:
        name: the argument's name, for messages.
        path: the path of the file to write.

    Raises:
        ValueError: the path is a symbolic link, a folder or a device.
    """
    if path.is_symlink():
        msg = f"{name}: {path} is a symbolic link, which is not followed"
        raise ValueError(msg)
    if path.exists() and not path.is_file():
        msg = f"{name}: {path} is not a file, and would be one"
        raise ValueError(msg)


def draft_of(path: Path) -> Path:
    """Return a new name for the draft of a file, in the same folder."""
    return path.with_name(f".{path.name}.{os.urandom(6).hex()}.part")


def _remove_abandoned(path: Path) -> None:
    """Remove the drafts of a file whose writers were killed; what cannot be removed stays."""
    name = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{12}}\.part")
    with suppress(OSError):
        drafts = [entry for entry in os.scandir(path.parent) if name.fullmatch(entry.name)]
        for draft in drafts:
            with suppress(OSError):
                _remove_if_abandoned(draft.path)


def _remove_if_abandoned(draft: str) -> None:
    descriptor = os.open(draft, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if time.time() - os.fstat(descriptor).st_mtime < _FRESH_SECONDS:
            return
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # refused while it is written
        for rest in ("", "-journal"):
            Path(draft + rest).unlink(missing_ok=True)
    finally:
        os.close(descriptor)


@contextmanager
def naming_full(path: Path) -> Iterator[None]:
    """Name a file in the errors of writes that fail because a disk or a quota is full."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL and error.filename is None:
            error.filename = str(path)
        raise


@contextmanager
def new_file(path: Path, *, draft: Path | None = None) -> Iterator[BinaryIO]:
    """Open a file that replaces ``path`` when the block succeeds; readable by its owner only.

    A writer that is killed leaves its draft, which the next writer of ``path`` removes after a minute.

    Args:
        path: the file to write; symbolic links are refused.
        draft: the temporary file, on the same disk; default: :func:`draft_of` ``path``.

    Raises:
        ValueError: ``path`` is a symbolic link, a folder or a device.
        OSError: the file cannot be written.
    """
    require_replaceable("path", path)
    _remove_abandoned(path)
    if draft is None:
        draft = draft_of(path)
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except OSError as error:
        error.filename = str(path)  # the file that was asked for
        raise
    try:
        with naming_full(path):
            with os.fdopen(descriptor, "wb") as file:
                with suppress(OSError):  # where there are no such locks, abandoned drafts stay
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                yield file
                file.flush()
                os.fsync(file.fileno())
            draft.replace(path)
            sync_folder(str(path))
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def write_jsonl(path: Path, memories: Iterable[Memory], *, embeddings: bool) -> int:
    """Write memories as JSON Lines, which ``add_many`` reads back.

    Args:
        path: the file, replaced when all is written; symbolic links are refused.
        memories: the memories to write, in this order.
        embeddings: whether to write vectors.

    Returns:
        The number of memories written.
    """
    count = 0
    with new_file(path) as file:
        for memory in memories:
            record = memory.to_record()
            if not embeddings:
                del record["embedding"]
            line = json.dumps(record, ensure_ascii=False, allow_nan=False)
            file.write(line.encode() + b"\n")
            count += 1
    return count
