"""Warnings that point at the caller's code, from wherever in the library they are raised."""

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

_OWN: Final = "oneiros"
_LOOPS: Final = "asyncio"


class CallSite(NamedTuple):
    """A line of somebody's code."""

    filename: str
    lineno: int
    module: str
    registry: dict[Any, Any]
    """What was warned of in that module."""


def caller() -> CallSite | None:
    """Return the line that called the library; None: no line did, on a thread or in an event loop."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        package = module.partition(".")[0]
        if package in (_LOOPS, "threading"):
            return None
        if package != _OWN:
            registry = frame.f_globals.setdefault("__warningregistry__", {})
            return CallSite(frame.f_code.co_filename, frame.f_lineno, module, registry)
        frame = frame.f_back
    return None


_PLACE: ContextVar[CallSite | None] = ContextVar("oneiros_warning_place", default=None)


@contextmanager
def pointing_at(place: CallSite | None) -> Iterator[None]:
    """Have the warnings of a block, which runs on another thread, point at a line."""
    token = _PLACE.set(place)
    try:
        yield
    finally:
        _PLACE.reset(token)


def warn(message: str, category: type[Warning]) -> None:
    """Warn the caller."""
    place = _PLACE.get() or caller()
    if place is None:
        warnings.warn(message, category, stacklevel=2)
        return
    warnings.warn_explicit(
        message, category, place.filename, place.lineno, place.module, place.registry
    )
