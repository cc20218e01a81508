"""Observers: callables that get an event after each call that changes or searches memories."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

from oneiros._lazy import logging
from oneiros.display.counts import count_of
from oneiros.display.escaping import shortened
from oneiros.model.validation import require_callable
from oneiros.runtime.dataclasses import dataclass
from oneiros.write.background import note_outcome

if TYPE_CHECKING:
    from typing import Self

    from oneiros.engine.scope import EngineServices, Watch
    from oneiros.search.response import SearchResponse

__all__ = [
    "EVENT_KINDS",
    "Event",
    "EventKind",
    "Observation",
    "WatchedCalls",
    "Watches",
    "checked_observers",
    "publish",
]

EventKind: TypeAlias = Literal[
    "add", "update", "delete", "restore", "forget", "link", "dream", "search"
]
EVENT_KINDS: Final[tuple[str, ...]] = get_args(EventKind)
"""Every kind of event."""

_SHOWN: Final = 60  # most characters of the ids in a repr


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Event:
    """One call that changed or searched memories, as observers get it. Contains no texts.

    A call that changes nothing has no event, but each search and each dream cycle has one.

    >>> import oneiros
    >>> events = []
    >>> with oneiros.Engine(":memory:", observers=[events.append]) as engine:
    ...     id = engine.add("tea", id="tea")
    ...     response = engine.search("tea")
    >>> [(event.kind, event.ids) for event in events]
    [('add', ('tea',)), ('search', ('tea',))]
    """

    kind: EventKind
    """"add", "update", "delete", "restore", "forget", "link", "dream" or "search"."""
    method: str
    """The method that was called, such as "add_many" or "sweep_expired"."""
    ids: tuple[str, ...]
    """The memories that the call added, changed, erased or linked, each once; those that a search
    returned, best first."""
    time: float
    """The call's ``now``, or else the engine's clock; seconds since the Unix epoch."""
    revision: int
    """The store's revision that the call committed. For a search, the last one that it sees; with
    ``as_of``, that of the time."""
    bounds: tuple[tuple[str, str], ...] = ()
    """Field and value of each bound of the scope that was called; empty for the engine."""

    def __repr__(self) -> str:
        ids = shortened(", ".join(map(repr, self.ids[:_SHOWN])), _SHOWN)
        count = count_of(len(self.ids), "memory")
        return f"<Event {self.kind} ({self.method}) of {count}: {ids}>"


Callback: TypeAlias = Callable[[Event], object]


class Observation:
    """A running observation, until :meth:`close`. Returned by :meth:`oneiros.Engine.observe`.

    Also a context manager that closes at the end of its block.
    """

    __slots__ = ("_callback", "_has_failed", "_running", "_services")

    def __init__(self, services: EngineServices, callback: Callback) -> None:
        self._services = services
        self._callback = callback
        self._has_failed = False
        self._running: set[int] = set()  # threads inside the callback

    def start(self) -> Self:
        """Observe the calls that end from now on."""
        self._services.observers[self] = None
        return self

    def close(self) -> None:
        """Stop observing. A second call does nothing."""
        self._services.observers.pop(self, None)

    def take(self, event: Event) -> None:
        """Call the callback, unless it made the call itself. Logs its first exception."""
        thread = threading.get_ident()
        if thread in self._running:
            return
        self._running.add(thread)
        try:
            self._callback(event)
        except Exception:  # noqa: BLE001 - an observer stops neither the call nor other observers
            if not self._has_failed:
                self._has_failed = True
                logging.getLogger(__name__).warning(
                    "the observer %r failed at an event of kind %r; further failures are not logged",
                    self._callback,
                    event.kind,
                    exc_info=True,
                )
        except BaseException as interrupt:
            if event.kind != "search":
                note_outcome(interrupt, has_committed=True)
            raise
        finally:
            self._running.discard(thread)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "running" if self in self._services.observers else "closed"
        return f"<Observation by {self._callback!r}, {state}>"


Calling: TypeAlias = Callable[
    [str], AbstractContextManager[Callable[[object, Sequence[Event]], object]]
]


class Watches:
    """Several watches as one; see :class:`oneiros.engine.scope.Watch`."""

    def __init__(self, watches: Sequence[Watch]) -> None:
        self._watches = watches

    @contextmanager
    def searching(self, method: str) -> Iterator[Callable[[Sequence[SearchResponse]], None]]:
        """Enter all of them for a search."""
        with ExitStack() as stack:
            reports = [stack.enter_context(watch.searching(method)) for watch in self._watches]

            def report(responses: Sequence[SearchResponse]) -> None:
                for each in reports:
                    each(responses)

            yield report

    @contextmanager
    def calling(self, method: str) -> Iterator[Callable[[object, Sequence[Event]], None]]:
        """Enter those that take calls for a call."""
        entering = [watch.calling for watch in self._watches if hasattr(watch, "calling")]
        with ExitStack() as stack:
            reports = [stack.enter_context(calling(method)) for calling in entering]

            def report(result: object, events: Sequence[Event]) -> None:
                for each in reports:
                    each(result, events)

            yield report


class WatchedCalls:
    """The calls that write, as a watch takes them: each with its result and its events.

    Args:
        calling: of the watch; see :class:`oneiros.engine.scope.Watch`.
    """

    def __init__(self, calling: Calling) -> None:
        self._calling = calling
        self._thread = threading.local()

    def take(self, event: Event) -> None:
        """Keep an event for the call that runs on this thread."""
        events: list[Event] | None = getattr(self._thread, "events", None)
        if events is not None:
            events.append(event)

    @contextmanager
    def around(self, method: str) -> Iterator[Callable[[object], object]]:
        """Enter the watch for a call; yields a function that takes the result."""
        outer = getattr(self._thread, "events", None)
        events: list[Event] = []
        self._thread.events = events
        try:
            with self._calling(method) as report:
                yield lambda result: report(result, events)
        finally:
            self._thread.events = outer


def checked_observers(observers: object) -> tuple[Callback, ...]:
    """Return the callbacks of the argument ``observers``.

    Raises:
        TypeError: not an iterable, or an item is not a plain callable.
    """
    if observers is None:
        return ()
    if isinstance(observers, str | bytes) or not isinstance(observers, Iterable):
        msg = f"observers: expected a list of callables, got {type(observers).__name__}"
        raise TypeError(msg)
    return tuple(
        checked_callback(f"observers[{place}]", given) for place, given in enumerate(observers)
    )


def checked_callback(name: str, callback: Any) -> Callback:
    """Return a callback.

    Raises:
        TypeError: not callable, or a coroutine function, which would never be awaited.
    """
    require_callable(name, callback, "a callable that takes an event")
    found: Callback = callback
    return found


def publish(services: EngineServices, event: Event) -> None:
    """Call the observers in the order in which they were added."""
    for observation in [*services.observers]:  # one step: other threads and observers change it
        observation.take(event)
