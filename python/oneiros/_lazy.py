"""Imports that wait until they are needed: the doors of packages, NumPy, optional packages."""

from __future__ import annotations

import contextlib
import importlib
import sys
import threading
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = ["door", "import_whole", "needed", "np"]


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


def door(
    package: str, modules: tuple[str, ...], names: Mapping[str, str] = {}
) -> Callable[[str], object]:
    """Return the ``__getattr__`` of a package whose modules are imported on first use.

    Args:
        package: its ``__name__``.
        modules: that are reached by it.
        names: functions and classes that are reached by it, each with its module.
    """

    def find(name: str) -> object:
        if name in modules:
            return import_module(f"{package}.{name}")
        module = names.get(name)
        if module is None:
            msg = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(msg)
        found: object = getattr(import_module(f"{package}.{module}"), name)
        return found

    return find


class _NumpyOnUse:
    """Stands for the module, whose names become its own as they are asked for."""

    def __getattr__(self, name: str) -> object:
        value: object = getattr(import_whole("numpy"), name)
        setattr(self, name, value)
        return value


if TYPE_CHECKING:
    import numpy as np
else:
    np = _NumpyOnUse()


def needed(module: str, extra: str) -> Any:
    """Return an optional module.

    Raises:
        ImportError: it is not installed; the message says what to install.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise  # installed, but something of its own is missing
        msg = f"{module} is not installed; run: pip install 'oneiros[{extra}]'"
        raise ImportError(msg, name=module) from error
