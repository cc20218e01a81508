"""Strengthening by use: in the columns at once, in the store a little later.

Source: docs/systems/reverie.md R20, docs/systems/cognitive.md C11 to C13.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from oneiros.fields import ENUMS
from oneiros.ranking.reinforcement import SpacedReinforcement
from oneiros.remember.write_behind import ReinforcementEvent, WriteBehind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy as np
    import numpy.typing as npt

    from oneiros.association import Associations
    from oneiros.memory import Memory
    from oneiros.projections.column_write import ColumnWrite
    from oneiros.projections.lifecycle import Lifecycle
    from oneiros.ranking.reinforcement import ReinforcementRule
    from oneiros.store import StoredLink, StoredMemory
    from oneiros.store.states import StoredStates

    Rows = npt.NDArray[np.uint32]

__all__ = ["Reinforcing"]

_ROWS_AT_ONCE: Final = 65_536
_REINFORCED: Final = ("access_count", "last_accessed_at", "stability")
_PROMOTED: Final = ("core", "tier")
_TIERS: Final = ENUMS["tier"]
_HOT, _COLD = _TIERS.index("hot"), _TIERS.index("cold")


def _as_is(value: object) -> object:
    return value


_SAID: Final[dict[str, Callable[[Any], object]]] = {"core": bool, "tier": _TIERS.__getitem__}
"""How a memory has what a column holds as a number."""


class Reinforcing:
    """What searches strengthened: the columns hold it, the store is owed it.

    Args:
        lifecycle: the columns.
        associations: the links.
        write: writes what is owed to the store; called by a thread of the queue.
    """

    def __init__(
        self, lifecycle: Lifecycle, associations: Associations, write: Callable[[], None]
    ) -> None:
        self._lifecycle = lifecycle
        self._associations = associations
        # Guards columns, links and waiting events against each other: an event must never be counted
        # twice or lost when a row is read anew from the store.
        self._lock = threading.Lock()
        self._behind = WriteBehind(write)

    def put(self, event: ReinforcementEvent) -> None:
        """Strengthen what a search returned."""
        with self._lock:
            event = self._knowing_what_it_saw(event)
            self._strengthen(event, event.ids)
            self._strengthen_links(event, event.pairs())
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

    def apply_columns(self, batch: Sequence[StoredMemory]) -> None:
        """Read rows from the store, and strengthen again what it does not know of yet."""
        with self._lock:
            self._lifecycle.apply(batch)
            waiting = self._behind.waiting()
            if waiting:
                ids = {memory.id for memory in batch}
                for event in waiting:
                    self._strengthen(event, [i for i in event.ids if i in ids])

    def apply_states(self, states: StoredStates) -> Rows:
        """Read states from the store, and strengthen again what it does not know of yet.

        Returns the rows.
        """
        with self._lock:
            rows = self._lifecycle.apply_states(states)
            waiting = self._behind.waiting()
            if waiting:
                touched = set(rows.tolist())
                row_of = self._lifecycle.row_of
                for event in waiting:
                    self._strengthen(event, [i for i in event.ids if row_of.get(i) in touched])
        return rows

    def apply_values(self, write: ColumnWrite) -> None:
        """Write a column of many rows, and warm again what searches found that the store knows not of.

        In parts, so that searches wait for none of them long.
        """
        columns = self._lifecycle.columns
        for start in range(0, len(write.rows), _ROWS_AT_ONCE):
            part = slice(start, start + _ROWS_AT_ONCE)
            with self._lock:
                columns.write(rows=write.rows[part], values={write.field: write.values[part]})
        if write.field != "tier":
            return
        with self._lock:
            touched = set(write.rows.tolist())
            row_of = self._lifecycle.row_of
            for event in self._behind.waiting():
                found = [row for id in event.ids if (row := row_of.get(id)) in touched]
                if found and isinstance(event.rule, SpacedReinforcement):
                    self._promote(event.rule, [row for row in found if row is not None])

    def apply_links(self, batch: Sequence[StoredLink]) -> None:
        """Bring links to what the store says, and strengthen again what it does not know of yet."""
        with self._lock:
            self._associations.apply(batch)
            waiting = self._behind.waiting()
            if waiting:
                known = {frozenset((link.one, link.other)) for link in batch}
                for event in waiting:
                    pairs = [pair for pair in event.pairs() if frozenset(pair) in known]
                    self._strengthen_links(event, pairs)

    def read_links(self, batches: Iterable[Sequence[StoredLink]]) -> None:
        """Take all links of the store, strengthened by what it does not know of yet."""
        with self._lock:
            self._associations.read(batches)
            for event in self._behind.waiting():
                self._strengthen_links(event, event.pairs())

    def owing(self) -> frozenset[str]:
        """Ids of the memories of which something waits to be written."""
        return frozenset(i for event in self._behind.waiting() for i in event.ids)

    def as_reinforced(
        self, memories: list[Memory | None], owed_before: frozenset[str]
    ) -> list[Memory | None]:
        """Bring memories read from the store up to what it is owed.

        Args:
            memories: as the store held them.
            owed_before: :meth:`owing` from before they were read: what was written meanwhile waits
                no longer, and may yet be missing from what was read.
        """
        behind = owed_before | self.owing()
        return [
            self._up_to_date(memory) if memory is not None and memory.id in behind else memory
            for memory in memories
        ]

    def owed(
        self,
    ) -> tuple[list[ReinforcementEvent], list[tuple[str, dict[str, object]]], list[StoredLink]]:
        """Return the waiting events, and the fields and links to write for them."""
        with self._lock:
            events = list(self._behind.waiting())
            row_of = self._lifecycle.row_of
            ids = [
                i for i in dict.fromkeys(i for event in events for i in event.ids) if i in row_of
            ]
            rows = [row_of[memory_id] for memory_id in ids]
            values = self._values(_REINFORCED, rows)
            promoted = {i for event in events if event.rule.promotes for i in event.ids}
            standing = self._values(_PROMOTED, rows) if promoted else values
            pairs = {tuple(sorted(pair)) for event in events for pair in event.pairs()}
            links = self._associations.stored(self._rows_of_pairs(sorted(pairs)))
        changes = [
            (memory_id, own | more if memory_id in promoted else own)
            for memory_id, own, more in zip(ids, values, standing, strict=True)
        ]
        return events, changes, links

    def forget(self, memory_id: str) -> None:
        """Drop what waits for a memory that was erased: another may come by its id."""
        with self._lock:
            self._behind.drop(memory_id)

    @contextmanager
    def steady(self) -> Iterator[None]:
        """Let nothing be strengthened while the block runs."""
        with self._lock:
            yield

    def settle(self, events: Sequence[ReinforcementEvent]) -> None:
        """Drop the oldest events: the store knows them now."""
        self._behind.forget_written(len(events))

    def raise_failure(self) -> None:
        """Raise what writing in the background failed with, once."""
        self._behind.raise_failure()

    def close(self) -> None:
        """Stop writing in the background."""
        self._behind.close()

    def _strengthen(self, event: ReinforcementEvent, ids: Sequence[str]) -> None:
        row_of = self._lifecycle.row_of
        rows = [row for i in ids if (row := row_of.get(i)) is not None]
        if not rows:
            return
        columns = self._lifecycle.columns
        spread = columns.values_at(name="session_spread", rows=rows)
        if event.session is not None:
            sizes = [self._lifecycle.remember_session(row, event.session) for row in rows]
            spread = list(map(max, spread, sizes))
        for rule, places in self._by_rule(event, rows):
            columns.reinforce(
                rows=[rows[place] for place in places],
                now_seconds=event.now,
                session_spread=[spread[place] for place in places],
                **rule,
            )
        if isinstance(event.rule, SpacedReinforcement):
            self._promote(event.rule, rows)

    def _by_rule(
        self, event: ReinforcementEvent, rows: Sequence[int]
    ) -> list[tuple[ReinforcementRule, Sequence[int]]]:
        """Part rows, by their places, by what they gain."""
        rule = event.rule.rule()
        if not event.linked and not event.seen:
            return [(rule, range(len(rows)))]
        row_of = self._lifecycle.row_of
        seen = {row_of.get(id) for id in event.seen}
        linked = {row_of.get(id) for id in event.linked} - seen
        parts: tuple[tuple[ReinforcementRule, list[int]], ...] = (
            (rule, []),
            (event.rule.rule(is_associative=True), []),
            ({**rule, "gain": 0.0}, []),
        )
        for place, row in enumerate(rows):
            parts[2 if row in seen else row in linked][1].append(place)
        return [part for part in parts if part[1]]

    def _knowing_what_it_saw(self, event: ReinforcementEvent) -> ReinforcementEvent:
        """Note what gains nothing from this session any more. Source: docs/systems/house.md H7."""
        rule, session = event.rule, event.session
        if session is None or not isinstance(rule, SpacedReinforcement) or not rule.once_a_session:
            return event
        row_of, sessions_of = self._lifecycle.row_of, self._lifecycle.sessions_of
        told = {*event.ids, *event.direct}
        rows = [(id, row) for id in told if (row := row_of.get(id)) is not None]
        seen = frozenset(id for id, row in rows if session in sessions_of(row))
        return replace(event, seen=seen) if seen else event

    def _promote(self, rule: SpacedReinforcement, rows: list[int]) -> None:
        """Make core what is found often enough, and hot what was cold."""
        columns = self._lifecycle.columns
        tiers = columns.values_at(name="tier", rows=rows)
        warm = [row for row, tier in zip(rows, tiers, strict=True) if tier == _COLD]
        if warm:
            columns.write(rows=warm, values={"tier": [_HOT] * len(warm)})
        counts = columns.values_at(name="access_count", rows=rows)
        if rule.core_accesses is None or max(counts) < rule.core_accesses:
            return
        stabilities = columns.values_at(name="stability", rows=rows)
        spreads = columns.values_at(name="session_spread", rows=rows)
        found = zip(rows, counts, stabilities, spreads, strict=True)
        core = [row for row, *told in found if rule.makes_core(*told)]
        if core:
            columns.write(rows=core, values={"core": [True] * len(core)})

    def _strengthen_links(
        self, event: ReinforcementEvent, pairs: Sequence[tuple[str, str]]
    ) -> None:
        rule = event.rule
        if isinstance(rule, SpacedReinforcement) and rule.link_gain is not None and pairs:
            self._associations.strengthen(
                self._rows_of_pairs(pairs),
                now=event.now,
                gain=rule.link_gain,
                rest_days=rule.link_rest_days,
            )

    def _rows_of_pairs(self, pairs: Sequence[tuple[str, ...]]) -> list[tuple[int, int]]:
        row_of = self._lifecycle.row_of
        ends = [(row_of.get(one), row_of.get(other)) for one, other in pairs]
        return [(one, other) for one, other in ends if one is not None and other is not None]

    def _values(self, names: Sequence[str], rows: list[int]) -> list[dict[str, Any]]:
        """Fields of rows as memories hold them."""
        columns = self._lifecycle.columns
        read = [columns.values_at(name=name, rows=rows) for name in names]
        held = [
            list(map(_SAID.get(name, _as_is), values))
            for name, values in zip(names, read, strict=True)
        ]
        return [dict(zip(names, row, strict=True)) for row in zip(*held, strict=True)]

    def _up_to_date(self, memory: Memory) -> Memory:
        row = self._lifecycle.row_of.get(memory.id)
        if row is None:
            return memory
        with self._lock:
            (values,) = self._values((*_REINFORCED, *_PROMOTED, "session_spread"), [row])
            return replace(memory, sessions=self._lifecycle.sessions_of(row), **values)
