"""The engine behind an adapter: a file that is opened on first use, or an open engine."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from typing import Self

from oneiros.engine import Engine
from oneiros.engine.memories import Memories
from oneiros.model.validation import require_instance

__all__ = ["Opening"]


class Opening:
    """The memories of an adapter.

    Args:
        path: the store's file, opened by the first use; ":memory:" keeps it in memory.
        scope: bounds of :meth:`oneiros.Engine.scope`.

    Raises:
        TypeError: ``path`` is no path.

    Examples:
        >>> opening = Opening(":memory:", {"user": "ada"})
        >>> opening.memories.count()
        0
        >>> opening.close()
    """

    def __init__(
        self, path: str | os.PathLike[str], scope: Mapping[str, str] | None = None
    ) -> None:
        self.path: str | None = os.fspath(path)
        """The file; None over an open engine."""
        self.scope = dict(scope or {})
        self._lock = threading.Lock()
        self._engine: Engine | None = None
        self._memories: Memories | None = None

    @classmethod
    def over(cls, memories: Memories) -> Self:
        """Return one over an engine, or a scope of one, whose owner closes it.

        Raises:
            TypeError: neither an engine nor a scope.
        """
        require_instance("memories", memories, (Memories,), "an Engine or a scope of one")
        opening = cls(":memory:")
        opening.path, opening._memories = None, memories
        return opening

    @property
    def memories(self) -> Memories:
        """The engine, or the scope of it, opened if necessary."""
        with self._lock:
            if self._memories is None:
                assert self.path is not None
                if self._engine is None:
                    self._engine = Engine(self.path)
                self._memories = self._engine.scope(**self.scope) if self.scope else self._engine
            return self._memories

    def close(self) -> None:
        """Close the engine if this opened it. The next use opens it again."""
        with self._lock:
            if self._engine is not None:
                self._engine.close()
                self._engine = self._memories = None
