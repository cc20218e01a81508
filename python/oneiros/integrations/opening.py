"""The engine behind an adapter: opened on first use, or open already; and all its memories."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final, Self

from oneiros.engine import Engine, listing
from oneiros.engine.memories import Memories
from oneiros.engine.scope import checked_bounds
from oneiros.filters import where
from oneiros.model.validation import file_name, require_instance

if TYPE_CHECKING:
    from oneiros.filters import Where
    from oneiros.model.memory import Memory

__all__ = ["Opening", "all_memories", "remove"]

_MEMORY: Final = ":memory:"
_INHERITED: Final[list[Engine]] = []
"""Engines that came here by fork: kept, since SQLite allows no child to close their connections."""


class Opening:
    """The memories of an adapter.

    Args:
        path: the store's file, opened by the first use; ":memory:" keeps it in memory.
        scope: bounds of :meth:`oneiros.Engine.scope`.

    Raises:
        TypeError: ``path`` is no path, or ``scope`` no dict of texts.
        ValueError: ``scope`` has a field that bounds no scope, or a value that it does not take.

    Examples:
        >>> opening = Opening(":memory:", {"user": "ada"})
        >>> opening.memories.count()
        0
        >>> opening.close()
    """

    def __init__(
        self, path: str | os.PathLike[str], scope: Mapping[str, str] | None = None
    ) -> None:
        if isinstance(path, Memories):
            msg = "path: expected a str or a path of str; an open engine is shared with over()"
            raise TypeError(msg)
        self.path: str | None = file_name("path", path)
        """The file; None over an open engine."""
        self.scope = {} if scope is None else checked_bounds(scope)
        self._lock = threading.Lock()
        self._engine: Engine | None = None
        self._opened_in = os.getpid()
        self._file = self.path  # absolute once it was opened, so that it is the same one again
        self._memories: Memories | None = None

    @classmethod
    def over(cls, memories: Memories) -> Self:
        """Return one over an engine, or a scope of one, whose owner closes it.

        Raises:
            TypeError: neither an engine nor a scope.
        """
        require_instance("memories", memories, (Memories,), "an Engine or a scope of one")
        opening = cls(_MEMORY)
        opening.path, opening._memories = None, memories
        return opening

    @property
    def memories(self) -> Memories:
        """The engine, or the scope of it, opened if necessary; a forked child opens the file again."""
        with self._lock:
            if self._file != _MEMORY:  # the parent alone has what is kept in memory
                self._leave_to_parent()
            if self._memories is None:
                if self._engine is None:
                    self._engine, self._opened_in = Engine(self._file), os.getpid()
                    self._file = self._engine.path
                self._memories = self._engine.scope(**self.scope) if self.scope else self._engine
            return self._memories

    def close(self) -> None:
        """Close the engine if this opened it. The next use opens it again."""
        with self._lock:
            self._leave_to_parent()
            if self._engine is not None:
                self._engine.close()
                self._engine = self._memories = None

    def _leave_to_parent(self) -> None:
        """Let go of an engine that this opened in another process."""
        if self._engine is not None and self._opened_in != os.getpid():
            _INHERITED.append(self._engine)
            self._engine = self._memories = None


def all_memories(memories: Memories, condition: Where | None = None) -> Iterator[Memory]:
    """Yield the memories that match at the first step, in order of insertion, read in batches.

    One that another caller erases before its batch is read is left out.

    Args:
        memories: an engine, or a scope of one.
        condition: a filter; None: all of them.
    """
    return listing.each(memories._scope, condition)


def remove(memories: Memories, condition: Where | None = None, *, erases: bool) -> int:
    """Remove memories in one transaction, and return their number.

    Args:
        memories: an engine, or a scope of one, which bounds what is removed.
        condition: a filter; None: all of them, but for those that another caller erases meanwhile.
        erases: whether they are erased for good, instead of soft-deleted.
    """
    if not erases:
        return memories.delete(where=where() if condition is None else condition)
    if condition is None:
        condition = where(id=[memory.id for memory in all_memories(memories)])
    return len(memories.forget(where=condition).ids)
