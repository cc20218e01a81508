"""The scopes of one shard: which lie here, which were moved, and one side of every move.

A move goes through these steps, each of which may be repeated (:mod:`oneiros.ray.moves` calls them):

1. The source keeps answering. Its memories are copied to a file next to the target's store, and what
   changes meanwhile is copied again.
2. ``leave``: the source notes in its store that the scope is leaving, and refuses writes to it.
3. The last changes follow. ``take``: the target adds the memories to its store and notes, in the same
   transaction, that the scope is here. This is the moment from which the scope has moved.
4. ``release``: the source erases its copy and notes, in the same transaction, where the scope went.

A move that was interrupted is finished if the target took the scope, and taken back if it did not.
A store notes where a scope is by a keyed digest of the value, since that may name a person and the note
outlives the memories. Only while the scope is leaving does the note have the value itself.
Nothing here knows Ray.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import threading
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import apsw

from oneiros.engine.maintenance import drop_empty_rows
from oneiros.errors import StoreBusy, StoreCorrupt
from oneiros.ray.failures import MixedShards, ScopeBusy, ScopeMoved
from oneiros.store import StoredLink
from oneiros.store.erased import digest_of
from oneiros.store.rows import DEFAULT_CELLS
from oneiros.write.vectors import DIMENSION_SETTING, EMBEDDER_SETTING

if TYPE_CHECKING:
    from oneiros.engine.engine import Engine
    from oneiros.ray.routing import Layout
    from oneiros.store import StoredMemory, Transaction

__all__ = [
    "Changed",
    "Move",
    "Remainder",
    "ScopePlace",
    "ShardPlaces",
    "ShardScopes",
    "places_of",
    "takes_new_scopes",
]


_PLACE: Final = "place of scope "
_REFUSED: Final = "given-up move of scope "
"""The beginnings of settings, before a digest: the place of a scope, and the last move of it that was
given up."""
_SALT: Final = "salt of scopes"
"""The setting with the key of the digests."""
_OPEN_SHARDS: Final = "scopes of others go to"
_CELLS: Final = (*DEFAULT_CELLS, "text_digest")
"""The cells of a memory that move with it; all but its numbers here."""
_AT_ONCE: Final = 1_000
_PATIENCE: Final = 60.0  # seconds for which a move waits for writes that have begun


class Move(NamedTuple):
    """A scope on its way from one shard to another."""

    id: str
    """A ULID; later moves have greater ones."""
    value: str
    """Value of the key."""
    source: int
    target: int
    salt: str
    """The key of the digests of values; all shards of a store have the same."""


class ScopePlace(NamedTuple):
    """The state of a scope that was ever moved to a shard or away from it, as this shard knows it."""

    state: str
    """"here"; "leaving", to ``shard``; or "gone", to ``shard``."""
    shard: int
    """The other shard."""
    move: str
    """Id of the move."""
    value: str = ""
    """Value of the key while the scope is leaving, else empty."""


class ShardPlaces(NamedTuple):
    """The scopes that were ever moved to a shard or away from it, as this shard knows them."""

    salt: str
    """The key of the digests; without :attr:`is_keyed` one that the shard could give to all."""
    is_keyed: bool
    """Whether the shard has noted the key."""
    by_digest: dict[str, ScopePlace]


class Changed(NamedTuple):
    """The changes of a scope after a revision."""

    sequences: list[int]
    links: list[StoredLink]
    """Links of two memories of the scope; a weight of 0: removed."""
    revision: int
    """The revision to ask from next."""


class Remainder(NamedTuple):
    """The rest of the copy of a scope that is leaving."""

    sequences: list[int]
    """The memories, in order of insertion."""
    verdicts: list[tuple[int, str, str, float, bytes | None]]
    replays: list[tuple[int, float]]
    settings: dict[str, str]
    """Settings about the vectors."""


class ShardScopes:
    """The scopes of one shard.

    Args:
        engine: the engine of the shard.
        number: number of the shard.
        layout: how memories are split.
    """

    def __init__(self, engine: Engine, number: int, layout: Layout) -> None:
        self._engine = engine
        self._number = number
        self._layout = layout
        self._store = Path(engine._scope.services.store.path)
        self._quiet = threading.Condition()
        self._uses: Counter[str | None] = Counter()  # by value; None: calls about all memories
        self._writers: Counter[str | None] = Counter()
        self._shut: set[str | None] = set()  # calls about these wait
        self._process, self._step_count = os.urandom(8).hex(), 0
        self._is_read_only = engine._scope.services.is_read_only
        self._read_at, self._noted = -1, dict[str, str]()  # a revision, and the notes then
        self._held: set[str | None] = set()  # writes to these wait; None: all writes
        self._salt = ""  # empty: none is noted yet
        self._places: dict[str, ScopePlace] = {}  # by digest
        self._open_shards: list[int] = []
        # Every process that has the shard open shares a lock on its note.
        self._lock: int | None = None
        if not self._is_read_only:
            self._lock = os.open(self._store.with_suffix(".json"), os.O_RDONLY | os.O_CLOEXEC)
            with suppress(BlockingIOError):  # a move of another process is just asking
                fcntl.flock(self._lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        with engine._scope.services.store.read() as reading:
            self._own_salt = digest_of(_SALT, reading.erased_salt())
        self._read_notes()

    def close(self) -> None:
        """Let go of the lock that says that the shard is open."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    # -- calls of clients ----------------------------------------------------------------------------

    @property
    def places(self) -> ShardPlaces:
        """The scopes that were moved, as far as this shard knows."""
        self._follow()
        salt = self._salt or self._own_salt
        return ShardPlaces(salt, bool(self._salt), dict(self._places))

    @property
    def token(self) -> str:
        """Another text before and after every step that changes which memories lie here."""
        self._follow()
        return f"{self._process} {self._step_count}"

    def require_settled(self) -> None:
        """Refuse a call about all memories of the shard while a scope is leaving.

        Raises:
            ScopeBusy: one is.
        """
        self._follow()
        for place in self._places.values():
            if place.state == "leaving":
                raise _busy(place)

    @contextmanager
    def using(self, values: Collection[str] | None, *, writes: bool) -> Iterator[None]:
        """Run a call in the block, unless its scope is elsewhere.

        Args:
            values: the values of the key that the call names; None: it is about the whole shard.
            writes: whether it changes memories. Moves wait until it is over. A read-only engine
                changes none; a scope that another process moved meanwhile is elsewhere.

        Raises:
            ScopeMoved: the scope is in another shard.
            ScopeBusy: the call writes to a scope that is leaving.
        """
        roots = None if values is None else {self._layout.root(value) for value in values}
        writes = writes and not self._is_read_only
        taken: list[str | None] = [None] if roots is None else list(roots)
        self._follow()
        with self._quiet:
            self._require_here(roots, writes=writes)
            if self._shut.intersection(taken):
                msg = "a scope is coming or going; the call was not carried out"
                raise ScopeBusy(msg)
            self._uses.update(taken)
            if writes:
                self._writers.update(taken)
        try:
            yield
        finally:
            with self._quiet:
                self._uses.subtract(taken)
                if writes:
                    self._writers.subtract(taken)
                self._quiet.notify_all()
            if self._is_read_only:
                self._follow()
                self._require_here(roots, writes=False)

    def _require_here(self, roots: set[str] | None, *, writes: bool) -> None:
        if writes and self._held & {None, *(roots or self._held)}:
            msg = "a scope of this shard is about to leave; the call was not carried out"
            raise ScopeBusy(msg)
        if roots is None:
            if writes:
                self.require_settled()
            return
        for value in roots:
            place = self._place(value)
            if place is None:
                if writes and self._open_shards:
                    self._assign(value)
            elif place.state == "gone":
                raise ScopeMoved(value, place.shard)
            elif writes and place.state == "leaving":
                raise _busy(place)

    def _place(self, value: str) -> ScopePlace | None:
        return self._places.get(digest_of(value, self._salt)) if self._places else None

    def _assign(self, value: str) -> None:
        """Send a new scope to another shard, as this one takes no new ones.

        Raises:
            ScopeMoved: always.
        """
        digest = hashlib.blake2b(value.encode(), digest_size=8, salt=b"assigned").digest()
        shard = self._open_shards[int.from_bytes(digest, "big") % len(self._open_shards)]
        gone = json.dumps(ScopePlace("gone", shard, ""))
        self._record({_PLACE + digest_of(value, self._salt): gone})
        raise ScopeMoved(value, shard)

    # -- the source ----------------------------------------------------------------------------------

    def values(self) -> list[str]:
        """Return the values of the key that have memories here."""
        with self._engine._scope.services.store.read() as reading:
            found = reading.values_of(self._layout.key)
        return sorted({self._layout.root(value) for value in found})

    def changed(self, value: str, since: int) -> Changed:
        """Return what changed in a scope after a revision of the store; 0: all of it."""
        bounds = self._bounds(value)
        with self._engine._scope.services.store.read() as reading:
            ids = {memory.id for memory in reading.changes_by_revision(0, bounds)}
            return Changed(
                sorted(memory.sequence for memory in reading.changes_by_revision(since, bounds)),
                [
                    link
                    for batch in reading.links(since)
                    for link in batch
                    if link.one in ids and link.other in ids
                ],
                reading.last_revision(),
            )

    def rows(self, sequences: Sequence[int]) -> list[tuple[Any, ...]]:
        """Return the memories of sequence numbers as cells, those that are left."""
        with self._engine._scope.services.store.read() as reading:
            return [
                (memory.sequence, *_cells_of(memory))
                for batch in reading.of_sequences(sequences)
                for memory in batch
            ]

    def leave(self, move: Move) -> None:
        """Refuse writes to a scope from now on, until the move is over.

        Raises:
            ScopeMoved: the scope is not here.
            ScopeBusy: a write that has begun does not end, or another process has the store open.
            ValueError: a memory of the scope supersedes one outside of it, or the other way round.
        """
        leaving = ScopePlace("leaving", move.target, move.id, move.value)
        settings = self._settings(move, _PLACE, json.dumps(leaving))
        place = self._place(move.value)
        if place == leaving:
            return
        if place is not None and place.state != "here":
            self._require_here({move.value}, writes=True)
        self._require_alone()
        with self._held_still(move.value):
            with self._engine._scope.services.store.read() as reading:
                across = reading.successors_across(self._bounds(move.value))
            if across:
                older, newer = across[0]
                msg = (
                    f"value: {move.value!r} cannot be moved: {newer!r} supersedes {older!r}, and only "
                    "one of them lies in it; undo that first"
                )
                raise ValueError(msg)
            self._engine.flush()
            self._record(settings)

    def remainder(self, value: str) -> Remainder:
        """Return what completes the copy of a scope that is leaving."""
        bounds = self._bounds(value)
        with self._engine._scope.services.store.read() as reading:
            sequences = sorted(m.sequence for m in reading.changes_by_revision(0, bounds))
            times = reading.cycles.replays(sequences)
            settings = reading.settings()
            return Remainder(
                sequences,
                reading.verdicts_of(bounds),
                [
                    (number, time)
                    for number, time in zip(sequences, times, strict=True)
                    if time is not None
                ],
                {
                    name: settings[name]
                    for name in (EMBEDDER_SETTING, DIMENSION_SETTING)
                    if settings.get(name)
                },
            )

    def release(self, move: Move) -> None:
        """Erase a scope that the target has taken, and note where it went."""
        gone, digest = ScopePlace("gone", move.target, move.id), _digest(move)
        if self._stored_place(digest) == gone:
            self._places[digest] = gone
            return
        services = self._engine._scope.services
        bounds, settings = (
            self._bounds(move.value),
            self._settings(move, _PLACE, json.dumps(gone)),
        )
        erased: list[str] = []

        def release() -> None:
            with services.sync.writing() as transaction:
                erased.extend(m.id for m in transaction.changes_by_revision(0, bounds))
                if erased:
                    transaction.erase_many(erased)
                transaction.note_traces()  # of the value, too
                _set(transaction, settings)
            self._take_note(settings)
            with suppress(StoreBusy):  # the next opening removes them
                services.sync.remove_traces()

        self._places[digest] = gone  # the target has it: calls go there from now on
        with self._shut_for(move.value):
            services.sync.writer.run(release, is_write=True)
        services.drop_past(erased)
        drop_empty_rows(services)

    def keep(self, move: Move) -> None:
        """Take a scope back that the target has not taken."""
        if self._place(move.value) == ScopePlace("leaving", move.target, move.id, move.value):
            here = ScopePlace("here", self._number, move.id)
            self._record(self._settings(move, _PLACE, json.dumps(here)))

    def is_closed_for_new(self) -> bool:
        """Return whether new scopes go to other shards."""
        return bool(self._open_shards)

    def memory_count(self) -> int:
        """Return the number of memories here, soft-deleted ones too."""
        with self._engine._scope.services.store.read() as reading:
            return reading.count()

    def close_for_new(self, open_shards: Sequence[int], salt: str) -> None:
        """Send new scopes to other shards from now on. Scopes that have memories here stay.

        Args:
            open_shards: numbers of the shards that take them; empty: this one does again.
            salt: the key of the digests.

        Raises:
            ScopeBusy: writes do not end, or another process has the store open.
        """
        self._require_alone()
        self._require_salt(salt)
        if list(open_shards) == self._open_shards:
            return
        settings = {_SALT: salt, _OPEN_SHARDS: json.dumps(list(open_shards))}
        with self._held_still(None):
            if open_shards:
                here = json.dumps(ScopePlace("here", self._number, ""))
                missing = [value for value in self.values() if self._place(value) is None]
                settings |= {_PLACE + digest_of(value, salt): here for value in missing}
            self._record(settings)

    # -- the target ----------------------------------------------------------------------------------

    def begin(self, move: Move) -> None:
        """Make room for the copy of a scope, without what an earlier move left.

        Raises:
            ScopeBusy: another process has the store open.
        """
        self._require_alone()
        for path in self._store.parent.glob(f".{self._store.name}.*.arriving*"):
            path.unlink(missing_ok=True)
        with self._arriving(move) as file:
            names = ", ".join(f"cell{place}" for place in range(len(_CELLS)))
            file.execute(f"CREATE TABLE memory (sequence INTEGER PRIMARY KEY, {names})")
            ends = ", ".join(StoredLink._fields)
            file.execute(f"CREATE TABLE link ({ends}, PRIMARY KEY (one, other))")

    def stage(
        self, move: Move, rows: Sequence[tuple[Any, ...]], links: Sequence[StoredLink]
    ) -> None:
        """Add memories and links to the copy, or replace them there."""
        with self._arriving(move) as file, file:
            places = ", ".join("?" * (1 + len(_CELLS)))
            file.executemany(f"INSERT OR REPLACE INTO memory VALUES ({places})", rows)
            ends = ", ".join("?" * len(StoredLink._fields))
            file.executemany(f"INSERT OR REPLACE INTO link VALUES ({ends})", links)

    def take(self, move: Move, remainder: Remainder) -> None:
        """Add the copied memories to the store, and note that the scope is here.

        Raises:
            ScopeBusy: the move was given up.
            DuplicateId: the shard has a memory of one of the ids. Nothing was added.
            MixedShards: the vectors are of another embedder or width than those here.
        """
        here, digest = ScopePlace("here", move.source, move.id), _digest(move)
        services = self._engine._scope.services
        settings = self._settings(move, _PLACE, json.dumps(here))

        def take() -> None:
            with services.sync.writing() as transaction:
                known = transaction.settings()
                if known.get(_PLACE + digest) == settings[_PLACE + digest]:
                    return
                if known.get(_REFUSED + digest) == move.id:
                    msg = f"the move of {move.value!r} was given up"
                    raise ScopeBusy(msg)
                for name, wanted in remainder.settings.items():
                    if known.get(name, wanted) not in ("", wanted):
                        msg = (
                            f"shards {move.source} and {move.target} have different {name}: "
                            f"{wanted!r} and {known[name]!r}"
                        )
                        raise MixedShards(msg)
                with self._arriving(move) as file:
                    self._insert(transaction, file, remainder)
                _set(transaction, {**remainder.settings, **settings})
            self._take_note(settings)

        with self._shut_for(move.value):
            services.sync.writer.run(take, is_write=True)
        self._discard(move)

    def settle(self, move: Move) -> bool:
        """Return whether the scope was taken here. If not, it never will be by this move."""
        services = self._engine._scope.services
        key, refused = _PLACE + _digest(move), self._settings(move, _REFUSED, move.id)

        def settle() -> bool:
            with services.sync.writing() as transaction:
                known = transaction.settings().get(key)
                if known is not None and ScopePlace(*json.loads(known)).move == move.id:
                    return True
                _set(transaction, refused)
            self._take_note(refused)
            return False

        taken: bool = services.sync.writer.run(settle, is_write=True)
        self._discard(move)
        return taken

    def _insert(
        self, transaction: Transaction, file: apsw.Connection, remainder: Remainder
    ) -> None:
        number_of: dict[int, int] = {}
        wanted = remainder.sequences
        for start in range(0, len(wanted), _AT_ONCE):
            part = wanted[start : start + _AT_ONCE]
            rows = list(
                file.execute(
                    "SELECT * FROM memory WHERE sequence IN (SELECT value FROM json_each(?)) "
                    "ORDER BY sequence",
                    (json.dumps(part),),
                )
            )
            if len(rows) != len(part):
                msg = f"{len(part) - len(rows)} memories are missing in the copy of a scope"
                raise StoreCorrupt(msg)
            cells = zip(*(row[1:] for row in rows), strict=True)
            columns = {name: list(column) for name, column in zip(_CELLS, cells, strict=True)}
            number_of |= dict(zip(part, transaction.insert_columns(columns, {}), strict=True))
        # Links of memories that were erased since are skipped, as their ids are not known.
        links = [StoredLink(*row) for row in file.execute("SELECT * FROM link WHERE weight > 0")]
        if links:
            transaction.set_links(links)
        if remainder.verdicts:
            transaction.add_verdicts(
                [(number_of[number], *rest) for number, *rest in remainder.verdicts]  # type: ignore[misc]
            )
        for number, time in remainder.replays:
            transaction.cycles.keep_replays([number_of[number]], time)

    # -- private -------------------------------------------------------------------------------------

    def _stored_place(self, digest: str) -> ScopePlace | None:
        with self._engine._scope.services.store.read() as reading:
            found = reading.settings().get(_PLACE + digest)
        return None if found is None else ScopePlace(*json.loads(found))

    def _settings(self, move: Move, begin: str, cell: str) -> dict[str, str]:
        """Return the settings that note something about the scope of a move."""
        self._require_salt(move.salt)
        return {_SALT: move.salt, begin + _digest(move): cell}

    def _require_salt(self, salt: str) -> None:
        """Refuse digests that are keyed in another way than those here.

        Raises:
            StoreCorrupt: the stores are of different times or places.
        """
        if self._salt not in ("", salt):
            msg = (
                f"shard {self._number} keys its scopes in another way than other shards; restore all "
                "shards from one generation"
            )
            raise StoreCorrupt(msg)

    def _bounds(self, value: str) -> dict[str, str]:
        return {self._layout.key: value}

    @contextmanager
    def _held_still(self, value: str | None) -> Iterator[None]:
        """Refuse writes to a scope (None: all) in the block, which begins when none is going on.

        Raises:
            ScopeBusy: a write does not end.
        """

        def is_still() -> bool:
            going_on = +self._writers
            return not going_on if value is None else not going_on.keys() & {None, value}

        with self._quiet:
            self._held.add(value)
        try:
            with self._quiet:
                if not self._quiet.wait_for(is_still, _PATIENCE):
                    msg = "writes to the scope do not end; call again"
                    raise ScopeBusy(msg)
            yield
        finally:
            with self._quiet:
                self._held.discard(value)

    @contextmanager
    def _shut_for(self, value: str) -> Iterator[None]:
        """Refuse calls about a scope, or about all memories, in the block.

        It begins when those that have begun are over, so that none sees a part of the scope.

        Raises:
            ScopeBusy: one does not end.
        """
        both = {value, None}
        with self._quiet:
            self._shut |= both
            self._step_count += 1
        try:
            with self._quiet:
                if not self._quiet.wait_for(lambda: not (+self._uses).keys() & both, _PATIENCE):
                    msg = "calls about the scope do not end; call again"
                    raise ScopeBusy(msg)
            yield
        finally:
            with self._quiet:
                self._shut -= both
                self._step_count += 1

    def _require_alone(self) -> None:
        """Refuse to move scopes while another process has the shard open.

        Raises:
            ScopeBusy: one has. It would not learn that a scope is leaving.
        """
        self._engine._scope.services.require_writable("move")
        if self._lock is None:
            return
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            msg = (
                f"{self._store.name} is open in another process; scopes are moved where one "
                "ShardedEngine alone has the stores open"
            )
            raise ScopeBusy(msg) from None
        finally:
            fcntl.flock(self._lock, fcntl.LOCK_SH | fcntl.LOCK_NB)

    @contextmanager
    def _arriving(self, move: Move) -> Iterator[apsw.Connection]:
        path = self._arrival(move)
        with closing(apsw.Connection(str(path))) as file:
            path.chmod(0o600)
            yield file

    def _arrival(self, move: Move) -> Path:
        return self._store.with_name(f".{self._store.name}.{move.id}.arriving")

    def _discard(self, move: Move) -> None:
        path = self._arrival(move)
        for name in (path, Path(f"{path}-journal")):
            name.unlink(missing_ok=True)

    def _record(self, settings: Mapping[str, str]) -> None:
        services = self._engine._scope.services

        def record() -> None:
            with services.sync.writing() as transaction:
                _set(transaction, settings)
            self._take_note(settings)

        services.sync.writer.run(record, is_write=True)

    def _follow(self) -> None:
        """Take note of the moves of other processes, which a read-only engine does not prevent."""
        if self._is_read_only and self._engine._scope.services.store.revision() != self._read_at:
            self._read_notes()

    def _read_notes(self) -> None:
        """Take note of what the store says about scopes."""
        store = self._engine._scope.services.store
        with self._quiet:
            revision = store.revision()  # before the notes, so that none is missed
            notes = {
                key: value
                for key, value in store.settings().items()
                if key.startswith(_PLACE) or key in (_SALT, _OPEN_SHARDS)
            }
            self._take_note(dict(notes.items() - self._noted.items()))
            self._read_at, self._noted = revision, notes

    def _take_note(self, settings: Mapping[str, str]) -> None:
        for key, value in settings.items():
            self._note(key, value)

    def _note(self, key: str, value: str) -> None:
        self._step_count += 1
        self._places |= places_of({key: value})
        if key == _SALT:
            self._salt = value
        elif key == _OPEN_SHARDS:
            self._open_shards = json.loads(value)


def places_of(settings: Mapping[str, str]) -> dict[str, ScopePlace]:
    """Return the places of scopes among a store's settings, by digest."""
    return {
        key.removeprefix(_PLACE): ScopePlace(*json.loads(cell))
        for key, cell in settings.items()
        if key.startswith(_PLACE)
    }


def takes_new_scopes(settings: Mapping[str, str]) -> bool:
    """Return whether the shard with these settings takes new scopes: it was not drained."""
    return not json.loads(settings.get(_OPEN_SHARDS, "[]"))


def _digest(move: Move) -> str:
    return digest_of(move.value, move.salt)


def _busy(place: ScopePlace) -> ScopeBusy:
    msg = f"the memories of {place.value!r} are on their way to shard {place.shard}"
    return ScopeBusy(msg)


def _set(transaction: Transaction, settings: Mapping[str, str]) -> None:
    for key, value in settings.items():
        transaction.set_setting(key, value)


def _cells_of(memory: StoredMemory) -> list[Any]:
    return [getattr(memory, name) for name in _CELLS]
