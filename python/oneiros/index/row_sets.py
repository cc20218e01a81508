"""Sets of rows: live rows, rows that match a filter, rows that a search may return."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import lru_cache, wraps
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec

from pyroaring import BitMap

from oneiros import _core, filters
from oneiros._lazy import np
from oneiros.filters import allowed_bits, set_of
from oneiros.index.columns import is_given, is_missing
from oneiros.index.row_attributes import RowAttributes
from oneiros.model.fields import ENUMS, kinds_of
from oneiros.runtime.dataclasses import NamedTuple, dataclass, field, replace

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.filters import Bits, Where
    from oneiros.filters.row_bitmaps import RowsByValue
    from oneiros.graph import Associations
    from oneiros.index.columns import Lifecycle
    from oneiros.index.stored_rows import StoredRecords
    from oneiros.scoring.link_expansion import ExpansionDeclaration
    from oneiros.scoring.selection import Selection
    from oneiros.store.columns import StoredColumns

    Column = npt.NDArray[Any]

__all__ = ["DeepRecallRows", "Limits", "Reach", "RowSets", "Visible", "of_status"]

Params = ParamSpec("Params")

_ARCHIVED: Final = ENUMS["status"].index("archived")
_QUARANTINED: Final = ENUMS["status"].index("quarantined")
_HOT: Final = ENUMS["tier"].index("hot")
_MOST_KEPT: Final = 128


class Limits(NamedTuple):
    """The limits of a search, from its arguments and its profile.

    Source: docs/systems/fields.md, "Hidden from recall"; docs/systems/cognitive.md C7.
    """

    selection: Selection
    """The profile's rules for hidden memories."""
    where: Where | None
    """A further condition."""
    status: Sequence[str] | None
    """Only memories with these statuses; None: all but archived and quarantined ones."""
    now: float
    """Seconds."""
    valid_at: float | None = None
    """Only memories valid then, whatever the profile hides; None: now, if the profile asks."""
    includes_expired: bool = False
    """Whether expired memories stay."""
    is_deep: bool = False
    """Whether superseded memories return, of any tier. Source: docs/systems/cognitive.md C4, C6."""
    includes_lapsed: bool = False
    """Whether deep recall also returns expired memories."""
    least_trust: float = 0.0
    """Only memories of at least this trust, rounded to float32."""
    excluded: frozenset[str] = frozenset()
    """Ids of memories that the search leaves out; others are ignored."""
    learned_before: float | None = None
    """Only memories that the store learned of before this time, seconds."""

    @property
    def penalises_lapsed(self) -> bool:
        """Whether expired memories return with a penalty."""
        is_hidden = self.judges_validity and not self.includes_expired
        return self.is_deep and self.includes_lapsed and is_hidden

    @property
    def judges_validity(self) -> bool:
        """Whether validity hides any memory."""
        return self.selection.hide_expired or self.valid_at is not None

    @property
    def moment(self) -> float:
        """The time at which memories must be valid, seconds."""
        return self.now if self.valid_at is None else self.valid_at


class Reach(NamedTuple):
    """The rows to which links may lead a search."""

    associations: Associations
    bits: Bits | None
    """Packed bits of the rows; None: every row."""


class DeepRecallRows(NamedTuple):
    """The rows that deep recall brings back."""

    superseded: BitMap
    lapsed: BitMap
    """Rows past their validity."""

    @property
    def lapsed_rows(self) -> npt.NDArray[np.uint32]:
        """The rows past their validity, ascending."""
        return np.array(self.lapsed.to_array(), np.uint32)

    def hold(self, row: int) -> bool:
        """Return whether deep recall brought a row back."""
        return row in self.superseded or row in self.lapsed


@dataclass(frozen=True, slots=True, eq=False)
class Visible:
    """The rows that one search may return."""

    bits: Bits | None
    """Packed bits; None: every row in the indexes."""
    row_count: int
    bounds_count: int
    """Live rows in the scope of the caller."""
    reach: Reach | None = None
    """The rows to which links may lead; None: no links are followed."""
    scope: Bits | None = None
    """Packed bits of the live rows in the caller's scope; None: every row in the indexes."""
    standing: Bits | None = None
    """Packed bits of the scope's rows that stand in sessions; None: all of the scope."""
    rows: BitMap | None = None
    """The rows as a set, for a scope without further limits."""
    has_bounds: bool = False
    """Whether the caller's scope has bounds, even if every row lies within them."""
    come_count: int = 0
    """The number of times that rows had become live when the rows were determined."""
    hidden_count: int | None = None
    """The number of these times with rows that may be hidden; None: any row may be."""
    _for_core: _core.SearchRows | None = field(init=False, repr=False, default=None)

    @property
    def for_core(self) -> _core.SearchRows:
        """The rows as the core's searches take them."""
        made = self._for_core
        if made is None:
            reach = self.reach
            made = _core.SearchRows(
                allowed=self.bits,
                allowed_count=self.row_count,
                bounds_count=self.bounds_count,
                follows_links=reach is not None,
                reach=None if reach is None else reach.bits,
                scope=self.scope,
                standing=self.standing,
                has_bounds=self.has_bounds,
            )
            object.__setattr__(self, "_for_core", made)
        return made

    @property
    def has_every_row(self) -> bool:
        """Whether it also lets in rows that come to the indexes later."""
        is_scope_open = self.has_bounds and self.scope is None
        is_reach_open = self.reach is not None and self.reach.bits is None
        return self.bits is None or is_scope_open or is_reach_open

    def letting_in(self, row: int) -> Visible:
        """Return these rows and one more row of the indexes."""
        if self.bits is None or row // 8 >= len(self.bits):
            return self
        bits = bytearray(self.bits)
        bits[row // 8] |= 1 << row % 8
        return replace(self, bits=bytes(bits))

    def without(self, rows: BitMap) -> Visible:
        """Return these rows except some. REQUIRES: ``bits`` is not None."""
        assert self.bits is not None
        size = len(self.bits)
        left_out = int.from_bytes(allowed_bits(rows, 8 * size), "little")
        before = int.from_bytes(self.bits, "little")
        return replace(
            self,
            bits=(before & ~left_out).to_bytes(size, "little"),
            row_count=self.row_count - (before & left_out).bit_count(),
        )


def _changing(
    method: Callable[Concatenate[RowSets, Params], None],
) -> Callable[Concatenate[RowSets, Params], None]:
    """Return a method that changes rows and then drops the cached visible rows."""

    @wraps(method)
    def call(self: RowSets, /, *args: Params.args, **kwargs: Params.kwargs) -> None:
        try:
            method(self, *args, **kwargs)
        finally:
            self._kept = {}

    return call


class _Kept(NamedTuple):
    """Cached visible rows, with the objects whose identity is part of the cache key."""

    visible: Visible
    held: object


def _keep_latest(kept: dict[Hashable, _Kept], key: Hashable, entry: _Kept) -> None:
    """Keep an entry, and few others."""
    if len(kept) >= _MOST_KEPT:
        kept.clear()
    kept[key] = entry


def _key_of(limits: Limits, bounds: Where | None) -> tuple[Hashable, ...]:
    """Return the key of the rows that are visible within limits that no clock moves."""
    return (
        *(limits.where, bounds, id(limits.selection)),
        None if limits.status is None else tuple(limits.status),
        *(limits.is_deep, limits.includes_expired, limits.includes_lapsed, limits.valid_at),
        limits.least_trust,
    )


class _ColumnsRead:
    """Reads columns and records their names."""

    def __init__(self, lifecycle: Lifecycle) -> None:
        self._lifecycle = lifecycle
        self.names: set[str] = set()

    def __call__(self, name: str) -> Column:
        self.names.add(name)
        return self._lifecycle.column(name)


class RowSets:
    """Sets of rows by state and by attribute, kept in step with the store."""

    def __init__(self, lifecycle: Lifecycle) -> None:
        self._lifecycle = lifecycle
        self.attributes = RowAttributes(lifecycle)
        self.live = BitMap()
        self._archived = BitMap()
        self._quarantined = BitMap()
        self._superseded = BitMap()
        self._cold = BitMap()  # rows that are not hot, and some that became hot
        self._perishable = BitMap()  # rows with a bound on their validity
        self._doubted = BitMap()  # rows of a trust below 1
        self._kept: dict[Hashable, _Kept] = {}  # for searches since the last change of rows
        self.come_count = 0
        """The number of times that rows became live."""
        self._hidden_count = 0  # of these times, some of the rows may be hidden
        self._are_coming = False  # rows that are not live yet enter the indexes
        self._may_be_hidden = False  # some of these rows

    def __len__(self) -> int:
        """Return the number of rows whose attributes are known."""
        return len(self.attributes)

    @_changing
    def take_over(
        self,
        states: Mapping[str, BitMap],
        sets: Mapping[tuple[str, ...], Callable[[], RowsByValue]],
        records: StoredRecords,
    ) -> None:
        """Take over a snapshot's rows, named as in :meth:`states`. REQUIRES: the sets are empty.

        ``sets`` has by place a function that reads the sets of the place.
        """
        self._archived = states["archived"]
        self._quarantined = states["quarantined"]
        self._superseded = states["superseded"]
        self._cold = states["cold"]
        self._perishable = states["perishable"]
        self._doubted = states["doubted"]
        self.attributes.take_over(states["known"], sets, records)
        self.live = states["live"]

    def states(self) -> dict[str, BitMap]:
        """Return the rows of each state, not copied. "known" are rows with attributes."""
        return {
            "live": self.live,
            "archived": self._archived,
            "quarantined": self._quarantined,
            "superseded": self._superseded,
            "cold": self._cold,
            "perishable": self._perishable,
            "doubted": self._doubted,
            "known": self.attributes.index.rows,
        }

    def matching(self, where: Where | None) -> BitMap:
        """Return a new set of the live rows that a filter matches."""
        return self._matching(where, self._lifecycle.column)

    @property
    def has_quarantined(self) -> bool:
        """Whether some memory is quarantined."""
        return bool(self._quarantined)

    def consulted(self, where: Where | None) -> BitMap:
        """Return a new set of the live rows that a filter matches, without quarantined ones.

        Rules that compare memories, such as that of duplicates, see no others.
        """
        return self.matching(where) - self._quarantined

    def _matching(self, where: Where | None, column: Callable[[str], Column]) -> BitMap:
        live = BitMap(self.live)  # first: a row has its attributes before it is live
        return live if where is None else self.attributes.index.compile(where, column) & live

    def of_projects(self, matches: Callable[[str], bool]) -> BitMap:
        """Return a new set of the live rows whose project satisfies ``matches``."""
        return self.attributes.index.rows_of_values("project", matches) & self.live

    def visible(self, limits: Limits, bounds: Where | None) -> Visible:
        """Return the rows that a search may return in a scope."""
        if limits.excluded or limits.learned_before is not None:
            others = limits._replace(excluded=frozenset(), learned_before=None)
            left_out = BitMap.union(BitMap(), *self._left_out(limits).values())
            visible = self.visible(others, bounds)
            if visible.bits is None:
                visible = replace(visible, bits=self._live_bits())
            return visible.without(left_out)
        kept = self._kept  # a change of rows replaces this dict, so stale entries are not read
        key = _key_of(limits, bounds)
        cached = kept.get(key)
        if cached is not None:
            return cached.visible
        columns = _ColumnsRead(self._lifecycle)
        visible = self._visible(limits, bounds, columns)
        if not columns.names:  # columns change with every use, and validity with the clock
            _keep_latest(kept, key, _Kept(visible, limits.selection))
        return visible

    def searched(
        self,
        limits: Limits,
        bounds: Where | None,
        links: Associations | None,
        expansion: ExpansionDeclaration | None,
        *,
        has_neighbours: bool,
        is_exact: bool = False,
    ) -> Visible:
        """Return the rows that a search may return in a scope, and all other rows that it reads.

        Args:
            limits: of the search.
            bounds: of the scope.
            links: those that it may follow; None: none.
            expansion: the profile's rule for following links; None: none are followed.
            has_neighbours: whether the profile looks at neighbours in sessions.
            is_exact: name every row, so that none is let in that comes to the indexes later.
        """
        if expansion is None:
            links = None
        # Before the rows: those that come later change a count.
        is_whole = bounds is None and not limits.selection.hidden_kinds
        counts = (self.come_count, self._hidden_count if is_whole else None)
        if not (is_exact or self._may_let_in(*counts)):
            found = self._searched(limits, bounds, links, expansion, counts, has_neighbours)
            if not self._may_let_in(*counts):
                return found
        return self._exactly(limits, bounds, links, expansion, has_neighbours)

    def have_come_since(self, come_count: int) -> bool:
        """Return whether rows became live since a count, or enter the indexes now."""
        return self._are_coming or self.come_count != come_count

    def lets_in_others(self, visible: Visible) -> bool:
        """Return whether a search may have found rows that came since and that it must not find."""
        is_open = visible.has_every_row
        return is_open and self._may_let_in(visible.come_count, visible.hidden_count)

    def _may_let_in(self, come_count: int, hidden_count: int | None) -> bool:
        """Return whether rows that a search must not find may have come, or may come now.

        Rows that no search of the whole store hides may be found as soon as an index has them. Then
        every such search finds them, so that no search finds less than an earlier one.
        """
        if hidden_count is None:
            return self.have_come_since(come_count)
        return self._may_be_hidden or self._hidden_count != hidden_count

    def _exactly(
        self,
        limits: Limits,
        bounds: Where | None,
        links: Associations | None,
        expansion: ExpansionDeclaration | None,
        has_neighbours: bool,
    ) -> Visible:
        """Return what :meth:`searched` does, with bits in place of every None."""
        column = self._lifecycle.column
        # First: a row that is hidden is known to be before it is live.
        scope = self._matching(bounds, column)

        def within(limits: Limits) -> BitMap:
            rows = scope
            if limits.where is not None:
                rows = rows & self._matching(limits.where, column)
            if limits.status is not None:
                rows = rows & self._matching(of_status(limits.status), column)
            return rows - BitMap.union(BitMap(), *self.hidden(limits).values())

        rows, reach = within(limits), None
        count = len(self._lifecycle.ids)
        if links is not None and expansion is not None:
            reachable = within(_limits_of_reach(limits, expansion))
            reach = Reach(links, allowed_bits(reachable, count))
        standing = None
        if has_neighbours and limits.status is None and self._archived:
            standing = allowed_bits(scope - self._archived, count)
        return Visible(
            allowed_bits(rows, count),
            len(rows),
            len(scope),
            reach=reach,
            scope=None if bounds is None else allowed_bits(scope, count),
            standing=standing,
            has_bounds=bounds is not None,
        )

    def _searched(
        self,
        limits: Limits,
        bounds: Where | None,
        links: Associations | None,
        expansion: ExpansionDeclaration | None,
        counts: tuple[int, int | None],
        has_neighbours: bool,
    ) -> Visible:
        kept, key = self._kept, None
        come_count, hidden_count = counts
        if not limits.excluded and limits.learned_before is None:
            base = _key_of(limits, bounds)
            # A row has an id before it is live; links may lead to it only once it is.
            key = (*base, id(links), id(expansion), has_neighbours, len(self._lifecycle.ids))
            if (cached := kept.get(key)) is not None:
                return cached.visible
        visible = self.visible(limits, bounds)
        searched = replace(
            visible,
            reach=self._reach(limits, bounds, visible, links, expansion),
            scope=visible.scope if bounds is None else self.in_bounds(bounds).bits,
            standing=self.standing(limits, bounds) if has_neighbours else visible.standing,
            has_bounds=bounds is not None or visible.has_bounds,
            come_count=come_count,
            hidden_count=hidden_count,
        )
        if key is not None and base in kept and not self.have_come_since(come_count):
            _keep_latest(kept, key, _Kept(searched, (limits.selection, links, expansion)))
        return searched

    def _reach(
        self,
        limits: Limits,
        bounds: Where | None,
        visible: Visible,
        links: Associations | None,
        expansion: ExpansionDeclaration | None,
    ) -> Reach | None:
        """Return the rows to which links may lead; None: no links are followed."""
        if links is None or expansion is None:
            return None
        was_deep, limits = limits.is_deep, _limits_of_reach(limits, expansion)
        if was_deep and not limits.is_deep:
            visible = self.visible(limits, bounds)
        bits = visible.bits
        # Links reach cold memories that ``visible`` lacks if the limits do not hide these.
        if not limits.selection.hide_cold and not self._cold.isdisjoint(self.live):
            bits = self.visible(limits, bounds).bits
        if bits is None and len(self.live) < len(self._lifecycle.ids):
            bits = self._live_bits()
        return Reach(links, bits)

    def _visible(self, limits: Limits, bounds: Where | None, columns: _ColumnsRead) -> Visible:
        bounds_count = len(self.live) if bounds is None else self.in_bounds(bounds).row_count
        where = limits.where
        if bounds is not None:
            where = bounds if where is None else bounds & where
        if limits.status is not None:
            status = of_status(limits.status)
            where = status if where is None else where & status
        hidden = BitMap.union(BitMap(), *self._hidden(limits, columns).values())
        if where is None and hidden.isdisjoint(self.live):
            return Visible(None, len(self.live), bounds_count)
        if where is bounds and bounds is not None:
            scope = self.in_bounds(bounds)
            if scope.rows is not None and hidden.isdisjoint(scope.rows):
                return scope
        rows = self._matching(where, columns) - hidden
        return Visible(allowed_bits(rows, len(self._lifecycle.ids)), len(rows), bounds_count)

    def standing(self, limits: Limits, bounds: Where | None) -> Bits | None:
        """Return packed bits of the rows that neighbours in sessions are sought among.

        Archived rows that the search may not return are stepped over (H4).

        Returns:
            None: all rows of the scope.
        """
        if limits.status is not None or not self._archived:
            return None
        kept = self._kept
        key = ("standing", bounds)
        cached = kept.get(key)
        if cached is None:
            scope = self.live if bounds is None else self.in_bounds(bounds).rows
            assert scope is not None
            rows = scope - self._archived
            bits = allowed_bits(rows, len(self._lifecycle.ids))
            cached = _Kept(Visible(bits, len(rows), len(rows)), None)
            _keep_latest(kept, key, cached)
        return cached.visible.bits

    def in_bounds(self, bounds: Where) -> Visible:
        """Return the live rows in a scope. REQUIRES: its bounds name no column."""
        kept = self._kept
        key = ("in_bounds", bounds)
        cached = kept.get(key)
        if cached is None:
            rows = self._matching(bounds, self._lifecycle.column)
            is_all = len(rows) == len(self.live)
            bits = None if is_all else allowed_bits(rows, len(self._lifecycle.ids))
            cached = _Kept(Visible(bits, len(rows), len(rows), rows=rows), None)
            _keep_latest(kept, key, cached)
        return cached.visible

    def bits_in(self, bounds: Where) -> Bits:
        """Return packed bits of the live rows in a scope, also where every row lies within it."""
        rows = self._matching(bounds, self._lifecycle.column)
        return allowed_bits(rows, len(self._lifecycle.ids))

    def _live_bits(self) -> Bits:
        kept = self._kept
        cached = kept.get("live")
        if cached is None:
            bits = allowed_bits(self.live, len(self._lifecycle.ids))
            cached = kept["live"] = _Kept(Visible(bits, len(self.live), len(self.live)), None)
        assert cached.visible.bits is not None
        return cached.visible.bits

    def hidden(self, limits: Limits) -> dict[str, BitMap]:
        """Return by reason the rows that a search without a filter may not return.

        Reasons are "superseded", "cold", "kind", "archived", "quarantined", "trust", "expired",
        "not_yet_valid", "excluded" and "too_new". A row may have several. The sets are not copied.
        """
        return self._hidden(limits, self._lifecycle.column) | self._left_out(limits)

    def _left_out(self, limits: Limits) -> dict[str, BitMap]:
        """Return by reason the rows that the caller of a search leaves out."""
        left_out = {}
        if limits.excluded:
            rows = map(self._lifecycle.row_of.get, limits.excluded)
            left_out["excluded"] = set_of([row for row in rows if row is not None])
        if limits.learned_before is not None:
            learned = self._lifecycle.column("learned_at")
            left_out["too_new"] = filters.rows_where(learned >= limits.learned_before)
        return left_out

    def _hidden(self, limits: Limits, column: Callable[[str], Column]) -> dict[str, BitMap]:
        hidden = {}
        if limits.selection.hidden_kinds:
            kinds = of_kinds(kinds_of(limits.selection, "hidden_kinds"))
            hidden["kind"] = self.attributes.index.compile(kinds, column)
        if limits.selection.hide_superseded and not limits.is_deep:
            hidden["superseded"] = self._superseded
        if limits.selection.hide_cold and self._cold:
            cold = self._still_cold(column)
            hidden["cold"] = cold - self._superseded if limits.is_deep else cold
        if limits.status is None:
            hidden["archived"] = self._archived
            hidden["quarantined"] = self._quarantined
        if limits.least_trust > 0.0 and self._doubted:
            hidden["trust"] = self._below_trust(limits.least_trust)
        if limits.judges_validity and self._perishable:
            expired, not_yet_valid = self._out_of_time(limits, column)
            if not (limits.includes_expired or limits.penalises_lapsed):
                hidden["expired"] = expired
            hidden["not_yet_valid"] = not_yet_valid
        return hidden

    def came_back(self, limits: Limits) -> DeepRecallRows | None:
        """Return new sets of the rows that deep recall brings back; None without deep recall."""
        if not limits.is_deep:
            return None
        lapsed = BitMap()
        if limits.penalises_lapsed:
            lapsed, _ = self._out_of_time(limits, self._lifecycle.column)
        return DeepRecallRows(self._superseded.copy(), lapsed)

    def out_of_time(self, now: float, selection: Selection) -> tuple[BitMap, BitMap]:
        """Return new sets of the expired rows, of kinds that expire, and of rows not yet valid."""
        limits = Limits(selection=selection, where=None, status=None, now=now)
        return self._out_of_time(limits, self._lifecycle.column)

    def out_of_time_counts(self, limits: Limits) -> tuple[int, int]:
        """Return the numbers of expired rows, of kinds that expire, and of rows not yet valid.

        Over time the first only grows and the second only shrinks: until a memory is written, equal
        counts mean equal rows.
        """
        if not (limits.judges_validity and self._perishable):
            return 0, 0
        expired, not_yet_valid = self._out_of_time(limits, self._lifecycle.column)
        return len(expired), len(not_yet_valid)

    @_changing
    def apply(self, rows: Sequence[int], memories: StoredColumns) -> None:
        """Bring the sets into line with the store."""
        self.attributes.apply(rows, memories)
        perishable: Sequence[int] = ()
        for name in ("valid_until", "valid_from", "ttl"):
            if places := memories.places(name, is_given):
                perishable = sorted({*perishable, *places})
        for name, kept, is_inside in self._sets_by_state():
            _keep(kept, rows, memories.places(name, is_inside))
        _keep(self._superseded, rows, memories.places("is_superseded", bool))
        _keep(self._perishable, rows, perishable)
        if self._are_coming and not self._may_be_hidden:
            by_rule = (self._archived, self._quarantined, self._superseded)
            by_request = (self._cold, self._perishable, self._doubted)
            came = set_of(rows)
            self._may_be_hidden = not all(map(came.isdisjoint, (*by_rule, *by_request)))

    @_changing
    def apply_states(self, field: str, rows: Sequence[int], values: Sequence[float]) -> None:
        """Bring the sets into line with the values of a column, in the form of the store."""
        for name, kept, is_inside in self._sets_by_state():
            if name == field:
                _keep(kept, rows, [place for place, value in enumerate(values) if is_inside(value)])

    def _sets_by_state(self) -> Iterator[tuple[str, BitMap, Callable[[Any], bool]]]:
        """Yield fields with a set of rows, and which values put a row into it."""
        yield "status", self._archived, _ARCHIVED.__eq__
        yield "status", self._quarantined, _QUARANTINED.__eq__
        yield "trust", self._doubted, _is_doubted
        yield "tier", self._cold, _HOT.__ne__

    @_changing
    def delete(self, rows: npt.NDArray[np.uint32]) -> None:
        """Remove rows from the live rows and drop their attributes; their states stay."""
        self.live -= set_of(rows)
        self.attributes.forget_many(rows)

    def begin_coming(self, rows: Sequence[int], memories: StoredColumns) -> None:
        """Note that memories are about to enter the indexes. :meth:`end_coming` follows."""
        if not self._are_coming:
            places = memories.places("deleted_at", is_missing)
            self._are_coming = any(rows[place] not in self.live for place in places)

    def end_coming(self) -> None:
        """Note that the memories of :meth:`begin_coming` are live."""
        if self._are_coming:
            self._hidden_count += self._may_be_hidden
            self.come_count += 1
            self._are_coming = self._may_be_hidden = False

    @_changing
    def publish(self, rows: Sequence[int], memories: StoredColumns) -> None:
        """Make rows live, or not live, once every index holds them."""
        _keep(self.live, rows, memories.places("deleted_at", is_missing))

    @_changing
    def erase(self, rows: npt.NDArray[np.uint32]) -> None:
        """Drop rows from every set."""
        gone = set_of(rows)
        self.live -= gone
        self._archived -= gone
        self._quarantined -= gone
        self._superseded -= gone
        self._cold -= gone
        self._perishable -= gone
        self._doubted -= gone
        self.attributes.forget_many(rows)

    def _below_trust(self, least: float) -> BitMap:
        """Return the rows of less trust, which changes only with writes."""
        rows = np.array(self._doubted.to_array(), np.uint32)
        return set_of(rows[self._lifecycle.column("trust")[rows] < np.float32(least)])

    def _still_cold(self, column: Callable[[str], Column]) -> BitMap:
        """Return the rows that are not hot; searches may have warmed some since the last read."""
        rows = np.array(self._cold.to_array(), np.uint32)
        return set_of(rows[column("tier")[rows] != _HOT])

    def _out_of_time(
        self, limits: Limits, column: Callable[[str], Column]
    ) -> tuple[BitMap, BitMap]:
        """Return the rows past their validity, and the rows before it.

        The first are only those of the kinds that expire in the profile.

        Source: docs/systems/cognitive.md C7.
        """
        now = limits.moment
        rows = np.array(self._perishable.to_array(), np.uint32)
        until, since = column("valid_until")[rows], column("valid_from")[rows]
        end_of_life = column("created_at")[rows] + column("ttl")[rows]
        with np.errstate(invalid="ignore"):  # NaN, no bound, compares false
            is_expired, is_early = (now > until) | (now > end_of_life), since > now
        if expiring := kinds_of(limits.selection, "expiring_kinds"):
            kinds = self._lifecycle.kinds
            codes = [kinds.index(kind) for kind in expiring if kind in kinds]
            is_expired &= np.isin(column("kind")[rows], codes)
        return set_of(rows[is_expired]), set_of(rows[is_early])


def _limits_of_reach(limits: Limits, expansion: ExpansionDeclaration) -> Limits:
    """Return the limits of the rows that links may lead to."""
    if limits.is_deep and not expansion.needs_scores:  # then there is no score to penalise
        limits = limits._replace(is_deep=False)
    if expansion.cold and limits.selection.hide_cold:
        limits = limits._replace(selection=replace(limits.selection, hide_cold=False))
    return limits


def _is_doubted(trust: float) -> bool:
    return trust < 1.0


def of_status(status: Sequence[str]) -> Where:
    """Return the condition that a memory has one of these statuses."""
    return filters.Where.from_json({"status": list(status)})


@lru_cache(maxsize=16)
def of_kinds(kinds: tuple[str, ...]) -> Where:
    """Return the condition that a memory has one of these kinds."""
    return filters.Where.from_json({"kind": list(kinds)})


def _keep(kept: BitMap, rows: Sequence[int], places: Sequence[int]) -> None:
    """Keep the rows at these places and drop the others. No row to keep is absent meanwhile."""
    if len(rows) == 1:  # the common case, without a set
        if places:
            kept.add(rows[0])
        else:
            kept.discard(rows[0])
        return
    inside = set_of(rows if len(places) == len(rows) else [rows[place] for place in places])
    kept |= inside
    if len(places) != len(rows) and kept:
        kept -= set_of(rows) - inside
