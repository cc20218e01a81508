"""The read model of a process: columns, row sets, lexical index, vectors, texts and links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from oneiros import _core
from oneiros._lazy import np
from oneiros.conflicts.model import reader
from oneiros.errors import StoreCorrupt
from oneiros.graph import Associations
from oneiros.index.columns import Lifecycle
from oneiros.index.indexes import Indexes, LexicalOptions
from oneiros.index.questions import VerdictQuestions
from oneiros.index.row_sets import RowSets
from oneiros.index.texts import MemoryTexts
from oneiros.model.validation import require_number, require_text
from oneiros.runtime.dataclasses import replace
from oneiros.runtime.locks import fork_safe_lock
from oneiros.search.plan import search_plan
from oneiros.store.columns import StoredColumns
from oneiros.vector_index import DEFAULT_RECALL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import numpy.typing as npt

    from oneiros.index.columns import ColumnWrite
    from oneiros.scoring.compiled import CompiledProfile
    from oneiros.scoring.factor import Factor
    from oneiros.scoring.profile import Profile
    from oneiros.search.plan import SearchPlan
    from oneiros.store import Store
    from oneiros.store.columns import StoredBatch
    from oneiros.vector_index import Kind

__all__ = ["ReadModel", "SessionNeighbours", "checked_options", "recorded_options"]


class SessionNeighbours:
    """The order of memories in their sessions, made on first use.

    One writer at a time (the engine's lock); many readers.
    """

    def __init__(self, lifecycle: Lifecycle) -> None:
        self._lifecycle = lifecycle
        self._order: _core.SessionOrder | None = None
        self.whole: _core.SessionOrder | None = None
        """:attr:`order`, once it is made."""
        self._making = fork_safe_lock()

    @property
    def order(self) -> _core.SessionOrder:
        """The core's lists of rows, one per session."""
        if self.whole is None:
            with self._making:
                if self.whole is None:
                    # From here on a writer also places the rows it changes, before or after this.
                    self.whole = None  # again, as a signal handler may have made the order
                    order = self._order = _core.SessionOrder()
                    order.place_all(columns=self._lifecycle.columns)
                    self.whole = self._order  # which writers keep up to date
        assert self.whole is not None
        return self.whole

    def apply(self, rows: Sequence[int]) -> None:
        """Move rows to where their columns place them."""
        if self._order is not None:
            self._order.place(columns=self._lifecycle.columns, rows=rows)

    def erase(self, rows: Sequence[int]) -> None:
        """Remove rows, also from an order that is made later."""
        self._lifecycle.columns.write(rows=rows, values={"session_code": [0] * len(rows)})
        if self._order is not None:
            for row in rows:
                self._order.remove(row=row)


_MOST_COMPILED: Final = 256
_DELETED_AT_ONCE: Final = 1_000


class ReadModel:
    """Columns, row sets and indexes. One writer at a time (the engine's thread); many readers."""

    def __init__(
        self,
        options: LexicalOptions,
        *,
        vector_index: Kind = "auto",
        vector_recall: float = DEFAULT_RECALL,
    ) -> None:
        self.options = options
        self._vector_index: Kind = vector_index
        self.lifecycle = Lifecycle()
        self.row_sets = RowSets(self.lifecycle)
        self.indexes = Indexes(options, vector_index, vector_recall)
        self.associations = Associations(self.lifecycle)
        self.texts = MemoryTexts(self.lifecycle)
        self.sessions = SessionNeighbours(self.lifecycle)
        self.questions = VerdictQuestions()
        self._statements = _core.StatementColumn(reader=reader())
        # Loads the statements; None: they are loaded.
        self._load_statements: Callable[[], _core.StatementColumn] | None = None
        self._lock = fork_safe_lock()
        self._compiled: dict[tuple[Profile, tuple[Factor, ...]], CompiledProfile] = {}
        self._plans: dict[tuple[str | Profile, tuple[Factor, ...]], SearchPlan] = {}
        self._view: tuple[tuple[object, ...], _core.ReadView] | None = None  # of the last search
        self.changed_count = 0
        """The number of changes of memories that no snapshot has."""
        self.indexed_count = 0
        """The number of memories among them that are new or whose own fields changed."""

    def emptied(self) -> ReadModel:
        """Return an empty read model with the same options and the same codes of kinds.

        Compiled profiles depend on the codes: with others, each rebuild would compile all again.
        """
        empty = ReadModel(
            self.options,
            vector_index=self._vector_index,
            vector_recall=self.indexes.vector_recall,
        )
        empty.lifecycle.keep_kinds(self.lifecycle.kinds)
        return empty

    @property
    def statements(self) -> _core.StatementColumn:
        """The statements of the memories, H12. Those of a snapshot are loaded on first use."""
        load = self._load_statements
        if load is not None:
            statements = load()  # without the lock, since load may take other locks
            with self._lock:
                if self._load_statements is load:
                    self._statements, self._load_statements = statements, None
        return self._statements

    def load_statements_by(self, load: Callable[[], _core.StatementColumn]) -> None:
        """Use the statements that ``load`` returns, on first use. REQUIRES: there are none yet."""
        self._load_statements = load

    @property
    def live_count(self) -> int:
        """The number of memories that are not deleted."""
        return len(self.row_sets.live)

    def compiled(self, profile: Profile, added: tuple[Factor, ...] = ()) -> CompiledProfile:
        """Return the profile, followed by added factors, as the core runs it over these columns."""
        key = (profile, added)
        compiled = self._compiled.get(key)
        # Each new kind makes another tuple, and programs for the former one lack its code. No lock:
        # threads that compile the same profile at once get equal programs.
        kinds = self.lifecycle.kinds
        if compiled is None or compiled.kinds is not kinds:
            if len(self._compiled) >= _MOST_COMPILED:
                self._compiled = {}
            compiled = self._compiled[key] = profile.compile(kinds, added)
        return compiled

    def search_plan(self, profile: Profile, added: tuple[Factor, ...] = ()) -> SearchPlan:
        """Return the profile, followed by added factors, as the core's searches run it."""
        key: tuple[str | Profile, tuple[Factor, ...]] = (profile.hash, added)
        plan, kinds = self._plans.get(key), self.lifecycle.kinds
        if plan is not None and plan.profile is not profile:
            # Unequal profiles with different user functions may have the same hash.
            key = (profile, added)
            plan = self._plans.get(key)
        if plan is None or plan.compiled.kinds is not kinds:
            if len(self._plans) >= _MOST_COMPILED:
                self._plans = {}
            plan = self._plans[key] = search_plan(profile, self.compiled, added)
        return plan

    def view(
        self,
        sessions: _core.SessionOrder | None,
        graph: _core.AssociationGraph | None,
        texts: _core.TextColumn | None,
        lowered: _core.TextColumn | None,
        vectors: _core.VectorColumn | None,
        statements: _core.StatementColumn | None,
    ) -> _core.ReadView:
        """Return the parts of the read model that a search reads; None: it does not read the part."""
        parts = (
            *(self.indexes.lexical, self.lifecycle.columns, sessions),
            *(graph, texts, lowered, vectors, statements),
        )
        last = self._view
        if last is None or last[0] != parts:
            names = ("lexical", "columns", "sessions", "graph", "texts", "lowered", "vectors")
            named: dict[str, Any] = dict(zip((*names, "statements"), parts, strict=True))
            last = self._view = (parts, _core.ReadView(**named))
        return last[1]

    def kind_counts(self) -> dict[str, int]:
        """Return the number of live memories of each kind, the most frequent first."""
        rows = np.array(self.row_sets.live.to_array(), np.uint32)
        return self.lifecycle.count_by_kind(rows)

    def sequences_without_vector(self) -> set[int]:
        """Return the sequence numbers of the live memories without a vector."""
        rows = np.array(self.row_sets.live.to_array(), np.uint32)
        vectors = self.indexes.vectors
        if vectors is not None:
            rows = rows[~vectors.column.has(rows=rows)]
        return set(map(int, self.lifecycle.columns.values_at(name="sequence", rows=rows.tolist())))

    def problems(self, live_count: int, sums: Mapping[str, int]) -> list[str]:
        """Return the disagreements within the read model, or with the store's counts and sums."""
        counts = {
            "columns": (len(self.lifecycle.columns), len(self.lifecycle.ids)),
            "attributes": (len(self.row_sets), live_count),
            "lexical index": (self.indexes.lexical.document_count, live_count),
            "live memories": (self.live_count, live_count),
        }
        problems = [
            f"{name}: {found} rows, expected {expected}"
            for name, (found, expected) in counts.items()
            if found != expected
        ]
        if problems:  # other sums would only follow from these
            return problems
        rows = np.array(self.row_sets.live.to_array(), np.uint32)
        for name, expected in sums.items():
            found = int(self.lifecycle.column(name)[rows].sum(dtype=np.int64))
            if found != expected:
                problems.append(f"column {name}: its sum is {found}, expected {expected}")
        return problems

    def apply_columns(self, batch: StoredBatch) -> None:
        """Bring the columns into line with the store; new memories get a row."""
        self.lifecycle.apply(batch)

    def apply_indexes(self, batch: StoredBatch) -> None:
        """Bring all else into line with the store. REQUIRES: the columns were, with this batch."""
        memories = StoredColumns.of(batch)
        rows = self.lifecycle.rows_of_ids(memories["id"])
        self.changed_count += len(rows)
        self.indexed_count += len(rows)
        self.row_sets.begin_coming(rows, memories)
        self.row_sets.apply(rows, memories)
        self.indexes.apply(rows, memories)
        self.sessions.apply(rows)
        self.texts.apply(rows, memories)
        self.statements.write(rows=rows, texts=list(memories["text"]))
        self.row_sets.publish(rows, memories)  # last: every index has a row that is live
        self.row_sets.end_coming()

    def apply_states(self, write: ColumnWrite) -> None:
        """Bring all else into line with a column. REQUIRES: the column has the values.

        Args:
            write: for ``deleted_at``, deletions only: restored memories need their texts, too.
        """
        if write.field == "deleted_at":
            self.row_sets.delete(write.rows)
            for start in range(0, len(write.rows), _DELETED_AT_ONCE):
                self._delete(write.rows[start : start + _DELETED_AT_ONCE])
        else:
            self.row_sets.apply_states(write.field, write.rows.tolist(), write.values.tolist())

    def _delete(self, rows: npt.NDArray[np.uint32]) -> None:
        self.indexes.delete(rows)
        self.sessions.apply(rows.tolist())
        self.texts.delete(rows)

    def erase(self, ids: Iterable[str]) -> None:
        """Drop all data of memories. Their rows stay unused. Call again after an interrupt."""
        row_of = self.lifecycle.row_of
        known = {id: row for id in dict.fromkeys(ids) if (row := row_of.get(id)) is not None}
        if not known:
            return
        rows = sorted(known.values())
        numbers = np.array(rows, np.uint32)
        self.row_sets.erase(numbers)
        self.indexes.erase(numbers)
        self.associations.erase(rows)
        self.sessions.erase(rows)
        self.texts.erase(numbers)
        self.statements.erase(rows=rows)
        self.lifecycle.erase(known)  # last: after an interrupt the rows are still found

    def close(self) -> None:
        """Stop background work."""
        self.indexes.close()


def checked_options(**given: object) -> dict[str, Any]:
    """Return options of the lexical index in their types; None for those not given."""
    default = LexicalOptions()
    for name, value in given.items():
        if value is None:
            continue
        if isinstance(getattr(default, name), str):
            require_text(name, value)
        else:
            given[name] = require_number(name, value, low=0.0)
    return given


def recorded_options(store: Store, given: dict[str, Any], profile: Profile) -> LexicalOptions:
    """Return the given options, else those recorded in the store, else the defaults.

    An empty store takes k1, b, the half length and the numbers of titles from the profile.
    """
    recorded = store.settings()
    default = LexicalOptions()
    if (
        given["b"] is not None
        and given["half_length"] is None
        and recorded.get("b") != str(given["b"])
    ):
        given = given | {"half_length": 0.0}  # the strength that is asked for, at any length
    initial = default if store.revision() else _options_of(profile)
    values: dict[str, Any] = {}
    changed: dict[str, str] = {}
    for name, value in given.items():
        kind = type(getattr(default, name))
        setting = recorded.get(name)
        first = getattr(initial, name)
        is_first = value is None and setting is None and first != getattr(default, name)
        chosen = first if is_first else value
        if chosen is not None:
            values[name] = kind(chosen)
            if setting != str(values[name]):
                changed[name] = str(values[name])
        elif setting is not None:
            try:
                values[name] = kind(setting)
            except ValueError as error:
                msg = f"the store's setting {name} is no {kind.__name__}: {setting!r}"
                raise StoreCorrupt(msg) from error
    options = LexicalOptions(**values)
    if changed:
        Indexes(options, "auto").close()  # raises what the core refuses, before it is recorded
    if changed and not store.is_read_only:
        with store.write() as transaction:
            for name, text in changed.items():
                transaction.set_setting(name, text)
    return options


def _options_of(profile: Profile) -> LexicalOptions:
    """Return the options of a new store with this profile."""
    for channel in profile.channels:
        if channel.bm25 is not None:
            return replace(LexicalOptions(), **channel.bm25)
    return LexicalOptions()
