"""Files that a command is asked to write: what keeps them from it is told before anything is done."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from oneiros.cli.failures import CommandError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["require_writable"]


def require_writable(option: str, path: Path, others: Mapping[str, Path | None]) -> None:
    """Refuse a file that could not be written in the end, or that the command itself needs.

    Args:
        option: that names it.
        path: of the file.
        others: what the command reads or writes besides, by option; None: not given.

    Raises:
        CommandError: there is no such folder, nothing can be written there, or another option
            names the same file.
        ValueError: it is a symbolic link, a folder or a device.
    """
    from oneiros.exporting import require_replaceable  # noqa: PLC0415  (few write)

    folder = path.absolute().parent
    if not folder.is_dir():
        msg = f"{option}: {path.parent}: no such folder"
        raise CommandError(msg)
    if path.is_dir():
        msg = f"{option}: must be a file's name, got the folder {str(path)!r}"
        raise CommandError(msg)
    require_replaceable(option, path)
    if not os.access(folder, os.W_OK | os.X_OK):
        msg = f"{option}: {path.parent}: nothing can be written in this folder"
        raise CommandError(msg)
    for name, other in others.items():
        if other is not None and os.path.realpath(other) == os.path.realpath(path):
            msg = f"{option}: must be another file than that of {name}, got {str(path)!r}"
            raise CommandError(msg)
