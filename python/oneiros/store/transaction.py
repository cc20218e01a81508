"""A write transaction: all of it becomes durable together, under one revision number."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, Final

import apsw

from oneiros.clock import system_clock
from oneiros.model.fields import ENUMS, VERDICTS
from oneiros.model.validation import wrong
from oneiros.runtime.dataclasses import NamedTuple
from oneiros.store.checksums import checksum, checksum_after, insert_of
from oneiros.store.connections import MEMORY, StoreConnection
from oneiros.store.cycles import APART, CycleWriting
from oneiros.store.erased import (
    HORIZON_SETTING,
    MOST_KEPT,
    ErasedMemory,
    cell_of,
    digest_of,
    forget_names,
)
from oneiros.store.history import HistoryWriting, Keeping
from oneiros.store.links import REMOVE, SET, LinkValues, StoredLink
from oneiros.store.reading import MOST_QUESTIONS, TRACES_SETTING, USES_SETTING
from oneiros.store.row_writing import RowWriting, assigned
from oneiros.store.rows import current_again, json_text
from oneiros.store.unused_bytes import is_log_empty, zero_unused

__all__ = ["ErasedRows", "Transaction"]


_SESSIONS: Final = "SELECT sequence, sessions, session_spread FROM lifecycle WHERE sequence = ?"
_VERDICT: Final = {
    "sequence": "sequence",
    "kind": "kind",
    "verdict": "?1",
    "time": "?2",
    "question": "?4",
}
_ADD_VERDICT: Final = f"""
INSERT INTO feedback_event ({", ".join(_VERDICT)}, checksum)
SELECT {", ".join(_VERDICT.values())}, {checksum(_VERDICT)} FROM memory WHERE sequence = ?3"""
_PUT_VERDICT: Final = insert_of("feedback_event")
_WITHOUT_QUESTION: Final = f"""
UPDATE feedback_event SET question = NULL, checksum = {checksum_after({"question": "NULL"})}
WHERE question NOT NULL"""
# Each verdict drops one question, so the search for it ends at the first that is too many.
_DROP_OLD_QUESTION: Final = f"""{_WITHOUT_QUESTION} AND number = (
  SELECT number FROM feedback_event WHERE sequence = ?1 AND question NOT NULL
  ORDER BY number DESC LIMIT 1 OFFSET {MOST_QUESTIONS})"""
_DROP_EMBEDDED_QUESTIONS: Final = f"""
UPDATE feedback_event SET question = x'01', checksum = {checksum_after({"question": "x'01'"})}
WHERE substr(question, 1, 1) = x'01'"""
_SET_SETTING: Final = insert_of("setting", "INSERT OR REPLACE")
# Compares with the rows themselves, as a damaged index may lead to others.
_SUPERSEDED: Final = """
SELECT older.sequence, older.id, ?1, older.metadata, state.tier, state.cold_since
FROM memory AS found INDEXED BY successor
CROSS JOIN memory AS older NOT INDEXED ON older.sequence = found.sequence
LEFT JOIN lifecycle AS state ON state.sequence = older.sequence
WHERE found.superseded_by = ?1 AND older.superseded_by = ?1 AND older.id <> ?1"""
# A user or project that names a memory of another may know no more than this one id.
_SUCCESSOR: Final = f"""
SELECT newer.id FROM memory AS gone NOT INDEXED
JOIN memory AS older NOT INDEXED
  ON older.sequence = ?2 AND {" AND ".join(f"older.{field} IS gone.{field}" for field in APART)}
JOIN memory AS newer ON newer.id = gone.superseded_by
WHERE gone.sequence = ?1 AND newer.id <> gone.id"""
_WAITING: Final = """
SELECT older.sequence FROM memory AS fresh NOT INDEXED
CROSS JOIN memory AS older INDEXED BY successor ON older.superseded_by = fresh.id
WHERE fresh.sequence BETWEEN ?1 AND ?2 AND older.sequence NOT BETWEEN ?1 AND ?2"""
_GIVEN: Final = "(SELECT value FROM json_each(?1))"
_ERASE: Final = tuple(
    f"DELETE FROM {table} WHERE {column} IN {_GIVEN}"
    for table, column in (
        ("feedback_event", "sequence"),
        ("link", "first"),
        ("link", "second"),
        ("dream_content", "sequence"),
        ("replay", "sequence"),
        ("past", "sequence"),
        ("lifecycle", "sequence"),
        ("memory", "sequence"),
    )
)
_ERASED_ROWS: Final = f"""
SELECT
  (SELECT count(*) FROM link WHERE first IN {_GIVEN} AND weight > 0)
    + (SELECT count(*) FROM link WHERE second IN {_GIVEN} AND first NOT IN {_GIVEN} AND weight > 0),
  (SELECT count(*) FROM feedback_event WHERE sequence IN {_GIVEN}),
  (SELECT count(*) FROM dream_content WHERE sequence IN {_GIVEN})"""
_LAST_UNLISTED: Final = "SELECT revision FROM erased ORDER BY revision DESC LIMIT 1 OFFSET ?"
_CLEARED: Final = {"value": "''"}
_NONE: Final[Mapping[str, int | None]] = MappingProxyType({})
_CLEAR_TRACES: Final = f"""
UPDATE setting SET value = '', checksum = {checksum_after(_CLEARED)} WHERE key = ?1 AND value = ?2"""

_KEEP_NEW_VECTOR: Final = "UPDATE memory SET new_embedding = ? WHERE sequence = ?"
_NEW_VECTORS: Final = """
SELECT sequence, new_embedding FROM memory
WHERE sequence > ? AND (embedding IS NOT NULL OR new_embedding > x'')
ORDER BY sequence LIMIT 1000"""

# From this many new memories on, a first query on text digests picks out the possible duplicates.
_MANY: Final = 64
_KNOWN_DIGESTS: Final = """
SELECT value FROM json_each(?1)
WHERE EXISTS (SELECT 1 FROM memory WHERE text_digest = value AND sequence < ?2)"""
_WHOSE: Final = ("user", "agent", "namespace")
# A memory without a lifecycle is damaged, not quarantined.
_IS_CONSULTED: Final = f"""(SELECT status FROM lifecycle
      WHERE lifecycle.sequence = {{table}}.sequence) IS NOT {ENUMS["status"].index("quarantined")}"""
# {bounds}: further fields that both must share.
_OLDER_DUPLICATES: Final = """
WITH repeated AS MATERIALIZED (
  SELECT (
    SELECT older.id FROM memory AS older
    WHERE older.text_digest = own.text_digest AND older.topic IS own.topic
      AND older.text = own.text AND older.sequence < own.sequence
      AND older.deleted_at IS NULL{bounds}
      AND {older_is_consulted}
    ORDER BY older.sequence LIMIT 1) AS older
  FROM memory AS own WHERE own.sequence {places} AND {own_is_consulted})
SELECT older FROM repeated WHERE older IS NOT NULL"""


@cache
def _older_duplicates(within: tuple[str, ...], places: str) -> str:
    shared = [assigned(name)[0] for name in dict.fromkeys((*_WHOSE, *within))]
    bounds = "".join(f" AND older.{name} IS own.{name}" for name in shared)
    older, own = (_IS_CONSULTED.format(table=name) for name in ("older", "own"))
    return _OLDER_DUPLICATES.format(
        bounds=bounds, places=places, older_is_consulted=older, own_is_consulted=own
    )


class ErasedRows(NamedTuple):
    """The numbers of rows erased with memories."""

    links: int
    verdicts: int
    dream_changes: int


class Transaction(RowWriting):
    """The writes available inside ``with store.write() as transaction``.

    Reads inside it see its own writes. Not for use by several threads, nor after the block.
    """

    def __init__(
        self,
        connection: StoreConnection,
        path: str,
        last_revision: int | None = None,
        *,
        keeping: Keeping | None = None,
        read_time: Callable[[], float] = system_clock,
    ) -> None:
        super().__init__(connection, path, last_revision)
        if keeping is not None and keeping.is_on:
            self.keeper = HistoryWriting(self, keeping, read_time)

    @property
    def cycles(self) -> CycleWriting:
        """Reads and writes the history of dream cycles."""
        return CycleWriting(self)

    def count_duplicates(self, sequences: range, *, within: Iterable[str] = ()) -> int:
        """Raise ``duplicate_count`` of the oldest live memory with the same text and topic.

        Memories of different users, agents or namespaces are no duplicates, nor quarantined ones.

        Args:
            sequences: of memories just inserted; each duplicate of an older live text counts once.
            within: further fields that must be equal, so that adding in a scope neither reads nor
                writes outside it.

        Returns:
            The number of duplicates.

        Source: docs/systems/fields.md.
        """
        if not sequences:
            return 0
        places = "BETWEEN ? AND ?"
        values: tuple[int | str, ...] = (sequences[0], sequences[-1])
        if len(sequences) >= _MANY:
            found = self._perhaps_repeating(sequences)
            if not found:
                return 0
            places = "IN (SELECT value FROM json_each(?))"
            values = (json.dumps(found),)
        older = self.rows(_older_duplicates(tuple(within), places), values)
        return self.increment((row[0], {"duplicate_count": 1}) for row in older) if older else 0

    def _perhaps_repeating(self, sequences: range) -> list[int]:
        """Return the inserted memories whose text digest another memory has too."""
        pairs = [
            pair
            for part in self._fresh
            for pair in zip(part["sequence"], part["text_digest"], strict=True)
            if pair[0] in sequences
        ]
        digests = [digest for _, digest in pairs]
        known = set(digests)
        repeated: set[int] = set()
        if len(known) < len(digests):
            repeated.update(digest for digest, count in Counter(digests).items() if count > 1)
        if self.rows("SELECT min(sequence) FROM memory")[0][0] < sequences[0]:
            rows = self.rows(_KNOWN_DIGESTS, (json.dumps(list(known)), sequences[0]))
            repeated.update(row[0] for row in rows)
        return [sequence for sequence, digest in pairs if digest in repeated]

    def add_sessions(self, rows: Iterable[tuple[str, Iterable[str]]]) -> int:
        """Add to the sets of sessions that have seen a memory.

        ``session_spread`` rises to the size of the set if it was smaller.

        Args:
            rows: (id, sessions). Unknown ids are skipped.

        Returns:
            The number of rows changed.
        """
        added: dict[str, set[str]] = {}
        for id, sessions in rows:
            added.setdefault(id, set()).update(sessions)
        sessions_of = {number: added[id] for id, number in self.sequences_of(added).items()}
        values = []
        numbers = [(number,) for number in sessions_of]
        for number, text, spread in self._run_many(_SESSIONS, numbers):
            before = set() if text is None else set(json.loads(text))
            after = before.union(sessions_of[number])
            if after != before:
                values.append(
                    (json_text(sorted(after)), max(spread, len(after)), self.revision, number)
                )
        if not values:
            return 0
        assignments = [("sessions", "?"), ("session_spread", "?")]
        return self._assign(assignments, values, table="lifecycle")

    def feedback(
        self, id: str, verdict: str, time: float, *, question: bytes | None = None
    ) -> None:
        """Record a verdict on a memory and add it to its ``feedback``.

        Args:
            id: the memory.
            verdict: "helpful" (+1), "unhelpful" (-1) or "outdated" (-2).
            time: of the verdict, in seconds since the Unix epoch.
            question: the stored form of the question it was given for, or None. Those of the
                newest :data:`MOST_QUESTIONS` verdicts of the memory are kept.

        Raises:
            UnknownMemory: no memory has the id.
            ValueError: no such verdict.
        """
        if verdict not in VERDICTS:
            raise ValueError(wrong("verdict", "one of " + ", ".join(VERDICTS), verdict))
        number = self._number(id)
        self.increment([(id, {"feedback": VERDICTS[verdict]})])
        self.run(_ADD_VERDICT, (verdict, time, number, question))
        if self.keeper is not None:
            self.keeper.note_verdict(number)
        if question is not None:
            self.run(_DROP_OLD_QUESTION, (number,))

    def drop_embedded_questions(self) -> None:
        """Empty the vectors of verdicts' questions, which those of another embedder are never like.

        The verdicts stay verdicts for a question: a bad one does not begin to count for all.
        """
        self._has_changed = True
        self.run(_DROP_EMBEDDED_QUESTIONS)

    def add_verdicts(self, rows: Iterable[tuple[int, str, str, float, bytes | None]]) -> None:
        """Add verdicts as they were given before; the memories' ``feedback`` counts them already.

        Args:
            rows: (sequence, kind, verdict, time, question), in the order in which they were given.
        """
        self._has_changed = True
        self._run_many(_PUT_VERDICT, list(rows))

    def set_link(self, link: StoredLink) -> bool:
        """Create or replace a link.

        Args:
            link: of two memories; an existing link keeps its ``created_at``.

        Returns:
            Whether both memories exist.
        """
        return self.set_links([link]) > 0

    def set_links(self, links: Iterable[StoredLink]) -> int:
        """Create or replace links; those of unknown memories are skipped.

        Returns:
            The number of links set.
        """
        links = list(links)
        numbers = self.sequences_of(id for link in links for id in link[:2])
        values: list[LinkValues] = []
        for link in links:
            if link.one in numbers and link.other in numbers:
                first, second = sorted((numbers[link.one], numbers[link.other]))
                state = (link.kind, link.weight, link.created_at, link.co_retrieved_at)
                values.append((first, second, *state))
        return self.set_numbered_links(values)

    def set_numbered_links(self, links: Sequence[LinkValues]) -> int:
        """Create or replace links of existing memories, given by sequence numbers."""
        self._has_changed = True
        if self.keeper is not None:
            self.keeper.keep_links(link[:2] for link in links)
        values = ((first, second, self.revision, *state) for first, second, *state in links)
        self._run_many(SET, values)
        return len(links)

    def remove_link(self, one: str, other: str) -> bool:
        """Remove a link; return whether it existed."""
        self._has_changed = True
        ends = sorted(self.sequences_of([one, other]).values())
        if len(ends) != 2:
            return False
        if self.keeper is not None:
            self.keeper.keep_links([(ends[0], ends[1])])
        self.run(REMOVE, (self.revision, *ends))
        return self._connection.changes() > 0

    def insert_columns(
        self, columns: Mapping[str, Sequence[Any]], shared: Mapping[str, Any]
    ) -> range:
        """Add memories, and mark those as changed that name one of them as their successor.

        A memory counts as superseded once the store holds its successor, so followers must read it
        again.
        """
        sequences = super().insert_columns(columns, shared)
        successors = columns.get("superseded_by", (shared.get("superseded_by"),))
        if any(successor is not None for successor in successors):
            self._has_changed = True  # whether it counts as superseded depends on other rows
        if sequences:
            waiting = self.rows(_WAITING, (sequences[0], sequences[-1]))
            if waiting:
                self._assign([], [(self.revision, number) for (number,) in waiting])
        return sequences

    def erase(self, id: str) -> bool:
        """Erase a memory for good, as :meth:`erase_many`; return whether it existed."""
        if self._indexed([id])[id] is None:
            self.require_indexed([id])
            self.note_change()
            return False
        self.erase_many([id])
        return True

    def erase_many(
        self, ids: Sequence[str], *, numbers: Mapping[str, int | None] = _NONE
    ) -> ErasedRows:
        """Erase memories for good: their rows, vectors, verdicts, links and dream records.

        The bytes in their pages are overwritten at once; older copies of the pages stay in the log
        until ``Store.checkpoint``. Memories that they superseded get the next successor that is left
        as theirs, or none and are current again.

        Args:
            ids: the memories; unknown ids are skipped.
            numbers: what :meth:`require_indexed` returned in this transaction, for any of them.

        Returns:
            How many rows went with them.

        Raises:
            StoreCorrupt: the index of ids does not lead to a memory, so it cannot be erased.
        """
        self._has_changed = True
        found = {**numbers, **self.require_indexed([id for id in ids if id not in numbers])}
        gone = {id: number for id in ids if (number := found[id]) is not None}
        if not gone:
            return ErasedRows(0, 0, 0)
        self._relink(gone)
        last = max(gone.values())
        if last + 1 == self.next_sequence():  # the number must not be reused
            self.run("DELETE FROM sqlite_sequence WHERE name = 'memory'")
            self.run("INSERT INTO sqlite_sequence (name, seq) VALUES ('memory', ?)", (last,))
        given = (json.dumps(sorted(gone.values())),)
        erased = ErasedRows(*self.rows(_ERASED_ROWS, given)[0])
        for sql in _ERASE:
            self.run(sql, given)
        salt = self.erased_salt()
        self._run_many(
            "INSERT OR IGNORE INTO erased (revision, id) VALUES (?, ?)",
            [
                (self.revision, cell_of(ErasedMemory(number, digest_of(id, salt))))
                for id, number in gone.items()
            ],
        )
        forget_names(self.rows, list(gone), salt, superseded=self.relinked)
        self._forget_old_erasures()
        self._erased.update(gone)
        return erased

    def _forget_old_erasures(self) -> None:
        """Keep the last :data:`erased.MOST_KEPT` erased memories; earlier commits' go."""
        last = self.rows(_LAST_UNLISTED, (MOST_KEPT,))
        if last and last[0][0] < self.revision:
            self.run("DELETE FROM erased WHERE revision <= ?", last[0])
            self.set_setting(HORIZON_SETTING, str(last[0][0]))

    def note_traces(self) -> None:
        """Record that the log and the snapshot may hold what this commit erases."""
        if self._path != MEMORY:
            self.set_setting(TRACES_SETTING, str(self.revision))

    def clear_traces(self, noted: str) -> bool:
        """Zero the unused bytes of pages and record that no trace of the commit ``noted`` is left.

        The store's revision stays, since nothing changes for those that follow it.

        Args:
            noted: the value of :data:`TRACES_SETTING` before the log was emptied. A later commit
                of another process keeps its own.

        Returns:
            Whether it was done; False: another process wrote to the log meanwhile.
        """
        self._has_changed = True
        if not is_log_empty(self._connection):
            return False
        try:
            zero_unused(self._connection)
        except apsw.Error as error:
            raise self._failed(error) from error
        self.run(_CLEAR_TRACES, (TRACES_SETTING, noted))
        return True

    def forget_history(self) -> None:
        """Erase all that was replaced, and keep nothing of this transaction."""
        self.keeper = None
        for table in ("past", "moment"):
            self.run(f"DELETE FROM {table}")

    def rebuild_index(self, name: str) -> None:
        """Rebuild an index from its table. Memories keep their revisions."""
        self._has_changed = True
        self.run(f"REINDEX {name}")

    def keep_new_vectors(self, rows: Iterable[tuple[int, bytes | None]]) -> None:
        """Store vectors of a new embedder apart from those used by searches.

        Memories keep their revisions, and other processes do not see the vectors.

        Args:
            rows: (sequence number, encoded vector), or None for a text without a vector.
        """
        self._has_changed = True
        self._run_many(_KEEP_NEW_VECTOR, [(blob or b"", sequence) for sequence, blob in rows])

    def drop_new_vectors(self) -> None:
        """Delete the vectors that :meth:`keep_new_vectors` stored."""
        self._has_changed = True
        self.run("UPDATE memory SET new_embedding = NULL WHERE new_embedding IS NOT NULL")

    def drop_damaged_new_vectors(self) -> int:
        """Delete damaged new vectors, so that they are made again; return their number."""
        damaged = self.damaged_new_vectors()
        if damaged:
            self._has_changed = True
            sql = "UPDATE memory SET new_embedding = NULL WHERE sequence = ?"
            self._run_many(sql, [(number,) for number in damaged])
        return len(damaged)

    def take_new_vectors(self) -> int:
        """Replace the vector of every memory by its new one, or by none.

        Marks of texts that have no vector are kept.

        Returns:
            The number of memories that the new embedder has processed.
        """
        count = self.new_vector_count()
        after = 0
        if self.keeper is not None:
            self.keeper.note_vectors()
        while rows := self.rows(_NEW_VECTORS, (after,)):
            vectors = ((number, {"embedding": blob or None}) for number, blob in rows)
            self._set(vectors, assigned)
            after = rows[-1][0]
        self._has_changed = True
        self.run("UPDATE memory SET new_embedding = NULL WHERE new_embedding > x''")
        return count

    def _relink(self, gone: Mapping[str, int]) -> None:
        """Give the memories that others superseded the next successor left, or make them current.

        The successors of memories of another user, project, agent or namespace are not passed on.

        Args:
            gone: the ids of the others, which are about to be erased, with their numbers.
        """
        for number, name, id, *state in list(self._run_many(_SUPERSEDED, [(id,) for id in gone])):
            if name in gone:
                continue
            successor = self._next_successor(number, id, gone)
            changes: dict[str, object] = {"superseded_by": successor}
            if successor is None or successor == name:
                changes = current_again(*state)
            self._set([(number, changes)], assigned, is_use=False)
            self.relinked.append(number)

    def _next_successor(self, number: int, id: str, gone: Mapping[str, int]) -> str | None:
        """Return the first memory that supersedes another through this one and is not to be erased."""
        passed: set[str] = set()
        successor: str | None = id
        while successor is not None and successor in gone and successor not in passed:
            passed.add(successor)
            found = self.rows(_SUCCESSOR, (gone[successor], number))
            successor = found[0][0] if found else None
        return successor if successor not in passed else None

    def changed_ids(self) -> list[str]:
        """Return the ids of the memories that this transaction added, changed or erased so far."""
        changes = self.changes_by_revision(self.revision - 1)
        return [*sorted(self._erased), *(change.id for change in changes if change.sequence)]

    def record_uses(self) -> None:
        """Record that this commit changes nothing but the use of memories.

        Searches of other processes need not wait until they have applied it.
        """
        settled = self.settled(self.revision - 1)
        self.run(_SET_SETTING, (USES_SETTING, str(settled), self.revision))

    def set_setting(self, key: str, value: str) -> None:
        """Set a setting of the store, such as the name of its embedder."""
        self.has_set = True
        self.run(_SET_SETTING, (key, value, self.revision))

    def remove_setting(self, key: str) -> None:
        """Remove a setting of the store, if it has it.

        REQUIRES: the transaction sets another one, whose row keeps the revision.
        """
        self.run("DELETE FROM setting WHERE key = ?", (key,))
