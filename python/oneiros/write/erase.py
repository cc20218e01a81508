"""Erasing memories for good, with what was derived from them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from oneiros._lazy import np
from oneiros.display.counts import count_of
from oneiros.errors import OneirosError, StoreCorrupt, UnknownMemory
from oneiros.filters import AttributeIndex
from oneiros.model.fields import U32_MAX
from oneiros.model.memory import iso_time
from oneiros.model.validation import moment, require_instance, require_int, texts
from oneiros.runtime.dataclasses import asdict, dataclass
from oneiros.store.derivations import Derivations
from oneiros.write.background import whole_write
from oneiros.write.rules import held_in, unknown

if TYPE_CHECKING:
    from oneiros.filters import Where
    from oneiros.model.memory import Memory
    from oneiros.store import StoredMemory, Transaction
    from oneiros.write.sync import Sync

    Seen = Callable[[StoredMemory | Memory], bool]

__all__ = ["Erasing", "Erasure"]

_AT_ONCE: Final = 1_000  # memories whose texts are in memory together
_check_time = moment("erased_at")


@dataclass(frozen=True, slots=True)
class Erasure:
    """A receipt of erased memories: ids, time, counts and digests, but no content.

    ``len`` is the number of erased memories; it is false if there were none. Digests are equal for
    equal titles and texts, so :meth:`covers` answers whether a text was among them. A short text can
    be guessed in the same way: keep receipts as safe as ids.

    Examples:
        >>> import oneiros
        >>> engine = oneiros.Engine(":memory:")
        >>> report = engine.add_many([{"text": "red", "user": "ada"}, {"text": "blue"}])
        >>> receipt = engine.forget(where=oneiros.where(user="ada"))
        >>> len(receipt), receipt.covers("red"), engine.verify_erased(receipt)
        (1, True, True)
        >>> oneiros.Erasure.from_dict(receipt.to_dict()) == receipt
        True
    """

    ids: tuple[str, ...]
    """The memories that were named, in the order of the call; for a filter in order of insertion."""
    derived: tuple[str, ...]
    """Memories that were erased because they were derived from others, such as summaries."""
    erased_at: float
    """Seconds UTC, to the microsecond."""
    digests: Mapping[str, str]
    """Id -> SHA-256, as hex, of the UTF-8 of title, a zero byte and text. A damaged memory has none."""
    links: int = 0
    """Number of links that were erased with the memories."""
    verdicts: int = 0
    """Number of verdicts (:meth:`oneiros.Engine.feedback`) on the memories."""
    dream_changes: int = 0
    """Number of changes of texts and other words that dream cycles had recorded for undoing."""

    def __len__(self) -> int:
        return len(self.ids) + len(self.derived)

    @property
    def digest(self) -> str:
        """SHA-256, as hex, over all ids with their digests: equal for equal memories."""
        pairs = [[id, self.digests.get(id)] for id in sorted((*self.ids, *self.derived))]
        return hashlib.sha256(json.dumps(pairs).encode()).hexdigest()

    def covers(self, text: str, title: str = "") -> bool:
        """Return whether a memory with this text and title was among the erased ones."""
        return _digest(title, text) in self.digests.values()

    def to_dict(self) -> dict[str, Any]:
        """Return the receipt as a dict of JSON values, which :meth:`from_dict` reads."""
        values = asdict(self)
        values |= {"ids": list(self.ids), "derived": list(self.derived)}
        values |= {"digests": dict(self.digests), "erased_at": iso_time(self.erased_at)}
        return {**values, "digest": self.digest}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Erasure:
        """Return the receipt of a dict that :meth:`to_dict` returned.

        Raises:
            ValueError, TypeError: a value is missing or wrong, or ``digest`` is not that of the
                receipt's ids and digests.
        """
        require_instance("record", record, (Mapping,), "a dict, as to_dict returns")
        values = dict(record)
        digest = values.pop("digest", None)
        missing = [
            name for name in ("ids", "derived", "erased_at", "digests") if name not in values
        ]
        if missing:
            msg = f"{missing[0]}: missing in the receipt"
            raise ValueError(msg)
        counts = {
            name: require_int(name, values.pop(name, 0), low=0, high=U32_MAX)
            for name in ("links", "verdicts", "dream_changes")
        }
        digests = values.pop("digests")
        if not isinstance(digests, Mapping):
            msg = f"digests: expected a mapping of ids to texts, got {digests!r}"
            raise TypeError(msg)
        texts("digests", [*digests, *digests.values()])
        receipt = cls(
            tuple(texts("ids", values.pop("ids"))),
            tuple(texts("derived", values.pop("derived"))),
            _check_time(values.pop("erased_at")),
            dict(digests),
            **counts,
        )
        if values:
            msg = f"{next(iter(values))}: no value of a receipt has this name"
            raise ValueError(msg)
        if digest != receipt.digest:
            msg = f"digest: must be that of the ids and digests, {receipt.digest!r}, got {digest!r}"
            raise ValueError(msg)
        return receipt

    def __repr__(self) -> str:
        return f"<Erasure of {count_of(len(self.ids), 'memory')} and {len(self.derived)} derived from them>"


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
        named: Sequence[str] | Where | None,
        *,
        now: float,
        seen: Seen,
        is_bounded: bool,
        with_derived: bool,
        erased: list[str],
    ) -> Erasure:
        """Erase memories for good.

        Args:
            named: ids, or a filter that live and soft-deleted memories pass; None: every memory.
            now: seconds.
            seen: returns whether a memory lies within the scope.
            is_bounded: whether there is a scope; a damaged memory may lie outside it.
            with_derived: also erase what was derived from them.
            erased: a list to append the ids to, once they are erased.
        """
        digests: dict[str, str] = {}
        with self._sync.writing() as transaction:
            chosen = _Chosen(transaction, seen, is_bounded=is_bounded)
            if isinstance(named, Sequence):
                ids = list(dict.fromkeys(named))
            else:
                ids = self._matching(transaction, named)
            for id, memory in chosen.load(ids):
                if memory is not None:
                    if not seen(memory):
                        raise UnknownMemory(unknown(id))
                    digests[id] = _digest(memory.title, memory.text)
            derived: list[str] = []
            if with_derived:
                for id, memory in chosen.derived_from(ids):
                    derived.append(id)
                    if memory is not None:
                        digests[id] = _digest(memory.title, memory.text)
            rows = transaction.erase_many([*ids, *derived], numbers=chosen.numbers)
            if ids:
                transaction.note_traces()
        # Before the traces, which a reader may keep from being removed: the memories are gone already.
        erased += [*ids, *derived]
        if ids:
            self._remove_traces()
        return Erasure(tuple(ids), tuple(derived), round(now, 6), digests, **rows._asdict())

    @whole_write
    def purge(self, deleted_before: float, *, seen: Seen, erased: list[str]) -> int:
        """Erase memories of a scope soft-deleted before a moment; return their number.

        Damaged ones are kept: the time of their deletion may be wrong. So is what was derived from
        them: a cycle deletes the sources of a summary when they are of no more use than it.

        Args:
            deleted_before: seconds since the epoch.
            seen: returns whether a memory lies within the scope.
            erased: a list to append the ids to, once they are erased.
        """
        with self._sync.writing() as transaction:
            candidates = transaction.cycles.deleted_before(deleted_before)
            found = transaction.of_sequences(candidates, on_damage=self._sync.note_damage)
            ids = [memory.id for batch in found for memory in batch if seen(memory)]
            if ids:
                transaction.erase_many(ids)
                transaction.note_traces()
        erased += ids
        if ids:
            self._remove_traces()
        return len(ids)

    def _remove_traces(self) -> None:
        try:
            self._sync.remove_traces()
        except OneirosError as error:
            error.add_note(
                "oneiros: the memories are erased; their bytes may stay in the store's files until "
                "the next forget, purge or opening"
            )
            raise

    def _matching(self, transaction: Transaction, where: Where | None) -> list[str]:
        """Return the ids of the live and soft-deleted memories that pass a filter."""
        lifecycle = self._sync.lifecycle
        deleted = AttributeIndex()
        gone = np.flatnonzero(~np.isnan(lifecycle.column("deleted_at")))
        sequences = lifecycle.column("sequence")[gone].astype(np.int64).tolist()
        for batch in transaction.of_sequences(sequences, on_damage=self._sync.note_damage):
            for memory in batch:
                deleted.add(lifecycle.row_of[memory.id], memory)
        rows = self._sync.read_model.row_sets.matching(where)
        rows |= deleted.rows if where is None else deleted.compile(where, lifecycle.column)
        return [lifecycle.ids[row] for row in rows]


class _Chosen:
    """Reads the memories to erase, inside their transaction."""

    def __init__(self, transaction: Transaction, seen: Seen, *, is_bounded: bool) -> None:
        self._transaction = transaction
        self._seen = seen
        self._is_bounded = is_bounded
        self.numbers: dict[str, int | None] = {}
        """The sequence numbers of the memories that were loaded and are not damaged."""

    def load(self, ids: Sequence[str]) -> Iterator[tuple[str, StoredMemory | None]]:
        """Yield memories in the order of their ids; None for a damaged one outside of scopes.

        Raises:
            UnknownMemory: no memory has an id.
            StoreCorrupt: a memory is damaged, and this is a scope.
        """
        for start in range(0, len(ids), _AT_ONCE):
            part = ids[start : start + _AT_ONCE]
            try:
                numbers = self._transaction.require_indexed(part)
                found = self._transaction.load_stored(part, [numbers[id] for id in part])
            except StoreCorrupt:
                if self._is_bounded:
                    raise
                found = [self._undamaged(id) for id in part]
            else:
                for id, memory in zip(part, found, strict=True):
                    if memory is None:
                        raise UnknownMemory(unknown(id))
                self.numbers.update(numbers)
            yield from zip(part, found, strict=True)

    def _undamaged(self, id: str) -> StoredMemory | None:
        try:
            return held_in(self._transaction, id)
        except StoreCorrupt:
            return None

    def derived_from(self, ids: Sequence[str]) -> Iterator[tuple[str, StoredMemory | None]]:
        """Yield the memories of the scope derived from others, over any number of steps.

        One outside the scope is not followed further.
        """
        known = set(ids)
        latest = list(ids)
        derivations = Derivations(self._transaction)
        while latest:
            new = [id for id in derivations.of(latest) if id not in known]
            known.update(new)
            latest = []
            for id, memory in self.load(new):
                if memory is None or self._seen(memory):
                    latest.append(id)
                    yield id, memory
