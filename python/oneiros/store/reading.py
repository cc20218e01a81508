"""Reads of one consistent state of the store, by readers and within transactions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import apsw

from oneiros import _core, store
from oneiros.errors import StoreCorrupt
from oneiros.model.fields import ENUMS, FIELDS
from oneiros.model.validation import wrong
from oneiros.runtime.dataclasses import NamedTuple
from oneiros.store.checksums import (
    CHANGED,
    CHANGED_STATES,
    OTHER_CHECKSUM,
    OnDamage,
    RawRow,
    StoredStates,
    is_sound,
    raise_damage,
    raw_rows,
    select_raw,
    states_of,
    stored,
)
from oneiros.store.cycles import CycleReading
from oneiros.store.erased import (
    HORIZON_SETTING,
    SALT_SETTING,
    ErasedMemory,
    digest_of,
    erased_memory,
)
from oneiros.store.failures import translated
from oneiros.store.feed import ChangedMemory, changes_by_revision
from oneiros.store.links import (
    ALL_LINKS,
    ALL_NUMBERED_LINKS,
    CHANGED_LINKS,
    CHANGED_NUMBERED_LINKS,
    LINKS_CHECKSUM,
    StoredLink,
    stored_link,
)
from oneiros.store.loading import (
    MOST_AT_ONCE,
    OwnRow,
    load_memories,
    load_own_rows,
    load_rows,
    own_row,
    select_own,
)
from oneiros.store.rows import Damaged, StoredMemory, index_damage, select, undecoded

if TYPE_CHECKING:
    from oneiros.model.memory import Memory
    from oneiros.store.connections import StoreConnection
    from oneiros.store.history import HistoryReading

__all__ = [
    "LAST_REVISION",
    "MOST_QUESTIONS",
    "MOST_REVISIONS",
    "NEXT_SEQUENCE",
    "REEMBEDDING_SETTING",
    "SNAPSHOT_SETTING",
    "TRACES_SETTING",
    "USES_SETTING",
    "Commits",
    "Reading",
]

Row = TypeVar("Row", StoredMemory, OwnRow)


SNAPSHOT_SETTING: Final = "snapshot"
"""The setting that names the snapshot file next to the store; not valid in another store."""
TRACES_SETTING: Final = "traces"
"""The revision of the last erasure that may be left in log and snapshot; "" if there is none."""
_NO_FACTS: Final = (SNAPSHOT_SETTING, TRACES_SETTING)

USES_SETTING: Final = "uses"
"""Its row is written by the commits that only record uses of memories: the value is the last other commit."""
_SETTLED: Final = f"""
SELECT value FROM setting
WHERE key = '{USES_SETTING}' AND revision = ? AND {is_sound("setting")}"""
_UNLISTED: Final = (SALT_SETTING, HORIZON_SETTING, USES_SETTING)

REEMBEDDING_SETTING: Final = "reembedding"
"""The setting that names the embedder of an unfinished reembed, if any."""

_NO_ROW: Final = "its row is not in the store's table"
_AT_ONCE: Final = 1_000
_MOST_LISTED: Final = 100
MOST_REVISIONS: Final = 2**62
"""The highest plausible revision; a higher one in the history of cycles is damage."""

# The tables that followers read. Every commit marks a row in at least one of them.
LAST_REVISION: Final = f"""
SELECT max(
  coalesce((SELECT max(revision) FROM memory), 0),
  coalesce((SELECT max(revision) FROM lifecycle WHERE revision > 0), 0),
  coalesce((SELECT max(revision) FROM erased), 0),
  coalesce((SELECT max(revision) FROM setting), 0),
  coalesce((SELECT max(revision) FROM link), 0),
  coalesce((SELECT revision FROM dream_cycle WHERE revision BETWEEN 1 AND {MOST_REVISIONS}
            ORDER BY number DESC LIMIT 1), 0))
"""
NEXT_SEQUENCE: Final = """
SELECT 1 + max(
  coalesce((SELECT max(seq) FROM sqlite_sequence WHERE name = 'memory'), 0),
  coalesce((SELECT max(sequence) FROM memory), 0),
  coalesce((SELECT max(sequence) FROM lifecycle), 0))"""
"""Returns a sequence number that no memory has ever had, erased ones included."""
MOST_QUESTIONS: Final = 8
"""Verdicts of a memory whose questions are kept: the newest ones."""
# Reads back from the newest verdict, as most of a memory's many verdicts have lost their question.
_QUESTIONS: Final = f"""
SELECT sequence, verdict, question
FROM (%s) AS given CROSS JOIN feedback_event ON number IN (
  SELECT number FROM feedback_event WHERE sequence = given.value AND question NOT NULL
  ORDER BY number DESC LIMIT {MOST_QUESTIONS})
WHERE {is_sound("feedback_event")} ORDER BY sequence, number"""
_QUESTIONS_AFTER: Final = (
    _QUESTIONS
    % """
SELECT DISTINCT sequence AS value FROM feedback_event NOT INDEXED
WHERE number > ?1 AND question NOT NULL"""
)
_QUESTIONS_OF: Final = _QUESTIONS % "SELECT DISTINCT value FROM json_each(?1)"
_CHANGED: Final = f"memory.sequence IN ({CHANGED})"
_CHANGED_OWN: Final = (
    "memory.sequence IN ("
    "SELECT sequence FROM memory INDEXED BY memory_by_revision WHERE revision > ?1)"
)
_CHANGED_COUNTS: Final = """
SELECT
  (SELECT count(*) FROM memory INDEXED BY memory_by_revision WHERE revision > ?1),
  (SELECT count(*) FROM lifecycle INDEXED BY changed_state WHERE revision > ?1 AND revision > 0)
"""
# Found by number, since the index of ids returns its own copy of the id instead of the row's.
_BY_NUMBER: Final = select("memory.sequence = ?")
_NUMBER: Final = "SELECT sequence FROM memory INDEXED BY sqlite_autoindex_memory_1 WHERE id = ?"
_OWN_BY_NUMBER: Final = select_own("sequence = ?")
_BY_SEQUENCE: Final = "memory.sequence IN (SELECT value FROM json_each(?1))"
_KNOWN: Final = "SELECT sequence, id FROM memory INDEXED BY sqlite_autoindex_memory_1"
# Each memory has a row in both tables.
_HALVES: Final = """
SELECT 'memory ' || sequence || ': its lifecycle is missing' FROM memory
WHERE sequence NOT IN (SELECT sequence FROM lifecycle)
UNION ALL
SELECT 'memory ' || sequence || ': it is missing, and its lifecycle is there' FROM lifecycle
WHERE sequence NOT IN (SELECT sequence FROM memory) LIMIT 100"""


@cache
def _blanks() -> str:
    """Return all white-space characters."""
    return "".join(filter(str.isspace, map(chr, range(0x3001))))


# A live memory lacks a vector unless there is nothing to embed: its text and title are blank, it is a
# stub (docs/systems/cognitive.md C20), or the store's embedder has no vector for it (?2: whether
# ``new_embedding`` marks such memories).
_STUB: Final = ENUMS["tier"].index("stub")
_LACKS_VECTOR: Final = f"""
memory.deleted_at IS NULL AND memory.embedding IS NULL AND lifecycle.tier <> {_STUB}
AND NOT (?2 AND memory.new_embedding IS NOT NULL)
AND (trim(memory.text, ?1) <> '' OR trim(memory.title, ?1) <> '')"""
_COUNT_LACKING: Final = f"""
SELECT count(*) FROM memory JOIN lifecycle ON lifecycle.sequence = memory.sequence
WHERE {_LACKS_VECTOR}"""
_OF_THESE: Final = "AND memory.sequence IN (SELECT value FROM json_each(?3))"
_LACKING: Final = f"memory.sequence > ?3 AND memory.sequence <= ?4 AND {_LACKS_VECTOR}"
_BELOW: Final = "instr(memory.namespace || '/', ? || '/') = 1"
"""Whether a memory's namespace is the bound one or lies below it."""
_REEMBEDS: Final = f"""
memory.sequence > ?1 AND memory.sequence <= ?2 AND memory.new_embedding IS NULL
AND NOT (memory.embedding IS NULL AND lifecycle.tier = {_STUB})"""
_LOST_SUCCESSORS: Final = """
SELECT id, superseded_by FROM memory INDEXED BY successor
WHERE superseded_by IS NOT NULL AND superseded_by NOT IN (SELECT id FROM memory)
ORDER BY sequence LIMIT 100"""


class Commits(NamedTuple):
    """The last commits of a store."""

    last: int
    """The number of the last commit, 0 before the first."""
    settled: int
    """The last of them that changed more than the use of memories, or a later one."""


class Reading:
    """A consistent snapshot of the store. Made by ``Store.read`` and ``Store.write``."""

    def __init__(self, connection: StoreConnection, path: str) -> None:
        self._connection = connection
        self._path = path

    # Not kept, as no reader may be in a reference cycle: a closed store lets go of its file at once.
    @property
    def cycles(self) -> CycleReading:
        """Reads the history of dream cycles."""
        return CycleReading(self)

    @property
    def history(self) -> HistoryReading:
        """Reads what commits replaced."""
        return store.history.HistoryReading(self)

    def last_revision(self) -> int:
        """Return the number of the last commit, 0 before the first."""
        return int(self.rows(LAST_REVISION)[0][0])

    def commits(self) -> Commits:
        """Return the last commit, and the last one that changed more than the use of memories."""
        last = self.last_revision()
        return Commits(last, self.settled(last))

    def settled(self, last: int) -> int:
        """Return the last commit that changed more than the use of memories, or a later one.

        Args:
            last: the last commit.
        """
        rows = self.rows(_SETTLED, (last,))
        return int(rows[0][0]) if rows else last

    def settings(self) -> dict[str, str]:
        """Return every setting, but those about erased memories and uses.

        Raises:
            StoreCorrupt: a setting is damaged. Damaged settings about the snapshot and about traces
                are left out instead.
        """
        found: dict[str, str] = {}
        for is_whole, (key, value, _), _ in self.raw("setting"):
            if key in _UNLISTED:
                continue
            if is_whole:
                found[key] = value
            elif key not in _NO_FACTS:
                msg = f"{self._path}: the setting {key!r} is damaged: the checksum is another"
                raise StoreCorrupt(msg)
        return found

    def traces(self) -> str:
        """Return the setting :data:`TRACES_SETTING`, damaged or not."""
        rows = self.rows("SELECT value FROM setting WHERE key = ?", (TRACES_SETTING,))
        return str(rows[0][0]) if rows else ""

    def changes(
        self, after: int, batch: int = 10_000, *, on_damage: OnDamage = raise_damage
    ) -> Iterator[list[StoredMemory]]:
        """Yield every memory added or changed by a commit after ``after``.

        Args:
            after: a revision; 0 for all memories, soft-deleted ones too.
            batch: memories in a list, at least 1.
            on_damage: called with each memory that cannot be read; it is left out.

        Yields:
            Lists in order of insertion; each memory once, in its current state.
        """
        if batch < 1:
            msg = f"batch: must be at least 1, got {batch!r}"
            raise ValueError(msg)
        return self._memories(_CHANGED, after, batch, on_damage)

    def changes_of_memories(
        self, after: int, batch: int = 10_000, *, on_damage: OnDamage = raise_damage
    ) -> Iterator[list[StoredMemory]]:
        """Yield as :meth:`changes` does, without memories of which only the state changed.

        :meth:`changes_of_states` yields those.
        """
        return self._memories(_CHANGED_OWN, after, batch, on_damage)

    def changed_counts(self, after: int) -> tuple[int, int]:
        """Return how many memories, and how many states, commits after ``after`` added or changed."""
        ((memory_count, state_count),) = self.rows(_CHANGED_COUNTS, (after,))
        return memory_count, state_count

    def changes_of_states(self, after: int, batch: int = 10_000) -> Iterator[StoredStates]:
        """Yield the states that reinforcement and dream cycles changed since a revision; none for 0.

        Raises:
            StoreCorrupt: a row is not what was written, or a value lies outside its field's range.
        """
        if after > 0:
            cursor = self.run(CHANGED_STATES, (after,))
            while rows := self.fetch(cursor, batch):
                yield states_of(rows)

    def _memories(
        self, changed: str, after: int, batch: int, on_damage: OnDamage
    ) -> Iterator[list[StoredMemory]]:
        if after > 0:
            return self._stored(changed, (after,), batch, on_damage)
        return self._all(batch, on_damage)

    def _all(self, batch: int, on_damage: OnDamage) -> Iterator[list[StoredMemory]]:
        """Yield all memories; one that only an index knows is reported as damaged."""
        seen_numbers: list[int] = []

        def note_damage(damaged: Damaged) -> None:
            seen_numbers.append(damaged.sequence)
            on_damage(damaged)

        for memories in self._stored("1", (), batch, note_damage, hint="NOT INDEXED"):
            seen_numbers += [memory.sequence for memory in memories]
            yield memories
        if (
            len(seen_numbers)
            != self.rows("SELECT count(*) FROM memory INDEXED BY memory_by_revision")[0][0]
        ):
            seen = set(seen_numbers)
            for sequence, id in self.rows(_KNOWN):
                if sequence not in seen:
                    on_damage(Damaged(sequence, id, _NO_ROW))

    def _stored(
        self,
        condition: str,
        values: tuple[Any, ...],
        batch: int,
        on_damage: OnDamage,
        *,
        hint: str = "",
    ) -> Iterator[list[StoredMemory]]:
        """Yield the readable memories that meet a condition.

        A damaged text may not be UTF-8, which stops SQLite's module. From there on, texts are
        read as bytes.
        """
        last = 0
        for as_bytes in (False, True):
            rest = f"({condition}) AND memory.sequence > {int(last)}" if as_bytes else condition
            cursor = self.run(select(rest, hint=hint, as_bytes=as_bytes), values)
            try:
                while rows := list(islice(cursor, batch)):
                    rising: Iterable[tuple[Any, ...]] = _rising(rows, last)
                    if as_bytes:
                        rising = undecoded(rising, on_damage)
                    if found := stored(rising, on_damage):
                        yield found
                    last = max(last, rows[-1][0])
                return
            except apsw.Error as error:
                raise self._failed(error) from error
            except UnicodeDecodeError as error:
                if as_bytes:
                    raise self._not_utf8(error) from error

    def embeddings(self, up_to: int, batch: int = 10_000) -> Iterator[list[tuple[int, bytes]]]:
        """Yield (sequence, encoded embedding) of live memories not changed after a revision."""
        sql = """
SELECT sequence, embedding FROM memory NOT INDEXED
WHERE revision <= ? AND embedding IS NOT NULL AND deleted_at IS NULL ORDER BY sequence"""
        cursor = self.run(sql, (up_to,))
        while rows := self.fetch(cursor, batch):
            yield rows

    def reembedding(self) -> str | None:
        """Return the name of the embedder of an unfinished reembed, or None."""
        return self.settings().get(REEMBEDDING_SETTING) or None

    def count_without_vector(self, among: Iterable[int] | None = None) -> int:
        """Return the number of live memories that lack a vector but have a text to embed.

        Args:
            among: the sequence numbers of the memories to read. Default: the whole store is read.
        """
        values = (_blanks(), self.reembedding() is None)
        if among is None:
            return int(self.rows(_COUNT_LACKING, values)[0][0])
        sql = f"{_COUNT_LACKING} {_OF_THESE}"
        return int(self.rows(sql, (*values, json.dumps(list(among))))[0][0])

    def without_vector(
        self, after: int, up_to: int, limit: int, *, on_damage: OnDamage = raise_damage
    ) -> list[StoredMemory]:
        """Return the first live memories that lack a vector but have a text to embed.

        Args:
            after: return memories with a higher sequence number.
            up_to: the highest sequence number to return.
            limit: the most memories to return.
            on_damage: called with each memory that cannot be read; it is left out.
        """
        values = (_blanks(), self.reembedding() is None, after, up_to)
        return next(self._stored(_LACKING, values, limit, on_damage), [])

    def to_reembed(
        self, after: int, up_to: int, limit: int, *, on_damage: OnDamage = raise_damage
    ) -> list[StoredMemory]:
        """Return the first memories without a new vector, soft-deleted ones too.

        Args:
            after: return memories with a higher sequence number.
            up_to: the highest sequence number to return.
            limit: the most memories to return.
            on_damage: called with each memory that cannot be read; it is left out.
        """
        return next(self._stored(_REEMBEDS, (after, up_to), limit, on_damage), [])

    def sequences(self) -> list[int]:
        """Return the sequence number of every memory."""
        return [row[0] for row in self.rows("SELECT sequence FROM memory")]

    def last_sequence(self) -> int:
        """Return the highest sequence number of a memory, 0 if there is none."""
        return int(self.rows("SELECT coalesce(max(sequence), 0) FROM memory")[0][0])

    def next_sequence(self) -> int:
        """Return a sequence number that no memory has ever had, erased ones included."""
        return int(self.rows(NEXT_SEQUENCE)[0][0])

    def new_vector_count(self) -> int:
        """Return the number of memories that the new embedder has processed."""
        sql = "SELECT count(*) FROM memory WHERE new_embedding IS NOT NULL"
        return int(self.rows(sql)[0][0])

    def damaged_new_vectors(self) -> list[int]:
        """Return the sequence numbers of the memories whose new vectors are damaged.

        No row checksum covers these vectors.
        """
        damaged = []
        cursor = self.run("SELECT sequence, new_embedding FROM memory WHERE new_embedding > x''")
        while rows := self.fetch(cursor, _AT_ONCE):
            for number, blob in rows:
                try:
                    _core.checked_embedding(blob)
                except ValueError:
                    damaged.append(number)
        return damaged

    def a_new_vector(self) -> bytes | None:
        """Return any one of the new vectors, encoded; None if there is none."""
        found = self.rows("SELECT new_embedding FROM memory WHERE new_embedding > x'' LIMIT 1")
        return found[0][0] if found else None

    def texts(
        self, batch: int = 10_000, *, on_damage: OnDamage = raise_damage
    ) -> Iterator[list[tuple[int, str, str | None]]]:
        """Yield (sequence, text, tags as JSON or None) of the live memories.

        Args:
            batch: memories in a list, at least 1.
            on_damage: called with each memory that cannot be read; it is left out.
        """
        live = "memory.deleted_at IS NULL"
        for memories in self._stored(live, (), batch, on_damage, hint="NOT INDEXED"):
            yield [(memory.sequence, memory.text, memory.tags_json) for memory in memories]

    def erased(self, after: int) -> list[ErasedMemory]:
        """Return the memories erased since the revision, in order; see :meth:`lists_erased`."""
        sql = "SELECT CAST(id AS BLOB) FROM erased WHERE revision > ? ORDER BY revision, id"
        return [erased_memory(row[0]) for row in self.rows(sql, (after,))]

    def lists_erased(self, after: int) -> bool:
        """Return whether no erasure since the revision is so old that it is no longer listed."""
        return after >= self.erased_horizon()

    def erased_horizon(self) -> int:
        """Return the last revision whose erasures are no longer listed; 0: all are."""
        rows = self.rows("SELECT value FROM setting WHERE key = ?", (HORIZON_SETTING,))
        text = str(rows[0][0]) if rows else "0"
        return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else 0

    def has_erased(self, after: int) -> bool:
        """Return whether a memory was erased since the revision."""
        return self.last_erasure() > after or not self.lists_erased(after)

    def erased_salt(self) -> str:
        """Return the salt of the digests of erased ids."""
        sql = "SELECT CAST(value AS BLOB) FROM setting WHERE key = ?"
        rows = self.rows(sql, (SALT_SETTING,))
        return rows[0][0].decode(errors="replace") if rows else ""

    def last_erasure(self) -> int:
        """Return the revision of the last commit that erased a memory; 0: none did."""
        return int(self.rows("SELECT coalesce(max(revision), 0) FROM erased")[0][0])

    def changes_by_revision(
        self, after: int, within: Mapping[str, str] = {}
    ) -> Iterator[ChangedMemory]:
        """Yield changed and erased memories in order of revision; see ``feed.changes_by_revision``.

        Args:
            after: a revision; 0 for all memories.
            within: field of a scope to its value; empty for all memories, and for erased ones.
        """
        conditions = dict(zip(_bounds(within), within.values(), strict=True))
        return changes_by_revision(self, after, conditions)

    def load_stored(
        self, ids: Sequence[str], numbers: Sequence[int | None] | None = None
    ) -> list[StoredMemory | None]:
        """Return the rows of the ids, in their order; None for unknown ids.

        Args:
            ids: of memories.
            numbers: their sequence numbers, where known. Rows found by these numbers are read by
                one statement, without the index of ids.

        Raises:
            StoreCorrupt: a memory cannot be read, or the index leads to another one; names it.
        """
        return self._each(ids, numbers, load_rows, self._stored_one)

    def _each(
        self,
        ids: Sequence[str],
        numbers: Sequence[int | None] | None,
        load: Callable[[StoreConnection, Sequence[str], Sequence[int | None]], Sequence[Any]],
        load_one: Callable[[str, int | None], Any],
    ) -> list[Any]:
        """Return what ``load`` reads of the ids; where it reads nothing, what ``load_one`` does."""
        self._require_whole()
        found: list[Any] = []
        for start in range(0, len(ids), MOST_AT_ONCE):
            part = ids[start : start + MOST_AT_ONCE]
            known = [None] * len(part) if numbers is None else numbers[start : start + len(part)]
            for id, number, row in zip(
                part, known, load(self._connection, part, known), strict=True
            ):
                found.append(load_one(id, number) if row is None else row)
        return found

    def _stored_one(self, id: str, number: int | None = None) -> StoredMemory | None:
        return self._resolved(self._at, id, number)

    def _resolved(
        self, row_at: Callable[[int, str], Row | None], id: str, number: int | None
    ) -> Row | None:
        """Return the row of an id, by its number if known; None if there is none.

        Args:
            row_at: reads the row of a number; also given the id, for its error.
            id: of the memory.
            number: its presumed sequence number.
        """
        if number is not None:
            row = row_at(number, id)
            if row is not None and row.id == id:
                return row
        found = self.rows(_NUMBER, (id,))
        if not found:
            return None
        row = row_at(found[0][0], id)
        if row is None:
            raise Damaged(found[0][0], id, _NO_ROW).error()
        if row.id != id:
            raise index_damage(id)
        return row

    def _at(self, number: int, id: str) -> StoredMemory | None:
        found = stored(self._rows_at(_BY_NUMBER, number, id), partial(_raise_damage_of, id))
        return found[0] if found else None

    def _own_at(self, number: int, id: str) -> OwnRow | None:
        found = self._rows_at(_OWN_BY_NUMBER, number, id)
        if not found:
            return None
        row = own_row(found[0])
        if row is None:
            raise Damaged(number, id, OTHER_CHECKSUM).error()
        return row

    def _rows_at(self, sql: str, number: int, id: str) -> list[tuple[Any, ...]]:
        """Run a statement for one row; the id is named if the row is damaged."""
        try:
            return list(self.run(sql, (number,)))
        except apsw.Error as error:
            raise self._failed(error) from error
        except UnicodeDecodeError as error:
            reason = f"a text in the store is not UTF-8 ({error})"
            raise Damaged(number, id, reason).error() from error

    def of_sequences(
        self,
        sequences: Sequence[int],
        batch: int = 1_000,
        *,
        on_damage: OnDamage = raise_damage,
    ) -> Iterator[list[StoredMemory]]:
        """Yield the existing memories of sequence numbers, each once.

        Args:
            sequences: in any order; each batch is yielded in ascending order.
            batch: numbers per statement.
            on_damage: called with each memory that cannot be read; it is left out.
        """
        for start in range(0, len(sequences), batch):
            part = list(dict.fromkeys(sequences[start : start + batch]))
            yield from self._stored(_BY_SEQUENCE, (json.dumps(part),), batch, on_damage)

    def load(
        self, ids: Sequence[str], numbers: Sequence[int | None] | None = None
    ) -> list[Memory | None]:
        """Return the memories of the ids, soft-deleted ones too; None for unknown ids.

        Args:
            ids: of memories.
            numbers: see :meth:`load_stored`.

        Raises:
            StoreCorrupt: a memory cannot be read; names it.
        """
        found = self.load_each(ids, numbers)
        for memory in found:
            if isinstance(memory, StoreCorrupt):
                raise memory
        return cast("list[Memory | None]", found)

    def load_each(
        self, ids: Sequence[str], numbers: Sequence[int | None] | None = None
    ) -> list[Memory | StoreCorrupt | None]:
        """Return as :meth:`load` does, with the error in place of an unreadable memory."""
        return self._each(ids, numbers, load_memories, self._load_one)

    def _load_one(self, id: str, number: int | None) -> Memory | StoreCorrupt | None:
        try:
            row = self._stored_one(id, number)
            return None if row is None else self.memory_of(row)
        except StoreCorrupt as error:
            return error

    def own_rows(
        self, ids: Sequence[str], numbers: Sequence[int | None] | None = None
    ) -> list[OwnRow | StoreCorrupt | None]:
        """Return only the rows of the table ``memory``, as :meth:`load_each` does."""
        return self._each(ids, numbers, load_own_rows, self._own_one)

    def _own_one(self, id: str, number: int | None) -> OwnRow | StoreCorrupt | None:
        try:
            return self._resolved(self._own_at, id, number)
        except StoreCorrupt as error:
            return error

    def links(self, after: int, batch: int = 10_000) -> Iterator[list[StoredLink]]:
        """Yield every link that a commit after ``after`` added, changed or removed.

        Args:
            after: a revision; 0 for all links.
            batch: links in a list, at least 1.

        Raises:
            StoreCorrupt: a link is damaged.
        """
        cursor = self.run(CHANGED_LINKS if after > 0 else ALL_LINKS, (after,))
        while rows := self.fetch(cursor, batch):
            yield [self._link(row) for row in rows]

    def numbered_links(self, after: int, batch: int = 10_000) -> Iterator[_core.StoredLinks]:
        """Yield what :meth:`links` does by the sequence numbers of the ends, some ten times as fast."""
        sql = CHANGED_NUMBERED_LINKS if after > 0 else ALL_NUMBERED_LINKS
        found = self._connection.links_after(sql, LINKS_CHECKSUM, after)
        if found is not None:
            if found:
                yield found
            return
        # A link is damaged: its memories may be gone, else it is named.
        cursor = self.run(CHANGED_LINKS if after > 0 else ALL_LINKS, (after,))
        while rows := self.fetch(cursor, batch):
            links = list(map(self._link, rows))
            yield _core.StoredLinks(
                first=[row[-2] for row in rows],
                second=[row[-1] for row in rows],
                weight=[link.weight for link in links],
                kind=[link.kind for link in links],
                created_seconds=[link.created_at for link in links],
                last_seconds=[link.co_retrieved_at for link in links],
            )

    def _link(self, row: Sequence[Any]) -> StoredLink:
        *values, is_whole, _, _ = row
        return stored_link(self._path, values, is_whole=bool(is_whole))

    def link_count(self) -> int:
        """Return the number of links, those of soft-deleted memories too."""
        return int(self.rows("SELECT count(*) FROM link WHERE weight > 0")[0][0])

    def verdict_state(self) -> tuple[int, int]:
        """Return a pair that changes whenever a verdict is given or forgotten."""
        sql = """
SELECT (SELECT coalesce(max(number), 0) FROM feedback_event),
       (SELECT coalesce(max(revision), 0) FROM erased)"""
        (state,) = self.rows(sql)
        return state

    def verdict_counts(self, within: Mapping[str, str]) -> list[tuple[str, str, int]]:
        """Return (kind, verdict, count) of the feedback on memories with the given field values.

        Args:
            within: field of a scope to its value; empty for all memories.
        """
        sql = "SELECT feedback_event.kind, verdict, count(*) FROM feedback_event"
        if within:
            sql += f" JOIN memory USING (sequence) WHERE {' AND '.join(_bounds(within))}"
        return self.rows(f"{sql} GROUP BY 1, 2 ORDER BY 1, 2", tuple(within.values()))

    def questions_after(self, number: int) -> list[tuple[int, str, bytes]]:
        """Return (sequence, verdict, question) of memories with a question since a numbered verdict.

        All questions of these memories, by memory and then in the order of the verdicts; damaged
        ones are left out.
        """
        return self.rows(_QUESTIONS_AFTER, (number,)) if number < self.verdict_state()[0] else []

    def questions_of(self, sequences: Sequence[int]) -> list[tuple[int, str, bytes]]:
        """Return (sequence, verdict, question) of memories, as :meth:`questions_after`."""
        return self.rows(_QUESTIONS_OF, (json.dumps(sequences),))

    def verdicts_of(
        self, within: Mapping[str, str]
    ) -> list[tuple[int, str, str, float, bytes | None]]:
        """Return (sequence, kind, verdict, time, question) of the verdicts on memories, in order.

        Args:
            within: field of a scope to its value; empty for all memories.
        """
        conditions = " AND ".join(_bounds(within)) or "1"
        sql = f"""
SELECT sequence, feedback_event.kind, verdict, time, question
FROM feedback_event JOIN memory USING (sequence) WHERE {conditions} ORDER BY number"""
        return self.rows(sql, tuple(within.values()))

    def successors_across(self, within: Mapping[str, str]) -> list[tuple[str, str]]:
        """Return (older, newer) ids of memories of which one supersedes the other and one lies outside.

        Args:
            within: field of a scope to its value, at least one.
        """
        inside = " AND ".join(_bounds(within))
        outside = inside.replace("memory.", "newer.")
        sql = f"""
SELECT memory.id, newer.id FROM memory JOIN memory AS newer ON newer.id = memory.superseded_by
WHERE coalesce({inside}, 0) <> coalesce({outside}, 0) ORDER BY memory.sequence LIMIT 100"""
        return self.rows(sql, (*within.values(), *within.values()))

    def values_of(self, field: str) -> list[str]:
        """Return the values that a field of scopes has among the memories, soft-deleted ones too."""
        if field not in FIELDS:
            raise ValueError(wrong("field", "a field of memories", field))
        sql = f"SELECT DISTINCT {field} FROM memory WHERE {field} IS NOT NULL ORDER BY 1"
        return [row[0] for row in self.rows(sql)]

    def count(self) -> int:
        """Return the number of memories, soft-deleted ones too."""
        return int(self.rows("SELECT count(*) FROM memory")[0][0])

    def live_count(self, *, without: Iterable[int] = ()) -> int:
        """Return the number of memories that are not soft-deleted.

        Args:
            without: sequence numbers to leave out of the count.
        """
        sql = """
SELECT count(*) FROM memory
WHERE deleted_at IS NULL AND sequence NOT IN (SELECT value FROM json_each(?))"""
        return int(self.rows(sql, (json.dumps(list(without)),))[0][0])

    def live_sums(self, names: Sequence[str], *, without: Iterable[int] = ()) -> dict[str, int]:
        """Return sums of fields over the memories that are not soft-deleted.

        Args:
            names: integer fields.
            without: sequence numbers to leave out of the sums.
        """
        sums = ", ".join(f"coalesce(sum({name}), 0)" for name in names)
        sql = f"""
SELECT {sums} FROM memory JOIN lifecycle ON lifecycle.sequence = memory.sequence
WHERE deleted_at IS NULL AND memory.sequence NOT IN (SELECT value FROM json_each(?))"""
        (found,) = self.rows(sql, (json.dumps(list(without)),))
        return dict(zip(names, found, strict=True))

    def quick_check(self) -> list[str]:
        """Read the whole file and return the problems found; empty for a sound file."""
        try:
            found = [str(row[0]) for row in self.rows("PRAGMA quick_check")]
            return [row[0] for row in self.rows(_HALVES)] if found == ["ok"] else found
        except StoreCorrupt as error:
            return [str(error)]

    def deep_check(self) -> list[str]:
        """Read every row and index, and return the problems found; empty for a sound file.

        Lists at most 100 rows per table. ``dream.checking`` reads the history of cycles.
        """
        try:
            found = [str(row[0]) for row in self.rows("PRAGMA integrity_check")]
        except StoreCorrupt as error:
            found = [str(error)]
        problems = [] if found == ["ok"] else found
        for table in (
            *("memory", "lifecycle", "link", "setting", "feedback_event", "moment", "past"),
        ):
            try:
                problems += islice(self._damage_in(table), _MOST_LISTED)
            except StoreCorrupt as error:
                problems.append(f"table {table}: {error}")
        return problems + [
            f"memory number {number}: its new vector is damaged; reembed() makes it again"
            for number in self.damaged_new_vectors()[:_MOST_LISTED]
        ]

    def _damage_in(self, table: str) -> Iterator[str]:
        if table == "lifecycle":  # its cells are read with the memories
            yield from (row[0] for row in self.rows(_HALVES))
        elif table == "memory":
            damaged: list[Damaged] = []
            for _ in self.changes(0, batch=_AT_ONCE, on_damage=damaged.append):
                yield from (str(memory.error()) for memory in damaged)
                damaged.clear()
            yield from (str(memory.error()) for memory in damaged)
        else:
            for row in self.raw(table):
                if not row.is_whole:
                    cells = ", ".join(f"{cell!r:.40}" for cell in row.cells)
                    yield f"table {table}: a row is damaged: the checksum is another ({cells})"

    def raw(
        self,
        table: str,
        *,
        besides: tuple[str, ...] = (),
        rest: str = "",
        values: Sequence[Any] = (),
    ) -> Iterator[RawRow]:
        """Yield the raw rows of a table, damaged ones included."""
        cursor = self.run(select_raw(table, besides=besides, rest=rest), values)
        while rows := self.fetch(cursor, _AT_ONCE):
            yield from raw_rows(table, rows)

    def lost_successors(self) -> list[tuple[str, str, bool]]:
        """Return (id, ``superseded_by``, was erased) of memories whose successor is missing.

        At most 100, in order of insertion.
        """
        found = self.rows(_LOST_SUCCESSORS)
        if not found:
            return []
        salt, gone = self.erased_salt(), {erased.digest for erased in self.erased(0)}
        return [(id, successor, digest_of(successor, salt) in gone) for id, successor in found]

    def memory_of(self, row: StoredMemory) -> Memory:
        """Return a row as a memory."""
        return row.memory()

    def _require_whole(self) -> None:
        """Refuse to read in a failed transaction. Does nothing here; transactions override it."""

    def run(self, sql: str, values: Sequence[Any] = ()) -> apsw.Cursor:
        try:
            return self._connection.execute(sql, values)  # reads the first row, if there is one
        except apsw.Error as error:
            raise self._failed(error) from error
        except UnicodeDecodeError as error:  # raised in a registered SQL function
            raise self._not_utf8(error) from error

    def fetch(self, cursor: apsw.Cursor, count: int | None = None) -> list[tuple[Any, ...]]:
        try:
            return list(islice(cursor, count))
        except apsw.Error as error:
            raise self._failed(error) from error
        except UnicodeDecodeError as error:
            raise self._not_utf8(error) from error

    def _not_utf8(self, error: UnicodeDecodeError) -> StoreCorrupt:
        return StoreCorrupt(f"{self._path}: a text in the store is not UTF-8 ({error})")

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self.fetch(self.run(sql, values))

    def _failed(self, error: apsw.Error) -> Exception:
        return translated(error, self._path)


def _bounds(within: Iterable[str]) -> list[str]:
    """Return the conditions that memories meet in a scope with these fields, one value each."""
    return [_BELOW if name == "namespace" else f"memory.{name} = ?" for name in within]


def _raise_damage_of(id: str, damaged: Damaged) -> None:
    raise damaged._replace(id=id).error()


def _rising(rows: list[tuple[Any, ...]], last: int) -> list[tuple[Any, ...]]:
    """Return the rows after the last one, in ascending order, each once.

    They come so unless a damaged page names a row twice.
    """
    numbers = [row[0] for row in rows]
    if numbers[0] > last and numbers == sorted(set(numbers)):
        return rows
    beyond = {row[0]: row for row in rows if row[0] > last}
    return [beyond[number] for number in sorted(beyond)]
