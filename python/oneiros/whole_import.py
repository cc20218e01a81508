"""Imports that no interrupt cuts off.

NumPy and FAISS cannot be imported a second time in a process after Ctrl-C stopped their first import
half-way. Python raises KeyboardInterrupt in the main thread alone, so they are imported by another.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from importlib import import_module
from types import ModuleType

__all__ = ["import_whole"]


def import_whole(name: str) -> ModuleType:
    """Import a module on a thread of its own and return it; at once where it is imported already.

    An interrupt ends the waiting, and the import goes on.

    Raises:
        ImportError: as ``import``.
    """
    module = sys.modules.get(name)
    if module is None and threading.current_thread() is threading.main_thread():
        thread = threading.Thread(target=_tried, args=(name,), daemon=True)
        with contextlib.suppress(RuntimeError):  # while the interpreter shuts down, none starts
            thread.start()
            thread.join()
    return import_module(name)  # waits for an import that is still going on


def _tried(name: str) -> None:
    with contextlib.suppress(BaseException):  # raised again by the caller's own import
        import_module(name)
