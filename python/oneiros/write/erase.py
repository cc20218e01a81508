"""Erasing memories for good, with what was derived from them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from oneiros.errors import StoreCorrupt, UnknownMemory
from oneiros.filters import AttributeIndex
from oneiros.model.memory import iso_time
from oneiros.runtime.dataclasses import dataclass
from oneiros.write.background import whole_write
from oneiros.write.rules import held_in, unknown

if TYPE_CHECKING:
    from oneiros.filters import Where
    from oneiros.model.memory import Memory
    from oneiros.store import StoredMemory, Transaction
    from oneiros.write.sync import Sync

    Seen = Callable[[StoredMemory | Memory], bool]

__all__ = ["Erasing", "Erasure"]

_EVER = 1e300  # later than any deletion


@dataclass(frozen=True, slots=True)
class Erasure:
    """A receipt of what was erased. It holds no content, only digests of texts.

    ``len`` is the number of erased memories; it is false if there were none.

    Examples:
        >>> import oneiros
        >>> engine = oneiros.Engine(":memory:")
        >>> report = engine.add_many([{"text": "red", "user": "ada"}, {"text": "blue"}])
        >>> receipt = engine.forget(where=oneiros.where(user="ada"))
        >>> len(receipt), receipt.covers("red"), engine.verify_erased(receipt)
        (1, True, True)
    """

    ids: tuple[str, ...]
    """The memories that were asked for, in order of insertion."""
    derived: tuple[str, ...]
    """Memories that were erased because they were derived from others, such as summaries."""
    erased_at: float
    """Seconds UTC."""
    digests: Mapping[str, str]
    """Id -> SHA-256 of the UTF-8 of title, a zero byte and text, as hex; none of a damaged memory."""

    def __len__(self) -> int:
        return len(self.ids) + len(self.derived)

    @property
    def digest(self) -> str:
        """SHA-256 over all ids and digests, by id: equal for equal memories, whenever erased."""
        lines = (f"{id} {self.digests.get(id, '')}\n" for id in sorted((*self.ids, *self.derived)))
        return hashlib.sha256("".join(lines).encode()).hexdigest()

    def covers(self, text: str, title: str = "") -> bool:
        """Return whether a memory with this text was among the erased ones."""
        return _digest(title, text) in self.digests.values()

    def to_dict(self) -> dict[str, Any]:
        """Return the receipt as a dict of JSON values."""
        return {
            "ids": list(self.ids),
            "derived": list(self.derived),
            "erased_at": iso_time(self.erased_at),
            "digests": dict(self.digests),
            "digest": self.digest,
        }

    def __repr__(self) -> str:
        return f"<Erasure of {len(self.ids)} memories and {len(self.derived)} derived from them>"


def _digest(title: str, text: str) -> str:
    return hashlib.sha256(f"{title}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()


class Erasing:
    """Erases memories in one transaction, then from the log and the snapshot."""

    def __init__(self, sync: Sync) -> None:
        self.writer = sync.writer
        self._sync = sync

    @whole_write
    def forget(
        self,
        asked: Sequence[str] | Where | None,
        *,
        now: float,
        seen: Seen,
        is_bounded: bool,
        with_derived: bool,
    ) -> Erasure:
        """Erase memories for good.

        Args:
            asked: ids, or a filter that live and soft-deleted memories pass; None: every memory.
            now: seconds.
            seen: returns whether a memory lies within the scope.
            is_bounded: whether there is a scope; a damaged memory may lie outside it.
            with_derived: also erase what was derived from them.
        """
        digests: dict[str, str] = {}
        with self._sync.writing() as transaction:
            if isinstance(asked, Sequence):
                ids = list(dict.fromkeys(asked))
            else:
                ids = self._matching(transaction, asked)
            for id in ids:
                memory = self._known(transaction, id, seen, is_bounded=is_bounded)
                if memory is not None:
                    digests[id] = _digest(memory.title, memory.text)
            derived: list[str] = []
            if with_derived:
                derived = self._derived(transaction, ids, seen, digests)
            self._erase(transaction, ids, derived)
        if ids:
            self._sync.snapshot.remove()
            self._sync.store.checkpoint()
        return Erasure(tuple(ids), tuple(derived), now, digests)

    def _known(
        self, transaction: Transaction, id: str, seen: Seen, *, is_bounded: bool
    ) -> StoredMemory | None:
        """Return a memory of the scope; None for a damaged one, which may be erased unbounded."""
        try:
            memory = held_in(transaction, id)
        except StoreCorrupt:
            if is_bounded:
                raise
            return None
        if not seen(memory):
            raise UnknownMemory(unknown(id))
        return memory

    def _matching(self, transaction: Transaction, where: Where | None) -> list[str]:
        """Return the ids of the live and soft-deleted memories that pass a filter."""
        sync = self._sync
        row_sets, ids = sync.projections.row_sets, sync.lifecycle.ids
        rows = row_sets.matching(where)
        deleted = AttributeIndex()
        found = transaction.of_sequences(
            transaction.cycles.deleted_before(_EVER), on_damage=sync.note_damage
        )
        for memory in (memory for batch in found for memory in batch):
            row = sync.lifecycle.row_of.get(memory.id)
            if row is not None:
                deleted.add(row, memory)
        if where is None:
            rows |= deleted.rows
        else:
            rows |= deleted.compile(where, sync.lifecycle.column)
        return [ids[row] for row in rows]

    def _derived(
        self, transaction: Transaction, ids: Sequence[str], seen: Seen, digests: dict[str, str]
    ) -> list[str]:
        """Return the memories of the scope that were derived from others, over any number of steps."""
        known, derived = set(ids), []
        latest: Iterable[str] = ids
        while latest:
            new = []
            for id in transaction.derived_of(list(latest)):
                if id in known:
                    continue
                known.add(id)
                memory = held_in(transaction, id)
                if seen(memory):
                    new.append(id)
                    digests[id] = _digest(memory.title, memory.text)
            derived += new
            latest = new
        return derived

    def _erase(
        self, transaction: Transaction, ids: Sequence[str], derived: Sequence[str]
    ) -> None:
        """Erase memories; what only a summary of theirs had replaced is found again."""
        kept = set(transaction.superseded_by(derived)).difference(ids, derived)
        for id in (*ids, *derived):
            transaction.erase(id)
        # A summary moves its sources to the cold tier (C21).
        transaction.update_columns([(id, {"tier": "hot"}) for id in sorted(kept)])
