"""The read model of one process: columns, row sets, lexical index, vectors and links of a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from oneiros import _core
from oneiros._lazy import np
from oneiros.errors import StoreCorrupt
from oneiros.graph import Associations
from oneiros.index.columns import Lifecycle
from oneiros.index.indexes import Indexes, LexicalOptions
from oneiros.index.row_sets import RowSets
from oneiros.index.texts import MemoryTexts
from oneiros.model.validation import require_number, require_text
from oneiros.runtime.locks import fork_safe_lock
from oneiros.store.columns import StoredColumns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from oneiros.channels import Kind
    from oneiros.index.columns import ColumnWrite
    from oneiros.scoring.compiled import CompiledProfile
    from oneiros.scoring.factor import Factor
    from oneiros.scoring.profile import Profile
    from oneiros.search.plan import SearchPlan
    from oneiros.store import Store
    from oneiros.store.columns import StoredBatch

__all__ = ["Projections", "SessionNeighbours", "checked_options", "recorded_options"]


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


_MOST_COMPILED: Final = 256
_DELETED_AT_ONCE: Final = 1_000


class Projections:
    """Columns, row sets and indexes. One writer at a time (the engine's thread that writes); many readers.

    Args:
        options: how the lexical index is made.
        vector_index: "auto", "flat" or "hnsw".
    """

    def __init__(self, options: LexicalOptions, *, vector_index: Kind = "auto") -> None:
        self._options = options
        self._vector_index: Kind = vector_index
        self.lifecycle = Lifecycle()
        self.row_sets = RowSets(self.lifecycle)
        self.indexes = Indexes(options, vector_index)
        self.associations = Associations(self.lifecycle)
        self.texts = MemoryTexts(self.lifecycle)
        self.sessions = SessionNeighbours(self.lifecycle)
        self._compiled: dict[tuple[Profile, tuple[Factor, ...]], CompiledProfile] = {}
        self._plans: dict[tuple[str | Profile, tuple[Factor, ...]], SearchPlan] = {}
        self.changed_count = 0
        """Changes of memories that no snapshot knows of."""

    def emptied(self) -> Projections:
        """Return projections made as these are, which hold nothing yet."""
        return Projections(self._options, vector_index=self._vector_index)

    @property
    def live_count(self) -> int:
        """Memories that are not deleted."""
        return len(self.row_sets.live)

    def compiled(self, profile: Profile, added: tuple[Factor, ...] = ()) -> CompiledProfile:
        """The profile as the core runs it over these columns.

        Args:
            profile: as it ranks.
            added: factors that the search itself applies after those of the profile.
        """
        key = (profile, added)
        held = self._compiled.get(key)
        kinds = self.lifecycle.kinds
        if held is None or held.kinds is not kinds:
            if len(self._compiled) >= _MOST_COMPILED:
                self._compiled = {}
            held = self._compiled[key] = profile.compile(kinds, added)
        return held

    def search_plan(self, profile: Profile, added: tuple[Factor, ...] = ()) -> SearchPlan:
        """The profile as the core's searches run it over these columns.

        Args:
            profile: as it ranks.
            added: factors that the search itself applies after those of the profile.
        """
        key: tuple[str | Profile, tuple[Factor, ...]] = (profile.hash, added)
        held, kinds = self._plans.get(key), self.lifecycle.kinds
        if held is not None and held.profile is not profile:
            # Profiles with other functions of the user's may have one hash, and are not equal.
            key = (profile, added)
            held = self._plans.get(key)
        if held is None or held.compiled.kinds is not kinds:
            from oneiros.search.plan import search_plan  # noqa: PLC0415 - not for writers

            if len(self._plans) >= _MOST_COMPILED:
                self._plans = {}
            held = self._plans[key] = search_plan(profile, self.compiled, added)
        return held

    def kind_counts(self) -> dict[str, int]:
        """How many live memories there are of each kind, the most frequent first."""
        rows = np.array(self.row_sets.live.to_array(), np.uint32)
        return self.lifecycle.count_by_kind(rows)

    def problems(self, live_count: int, sums: Mapping[str, int]) -> list[str]:
        """Return where the projections disagree with each other or with the store's counts.

        Args:
            live_count: the store's live memories.
            sums: by column, the sum over them.
        """
        counts = {
            "columns": (len(self.lifecycle.columns), len(self.lifecycle.ids)),
            "attributes": (len(self.row_sets), live_count),
            "lexical index": (self.indexes.lexical.document_count, live_count),
            "live memories": (self.live_count, live_count),
        }
        problems = [
            f"{name}: {found} rows, expected {wanted}"
            for name, (found, wanted) in counts.items()
            if found != wanted
        ]
        if problems:  # of which other sums are the consequence
            return problems
        rows = np.array(self.row_sets.live.to_array(), np.uint32)
        for name, wanted in sums.items():
            found = int(self.lifecycle.column(name)[rows].sum(dtype=np.int64))
            if found != wanted:
                problems.append(f"column {name}: its sum is {found}, expected {wanted}")
        return problems

    def apply_columns(self, batch: StoredBatch) -> None:
        """Bring the columns to what the store says; memories not seen before get a row."""
        self.lifecycle.apply(batch)

    def apply_indexes(self, batch: StoredBatch) -> None:
        """Bring all else to what the store says. REQUIRES: apply_columns saw the batch."""
        memories = StoredColumns.of(batch)
        rows = self.lifecycle.rows_of_ids(memories["id"])
        self.changed_count += len(rows)
        self.row_sets.apply(rows, memories)
        self.indexes.apply(rows, memories)
        self.sessions.apply(rows)
        self.texts.apply(rows, memories)
        self.row_sets.publish(rows, memories)

    def apply_states(self, write: ColumnWrite) -> None:
        """Bring all else to what a column holds of many rows. REQUIRES: the column holds it.

        Args:
            write: of ``deleted_at``, times alone: of what is no longer deleted, the texts are asked
                for.
        """
        if write.field == "deleted_at":
            self.row_sets.delete(write.rows)
            for start in range(0, len(write.rows), _DELETED_AT_ONCE):
                self._delete(write.rows[start : start + _DELETED_AT_ONCE])
        else:
            self.row_sets.apply_states(write)

    def _delete(self, rows: npt.NDArray[np.uint32]) -> None:
        self.indexes.delete(rows)
        self.sessions.apply(rows.tolist())
        self.texts.delete(rows)

    def erase(self, memory_id: str) -> None:
        """Drop every trace of a memory; its row stays unused. Doing it again finishes it."""
        row = self.lifecycle.row_of.get(memory_id)
        if row is not None:
            self.row_sets.erase(row)
            self.indexes.erase(row)
            self.associations.erase(row)
            self.sessions.erase(row)
            self.texts.erase(row)
            self.lifecycle.erase(memory_id)  # the last: who was interrupted before finds the row

    def close(self) -> None:
        """Stop background work."""
        self.indexes.close()


def checked_options(**asked: object) -> dict[str, Any]:
    """What was asked of the lexical index, in the types of its options; None where nothing was."""
    default = LexicalOptions()
    for name, value in asked.items():
        if value is None:
            continue
        if isinstance(getattr(default, name), str):
            require_text(name, value)
        else:
            asked[name] = require_number(name, value, low=0.0)
    return asked


def recorded_options(store: Store, asked: dict[str, Any], profile: Profile) -> LexicalOptions:
    """What was asked, else what the store was last opened with, else the defaults.

    A store that holds nothing yet takes k1 and b from the profile.
    """
    recorded = store.settings()
    default = LexicalOptions()
    first = default if store.revision() else _options_of(profile)
    values: dict[str, Any] = {}
    changed: dict[str, str] = {}
    for name, given in asked.items():
        kind = type(getattr(default, name))
        held = recorded.get(name)
        own = getattr(first, name)
        is_own = given is None and held is None and own != getattr(default, name)
        value = own if is_own else given
        if value is not None:
            values[name] = kind(value)
            if held != str(values[name]):
                changed[name] = str(values[name])
        elif held is not None:
            try:
                values[name] = kind(held)
            except ValueError as error:
                msg = f"the store's setting {name} is no {kind.__name__}: {held!r}"
                raise StoreCorrupt(msg) from error
    options = LexicalOptions(**values)
    if changed:
        Projections(options).close()  # refuses what the core refuses, before it is recorded
        with store.write() as transaction:
            for name, text in changed.items():
                transaction.set_setting(name, text)
    return options


def _options_of(profile: Profile) -> LexicalOptions:
    """The options of a store that is made with this profile."""
    for channel in profile.channels:
        if channel.bm25 is not None:
            k1, b = channel.bm25
            return LexicalOptions(k1=k1, b=b)
    return LexicalOptions()
