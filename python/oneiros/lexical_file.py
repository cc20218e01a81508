"""What a lexical index is made with, and the file it is saved to."""

from __future__ import annotations

import json
from typing import Final

from oneiros import _core, analyzers
from oneiros.dataclasses_on_use import dataclass, fields
from oneiros.errors import SnapshotDamaged

__all__ = ["FIELD_WEIGHTS", "PUBLISHED_DELTA", "MadeWith", "open_saved"]

PUBLISHED_DELTA: Final = {"bm25plus": 1.0, "bm25+": 1.0, "bm25l": 0.5}
"""Lower bound of a match, by variant: Lv and Zhai (2011)."""

FIELD_WEIGHTS: Final = {"title_weight": 2.0, "tags_weight": 1.5}
"""How much a word of a field counts beside one of the text, unless told otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeWith:
    """The settings of an index."""

    analyzer: str
    variant: str
    k1: float
    b: float
    delta: float
    title_weight: float | None = None
    tags_weight: float | None = None

    @property
    def has_fields(self) -> bool:
        """Whether titles and tags are told from the text."""
        return self.title_weight is not None or self.tags_weight is not None

    def __str__(self) -> str:
        text = f"variant={self.variant!r}, k1={self.k1!r}, b={self.b!r}, analyzer={self.analyzer!r}"
        if self.has_fields:
            weights = f"title_weight={self.title_weight!r}, tags_weight={self.tags_weight!r}"
            text += f", fields=True, {weights}"
        return text

    def identity(self, **others: object) -> str:
        """Return all that the index of given texts depends on.

        Args:
            **others: what else a file is to be told from others by.
        """
        own = {one.name: getattr(self, one.name) for one in fields(self)}
        held = {**own, "analysis": analyzers.identity(self.analyzer), **others}
        return json.dumps(held, sort_keys=True)

    def new_index(self) -> _core.LexicalIndex:
        """Return an index without a text."""
        return _core.LexicalIndex(
            analyzer=analyzers.make(self.analyzer),
            variant=self.variant,
            k1=self.k1,
            b=self.b,
            delta=self.delta,
            title_weight=self.title_weight,
            tags_weight=self.tags_weight,
        )

    def saved(self, snapshot: _core.StoreSnapshot) -> _core.LexicalIndex:
        """Return the index of a store's snapshot, saved by these settings.

        Raises:
            SnapshotDamaged: it makes no sense.
        """
        return snapshot.lexical_index(
            analyzer=analyzers.make(self.analyzer),
            variant=self.variant,
            k1=self.k1,
            b=self.b,
            delta=self.delta,
            title_weight=self.title_weight,
            tags_weight=self.tags_weight,
        )

    def save(
        self,
        index: _core.LexicalIndex,
        path: str,
        attachment: bytes,
    ) -> None:
        """Write an index that was made with these settings."""
        _core.save_lexical_index(
            index=index,
            path=path,
            identity=self.identity(),
            attachment=attachment,
            revision=0,
        )

    def open(self, path: str) -> tuple[_core.LexicalIndex, bytes]:
        """Return the index and the attachment of a file saved by these settings.

        Raises:
            SnapshotDamaged: it is damaged, or was saved by others.
            OSError: it cannot be read.
        """
        index, attachment, _ = _core.open_lexical_index(
            path=path,
            identity=self.identity(),
            analyzer=analyzers.make(self.analyzer),
            variant=self.variant,
            k1=self.k1,
            b=self.b,
            delta=self.delta,
            title_weight=self.title_weight,
            tags_weight=self.tags_weight,
        )
        return index, attachment


def open_saved(path: str) -> tuple[MadeWith, _core.LexicalIndex, bytes]:
    """Return the settings, the index and the attachment of a file.

    Raises:
        SnapshotDamaged, OSError: as ``MadeWith.open``.
    """
    identity = _core.snapshot_identity(path=path)
    try:
        held = json.loads(identity)
        made_with = MadeWith(
            analyzer=str(held["analyzer"]),
            variant=str(held["variant"]),
            k1=float(held["k1"]),
            b=float(held["b"]),
            delta=float(held["delta"]),
            title_weight=_optional(held["title_weight"]),
            tags_weight=_optional(held["tags_weight"]),
        )
        index, attachment = made_with.open(path)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        msg = f"its settings cannot be read: {error}"
        raise SnapshotDamaged(msg) from error
    return made_with, index, attachment


def _optional(held: object) -> float | None:
    return None if held is None else float(str(held))
