"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from oneiros.store.connections import sync_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path
    from typing import BinaryIO

    from oneiros.model.memory import Memory

__all__ = ["foreign_file", "new_file", "require_replaceable", "write_jsonl"]

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What only a write fails of, and which the system tells without a name."""

_ENDS = ("", "-wal", "-shm", "-journal", "-snapshot", "-dream")
"""Of the names of a store's own files."""


def foreign_file(name: str, path: str, store: str) -> Path:
    """Return a path that is no folder, and names none of a store's own files.

    Args:
        name: of the argument, for messages.
        path: as it was given.
        store: the path of the store.

    Raises:
        ValueError: it is one.
    """
    from pathlib import Path  # noqa: PLC0415 - loads much

    own = {os.path.realpath(store) + end for end in _ENDS}
    if os.path.realpath(path) in own:
        msg = f"{name}: must be another file than the store's own, got {path!r}"
        raise ValueError(msg)
    if Path(path).is_dir():
        msg = f"{name}: must be a file's name, got the folder {path!r}"
        raise ValueError(msg)
    return Path(path)


def require_replaceable(name: str, path: Path) -> None:
    """Refuse what :func:`new_file` does not replace.

    Args:
        name: of the argument, for messages.
        path: where a file is to be.

    Raises:
        ValueError: it is a symbolic link, a folder or a device.
    """
    if path.is_symlink():
        msg = f"{name}: {path} is a symbolic link, and exports do not follow links"
        raise ValueError(msg)
    if path.exists() and not path.is_file():
        msg = f"{name}: {path} is not a file, and would be one"
        raise ValueError(msg)


@contextmanager
def new_file(path: Path, *, draft: Path | None = None) -> Iterator[BinaryIO]:
    """Open a file that takes its name only when the block ends well; readable by its owner only.

    Args:
        path: replaced; never through a symbolic link.
        draft: where it stands until then, on the same disk; default: beside it.

    Raises:
        ValueError: ``path`` is a symbolic link, a folder or a device.
        OSError: the file cannot be written.
    """
    require_replaceable("path", path)
    if draft is None:
        import secrets  # noqa: PLC0415 - loads much

        draft = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        sync_folder(str(path))
    except BaseException as error:
        draft.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in _FULL and error.filename is None:
            error.filename = str(path)
        raise


def write_jsonl(path: Path, memories: Iterable[Memory], *, embeddings: bool) -> int:
    """Write one JSON object a memory; ``add_many`` reads them back.

    Args:
        path: replaced when all is written; never through a symbolic link.
        memories: in the order they are written.
        embeddings: whether vectors are written.

    Returns:
        How many were written.
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
