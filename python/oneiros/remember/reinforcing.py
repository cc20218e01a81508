"""Strengthening by use: in the columns before the next read, in the store a little later.

Source: docs/systems/reverie.md R20, docs/systems/cognitive.md C11 to C13.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from time import sleep
from typing import TYPE_CHECKING, Any, Final, TypeVar

from oneiros.fields import ENUMS
from oneiros.memory import set_fields
from oneiros.remember.strengthening import Strengthening, rows_of_pairs
from oneiros.remember.write_behind import ReinforcementEvent, WriteBehind
from oneiros.store.columns import StoredColumns

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    import numpy.typing as npt

    from oneiros.association import Associations
    from oneiros.memory import Memory
    from oneiros.projections.column_write import ColumnWrite
    from oneiros.projections.lifecycle import Lifecycle
    from oneiros.store import StoredLink
    from oneiros.store.columns import StoredBatch
    from oneiros.store.states import StoredStates

    Rows = npt.NDArray[np.uint32]

__all__ = ["OF_USE", "Reinforcing"]

Result = TypeVar("Result")

_PAUSE_SECONDS: Final = 0.0002
_ROWS_AT_ONCE: Final = 65_536
_REINFORCED: Final = ("access_count", "last_accessed_at", "stability")
_PROMOTED: Final = ("core", "tier")


def _as_is(value: object) -> object:
    return value


OF_USE: Final = (*_REINFORCED, *_PROMOTED, "session_spread", "sessions")
"""The fields of memories that searches strengthen before the store knows of it."""
_SAID: Final[dict[str, Callable[[Any], object]]] = {"core": bool, "tier": ENUMS["tier"].__getitem__}
"""How a memory has what a column holds as a number."""


class Reinforcing:
    """What searches strengthened: the columns hold it, the store is owed it.

    Args:
        lifecycle: the columns.
        associations: the links.
        write: writes what is owed to the store; called by the thread that writes.
    """

    def __init__(
        self, lifecycle: Lifecycle, associations: Associations, write: Callable[[], None]
    ) -> None:
        self._write = write
        self._lifecycle = lifecycle
        self._associations = associations
        # Columns, links and waiting events are changed by the thread that writes alone, so that an
        # event is never counted twice or lost when a row is read anew from the store. Others read
        # without a lock, and again where a change came between: a signal handler may come at any
        # point of a read, and wait for the thread that writes.
        self._changes = 0  # odd while something changes
        self._strengthening = Strengthening(lifecycle, associations)
        self._behind = WriteBehind()
        # What searches returned and the columns do not hold yet. A search appends to it, the thread
        # that writes removes what it has applied: both are single operations of the interpreter, so
        # that an interrupt of a search leaves an event there or does not.
        self.returned: deque[ReinforcementEvent] = deque()
        """What searches returned and is not strengthened in the columns yet."""

    def move_to(self, lifecycle: Lifecycle, associations: Associations) -> None:
        """Work on other columns and links; what waits is strengthened there as they are read."""
        with self._changing():
            self._lifecycle = lifecycle
            self._associations = associations
            self._strengthening = Strengthening(lifecycle, associations)

    def apply_returned(self) -> None:
        """Strengthen what searches returned. Called by the thread that writes."""
        while self.returned:
            try:
                self._apply(self.returned[0])
            except Exception as error:  # noqa: BLE001 - kept, and raised to the next caller
                self._behind.note_failure(error)
            finally:
                self.returned.popleft()

    def write_due(self) -> float | None:
        """Write the events that are due; return the seconds until the next are, None for never."""
        seconds = self._behind.due_in()
        if seconds != 0.0:
            return seconds
        try:
            self._write()
        except Exception as error:  # noqa: BLE001 - kept, and raised to the next caller
            self._behind.note_failure(error)
        else:
            self._behind.note_success()
        return self._behind.due_in()

    def _apply(self, event: ReinforcementEvent) -> None:
        with self._changing():
            strengthening = self._strengthening
            rows = strengthening.rows_of((*event.ids, *event.direct))
            event = strengthening.knowing_what_it_saw(event, rows)
            strengthening.memories(event, {id: rows[id] for id in event.ids if id in rows})
            strengthening.links(event, event.pairs(), rows)
            self._behind.put(event)

    def is_owing(self) -> bool:
        """Whether anything waits to be written."""
        return bool(self._behind.waiting())

    def owes(self, memory_id: str) -> bool:
        """Whether something of this memory waits to be written."""
        return any(
            memory_id in event.ids or memory_id in event.direct for event in self._behind.waiting()
        )

    def owes_links(self) -> bool:
        """Whether links wait to be written."""
        return any(event.rule.link_gain is not None for event in self._behind.waiting())

    def apply_columns(self, batch: StoredBatch) -> None:
        """Read rows from the store, and strengthen again what it does not know of yet."""
        with self._changing():
            self._lifecycle.apply(batch)
            waiting = self._behind.waiting()
            if waiting:
                ids = set(StoredColumns.of(batch)["id"])
                for event in waiting:
                    rows = self._strengthening.rows_of(i for i in event.ids if i in ids)
                    self._strengthening.memories(event, rows)

    def apply_states(self, states: StoredStates) -> Rows:
        """Read states from the store, and strengthen again what it does not know of yet.

        Returns the rows.
        """
        with self._changing():
            rows = self._lifecycle.apply_states(states)
            waiting = self._behind.waiting()
            if waiting:
                touched = set(rows.tolist())
                for event in waiting:
                    known = self._strengthening.rows_of(event.ids)
                    found = {id: row for id, row in known.items() if row in touched}
                    self._strengthening.memories(event, found)
        return rows

    def apply_values(self, write: ColumnWrite) -> None:
        """Write a column of many rows, and warm again what searches found that the store knows not of.

        In parts, so that searches wait for none of them long.
        """
        columns = self._lifecycle.columns
        for start in range(0, len(write.rows), _ROWS_AT_ONCE):
            part = slice(start, start + _ROWS_AT_ONCE)
            with self._changing():
                columns.write(rows=write.rows[part], values={write.field: write.values[part]})
        if write.field != "tier":
            return
        with self._changing():
            touched = set(write.rows.tolist())
            for event in self._behind.waiting():
                rows = self._strengthening.rows_of(event.ids).values()
                self._strengthening.promote(event.rule, [row for row in rows if row in touched])

    def apply_links(self, batch: Sequence[StoredLink]) -> None:
        """Bring links to what the store says, and strengthen again what it does not know of yet."""
        with self._changing():
            self._associations.apply(batch)
            waiting = self._behind.waiting()
            if waiting:
                known = {frozenset((link.one, link.other)) for link in batch}
                for event in waiting:
                    pairs = [pair for pair in event.pairs() if frozenset(pair) in known]
                    self._strengthening.links(event, pairs, self._ends_of(pairs))

    def read_links(self, batches: Iterable[Sequence[StoredLink]]) -> None:
        """Take all links of the store, strengthened by what it does not know of yet."""
        with self._changing():
            self._associations.read(batches)
            for event in self._behind.waiting():
                pairs = event.pairs()
                self._strengthening.links(event, pairs, self._ends_of(pairs))

    def owing(self) -> frozenset[str]:
        """Ids of the memories of which something waits to be written."""
        return frozenset(i for event in self._behind.waiting() for i in event.ids)

    def owing_of(self, ids: Iterable[str]) -> set[str]:
        """Which of these memories something waits to be written of."""
        waiting = self._behind.waiting()
        return set(ids).intersection(chain.from_iterable(event.ids for event in waiting))

    def bring_up_to_date(self, memories: Sequence[Memory], owed_before: set[str]) -> None:
        """Bring memories that were just read from the store up to what it is owed.

        Args:
            memories: as the store held them; they are changed in place, so no one else may have
                them yet.
            owed_before: :meth:`owing_of` from before they were read: what was written meanwhile
                waits no longer, and may yet be missing from what was read.
        """
        behind = owed_before | self.owing_of(memory.id for memory in memories)
        if not behind:
            return
        changes = self._read_whole(lambda: self._current(behind))
        for memory in memories:
            if memory.id in changes:
                set_fields(memory, changes[memory.id])

    def owed(
        self,
    ) -> tuple[list[ReinforcementEvent], list[tuple[str, dict[str, object]]], list[StoredLink]]:
        """Return the waiting events, and the fields and links to write for them."""
        with self._changing():
            events = list(self._behind.waiting())
            found = self._strengthening.rows_of(i for event in events for i in event.ids)
            ids, rows = list(found), list(found.values())
            values = self._values(_REINFORCED, rows)
            promoted = {i for event in events if event.rule.promotes for i in event.ids}
            standing = self._values(_PROMOTED, rows) if promoted else values
            pairs = {tuple(sorted(pair)) for event in events for pair in event.pairs()}
            ends = rows_of_pairs(sorted(pairs), self._ends_of(pairs))
            links = self._associations.stored(ends)
        changes = [
            (memory_id, own | more if memory_id in promoted else own)
            for memory_id, own, more in zip(ids, values, standing, strict=True)
        ]
        return events, changes, links

    def forget(self, memory_id: str) -> None:
        """Drop what waits for a memory that was erased: another may come by its id."""
        with self._changing():
            self._behind.drop(memory_id)

    def settle(self, events: Sequence[ReinforcementEvent]) -> None:
        """Drop the oldest events: the store knows them now."""
        self._behind.forget_written(len(events))

    def raise_failure(self) -> None:
        """Raise what writing in the background failed with, once."""
        self._behind.raise_failure()

    def _ends_of(self, pairs: Iterable[tuple[str, ...]]) -> dict[str, int]:
        return self._strengthening.rows_of(chain.from_iterable(pairs))

    def _values(self, names: Sequence[str], rows: list[int]) -> list[dict[str, Any]]:
        """Fields of rows as memories hold them."""
        columns = self._lifecycle.columns
        read = [columns.values_at(name=name, rows=rows) for name in names]
        held = [
            list(map(_SAID.get(name, _as_is), values))
            for name, values in zip(names, read, strict=True)
        ]
        return [dict(zip(names, row, strict=True)) for row in zip(*held, strict=True)]

    def _current(self, ids: Iterable[str]) -> dict[str, dict[str, Any]]:
        """What reinforcing changes of memories, by id, of those that are known."""
        row_of = self._lifecycle.row_of
        known = {id: row for id in ids if (row := row_of.get(id)) is not None}
        rows = list(known.values())
        values = self._values((*_REINFORCED, *_PROMOTED, "session_spread"), rows)
        sessions = map(self._lifecycle.sessions_of, rows)
        return {
            id: own | {"sessions": seen}
            for id, own, seen in zip(known, values, sessions, strict=True)
        }

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Change columns, links or events. REQUIRES: the thread that writes."""
        self._changes += 1
        try:
            yield
        finally:
            self._changes += 1

    def _read_whole(self, read: Callable[[], Result]) -> Result:
        """Return what ``read`` returns when nothing changed meanwhile."""
        while True:
            before = self._changes
            found = read()
            if before == self._changes and before % 2 == 0:
                return found
            sleep(_PAUSE_SECONDS)
