"""Searches watched from outside, as a tracer does; nobody watches unless it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar

from oneiros.search.response import SearchResponse

if TYPE_CHECKING:
    from oneiros.bounded import Bounded

__all__ = ["Watch", "require_watch", "watched"]

Given = ParamSpec("Given")
Told = TypeVar("Told")
Mind = TypeVar("Mind", bound="Bounded")


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


def watched(
    method: Callable[Concatenate[Mind, Given], Told],
) -> Callable[Concatenate[Mind, Given], Told]:
    """Return a method of searching that the engine's watch is there for, if it has one."""

    @wraps(method)
    def call(self: Mind, /, *args: Given.args, **kwargs: Given.kwargs) -> Told:
        watch = self._shared.watch
        if watch is None:
            return method(self, *args, **kwargs)
        with watch.searching(method.__name__) as tell:
            told = method(self, *args, **kwargs)
            tell([one for one in _each(told) if isinstance(one, SearchResponse)])
        return told

    return call


def _each(told: object) -> list[object]:
    return told if isinstance(told, list) else [told]
