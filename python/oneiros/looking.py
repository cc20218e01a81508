"""Memories looked at by their ids or in order of insertion; never an access."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from oneiros.argument_checks import count, require_utf8, texts
from oneiros.bounded import Bounded
from oneiros.errors import UnknownMemory
from oneiros.memory import Memory
from oneiros.remember import unknown
from oneiros.search.response import readable

if TYPE_CHECKING:
    from oneiros.scopes import Where

    # The class has a method called list, which hides the type from the hints in it.
    MaybeMemories = list[Memory | None]
    Page = list[Memory]

__all__ = ["Looking"]


class Looking(Bounded):
    """Memories that can be looked at."""

    def get(self, id: str) -> Memory:
        """Return one memory. Never counts as an access.

        Raises:
            UnknownMemory: no live memory has this id.
            StoreCorrupt: its row in the store is damaged.
        """
        require_utf8("id", id)
        found = self.get_many([id])[0]
        if found is None:
            raise UnknownMemory(unknown(id))
        return found

    def get_many(self, ids: Sequence[str]) -> MaybeMemories:
        """Return memories in the order of the ids; None where there is no live one.

        Raises:
            StoreCorrupt: one of them is damaged; it is named, and the others can be read alone.
        """
        ids = texts("ids", ids)
        for place, id in enumerate(ids):
            require_utf8(f"ids[{place}]", id)
        return self._load_live(ids)

    def _load_live(self, ids: Sequence[str]) -> MaybeMemories:
        return [
            memory if memory is not None and memory.deleted_at is None else None
            for memory in self._load_seen(ids)
        ]

    def __len__(self) -> int:
        return self.count()

    def count(self, where: Where | None = None) -> int:
        """Return how many live memories match (all of them without ``where``)."""
        self._follow_others()
        if where is None and not self._bounds:
            return self._parts.projections.live_count
        return len(self._matching(where))

    def list(
        self, where: Where | None = None, *, after: str | None = None, limit: int = 100
    ) -> Page:
        """Return live memories in order of insertion, a page at a time.

        Args:
            where: a filter.
            after: the last id of the page before.
            limit: at most so many, >= 0.

        Raises:
            UnknownMemory: ``after`` names no memory.
        """
        self._follow_others()
        limit = count("limit", limit)
        lifecycle = self._parts.projections.lifecycle
        first = 0
        if after is not None:
            require_utf8("after", after)
            row = lifecycle.row_of.get(after)
            if row is None or self._load_seen([after])[0] is None:
                raise UnknownMemory(unknown(after))
            first = row + 1
        rows = self._matching(where)
        start = rows.rank(first - 1) if first else 0
        found: Page = []
        while len(found) < limit and start < len(rows):
            some = rows[start : start + limit - len(found)]
            start += len(some)
            read = readable(self._load_live, [lifecycle.ids[row] for row in some])
            found += [memory for memory in read if memory is not None]
        return found
