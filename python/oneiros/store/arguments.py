"""What a store is opened with, judged once."""

from __future__ import annotations

import math
import os
from typing import Any

from oneiros.argument_checks import as_float, file_name, is_real
from oneiros.clock import LONGEST_WAIT_SECONDS
from oneiros.field_checks import wrong
from oneiros.store.connections import MEMORY

__all__ = ["checked_path", "checked_timeout"]


def checked_path(path: str | os.PathLike[str]) -> str:
    """Return the absolute path of a store's file, or ":memory:".

    Of a symbolic link it is that of the file: beside this lie the log, which SQLite names so, and
    what must be one whatever the file is called: the lock of dream cycles, and the snapshot, which
    goes with what is forgotten.

    Raises:
        TypeError, ValueError: no path for a file.
    """
    text = file_name("path", path)
    if os.path.isdir(text):  # noqa: PTH112 - pathlib takes longer to load
        msg = f"path: must be a file's name, got the folder {text!r}"
        raise ValueError(msg)
    return text if text == MEMORY else os.path.realpath(text)  # connections are opened later, too


def checked_timeout(seconds: Any) -> float:
    """Return a timeout in seconds.

    Raises:
        TypeError, ValueError: no finite number >= 0.
    """
    if not is_real(seconds):
        raise TypeError(wrong("busy_timeout_seconds", "a number", seconds))
    wait = as_float(seconds)
    if not (math.isfinite(wait) and wait >= 0):
        raise ValueError(wrong("busy_timeout_seconds", "a finite number of seconds >= 0", seconds))
    return min(wait, LONGEST_WAIT_SECONDS)
