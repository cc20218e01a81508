"""Memories next to each other in time within a session, and what candidates gain from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros import _core
from oneiros.fork_safe_lock import fork_safe_lock

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oneiros.projections.lifecycle import Lifecycle

__all__ = ["SessionNeighbours"]


class SessionNeighbours:
    """The order of memories in their sessions, made when a search first asks for it.

    One writer at a time (the engine's lock); many readers.

    Args:
        lifecycle: the columns that say where a memory belongs.
    """

    def __init__(self, lifecycle: Lifecycle) -> None:
        self._lifecycle = lifecycle
        self._order: _core.SessionOrder | None = None
        self.whole: _core.SessionOrder | None = None
        """:attr:`order`, once it is made."""
        self._making = fork_safe_lock()

    @property
    def order(self) -> _core.SessionOrder:
        """The core's lists of rows, one a session."""
        if self.whole is None:
            with self._making:
                if self.whole is None:
                    # Whoever changes a memory from here on places it too, before or after this does.
                    self.whole = None  # as it is again where a signal handler made it
                    order = self._order = _core.SessionOrder()
                    order.place_all(columns=self._lifecycle.columns)
                    self.whole = self._order  # the one that is kept in step
        assert self.whole is not None
        return self.whole

    def apply(self, rows: Sequence[int]) -> None:
        """Bring rows to where their columns say they belong."""
        if self._order is not None:
            self._order.place(columns=self._lifecycle.columns, rows=rows)

    def erase(self, row: int) -> None:
        """Take a row out; an order that is made later does not find it either."""
        self._lifecycle.columns.write(rows=[row], values={"session_code": [0]})
        if self._order is not None:
            self._order.remove(row=row)
