"""Optional packages, imported when they are needed."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["needed"]


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
