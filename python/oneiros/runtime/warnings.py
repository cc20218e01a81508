"""Warnings that point at the line of user code that called the library."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any, Final

from oneiros.runtime.dataclasses import NamedTuple

__all__ = ["CallSite", "caller", "pointing_at", "warn"]

_PACKAGE: Final = "oneiros"
_WITHOUT_CALLER: Final = ("asyncio", "threading")


class CallSite(NamedTuple):
    """A line of user code."""

    filename: str
    lineno: int
    module: str
    registry: dict[Any, Any]
    """The warnings already shown for that module."""


def caller() -> CallSite | None:
    """Return the line that called the library; None on a thread or in an event loop."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        package = module.partition(".")[0]
        if package in _WITHOUT_CALLER:
            return None
        if package != _PACKAGE:
            registry = frame.f_globals.setdefault("__warningregistry__", {})
            return CallSite(frame.f_code.co_filename, frame.f_lineno, module, registry)
        frame = frame.f_back
    return None


_SITE: ContextVar[CallSite | None] = ContextVar("oneiros_warning_place", default=None)


@contextmanager
def pointing_at(place: CallSite | None) -> Iterator[None]:
    """Let the warnings of a block that runs on another thread point at a line."""
    token = _SITE.set(place)
    try:
        yield
    finally:
        _SITE.reset(token)


def warn(message: str, category: type[Warning]) -> None:
    """Emit a warning that points at the caller's line."""
    site = _SITE.get() or caller()
    if site is None:
        warnings.warn(message, category, stacklevel=2)
        return
    warnings.warn_explicit(
        message, category, site.filename, site.lineno, site.module, site.registry
    )
