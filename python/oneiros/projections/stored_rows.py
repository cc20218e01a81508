"""The ids of rows, where a snapshot holds most of them: what it holds, and what came since."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from oneiros import _core

__all__ = ["StoredIdsByRow", "StoredRowsById"]


class StoredIdsByRow:
    """Reads as a list of ids by row: the snapshot's, then later ones.

    Args:
        stored: what the snapshot holds.
    """

    def __init__(self, stored: _core.StoredIds) -> None:
        self._stored = stored
        self._stored_count = len(stored)
        self._erased: set[int] = set()
        self._later: list[str] = []

    def __len__(self) -> int:
        return self._stored_count + len(self._later)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self[row] for row in range(*place.indices(len(self)))]
        if place < 0:
            place += len(self)
        if place >= self._stored_count:
            return self._later[place - self._stored_count]
        return "" if place in self._erased else self._stored.at(place)

    def of(self, rows: Sequence[int]) -> list[str]:
        """Return the ids of rows."""
        if self._erased or max(rows, default=0) >= self._stored_count:
            return [self[row] for row in rows]
        return self._stored.of(rows)

    def __setitem__(self, row: int, id: str) -> None:
        """Give a row another id. REQUIRES: of a stored row, the empty one."""
        if row >= self._stored_count:
            self._later[row - self._stored_count] = id
        else:
            assert not id
            self._erased.add(row)

    def __iter__(self) -> Iterator[str]:
        ids = self._stored.between(0, self._stored_count)
        for row in self._erased:
            ids[row] = ""
        yield from ids
        yield from self._later

    def __delitem__(self, rows: slice) -> None:
        """Drop the last ids. REQUIRES: none of a stored row."""
        first, _, _ = rows.indices(len(self))
        assert first >= self._stored_count
        del self._later[first - self._stored_count :]

    def extend(self, ids: Iterable[str]) -> None:
        """Add ids of later rows."""
        self._later.extend(ids)


class StoredRowsById:
    """Reads as a dict of rows by id: the snapshot's, and later ones.

    Args:
        stored: what the snapshot holds.
    """

    def __init__(self, stored: _core.StoredIds) -> None:
        self._stored = stored
        self._erased: set[str] = set()
        self._later: dict[str, int] = {}

    def __len__(self) -> int:
        return self._stored.known_count - len(self._erased) + len(self._later)

    def __contains__(self, id: str) -> bool:
        return self.get(id) is not None

    def __getitem__(self, id: str) -> int:
        row = self.get(id)
        if row is None:
            raise KeyError(id)
        return row

    def get(self, id: str) -> int | None:
        """Return the row of an id, or None."""
        row = self._later.get(id)
        return self._stored.find(id) if row is None and id not in self._erased else row

    def pop(self, id: str, otherwise: None) -> int | None:
        """Take an id out and return its row, or None."""
        row = self._later.pop(id, None)
        if row is None and id not in self._erased:
            row = self._stored.find(id)
            if row is not None:
                self._erased.add(id)
        return otherwise if row is None else row

    def update(self, rows: Iterable[tuple[str, int]]) -> None:
        """Add later ids. REQUIRES: none of them has a row."""
        self._later.update(rows)
