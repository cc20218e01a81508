"""Comparison of the read model with the store, memory by memory."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

from oneiros._lazy import np
from oneiros.display.counts import count_of
from oneiros.index.columns import PLAIN_COLUMNS, have_times
from oneiros.index.stored_rows import CODE_COLUMNS
from oneiros.index.texts import asking_share
from oneiros.model.fields import ENUMS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from oneiros.index.read_model import ReadModel
    from oneiros.store import StoredMemory

__all__ = ["SUMMED", "StoreComparison"]


_ARCHIVED: Final = ENUMS["status"].index("archived")
_QUARANTINED: Final = ENUMS["status"].index("quarantined")
_HOT: Final = ENUMS["tier"].index("hot")
SUMMED: Final = (
    *("category", "priority", "veracity", "pinned", "revision_count", "feedback"),
    *("duplicate_count", "depth", "importance_tag", "status", "canonical_layer"),
)
"""Integer fields with equal sums in a store and its read model. No search changes them."""


class StoreComparison:
    """Collects the differences of a read model, which does not change meanwhile, and its store."""

    def __init__(self, read_model: ReadModel, *, without: Collection[str] = ()) -> None:
        self._read_model = read_model
        self._without = frozenset(without)
        self._seen = 0
        self._differing: dict[str, list[str]] = {}  # ids by the name of the part
        lifecycle = read_model.lifecycle
        self._words = {name: ("", *words) for name, words in lifecycle.words().items()}

    def add(self, batch: Sequence[StoredMemory]) -> None:
        """Compare memories as stored."""
        row_of = self._read_model.lifecycle.row_of
        pairs = [(row_of.get(memory.id), memory) for memory in batch]
        self._note("memories", (memory for row, memory in pairs if row is None))
        known = [(row, memory) for row, memory in pairs if row is not None]
        self._seen += len(known)
        if known:
            rows, memories = map(list, zip(*known, strict=True))
            self._compare(rows, memories)

    def problems(self) -> list[str]:
        """Return the differences, one sentence each."""
        found = [
            f"{name}: {count_of(len(ids), 'memory')} unlike the store's, such as {ids[0]!r}"
            for name, ids in self._differing.items()
        ]
        count = len(self._read_model.lifecycle.row_of)
        if count != self._seen:
            found.append(f"read model: {count_of(count, 'memory')}, expected {self._seen}")
        return found

    def _note(self, name: str, memories: Iterable[StoredMemory]) -> None:
        ids = [memory.id for memory in memories]
        if ids:
            self._differing.setdefault(name, []).extend(ids)

    def _compare(self, rows: list[int], memories: list[StoredMemory]) -> None:
        lifecycle = self._read_model.lifecycle
        for name in ("sequence", *PLAIN_COLUMNS):
            self._column(name, rows, memories, attrgetter(name))
        self._column("superseded", rows, memories, lambda memory: memory.is_superseded)
        self._column("asks", rows, memories, lambda memory: asking_share(memory.text))
        self._column(
            "names_time", rows, memories, lambda one: have_times([one.text], [one.event_at])[0]
        )
        for name, column in CODE_COLUMNS.items():
            words = self._words[name]
            codes = lifecycle.column(column)[rows].tolist()
            self._each(
                name,
                memories,
                [words[code] if code < len(words) else None for code in codes],
                [getattr(memory, name) or "" for memory in memories],
            )
        if "sessions" not in self._without:
            sessions = list(map(lifecycle.sessions_of, rows))
            self._each("sessions", memories, sessions, [memory.sessions for memory in memories])
        self._states(rows, memories)
        indexes = self._read_model.indexes
        is_live = [memory.deleted_at is None for memory in memories]
        self._each("lexical index", memories, indexes.hold_texts(rows, memories), is_live)
        has_vector = [
            memory.embedding is not None and live
            for memory, live in zip(memories, is_live, strict=True)
        ]
        self._each("vector index", memories, indexes.hold_vectors_of(rows, memories), has_vector)

    def _column(
        self,
        name: str,
        rows: list[int],
        memories: list[StoredMemory],
        value: Callable[[StoredMemory], Any],
    ) -> None:
        if name in self._without:
            return
        found = self._read_model.lifecycle.column(name)[rows]
        cells = [value(memory) for memory in memories]
        stored = np.array([np.nan if cell is None else cell for cell in cells], np.float64)
        expected = stored.astype(found.dtype)
        differs = (found != expected) & ~(np.isnan(found) & np.isnan(expected))
        self._note(f"column {name}", (memories[place] for place in np.flatnonzero(differs)))

    def _each(
        self, name: str, memories: list[StoredMemory], found: Sequence[Any], expected: Sequence[Any]
    ) -> None:
        triples = zip(memories, found, expected, strict=True)
        self._note(name, (memory for memory, value, other in triples if value != other))

    def _states(self, rows: list[int], memories: list[StoredMemory]) -> None:
        row_sets = self._read_model.row_sets
        sets = row_sets.states()
        states: dict[str, Callable[[StoredMemory], bool]] = {
            "live": lambda memory: memory.deleted_at is None,
            "superseded": lambda memory: bool(memory.is_superseded),
            "perishable": lambda memory: any(
                time is not None for time in (memory.valid_from, memory.valid_until, memory.ttl)
            ),
            "archived": lambda memory: memory.status == _ARCHIVED,
            "quarantined": lambda memory: memory.status == _QUARANTINED,
            "doubted": lambda memory: memory.trust < 1.0,
        }
        for name, is_in in states.items():
            found = [row in sets[name] for row in rows]
            self._each(f"{name} memories", memories, found, list(map(is_in, memories)))
        if "tier" not in self._without:  # the set may hold more rows; searches check them again
            pairs = zip(rows, memories, strict=True)
            lost = (m for row, m in pairs if m.tier != _HOT and row not in sets["cold"])
            self._note("cold memories", lost)
        found = row_sets.attributes.hold(rows, memories)
        self._each("attributes", memories, found, [True] * len(rows))
