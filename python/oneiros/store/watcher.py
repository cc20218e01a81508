"""Noticing that anybody, in any process, has committed.

There is no lock: a signal handler may search while the main thread is inside here, and a lock that
this thread holds would keep the handler, or the thread that the handler waits for, waiting for ever.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import apsw

from oneiros.runtime.dataclasses import NamedTuple
from oneiros.store.connections import Readers, StoreConnection
from oneiros.store.failures import translated
from oneiros.store.forking import GATE
from oneiros.store.reading import Reading

__all__ = ["Watcher"]


class _Look(NamedTuple):
    """A connection, and what it found when it last looked."""

    connection: StoreConnection
    read_version: Callable[[], int | None]
    data_version: int
    revision: int


class Watcher:
    """Knows the last revision; asking costs microseconds while there is no new one. Thread-safe."""

    def __init__(self, path: str, readers: Readers) -> None:
        self._path = path
        self._readers = readers
        self._idle: deque[_Look] = deque()  # one for each thread that looked at the same time
        self._is_closed = False

    def revision(self) -> int:
        """Return the number of the last commit.

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

    def _found(self) -> int:
        try:
            look = self._idle.pop()
        except IndexError:
            opened = self._readers.opened()
            look = _Look(opened, opened.read_version, -1, 0)
        connection = look.connection
        # The version moves with every commit of other connections; this one makes none. It is read
        # first: a commit between the two is then noticed by the next question.
        data_version = look.read_version()
        if data_version is None:
            data_version = connection.commit_version()
        if data_version != look.data_version:
            revision = Reading(connection, self._path, None).last_revision()
            look = look._replace(data_version=data_version, revision=revision)
        self._idle.append(look)
        if self._is_closed:
            self.close()
        return look.revision

    def close(self) -> None:
        """Close the connections; one that is looking closes at its end."""
        self._is_closed = True
        while self._idle:
            try:
                look = self._idle.pop()
            except IndexError:  # whoever looked closed it
                return
            look.connection.close()

    def connections(self) -> list[StoreConnection]:
        """Return the connections that are not looking."""
        return [look.connection for look in self._idle]
