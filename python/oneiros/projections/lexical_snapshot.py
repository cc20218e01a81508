"""The lexical index's file beside the store: a cache, which can always be made again.

The store names, in a setting, the one file that belongs to it, and the file the revision it is of:
so a copy of the store, an older one put back, or another store's file is never mistaken for it.
What was forgotten must leave no trace: no file outlives it.
"""

from __future__ import annotations

import hashlib
import json
import logging
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from oneiros.errors import OneirosError, SnapshotDamaged
from oneiros.store.connections import MEMORY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oneiros.projections.projections import Projections
    from oneiros.store import Reading, Store

__all__ = ["FEWEST_TEXTS", "Cover", "LexicalSnapshot"]

FEWEST_TEXTS: Final = 2_000
"""Fewer are indexed anew as fast."""

_SETTING: Final = "lexical_snapshot"
_SHARE_CHANGED: Final = 100  # a file is written anew when one text in so many is another

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Cover:
    """What an index from a file knows already: rows below a number, as of a revision."""

    revision: int
    row_count: int
    ids_digest: str

    def spares(self, row: int, revision: int) -> bool:
        """Whether a row, last changed at that revision, is in the index as it is."""
        return row < self.row_count and revision <= self.revision


class LexicalSnapshot:
    """Reads and writes the file of one store.

    Args:
        store_path: the store's file, or ":memory:", which has none beside it.
    """

    def __init__(self, store_path: str) -> None:
        self.path: Final = None if store_path == MEMORY else Path(f"{store_path}-lexical")

    def load(self, reading: Reading, projections: Projections) -> None:
        """Put the index of the file, if it belongs to this state of the store, in place."""
        token = reading.settings().get(_SETTING)
        if self.path is None or token is None:
            return
        indexes = projections.indexes
        try:
            index, attachment, revision = indexes.made_with.open(str(self.path), store=token)
            cover = _cover(revision, attachment)
        except FileNotFoundError:
            return
        except (SnapshotDamaged, OSError) as error:
            _log.info("%s: not used, texts are indexed anew: %s", self.path, error)
            return
        if revision > reading.last_revision():
            return
        if reading.erased(revision):
            self.remove()
            return
        indexes.take_lexical(index, cover)

    def save(self, store: Store, projections: Projections, revision: int) -> None:
        """Write the file, if there is enough in it that the last one has not.

        Whatever goes wrong: the texts are in the store, and a file that does not belong to it is
        never read.

        Args:
            store: names the file it trusts.
            projections: what is to be kept of it.
            revision: what the projections hold.
        """
        indexes = projections.indexes
        count = indexes.lexical.document_count
        if self.path is None or count < FEWEST_TEXTS or indexes.has_erased:
            return
        if indexes.changed_text_count * _SHARE_CHANGED < count and self.path.is_file():
            return
        ids = projections.lifecycle.ids
        token = secrets.token_hex(16)
        attachment = json.dumps({"rows": len(ids), "ids": _digest(ids)}).encode()
        try:
            with store.write() as transaction:
                if transaction.erased(revision):
                    return
                transaction.set_setting(_SETTING, token)
                indexes.made_with.save(
                    indexes.lexical,
                    str(self.path),
                    attachment,
                    revision=revision,
                    store=token,
                )
        except (OneirosError, OSError) as error:
            _log.warning("%s: not written: %s", self.path, error)

    def is_confirmed(self, projections: Projections, live_count: int) -> bool:
        """Whether the index agrees with the store, whose rows have all been read by now."""
        indexes = projections.indexes
        cover, ids = indexes.cover, projections.lifecycle.ids
        return cover is None or (
            cover.row_count <= len(ids)
            and _digest(ids[: cover.row_count]) == cover.ids_digest
            and indexes.lexical.document_count == live_count
        )

    def remove(self) -> None:
        """Remove the file."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def _digest(ids: Sequence[str]) -> str:
    """Which memory each row is of."""
    return hashlib.blake2b("\0".join(ids).encode(), digest_size=16).hexdigest()


def _cover(revision: int, attachment: bytes) -> Cover:
    try:
        held = json.loads(attachment)
        return Cover(revision, int(held["rows"]), str(held["ids"]))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        msg = f"its note on rows cannot be read: {error}"
        raise SnapshotDamaged(msg) from error
