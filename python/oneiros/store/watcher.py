"""Detects commits of any process.

There is no lock. A signal handler may search while the main thread is in here; if that thread held a
lock, the handler, or a thread that the handler waits for, would wait forever.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

import apsw

from oneiros.runtime.dataclasses import NamedTuple
from oneiros.store.connections import Readers, StoreConnection
from oneiros.store.failures import translated
from oneiros.store.forking import GATE
from oneiros.store.reading import Commits, Reading

__all__ = ["Watcher"]


class _Look(NamedTuple):
    """A connection, and the state that it saw last."""

    connection: StoreConnection
    read_version: Callable[[], int | None]
    data_version: int
    commits: Commits


_NOTHING: Final = Commits(0, 0)


class Watcher:
    """Returns the last commits, in microseconds if they are not new. Thread-safe."""

    def __init__(self, path: str, readers: Readers) -> None:
        self._path = path
        self._readers = readers
        self._idle: deque[_Look] = deque()  # one per thread that looked at the same time
        self._is_closed = False

    def commits(self) -> Commits:
        """Return the last commits.

        Raises:
            StoreBusy, StoreCorrupt, StoreIOError: it cannot be read.
        """
        entered = GATE.enter()
        try:
            return self._found()
        except apsw.Error as error:
            raise translated(error, self._path) from error
        finally:
            GATE.leave(entered)

    def _found(self) -> Commits:
        look = self._taken()
        connection = look.connection
        # The version changes with every commit of other connections; this one makes none. It is read
        # first, so that a commit between the two reads is noticed by the next call.
        data_version = look.read_version()
        if data_version is None:
            data_version = connection.commit_version()
        if data_version != look.data_version:
            commits = Reading(connection, self._path).commits()
            look = look._replace(data_version=data_version, commits=commits)
        self._idle.append(look)
        if self._is_closed:
            self.close()
        return look.commits

    def _taken(self) -> _Look:
        while True:
            try:
                look = self._idle.pop()
            except IndexError:
                opened = self._readers.opened()
                return _Look(opened, opened.read_version, -1, _NOTHING)
            if not self._readers.is_read_only or self._readers.is_current(look.connection):
                return look
            look.connection.close()

    def close(self) -> None:
        """Close the connections; one in use is closed when its call ends."""
        self._is_closed = True
        while self._idle:
            try:
                look = self._idle.pop()
            except IndexError:  # another thread took or closed it
                return
            look.connection.close()

    def connections(self) -> list[StoreConnection]:
        """Return the idle connections."""
        return [look.connection for look in self._idle]
