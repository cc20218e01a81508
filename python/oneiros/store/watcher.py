"""Noticing that anybody, in any process, has committed."""

from __future__ import annotations

import threading

import apsw

from oneiros.store.connections import Readers
from oneiros.store.forking import GATE
from oneiros.store.reading import Reading

__all__ = ["Watcher"]


class Watcher:
    """Knows the last revision; asking costs microseconds while there is no new one. Thread-safe."""

    def __init__(self, path: str, readers: Readers) -> None:
        self._path = path
        self._readers = readers
        self._lock = threading.Lock()
        self._connection: apsw.Connection | None = None  # opened by the first question
        self._data_version = -1
        self._revision = 0

    def revision(self) -> int:
        """Return the number of the last commit."""
        entered = GATE.enter()
        try:
            return self._found()
        finally:
            GATE.leave(entered)

    def _found(self) -> int:
        with self._lock:
            if self._connection is None:
                self._connection = self._readers.opened()
            # The version moves with every commit of other connections; this one makes none. It is
            # read first: a commit between the two is then noticed by the next question.
            data_version = int(self._connection.execute("PRAGMA data_version").get)
            if data_version != self._data_version:
                self._revision = Reading(self._connection, self._path, None).last_revision()
                self._data_version = data_version
            return self._revision

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            for connection in self.connections():
                connection.close()

    def connections(self) -> list[apsw.Connection]:
        """Return the connection, if there is one."""
        return [] if self._connection is None else [self._connection]
