"""Lazy imports: submodules of a package, NumPy and slow standard modules, optional packages."""

from __future__ import annotations

import contextlib
import importlib
import sys
import threading
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = [
    "binascii",
    "copy",
    "door",
    "heapq",
    "import_whole",
    "logging",
    "needed",
    "np",
    "pathlib",
    "require_installed",
    "unicodedata",
]


def import_whole(name: str) -> ModuleType:
    """Import a module on another thread, so that Ctrl-C does not leave it half imported.

    An interrupt ends the wait, and the import continues.

    Raises:
        ImportError: as ``import``.
    """
    module = sys.modules.get(name)
    if module is None and threading.current_thread() is threading.main_thread():
        thread = threading.Thread(target=_try_import, args=(name,), daemon=True)
        with contextlib.suppress(RuntimeError):  # no thread starts during interpreter shutdown
            thread.start()
            thread.join()
    return import_module(name)  # waits for an import in progress


def _try_import(name: str) -> None:
    with contextlib.suppress(BaseException):  # raised again by the import in the caller's thread
        import_module(name)


def door(
    package: str, modules: tuple[str, ...], names: Mapping[str, str] = {}
) -> Callable[[str], object]:
    """Return a ``__getattr__`` for a package whose modules are imported on first use.

    Args:
        package: the package's ``__name__``.
        modules: names of its modules.
        names: names of functions and classes, each with its module.
    """

    def find(name: str) -> object:
        if name in modules:
            return import_module(f"{package}.{name}")
        module = names.get(name)
        if module is None:
            msg = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(msg)
        found: object = getattr(import_module(f"{package}.{module}"), name)
        setattr(sys.modules[package], name, found)  # the next use finds it at once
        return found

    return find


class _OnUse:
    """A stand-in for a module that imports it on first use and keeps each name once read."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> object:
        value: object = getattr(import_whole(self._module), name)
        setattr(self, name, value)
        return value


if TYPE_CHECKING:
    import binascii
    import copy
    import heapq
    import logging
    import pathlib
    import unicodedata

    import numpy as np
else:
    np = _OnUse("numpy")
    binascii, copy, heapq, logging, pathlib, unicodedata = map(
        _OnUse, ("binascii", "copy", "heapq", "logging", "pathlib", "unicodedata")
    )


def needed(
    module: str, extra: str, load: Callable[[str], ModuleType] = importlib.import_module
) -> Any:
    """Import an optional module.

    Args:
        module: the module's name.
        extra: the extra of ``oneiros`` that installs it.
        load: imports the module.

    Raises:
        ImportError: the module is not installed; the message says what to install.
    """
    try:
        return load(module)
    except ModuleNotFoundError as error:
        if not f"{module}.".startswith(f"{error.name}."):
            raise  # installed, but one of its own imports is missing
        raise _not_installed(error.name or module, extra) from error


def require_installed(module: str, extra: str) -> None:
    """Raise the error of :func:`needed` if a module is not installed, without importing it."""
    from importlib.util import find_spec  # noqa: PLC0415 - slow

    if find_spec(module) is None:
        raise _not_installed(module, extra)


def _not_installed(module: str, extra: str) -> ImportError:
    msg = f"{module} is not installed; run: pip install 'oneiros[{extra}]'"
    return ImportError(msg, name=module)
