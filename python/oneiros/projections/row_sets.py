"""Which rows are live, which a filter matches, which recall may return."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from pyroaring import BitMap

from oneiros.fields import ENUMS
from oneiros.scopes import AttributeIndex, Where, allowed_bits, set_of
from oneiros.store.rows import metadata_of, tags_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.projections.lifecycle import Lifecycle
    from oneiros.projections.stored_records import StoredRecords
    from oneiros.ranking.selection import Selection
    from oneiros.scopes.row_sets import RowsByValue
    from oneiros.store import StoredMemory

__all__ = ["RowSets", "Visible", "of_status"]

_ARCHIVED: Final = ENUMS["status"].index("archived")


class Visible(NamedTuple):
    """The rows that one search may return."""

    bits: npt.NDArray[np.uint8] | None
    """Packed bits; None: every row the indexes hold."""
    row_count: int
    bounds_count: int
    """Live rows within the bounds of who asks: all, or those of a scope."""

    def letting_in(self, row: int) -> Visible:
        """Return these rows and one more, which the indexes hold."""
        if self.bits is None or row // 8 >= len(self.bits):
            return self
        bits = self.bits.copy()
        bits[row // 8] |= 1 << row % 8
        return self._replace(bits=bits)


class _Attributes(NamedTuple):
    """What the attribute index was last told of a row."""

    id: str
    kind: str
    project: str | None
    session: str | None
    topic: str | None
    tags: Sequence[str]
    metadata: dict[str, object]
    source: tuple[str | None, str | None]
    """Tags and metadata as they are stored: Python would take 1 for True."""


class RowSets:
    """Sets of rows by state and by attribute, kept in step with the store.

    Args:
        lifecycle: the columns that filters on times and numbers read.
    """

    def __init__(self, lifecycle: Lifecycle) -> None:
        self._lifecycle = lifecycle
        self._index = AttributeIndex(self._row_of)
        self.stored: StoredRecords | None = None
        """What the snapshot says of the rows that were in it."""
        self._attributes: dict[int, _Attributes] = {}
        # Rows whose attributes are being changed, with all they may have: what an interrupt left
        # half done is taken out whole before it is done again.
        self._unsure: dict[int, tuple[_Attributes, ...]] = {}
        self.live = BitMap()
        self._archived = BitMap()
        self._superseded = BitMap()
        self._perishable = BitMap()  # rows with any bound on their validity

    def __len__(self) -> int:
        """Return how many rows the attributes are known of."""
        return len(self._index)

    def _row_of(self, memory_id: str) -> int | None:
        return self._lifecycle.row_of.get(memory_id)

    def take_over(
        self,
        states: Mapping[str, BitMap],
        sets: Mapping[tuple[str, ...], Callable[[], RowsByValue]],
        records: StoredRecords,
    ) -> None:
        """Hold the rows of a snapshot. REQUIRES: there are none yet.

        Args:
            states: the rows of each state of :meth:`states`.
            sets: for each place, what reads its sets.
            records: the rows' attributes.
        """
        self.stored = records
        self._archived = states["archived"]
        self._superseded = states["superseded"]
        self._perishable = states["perishable"]
        self._index.take_over(states["known"], sets)
        self.live = states["live"]

    def states(self) -> dict[str, BitMap]:
        """The rows of each state, not the caller's own; "known": those with attributes."""
        return {
            "live": self.live,
            "archived": self._archived,
            "superseded": self._superseded,
            "perishable": self._perishable,
            "known": self._index.rows,
        }

    def places(self) -> dict[tuple[str, ...], RowsByValue]:
        """Where values stand, with the rows of each value, not the caller's own."""
        return self._index.places()

    @property
    def is_sure(self) -> bool:
        """Whether no interrupt left a row's attributes half changed."""
        return not self._unsure

    def sources(self) -> dict[int, tuple[str | None, str | None]]:
        """Tags and metadata, as they are stored, of every row that may differ from the snapshot."""
        return {row: held.source for row, held in self._attributes.items()}

    def matching(self, where: Where | None) -> BitMap:
        """The live rows that a filter matches, in a set of the caller's own."""
        if where is None:
            return BitMap(self.live)
        return self._index.compile(where, self._lifecycle.column) & self.live

    def visible(
        self,
        selection: Selection,
        where: Where | None,
        bounds: Where | None,
        status: Sequence[str] | None,
        now: float,
    ) -> Visible:
        """The rows that a recall may return. Source: docs/systems/fields.md, "Hidden from recall".

        Args:
            selection: what the profile hides.
            where: a further condition.
            bounds: the scope of who asks; None: all.
            status: these statuses and no other, archived ones too if named; None hides archived.
            now: seconds; what is expired is so then.
        """
        within = len(self.live) if bounds is None else len(self.matching(bounds))
        if bounds is not None:
            where = bounds if where is None else bounds & where
        if status is not None:
            wanted = of_status(status)
            where = wanted if where is None else where & wanted
        hidden = BitMap.union(BitMap(), *self.hidden(selection, status, now).values())
        if where is None and hidden.isdisjoint(self.live):
            return Visible(None, len(self.live), within)
        rows = self.matching(where) - hidden
        return Visible(allowed_bits(rows, len(self._lifecycle.ids)), len(rows), within)

    def hidden(
        self, selection: Selection, status: Sequence[str] | None, now: float
    ) -> dict[str, BitMap]:
        """The rows that a recall without filter may not return, by reason: one row may have several.

        Reasons are "superseded", "archived", "expired" and "not_yet_valid"; arguments are those of
        :meth:`visible`. The sets are not the caller's own.
        """
        hidden = {}
        if selection.hide_superseded:
            hidden["superseded"] = self._superseded
        if status is None:
            hidden["archived"] = self._archived
        if selection.hide_expired and self._perishable:
            hidden["expired"], hidden["not_yet_valid"] = self._out_of_time(now)
        return hidden

    def apply(self, rows: Sequence[int], batch: Sequence[StoredMemory]) -> None:
        """Bring the sets to what the store says."""
        self._apply_attributes(rows, batch)
        pairs = list(zip(rows, batch, strict=True))
        archived = [row for row, memory in pairs if memory.status == _ARCHIVED]
        superseded = [row for row, memory in pairs if memory.superseded_by is not None]
        perishable = [
            row
            for row, memory in pairs
            if memory.valid_until is not None
            or memory.valid_from is not None
            or memory.ttl is not None
        ]
        _keep(self._archived, rows, archived)
        _keep(self._superseded, rows, superseded)
        _keep(self._perishable, rows, perishable)

    def publish(self, rows: Sequence[int], batch: Sequence[StoredMemory]) -> None:
        """Make rows live, or no longer, once every index holds what they are."""
        pairs = zip(rows, batch, strict=True)
        _keep(self.live, rows, [row for row, memory in pairs if memory.deleted_at is None])

    def erase(self, row: int) -> None:
        """Drop a row from every set."""
        for rows in (self.live, self._archived, self._superseded, self._perishable):
            rows.discard(row)
        self._forget_attributes(row)

    def _apply_attributes(self, rows: Sequence[int], batch: Sequence[StoredMemory]) -> None:
        fresh_rows, fresh = [], []
        for row, memory in zip(rows, batch, strict=True):
            if memory.deleted_at is not None:
                self._forget_attributes(row)
                continue
            if row in self._unsure:
                self._forget_attributes(row)
            old = self._held(row)
            new = _attributes_of(memory)
            if old is None:
                fresh_rows.append(row)
                fresh.append(new)
            elif old != new:
                self._unsure[row] = (old, new)
                self._index.replace(row, old, new)
                self._attributes[row] = new
                del self._unsure[row]
        if fresh:
            columns: dict[str, Any] = dict(
                zip(_Attributes._fields, zip(*fresh, strict=True), strict=True)
            )
            columns["ids"] = columns.pop("id")
            del columns["source"]
            self._unsure.update((row, (new,)) for row, new in zip(fresh_rows, fresh, strict=True))
            self._index.add_many(fresh_rows, **columns)
            self._attributes.update(zip(fresh_rows, fresh, strict=True))
            for row in fresh_rows:
                del self._unsure[row]

    def _held(self, row: int) -> _Attributes | None:
        """What the index was last told of a row; from then on also of a snapshot's."""
        held = self._attributes.get(row)
        if held is None and self.stored is not None and row in self._index:
            held = self._attributes[row] = self._of_snapshot(self.stored, row)
        return held

    def _of_snapshot(self, stored: StoredRecords, row: int) -> _Attributes:
        tags, metadata = stored.tags(row), stored.metadata(row)
        return _Attributes(
            self._lifecycle.ids[row],
            stored.word("kind", row) or "",
            stored.word("project", row),
            stored.word("session", row),
            stored.word("topic", row),
            _NO_TAGS if tags is None else tags_of(tags),
            _NO_METADATA if metadata is None else metadata_of(metadata),
            (tags, metadata),
        )

    def _forget_attributes(self, row: int) -> None:
        held = self._held(row)
        for attributes in (*self._unsure.get(row, ()), *(() if held is None else (held,))):
            self._index.purge(row, attributes)
        self._attributes.pop(row, None)
        self._unsure.pop(row, None)

    def _out_of_time(self, now: float) -> tuple[BitMap, BitMap]:
        """Rows past their validity, and rows before it. Source: docs/systems/cognitive.md C7."""
        column = self._lifecycle.column
        rows = np.array(self._perishable.to_array(), np.uint32)
        until, since = column("valid_until")[rows], column("valid_from")[rows]
        dies = column("created_at")[rows] + column("ttl")[rows]
        with np.errstate(invalid="ignore"):  # NaN: no bound, compares false
            return set_of(rows[(now > until) | (now > dies)]), set_of(rows[since > now])


def of_status(status: Sequence[str]) -> Where:
    """The condition that a memory's status is one of these."""
    return Where.from_json({"status": list(status)})


# One of each for all the rows without, which are most.
_NO_TAGS: Final[Sequence[str]] = ()
_NO_METADATA: Final[dict[str, object]] = {}


def _attributes_of(memory: StoredMemory) -> _Attributes:
    return _Attributes(
        memory.id,
        memory.kind,
        memory.project,
        memory.session,
        memory.topic,
        memory.tags if memory.tags_json else _NO_TAGS,
        memory.metadata if memory.metadata_json else _NO_METADATA,
        (memory.tags_json, memory.metadata_json),
    )


def _keep(kept: BitMap, rows: Sequence[int], inside: list[int]) -> None:
    """Of these rows, keep those inside and no others; no row goes that is to stay."""
    kept.update(inside)
    if len(inside) != len(rows):
        kept.difference_update(BitMap(rows) - BitMap(inside))
