"""The snapshot file next to the store: a cache of the read model, which can always be rebuilt.

A setting of the store names the one file that belongs to it and its stamp on the disk, and the file
records its revision of the store. So the file of a copy, of an older store put back or of another
store is never mistaken for it. Checksums are always verified, those of the vectors, of their
graph and of the statements on first use. The contents are validated, too, unless the file is the very one that was
written here. Forgotten memories must leave no trace, so no file outlives a ``forget``.
"""

from __future__ import annotations

import contextlib
import errno
import math
import os
import re
from time import time
from typing import TYPE_CHECKING, Any, Final

from oneiros import _core, index
from oneiros._lazy import logging, np, pathlib
from oneiros.conflicts.model import reader
from oneiros.errors import OneirosError, SnapshotDamaged
from oneiros.filters.row_bitmaps import allowed_bits, rows_of_bits, sets_of_arrays, values_and_rows
from oneiros.index.snapshot_parts import PartReader, PartWriter, require_sense
from oneiros.index.stored_rows import CODE_COLUMNS, StoredRecords, records_part
from oneiros.store.connections import MEMORY
from oneiros.store.reading import SNAPSHOT_SETTING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyroaring import BitMap
    from typing_extensions import Buffer

    from oneiros.filters.row_bitmaps import RowsByValue
    from oneiros.index.columns import Lifecycle
    from oneiros.index.read_model import ReadModel
    from oneiros.store import Reading, Store
    from oneiros.store.checksums import OnDamage
    from oneiros.vector_index.index import VectorIndex

__all__ = ["FEWEST_ROWS", "SnapshotFile"]

FEWEST_ROWS: Final = 2_000
"""Stores with fewer rows are read as fast without a file."""

_UNFINISHED: Final = r"[0-9a-f]{32}(\..*)?"  # a folder; earlier versions made files
_ABANDONED_SECONDS: Final = 60.0
"""Unfinished files that were not written to for so long are those of killed writers."""

_FORMAT: Final = 15  # changes with the content of any part
_SHARE_CHANGED: Final = (
    500  # the file is rewritten at the close when one row in this many has changed
)
_SHARE_INDEXED: Final = 8  # and while the engine is open, when so many are new or have another text
_STATE_NAMES: Final = (
    *("live", "archived", "quarantined", "superseded"),
    *("cold", "perishable", "doubted", "known"),
)
_INVALID: Final = (SnapshotDamaged, ValueError, TypeError, KeyError, RecursionError)
# The system may refuse to map a file where it grants the memory to build the same from the store. A
# memoryview for which memory runs out raises BufferError.
_REFUSED: Final = (OSError, MemoryError, BufferError)
_HEAD, _STATES, _RECORDS, _WORDS, _FIRST_PLACE = range(5)  # the parts


class SnapshotFile:
    """Reads and writes the snapshot of one store.

    Args:
        store_path: the store's file, or ":memory:", which has no snapshot.
    """

    def __init__(self, store_path: str) -> None:
        self.path: Final = None if store_path == MEMORY else f"{store_path}-snapshot"
        self._known = ""  # the name of the store's file when this engine last read or wrote one

    def load(
        self, reading: Reading, store: Store, read_model: ReadModel, *, on_damage: OnDamage
    ) -> int:
        """Fill an empty read model from the file, if it belongs to this state of the store.

        Args:
            reading: one state of the store.
            store: is read if the vectors of the file, which are loaded later, are damaged.
            read_model: an empty read model.
            on_damage: receives each memory whose vector cannot be read.

        Returns:
            The revision of the read model; 0: it is still empty.
        """
        token, _, stamp = reading.settings().get(SNAPSHOT_SETTING, "").partition(" ")
        self._known = token
        if self.path is None or not token:
            return 0
        made_with = read_model.indexes.made_with
        try:
            snapshot = _core.StoreSnapshot(
                path=self.path, identity=_identity(read_model, token), own_stamp=stamp
            )
            if snapshot.revision > reading.last_revision():
                return 0
            if reading.has_erased(snapshot.revision):
                if not store.is_read_only:
                    self.remove()
                return 0
            rows = _Rows(snapshot, read_model)
            lexical = made_with.saved(snapshot)
        except FileNotFoundError:
            return 0
        except (*_INVALID, *_REFUSED) as error:
            logging.getLogger(__name__).info("%s: not used, all is rebuilt: %s", self.path, error)
            return 0
        rows.hand_over()
        read_model.indexes.take_over(lexical)
        read_model.load_statements_by(
            lambda: self._statements(snapshot, store, read_model, on_damage)
        )
        if rows.has_vectors:
            read_model.indexes.load_vectors_by(
                lambda: self._vectors(snapshot, store, read_model, rows.has_graph, on_damage)
            )
        return snapshot.revision

    def _vectors(
        self,
        snapshot: _core.StoreSnapshot,
        store: Store,
        read_model: ReadModel,
        has_graph: bool,
        on_damage: OnDamage,
    ) -> VectorIndex | None:
        """Return the vectors of the file, or those of the store if the file's are damaged or cannot be mapped."""
        lifecycle, indexes = read_model.lifecycle, read_model.indexes
        try:
            return index.stored_vectors.kept_vectors(
                snapshot, indexes, len(snapshot.ids()), has_graph=has_graph
            )
        except (SnapshotDamaged, *_REFUSED) as error:
            logging.getLogger(__name__).info(
                "%s: its vectors are read from the store: %s", self.path, error
            )
        with store.read() as reading:
            return index.stored_vectors.stored_vectors(reading, lifecycle, indexes, on_damage)

    def _statements(
        self,
        snapshot: _core.StoreSnapshot,
        store: Store,
        read_model: ReadModel,
        on_damage: OnDamage,
    ) -> _core.StatementColumn:
        """Return the statements of the file, or read them from the store if the file's are damaged."""
        try:
            return snapshot.statements(reader=reader())
        except (SnapshotDamaged, *_REFUSED) as error:
            logging.getLogger(__name__).info(
                "%s: its statements are read from the store: %s", self.path, error
            )
        with store.read() as reading:
            return stored_statements(reading, read_model.lifecycle, on_damage)

    def save(self, store: Store, read_model: ReadModel, revision: int) -> None:
        """Write the file if it would hold enough that the last one does not, as at the close."""
        count, indexes = len(read_model.lifecycle.ids), read_model.indexes
        is_recent = read_model.changed_count * _SHARE_CHANGED < count and not indexes.has_new_graph
        is_there = os.path.isfile(str(self.path))  # noqa: PTH113 - pathlib is slow to load
        if self._can_hold(read_model) and not (is_recent and is_there):
            self.write(store, read_model, revision)

    def is_due(self, read_model: ReadModel) -> bool:
        """Whether a restart without a close would have much to index, or the only graph to build.

        What uses and cycles change is read fast, and a graph that has grown grows again.
        """
        count, indexes = len(read_model.lifecycle.ids), read_model.indexes
        is_much = read_model.indexed_count * _SHARE_INDEXED >= count
        return self._can_hold(read_model) and (is_much or indexes.has_first_graph)

    def follow(self, reading: Reading, read_model: ReadModel) -> None:
        """Count what is newer than the file, if another process has written it since.

        Args:
            reading: the state of the store that the read model holds.
            read_model: gets the counts. They stay as they are if it could not be read from the file.
        """
        token, _, stamp = reading.settings().get(SNAPSHOT_SETTING, "").partition(" ")
        if self.path is None or token == self._known:
            return
        self._known = token
        try:
            snapshot = _core.StoreSnapshot(
                path=self.path, identity=_identity(read_model, token), own_stamp=stamp
            )
            has_graph = bool(_head(snapshot)["has_graph"])
        except (*_INVALID, *_REFUSED):
            return
        if reading.has_erased(snapshot.revision):
            return  # the next opening reads none of it
        memory_count, state_count = reading.changed_counts(snapshot.revision)
        read_model.indexed_count = memory_count
        read_model.changed_count = memory_count + state_count
        vectors = read_model.indexes.vectors if read_model.indexes.has_first_graph else None
        if has_graph and vectors is not None:
            vectors.note_kept(*vectors.kept())

    def _can_hold(self, read_model: ReadModel) -> bool:
        """Whether there may be a file of the read model, and one is of use."""
        return (
            self.path is not None
            and len(read_model.lifecycle.ids) >= FEWEST_ROWS
            and not read_model.indexes.has_erased
            and read_model.row_sets.attributes.is_sure
        )

    def write(self, store: Store, read_model: ReadModel, revision: int) -> bool:
        """Write the file; return whether that was done.

        The read model does not change meanwhile. Failures are logged: the store holds everything,
        and a file that does not belong to it is never read.
        """
        indexes = read_model.indexes
        vectors = indexes.vectors
        graph, sealed = (None, None) if vectors is None else vectors.kept()
        token = os.urandom(16).hex()
        unfinished = f"{self.path}.{token}"  # a folder
        made = f"{unfinished}/snapshot"
        try:
            self._remove_unfinished(untouched_since=time() - _ABANDONED_SECONDS)
            os.mkdir(unfinished, 0o700)  # noqa: PTH102 - pathlib is slow to load
            # Only now: who erases later finds the folder, and without it no file can be made there.
            with store.read() as reading:
                if reading.has_erased(revision):
                    return False  # the file would hold what was erased
            _core.save_store_snapshot(
                index=indexes.lexical,
                columns=read_model.lifecycle.columns,
                ids=list(read_model.lifecycle.ids),
                statements=read_model.statements,
                parts=_parts(read_model, has_graph=graph is not None),
                vectors=None if vectors is None else vectors.column,
                vector_graph=b"" if graph is None else index.stored_vectors.graph_part(graph),
                path=made,
                identity=_identity(read_model, token),
                revision=revision,
            )
            with store.write() as transaction:  # keeps others from installing their file
                if transaction.has_erased(revision):
                    return False
                pathlib.Path(made).replace(str(self.path))
                stamp = _core.file_stamp(path=str(self.path))
                transaction.set_setting(SNAPSHOT_SETTING, f"{token} {stamp}")
        except (OneirosError, *_REFUSED) as error:
            # A process that closes at the same time removes unfinished files, having written its own.
            is_removed = isinstance(error, FileNotFoundError)
            level = logging.INFO if is_removed else logging.WARNING
            logging.getLogger(__name__).log(level, "%s: not written: %s", self.path, error)
            return False
        finally:
            self._remove_unfinished()
        self._known = token
        read_model.changed_count = read_model.indexed_count = 0
        if vectors is not None:
            vectors.note_kept(graph, sealed)
        return True

    def remove(self) -> None:
        """Remove the file."""
        if self.path is not None:
            pathlib.Path(self.path).unlink(missing_ok=True)
            self._remove_unfinished()

    def _remove_unfinished(self, *, untouched_since: float = math.inf) -> None:
        """Remove what killed writers left. A writer still at work fails without harm.

        Args:
            untouched_since: seconds; what was written to later stays.
        """
        assert self.path is not None
        path = pathlib.Path(self.path)
        unfinished = re.compile(rf"{re.escape(path.name)}\.{_UNFINISHED}")
        for other in path.parent.glob("*"):
            if unfinished.fullmatch(other.name) and _touched_at(other) < untouched_since:
                _remove_whole(other)


def _touched_at(unfinished: pathlib.Path) -> float:
    """Return when a folder or the files in it were written to last; -inf: there is none."""
    times = [-math.inf]
    for path in (unfinished, *unfinished.glob("*")):
        with contextlib.suppress(FileNotFoundError):  # another process removed it
            times.append(path.stat().st_mtime)
    return max(times)


def _remove_whole(unfinished: pathlib.Path) -> None:
    """Remove a folder and the files in it, which a writer may still make and rename."""
    while True:
        for path in unfinished.glob("*"):
            path.unlink(missing_ok=True)
        try:
            unfinished.rmdir()
        except FileNotFoundError:
            return
        except NotADirectoryError:  # as earlier versions left
            unfinished.unlink(missing_ok=True)
            return
        except OSError as error:
            if error.errno != errno.ENOTEMPTY:
                raise
        else:
            return


def stored_statements(
    reading: Reading, lifecycle: Lifecycle, on_damage: OnDamage
) -> _core.StatementColumn:
    """Return the statements of the store's live memories, except those without a row.

    Args:
        reading: one state of the store.
        lifecycle: knows the rows of the memories.
        on_damage: receives each memory that cannot be read.
    """
    column = _core.StatementColumn(reader=reader())
    for batch in reading.texts(on_damage=on_damage):
        rows = lifecycle.rows_of_sequences(np.array([each[0] for each in batch], np.int64))
        places = np.flatnonzero(rows >= 0).tolist()
        texts = [batch[place][1] for place in places]
        column.write(rows=rows[places].astype(np.uint32), texts=texts)
    return column


def _identity(read_model: ReadModel, token: str) -> str:
    columns = _core.Columns.schema()
    return read_model.indexes.made_with.identity(store=token, columns=columns, parts=_FORMAT)


def _head(snapshot: _core.StoreSnapshot) -> dict[str, Any]:
    head: dict[str, Any] = PartReader(snapshot.part(place=_HEAD)).take_json()
    return head


class _Rows:
    """The rows of a snapshot, read or validated as far as necessary.

    Raises:
        SnapshotDamaged, ValueError, TypeError, KeyError, RecursionError: the content is invalid.
    """

    def __init__(self, snapshot: _core.StoreSnapshot, read_model: ReadModel) -> None:
        self._read_model = read_model
        self.columns = snapshot.columns()
        self.ids = snapshot.ids()
        self._count = len(self.ids)
        require_sense(len(self.columns) == self._count, "not as many ids as rows")
        head = _head(snapshot)
        self.has_vectors, self.has_graph = bool(head["has_vectors"]), bool(head["has_graph"])
        is_consistent = self.has_vectors == snapshot.has_vectors
        require_sense(is_consistent, "no vectors where there should be some")
        places = [tuple(map(str, place)) for place in head["places"]]
        words = snapshot.part(place=_WORDS)
        self._words = {name: _words_of(words, place) for place, name in enumerate(CODE_COLUMNS)}
        kinds = self._words["kind"]()  # every search needs them
        self._words["kind"] = lambda: kinds
        self.states = _states(snapshot.part(place=_STATES), self._count)
        lifecycle = read_model.lifecycle
        self.records = StoredRecords(
            snapshot.part(place=_RECORDS),
            lambda name: snapshot.column(name=name),
            lifecycle.stored_word,
        )
        self._sets = {
            place: _sets_of(snapshot.part(place=_FIRST_PLACE + number), self._count)
            for number, place in enumerate(places)
        }
        if not snapshot.is_own:
            self._check(snapshot)

    def hand_over(self) -> None:
        """Pass everything to the read model."""
        lifecycle, row_sets = self._read_model.lifecycle, self._read_model.row_sets
        lifecycle.take_over(self.columns, self.ids, self.records, self._words)
        row_sets.take_over(self.states, self._sets, self.records)

    def _check(self, snapshot: _core.StoreSnapshot) -> None:
        self.ids.between(0, self._count)  # raises unless all are UTF-8
        self.records.check(self._count)
        for name, words in self._words.items():
            codes = np.asarray(memoryview(snapshot.column(name=CODE_COLUMNS[name])))
            known = words()
            require_sense(len(set(known)) == len(known), "a word has two codes")
            require_sense(int(codes.max(initial=0)) <= len(known), "a code stands for no word")
        for read in self._sets.values():
            read()


def _parts(read_model: ReadModel, *, has_graph: bool) -> list[bytes]:
    """Return the parts of the file besides columns, ids, lexical index and vectors."""
    lifecycle, row_sets = read_model.lifecycle, read_model.row_sets
    attributes = row_sets.attributes
    ids, states, places = list(lifecycle.ids), row_sets.states(), attributes.index.places()
    vectors = read_model.indexes.vectors
    head, bits, words = PartWriter(), PartWriter(), PartWriter()
    has = {"has_vectors": vectors is not None, "has_graph": has_graph}
    head.put_json({**has, "places": list(places)})
    for name in _STATE_NAMES:
        bits.put_bytes(allowed_bits(states[name], len(ids)))
    for name in CODE_COLUMNS:
        words.put_json(lifecycle.words()[name])
    known = states["known"]
    records = records_part(
        attributes.stored,
        ids,
        lifecycle.all_sessions(),
        attributes.stored_texts(),
        known.__contains__,
    )
    sets = [_part_of_sets(rows_by_value) for rows_by_value in places.values()]
    return [head.bytes(), bits.bytes(), records, words.bytes(), *sets]


def _part_of_sets(sets: RowsByValue) -> bytes:
    values, sizes, rows = values_and_rows(sets)
    part = PartWriter()
    part.put_json(values)
    part.put_bytes(sizes.tobytes())
    part.put_bytes(rows.tobytes())
    return part.bytes()


def _sets_of(part: Buffer, row_end: int) -> Callable[[], RowsByValue]:
    """Return a function that reads the sets of a place."""

    def read() -> RowsByValue:
        reader = PartReader(part)
        values, sizes = reader.take_json(), reader.take("I")
        return sets_of_arrays(values, sizes, reader.take("I"), row_end)

    return read


def _words_of(part: Buffer, place: int) -> Callable[[], Sequence[str]]:
    """Return a function that reads the words of a field's codes."""

    def read() -> Sequence[str]:
        reader = PartReader(part)
        for _ in range(place):
            reader.take("B")
        return [str(word) for word in reader.take_json()]

    return read


def _states(part: Buffer, row_end: int) -> dict[str, BitMap]:
    reader = PartReader(part)
    states: dict[str, BitMap] = {}
    for name in _STATE_NAMES:
        bits = reader.take("B")
        require_sense(len(bits) == -(-row_end // 8), "not as many rows' states as rows")
        states[name] = rows_of_bits(bits, row_end)
    return states
