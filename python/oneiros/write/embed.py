"""Embeds texts before a write, and memories without a vector or all of them on request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from oneiros import _core
from oneiros.errors import EmbedderMismatch, StoreBusy
from oneiros.store.reading import REEMBEDDING_SETTING
from oneiros.write.background import whole_write
from oneiros.write.vectors import (
    EMBEDDER_SETTING,
    MadeVectors,
    TextsChanged,
    TextVectors,
    embedded_text,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from oneiros.models.embedders import Embedder
    from oneiros.store import StoredMemory, Transaction
    from oneiros.write.sync import Sync

    Advance = Callable[[int], None]

Written = TypeVar("Written")

__all__ = ["Embedding"]

_BATCH: Final = 256
"""Memories per commit, and texts per call of the embedder."""
_MOST_TRIES: Final = 8
"""Attempts to write while other writers change the texts."""


class Embedding:
    """Calls the embedder, never while holding a lock."""

    def __init__(self, sync: Sync) -> None:
        self._sync = sync
        self.writer = sync.writer

    def embed_missing(self, advance: Advance) -> int:
        """Make the missing vectors of live memories; return how many were made.

        Each batch is a separate commit. Texts changed by others meanwhile are embedded again.

        Args:
            advance: called with the number of memories done.

        Raises:
            ValueError: there is no embedder.
            EmbedderMismatch: another embedder's vectors are in the store by now.
        """
        if not self._sync.vectors.is_present:
            msg = "embed_missing: the engine has no embedder; open it with embedder="
            raise ValueError(msg)
        self._sync.follow()
        self._sync.vectors.require_match(self._sync.vectors.recorded_name)
        count = after = tries = 0
        up_to = self._last_sequence()  # a bound, even if others keep adding
        while batch := self._without_vector(after, up_to):
            made = MadeVectors(self._sync.vectors)
            made.make(map(embedded_text, batch))
            given, is_whole = self._give(batch, made)
            count += given
            tries += 1
            if is_whole or tries == _MOST_TRIES:
                after, tries = batch[-1].sequence, 0
                advance(len(batch))
        return count

    def reembed(self, embedder: Embedder, *, resume: bool, advance: Advance) -> int:
        """Replace every vector by the embedder's; return how many memories were embedded.

        The new vectors are stored apart, one commit per batch, until they are complete. Then one
        transaction replaces the old ones. After an error or crash, the next call continues.

        Args:
            embedder: makes the new vectors.
            resume: keep the vectors of an unfinished call with an embedder of this name.
            advance: called with the number of memories done.

        Raises:
            EmbedderMismatch: another call is replacing the vectors by another embedder's.
        """
        made = TextVectors(embedder, {})
        made.dimension = self._begin_reembedding(made, resume=resume)
        self._sync.successor = made
        count = None
        for tries in range(_MOST_TRIES):
            if not self._make_new_vectors(made, advance):
                break
            count = self._replace_vectors(made, has_to=tries == _MOST_TRIES - 1)
            if count is not None:
                break
        # Memories that others added between the last batch and the switch may still lack a vector.
        return self.embed_missing(advance) if count is None else count + self.embed_missing(advance)

    def written(
        self,
        texts: Sequence[str],
        write: Callable[[MadeVectors], Written],
        made: MadeVectors | None = None,
    ) -> Written:
        """Embed texts, then write. Repeat with the current texts if other writers changed them.

        Args:
            texts: to embed first.
            write: opens the transaction; raises TextsChanged if it needs vectors of other texts.
            made: vectors already made of some of them.

        Raises:
            StoreBusy: others changed the texts at every attempt.
        """
        made = (made or MadeVectors(self._sync.vectors)).current(self._sync.vectors)
        made.make(texts)
        for _ in range(_MOST_TRIES):
            try:
                return write(made)
            except TextsChanged as error:
                made = made.current(self._sync.vectors)
                made.make(error.texts)
        msg = (
            f"{self._sync.store.path}: others changed the texts {_MOST_TRIES} times while they were "
            "embedded; nothing was written"
        )
        raise StoreBusy(msg)

    def _current(
        self, transaction: Transaction, batch: Sequence[StoredMemory]
    ) -> list[StoredMemory]:
        """Return the current rows of a batch's memories, without erased or damaged ones."""
        numbers = [memory.sequence for memory in batch]
        found = transaction.of_sequences(numbers, on_damage=self._sync.note_damage)
        return [memory for part in found for memory in part]

    def _last_sequence(self) -> int:
        with self._sync.store.read() as reading:
            return reading.last_sequence()

    def _without_vector(self, after: int, up_to: int) -> list[StoredMemory]:
        with self._sync.store.read() as reading:
            return reading.without_vector(after, up_to, _BATCH, on_damage=self._sync.note_damage)

    @whole_write
    def _give(self, batch: Sequence[StoredMemory], made: MadeVectors) -> tuple[int, bool]:
        """Write the vectors of unchanged texts; return their number and whether none had changed."""
        known = set(map(embedded_text, batch))
        with self._sync.writing() as transaction:
            lacking = [row for row in self._current(transaction, batch) if _lacks_vector(row)]
            same = [row for row in lacking if embedded_text(row) in known]
            try:
                made.require(map(embedded_text, same), self._sync.vectors)
            except TextsChanged:  # the engine has another embedder by now
                return 0, False
            found = [(row, *made.of(embedded_text(row))) for row in same]
            given = [(row.id, {"embedding": blob}) for row, blob, _ in found if blob is not None]
            transaction.update_columns(given)
            for width in {width for _, _, width in found if width}:
                self._sync.vectors.require_width(width)
                self._sync.vectors.record(transaction, width, is_made_here=True)
            if transaction.reembedding() is None:
                bare = [(row.sequence, None) for row, blob, _ in found if blob is None]
                transaction.keep_new_vectors(bare)
            return len(given), len(same) == len(lacking)

    @whole_write
    def _begin_reembedding(self, made: TextVectors, *, resume: bool) -> int | None:
        """Record the new embedder; return the width of vectors left by an unfinished call."""
        assert made.name is not None
        with self._sync.writing() as transaction:
            if resume and transaction.reembedding() == made.name:
                transaction.drop_damaged_new_vectors()
                blob = transaction.a_new_vector()
                return None if blob is None else _core.embedding_dimension(blob=blob)
            transaction.drop_new_vectors()
            transaction.set_setting(REEMBEDDING_SETTING, made.name)
        return None

    def _make_new_vectors(self, vectors: TextVectors, advance: Advance) -> bool:
        """Make the new vectors that are not stored yet, one commit per batch.

        Returns:
            False if another call for this embedder has already replaced the old vectors.
        """
        after, up_to = 0, self._last_sequence()
        while True:
            with self._sync.store.read() as reading:
                batch = reading.to_reembed(after, up_to, _BATCH, on_damage=self._sync.note_damage)
            if not batch:
                return True
            made = MadeVectors(vectors)
            made.make(map(embedded_text, batch))
            if not self._keep_new_vectors(batch, made, vectors):
                return False
            widths = {width for memory in batch if (width := made.of(embedded_text(memory))[1])}
            vectors.dimension = vectors.dimension or max(widths, default=None)
            after = batch[-1].sequence
            advance(len(batch))

    @whole_write
    def _keep_new_vectors(
        self, batch: Sequence[StoredMemory], made: MadeVectors, vectors: TextVectors
    ) -> bool:
        """Store the new vectors of unchanged texts; False as in :meth:`_make_new_vectors`."""
        with self._sync.writing() as transaction:
            if _is_done(transaction, vectors):
                return False
            text_of = {memory.sequence: embedded_text(memory) for memory in batch}
            transaction.keep_new_vectors(
                (row.sequence, made.of(embedded_text(row))[0])
                for row in self._current(transaction, batch)
                if embedded_text(row) == text_of[row.sequence]
            )
        return True

    @whole_write
    def _replace_vectors(self, made: TextVectors, *, has_to: bool) -> int | None:
        """Replace the old vectors by the new ones.

        Args:
            made: the new embedder.
            has_to: replace them even if some memories have no new vector, which then have none.

        Returns:
            The number of memories embedded; None: some have no new vector, and nothing changed.
        """
        with self._sync.writing() as transaction:
            if _is_done(transaction, made):
                return 0
            is_damaged = transaction.drop_damaged_new_vectors() > 0
            last = transaction.last_sequence()
            lacking = transaction.to_reembed(0, last, 1, on_damage=self._sync.note_damage)
            if not has_to and (is_damaged or lacking):
                return None
            count = transaction.take_new_vectors()
            made.record_replacement(transaction)
            return count


def _lacks_vector(memory: StoredMemory) -> bool:
    return memory.embedding is None and memory.deleted_at is None


def _is_done(transaction: Transaction, made: TextVectors) -> bool:
    """Return whether another call has already replaced all vectors by this embedder's.

    Raises:
        EmbedderMismatch: another call replaces or replaced them by another embedder's.
    """
    going_on = transaction.reembedding()
    if going_on == made.name:
        return False
    name = going_on or transaction.settings().get(EMBEDDER_SETTING)
    if going_on is None and name == made.name:
        return True
    msg = f"reembed: another call began to replace the vectors by those of {name!r}"
    raise EmbedderMismatch(msg)
