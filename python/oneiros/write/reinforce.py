"""Reinforcement: applied to the columns at once, written to the store shortly after."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final

from oneiros import _core
from oneiros.errors import StorePoisoned
from oneiros.graph.graph import TAU_DAYS
from oneiros.index.stored_rows import rows_of
from oneiros.model.fields import ENUMS
from oneiros.model.memory import Memory
from oneiros.runtime.dataclasses import NamedTuple
from oneiros.scoring.reinforcement import SpacedReinforcement
from oneiros.store.columns import StoredColumns
from oneiros.write.background import do_nothing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import TypedDict

    import numpy as np
    import numpy.typing as npt

    from oneiros.graph import Associations
    from oneiros.index.columns import ColumnWrite, Lifecycle
    from oneiros.scoring.reinforcement import ReinforcementDeclaration
    from oneiros.store.checksums import StoredStates
    from oneiros.store.columns import StoredBatch
    from oneiros.store.links import LinkValues

__all__ = ["FLUSH_EVENTS", "OF_USE", "ReinforcementEvent", "Reinforcing", "WriteBehind"]


# Half of what the durability promise allows (one second, 1,000 events); the write takes the rest.
FLUSH_SECONDS = 0.5
FLUSH_EVENTS = 500
LONGEST_PAUSE_SECONDS = 30.0  # between tries at a store that refuses
MOST_WAITING: Final = 1_000  # what the durability promise allows
_HOLD_SECONDS: Final = 0.05  # longest wait of a search for the writer thread
_SLOW_SECONDS: Final = (
    0.25  # so long a write may take before searches with more to write wait for it
)
_STUCK_SECONDS: Final = 2.0  # a write that takes longer waits for others: searches cannot help it
_MOST_TRIES: Final = 3  # of a search to apply its event, and of the writer thread to let all in


class WriteBehind:
    """Decides when events are written. Used by the writer thread.

    Any thread may call :meth:`keep_failure` and :meth:`raise_failure`: each is a single atomic
    operation of the interpreter. A lock could be held already when a signal handler runs.
    """

    def __init__(self) -> None:
        self._due_at: float | None = None  # of ``monotonic``; None: no events were waiting yet
        self._failures: deque[Exception] = deque(maxlen=1)  # the last
        self._pause_seconds = FLUSH_SECONDS

    def due_in(self, waiting_count: int) -> float | None:
        """Return the seconds until the waiting events are due; None if none wait.

        Args:
            waiting_count: accesses that wait.
        """
        if not waiting_count:
            self._due_at = None
            return None
        if waiting_count >= FLUSH_EVENTS and not self._failures:
            return 0.0
        if self._due_at is None:
            self._due_at = monotonic() + FLUSH_SECONDS
        return max(0.0, self._due_at - monotonic())

    def note_written(self) -> None:
        """Record that the waiting events were written."""
        self._due_at = None

    def note_success(self) -> None:
        """Record that a background write succeeded."""
        self._failures.clear()
        self._pause_seconds = FLUSH_SECONDS

    def keep_failure(self, error: Exception) -> None:
        """Keep the error of an event for :meth:`raise_failure`."""
        self._failures.append(error)

    def note_failure(self, error: Exception) -> bool:
        """Record that a background write failed, for :meth:`raise_failure`, and delay the next try.

        Returns:
            Whether the store takes no more writes: then no more events are kept, and ``flush`` and
            ``close`` raise the error that stopped the writes.
        """
        self._failures.append(error)
        self._pause_seconds = min(2 * self._pause_seconds, LONGEST_PAUSE_SECONDS)
        self._due_at = monotonic() + self._pause_seconds
        return isinstance(error, StorePoisoned)

    def raise_failure(self) -> None:
        """Raise the error of the last background write, once."""
        try:
            failure = self._failures.pop()
        except IndexError:
            return
        raise failure


if TYPE_CHECKING:
    Rows = npt.NDArray[np.uint32]

    class _Use(TypedDict):
        """An event as the core's parameters."""

        rows: list[int]
        direct: list[int]
        linked: list[int]
        now_seconds: float
        session: str | None
        rule: _core.UseRule


_PAUSE_SECONDS: Final = 0.0002
_READ_AT_ONCE: Final = 250  # memories
_ROWS_AT_ONCE: Final = 65_536
_REINFORCED: Final = ("access_count", "last_accessed_at", "stability")
_PROMOTED: Final = ("core", "tier")


_CONVERTERS: Final[dict[str, Callable[[Any], object]]] = {
    "tier": ENUMS["tier"].__getitem__,
    "sessions": frozenset,
}
OF_USE: Final = (*_REINFORCED, *_PROMOTED, "session_spread", "sessions")
"""The fields that searches reinforce before the store holds the change."""
_USED_MEMORIES: Final = _core.RowObjects(
    type=Memory,
    slots=list(OF_USE),
    places=list(range(len(OF_USE))),
    converters=[_CONVERTERS.get(name) for name in OF_USE],
)
"""Sets these fields of memories to what ``Reinforcer.used`` returns of their rows. Without names of
sessions, the use was of none, and those that were read are right."""


class ReinforcementEvent(NamedTuple):
    """The memories one search returned."""

    ids: tuple[str, ...]
    now: float
    session: str | None
    rule: ReinforcementDeclaration
    direct: tuple[str, ...] = ()
    """The direct results, which gain links with each other; without those merged in from links."""
    linked: frozenset[str] = frozenset()
    """The memories in ``ids`` that were found through links."""


class OwedWrites(NamedTuple):
    """The waiting changes, as the store takes them."""

    event_count: int
    memory_count: int
    states: list[tuple[list[int], dict[str, list[Any]]]]
    """(ascending sequence numbers, field to the values to store)."""
    sessions: dict[str, set[str]]
    """By id, the sessions that have seen the memory."""
    links: list[LinkValues]


class Strengthening:
    """The columns and links, with the core object that applies events to them.

    Args:
        lifecycle: the columns.
        associations: the links.
    """

    def __init__(self, lifecycle: Lifecycle, associations: Associations) -> None:
        self.lifecycle = lifecycle
        self.associations = associations
        self.core = _core.Reinforcer(columns=lifecycle.columns, sessions=lifecycle.sessions)
        self.core.use_links(graph=associations.graph)
        self._last: tuple[ReinforcementDeclaration, _core.UseRule] | None = None

    def rows_of(self, ids: Iterable[str]) -> list[int]:
        """Return the rows of memories in order, each once; unknown ids are left out."""
        rows = rows_of(self.lifecycle.row_of, list(dict.fromkeys(ids)))
        return [row for row in rows if row is not None]

    def use(self, event: ReinforcementEvent) -> _Use:
        """Return an event as the core's parameters; the sessions of its memories are loaded."""
        rows = self.rows_of(event.ids)
        direct = rows if event.direct is event.ids else self.rows_of(event.direct)
        if event.session is not None:
            self.lifecycle.load_sessions(rows)
            if direct is not rows:
                self.lifecycle.load_sessions(direct)
        return {
            "rows": rows,
            "direct": direct,
            "linked": self.rows_of(event.linked),
            "now_seconds": event.now,
            "session": event.session,
            "rule": self._rule(event.rule),
        }

    def _rule(self, rule: ReinforcementDeclaration) -> _core.UseRule:
        last = self._last
        if last is None or last[0] is not rule:
            last = self._last = (rule, _rule_of(rule))
        return last[1]

    def take_over(self, former: Strengthening) -> None:
        """Apply and keep the events that wait in another object of the same store.

        REQUIRES: this object has the rows.
        """
        rows = former.core.mentioned_rows()
        ids = former.lifecycle.ids
        moved = [
            (row, to) for row in rows if (to := self.lifecycle.row_of.get(ids[row])) is not None
        ]
        self.lifecycle.load_sessions([to for _, to in moved])
        self.core.take_over(
            former=former.core, rows=[row for row, _ in moved], to_rows=[to for _, to in moved]
        )


def _rule_of(rule: ReinforcementDeclaration) -> _core.UseRule:
    core = links = None
    if isinstance(rule, SpacedReinforcement):
        core, links = rule.core_accesses, rule
    return _core.UseRule(
        found=_core.ReinforcementRule(**rule.rule()),
        linked=_core.ReinforcementRule(**rule.rule(is_associative=True)),
        link_gain=rule.link_gain,
        link_rest_days=0.0 if links is None else links.link_rest_days,
        link_tau_days=TAU_DAYS,
        most_linked=0 if links is None else links.most_linked,
        is_once_a_session=links is not None and links.once_a_session,
        warms=rule.promotes,
        core_accesses=core,
        core_stability=0.0 if links is None else links.core_stability,
        core_sessions=1 if links is None else links.core_sessions,
    )


class OwingRows(NamedTuple):
    """Memories with changes that wait to be written."""

    on: Strengthening
    rows: list[int]

    def rows_of(self, on: Strengthening) -> list[int]:
        """Return their rows in another object of the same store, or the same."""
        if on is self.on:
            return self.rows
        return on.rows_of(map(self.on.lifecycle.ids.__getitem__, self.rows))


class Reinforcing:
    """Applies reinforcement to the columns and keeps it until it is written to the store.

    Args:
        lifecycle: the columns.
        associations: the links.
        write: writes the waiting events to the store; called on the writer thread.
    """

    def __init__(
        self, lifecycle: Lifecycle, associations: Associations, write: Callable[[], None]
    ) -> None:
        self._write = write
        # A search applies its event by one call of the core, which an interrupt cannot split.
        # While the writer thread applies commits, the core is closed to searches, so that no event
        # is counted twice or lost when a row is read again; searches then leave their events in
        # ``returned``. The core stays open while earlier events are committed, however long that
        # takes.
        self._on = self._shown = Strengthening(lifecycle, associations)
        self._closed_times = 0
        self._closing: Lock | None = None  # held while the core is closed; a new one each time
        self._behind = WriteBehind()
        self.returned: deque[ReinforcementEvent] = deque()
        """Events that the writer thread has yet to apply."""
        # Held while the writer thread applies those; searches wait a short time. A new one each time,
        # so that one that an interrupted search never releases holds up nothing else.
        self._applying: Lock | None = None
        self._writing: tuple[Lock, float] | None = None  # held during a write, and when it began
        self.torn: deque[str] = deque()
        """Ids of memories that an error, as of memory that ran out, may have left half changed."""

    def release(self) -> None:
        """Let go of ``write``: nothing is kept for the store any more."""
        self._write = do_nothing

    # -- searches ----------------------------------------------------------------------------------

    def take(self, event: ReinforcementEvent) -> bool:
        """Reinforce the memories that a search returned; return whether the writer should look.

        Events of one thread keep their order. While the writer thread applies earlier ones this
        waits, a short time at most: else several threads could leave events faster than one can
        apply them, and no write would ever begin.
        """
        # The writer may let events in again while this waits for Python's lock.
        for _ in range(_MOST_TRIES):
            applying = self._applying
            if applying is not None and applying.acquire(timeout=_HOLD_SECONDS):
                applying.release()
            if self.returned:
                break
            on = self._on
            try:  # None: the writer is using the columns, and nothing was applied
                is_due = on.core.apply(most_waiting=FLUSH_EVENTS, **on.use(event))
            except Exception as error:  # noqa: BLE001 - kept, and raised to the next caller
                self._note_torn(event)
                self._behind.keep_failure(error)
                return False
            if is_due is not None:
                if on.core.waiting_count > MOST_WAITING:
                    self._let_write()
                return is_due
        self.returned.append(event)
        return True

    def _let_write(self) -> None:
        """Wait for a write that other processes or this one's searches slow down, a short time at most."""
        writing = self._writing
        if writing is None:
            return
        lock, began = writing
        is_slow = _SLOW_SECONDS < monotonic() - began < _STUCK_SECONDS
        if is_slow and lock.acquire(timeout=_HOLD_SECONDS):
            lock.release()

    def wait_for_opening(self) -> None:
        """Wait until events are let in again; those left before are applied by then, but for a few."""
        closing = self._closing
        if closing is not None:
            with closing:
                pass

    def _note_torn(self, event: ReinforcementEvent) -> None:
        self.torn.extend((*event.ids, *event.direct))

    # -- the thread that writes --------------------------------------------------------------------

    def begin_job(self) -> None:
        """Apply the events left so far, and keep new ones out."""
        self._close()
        if self.returned and self._closed_times == 1:
            with self._catching_up():
                self._apply_returned()

    def end_job(self) -> None:
        """Apply the events left meanwhile, and let new ones in again."""
        for _ in range(_MOST_TRIES):
            if self.returned and self._closed_times == 1:
                with self._catching_up():
                    self._apply_returned()
                    self._open()
            else:
                self._open()
            # An event may have been left just before the opening.
            if not self.returned or self._closed_times:
                return
            self._close()
        self._open()

    @contextmanager
    def _catching_up(self) -> Iterator[None]:
        """Have searches wait before they leave more events, while the writer thread runs the block."""
        applying = Lock()
        with applying:
            self._applying = applying
            try:
                yield
            finally:
                self._applying = None

    def _apply_returned(self) -> None:
        while self.returned:
            try:
                self._on.core.apply_closed(**self._on.use(self.returned[0]))
            except Exception as error:  # noqa: BLE001 - kept, and raised to the next caller
                self._note_torn(self.returned[0])
                self._behind.keep_failure(error)
            finally:
                self.returned.popleft()

    def _close(self) -> None:
        if not self._closed_times:
            self._closing = Lock()
            self._closing.acquire()
            self._on.core.close()
        self._closed_times += 1

    def _open(self) -> None:
        self._closed_times -= 1
        if self._closed_times:
            return
        self._on.core.open()
        closing, self._closing = self._closing, None
        if closing is not None:
            closing.release()

    @contextmanager
    def closed(self) -> Iterator[None]:
        """Keep events of searches out while the block runs, as out of a job."""
        self.begin_job()
        try:
            yield
        finally:
            self.end_job()

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Change columns, links or events atomically for :meth:`bring_up_to_date`."""
        with self.closed():
            core = self._on.core
            core.begin_change()
            try:
                yield
            finally:
                core.end_change()

    def move_to(self, lifecycle: Lifecycle, associations: Associations) -> Strengthening:
        """Switch to other columns and links; return the former ones.

        Events waiting there stay there, and readers keep using it, until :meth:`take_over`.
        """
        before = self._on
        self._move(Strengthening(lifecycle, associations))
        return before

    def move_back(self, former: Strengthening) -> None:
        """Switch back to the former columns and links."""
        self._move(former)
        self._shown = former

    def _move(self, on: Strengthening) -> None:
        with self.closed():
            on.core.close()
            self._on = on
        # The former object stays closed, so a search that still uses it notices.

    def take_over(self, former: Strengthening) -> None:
        """Apply the events that wait in the former object to the current one."""
        with self._changing():
            self._on.take_over(former)
            self._shown = self._on

    def write_due(self) -> float | None:
        """Write due events; return the seconds until the next are due, None for never."""
        seconds = self._behind.due_in(self._on.core.notice())
        if seconds != 0.0:
            return seconds
        lock = Lock()
        try:
            with lock:
                self._writing = lock, monotonic()
                self._write()
        except Exception as error:  # noqa: BLE001 - kept, and raised to the next caller
            if self._behind.note_failure(error):
                self._on.core.stop_keeping()
        else:
            self._behind.note_success()
        finally:
            self._writing = None
        return self._behind.due_in(self._on.core.notice())

    def is_owing(self) -> bool:
        """Return whether anything waits to be written."""
        return self._on.core.waiting_count > 0

    def owes_any(self, ids: Iterable[str]) -> bool:
        """Return whether changes to these memories or their links wait to be written."""
        on = self._on
        return not set(on.rows_of(ids)).isdisjoint(on.core.mentioned_rows())

    def owes_links(self) -> bool:
        """Return whether links wait to be written."""
        return self._on.core.has_waiting_links

    def apply_columns(self, batch: StoredBatch) -> None:
        """Apply rows read from the store, then repeat the waiting events on them."""
        with self._changing():
            on = self._on
            on.lifecycle.apply(batch)
            if on.core.waiting_count:
                rows = on.rows_of(StoredColumns.of(batch)["id"])
                on.core.repeat(rows=rows)

    def apply_states(self, states: StoredStates) -> tuple[list[int], Mapping[str, Sequence[Any]]]:
        """Apply states read from the store, then repeat the waiting events.

        Returns:
            The rows, and the values read.
        """
        with self._changing():
            rows, values = self._on.lifecycle.apply_states(states)
            if self._on.core.waiting_count:
                self._on.core.repeat(rows=rows)
        return rows, values

    def apply_values(self, write: ColumnWrite) -> None:
        """Write a column of many rows, then repeat the waiting promotions to the hot tier.

        Written in parts, so that searches never wait long.
        """
        columns = self._on.lifecycle.columns
        for start in range(0, len(write.rows), _ROWS_AT_ONCE):
            part = slice(start, start + _ROWS_AT_ONCE)
            with self._changing():
                columns.write(rows=write.rows[part], values={write.field: write.values[part]})
        if write.field == "tier" and self.is_owing():
            with self._changing():
                self._on.core.repeat_warming(rows=write.rows.tolist())

    def apply_links(self, batch: _core.StoredLinks) -> None:
        """Apply links read from the store, then repeat the waiting events on them."""
        with self._changing():
            on = self._on
            ends = on.associations.apply(batch, wants_ends=on.core.has_waiting_links)
            if ends is not None:
                on.core.repeat_links(a=ends[0], b=ends[1])

    def read_links(self, batches: Iterable[_core.StoredLinks]) -> None:
        """Load all links of the store, then repeat the waiting events on them."""
        with self._changing():
            on = self._on
            on.associations.read(batches)
            on.core.use_links(graph=on.associations.graph)
            on.core.repeat_all_links()

    def drop_links(self) -> None:
        """Drop all links until they are read again."""
        with self._changing():
            self._on.core.use_links(graph=None)
            self._on.associations.drop()

    def owing(self) -> frozenset[str]:
        """Return the ids of memories with changes that wait to be written."""
        on = self._on
        return frozenset(map(on.lifecycle.ids.__getitem__, on.core.waiting_rows()))

    def forget(self, ids: Iterable[str]) -> None:
        """Drop the waiting changes of memories about to be erased, as their ids may be reused."""
        row_of = self._on.lifecycle.row_of
        rows = [row for id in ids if (row := row_of.get(id)) is not None]
        if rows:
            with self._changing():
                for row in rows:
                    self._on.core.forget(row=row)

    def owed(self) -> OwedWrites:
        """Return the writes for the waiting events. REQUIRES: :meth:`closed`."""
        on = self._on
        columns, ids = on.lifecycle.columns, on.lifecycle.ids
        # may_stand: for each row, whether it may have become core or hot. a, b: the ends of links.
        event_count, owed_rows, may_stand, seen, a, b = on.core.owed()
        states = []
        for is_promoted, names in ((False, _REINFORCED), (True, (*_REINFORCED, *_PROMOTED))):
            rows = [
                row for row, may in zip(owed_rows, may_stand, strict=True) if may is is_promoted
            ]
            if rows:
                values = {name: columns.values_at(name=name, rows=rows) for name in names}
                states.append((self._numbers(rows), values))
        sessions: dict[str, set[str]] = {}
        for row, session in seen:
            sessions.setdefault(ids[row], set()).add(session)
        links: list[LinkValues] = []
        graph = on.associations.graph
        if graph is not None and a:
            ends = zip(self._numbers(a), self._numbers(b), graph.find(a=a, b=b), strict=True)
            links = [
                (first, second, link[1], link[0], link[2], link[3])
                for first, second, link in ends
                if link is not None
            ]
        return OwedWrites(event_count, len(owed_rows), states, sessions, links)

    def _numbers(self, rows: Sequence[int]) -> list[int]:
        """Return the sequence numbers of rows."""
        return list(map(int, self._on.lifecycle.columns.values_at(name="sequence", rows=rows)))

    def note_written(self, event_count: int) -> None:
        """Drop the oldest events, which are written now."""
        self._on.core.forget_written(use_count=event_count)
        self._behind.note_written()

    # -- readers -----------------------------------------------------------------------------------

    def owing_of(self, ids: Sequence[str]) -> OwingRows | None:
        """Return which of these memories have changes that wait to be written; None if none have."""
        on = self._shown
        if not on.core.waiting_count:
            return None
        rows = on.core.waiting_of(rows=on.rows_of(ids))
        return OwingRows(on, rows) if rows else None

    def bring_up_to_date(self, memories: Sequence[Memory], owed_before: OwingRows | None) -> None:
        """Apply waiting changes to memories that were just read from the store.

        Args:
            memories: changed in place, so no other code may have them yet.
            owed_before: :meth:`owing_of` from before the read. Changes written meanwhile no longer
                wait, but may be missing from the memories read.
        """
        for start in range(0, len(memories), _READ_AT_ONCE):
            part = memories[start : start + _READ_AT_ONCE]
            while not self._show_uses(part, owed_before):
                sleep(_PAUSE_SECONDS)

    def _show_uses(self, memories: Sequence[Memory], owed_before: OwingRows | None) -> bool:
        """Do so at once; return False if other changes are under way."""
        on = self._shown
        if owed_before is None and not on.core.waiting_count:
            return True
        rows = rows_of(on.lifecycle.row_of, [memory.id for memory in memories])
        known = {row for row in rows if row is not None}
        others = known.intersection(() if owed_before is None else owed_before.rows_of(on))
        used = on.core.used(rows=list(known - others), others=list(others))
        if used is None or on is not self._shown:
            return False
        if used:
            values = [None if row is None else used.get(row) for row in rows]
            _USED_MEMORIES.fill(objects=memories, rows=values)
        return True

    def raise_failure(self) -> None:
        """Raise the error of the last background write, once."""
        self._behind.raise_failure()
