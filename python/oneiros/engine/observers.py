"""Searches watched from outside, as a tracer does; nobody watches unless it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from oneiros.search.response import SearchResponse

__all__ = ["Watch", "require_watch"]


class Watch(Protocol):
    """One who is there while a search runs, and is told what it answers."""

    def searching(
        self, method: str
    ) -> AbstractContextManager[Callable[[Sequence[SearchResponse]], None]]:
        """Enter before the search of this method begins; what it gives is called with its answers.

        An exception of the search passes through it.
        """
        ...


def require_watch(name: str, watch: object) -> None:
    """Refuse what cannot watch; None is nobody, and fine.

    Raises:
        TypeError: naming the argument.
    """
    searching = None if isinstance(watch, type) else getattr(watch, "searching", None)
    if watch is not None and not callable(searching):
        msg = f"{name}: expected an object with searching(method), got {watch!r}"
        raise TypeError(msg)
