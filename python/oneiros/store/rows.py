"""How a memory lies in the table: words as codes, lists and objects as JSON, the rest as it is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from oneiros.errors import StoreCorrupt
from oneiros.fields import ENUMS
from oneiros.memory import Memory

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Result = TypeVar("Result")

__all__ = [
    "COLUMNS",
    "INSERT",
    "SAME",
    "SELECT",
    "StoredMemory",
    "fresh_row",
    "metadata_of",
    "sessions_of",
    "stored",
    "tags_of",
]


class _Row(NamedTuple):
    """The columns as they lie in the table."""

    sequence: int
    """Order of insertion; never reused, kept over updates."""
    revision: int
    """Number of the commit that last changed the row."""
    embedding: bytes | None
    id: str
    text: str
    title: str
    kind: str
    topic: str | None
    project: str | None
    session: str | None
    created_at: float
    updated_at: float
    last_accessed_at: float | None
    event_at: float | None
    valid_from: float | None
    valid_until: float | None
    ttl: float | None
    importance: float
    certainty: float
    impact: float
    priority: int
    pinned: int
    feedback: int
    access_count: int
    revision_count: int
    duplicate_count: int
    session_spread: int
    strength: float
    depth: int
    stability: float
    consolidation_quality: float
    core: int
    at_floor_since: float | None
    cold_since: float | None
    superseded_by: str | None
    deleted_at: float | None
    category: int
    veracity: int
    importance_tag: int
    status: int
    canonical_layer: int
    tier: int
    sessions_json: str | None
    tags_json: str | None
    metadata_json: str | None
    makes_sense: int
    """1 where every value lies in its field's range; no other row is handed out."""


class StoredMemory(_Row):
    """One row of the table, as projections read it.

    Enumerations are their codes (:data:`oneiros.fields.ENUMS`), flags 0 or 1, times None where
    there is none, the embedding its encoded bytes. ``sessions``, ``tags`` and ``metadata`` are
    read from their JSON when they are asked for, and raise ``StoreCorrupt`` where it is damaged.
    """

    __slots__ = ()

    @property
    def sessions(self) -> frozenset[str]:
        """The sessions that have seen the memory."""
        return self._parsed(sessions_of, self.sessions_json) or frozenset()

    @property
    def tags(self) -> list[str]:
        """The tags, in their order."""
        return self._parsed(tags_of, self.tags_json) or []

    @property
    def metadata(self) -> dict[str, object]:
        """The JSON object."""
        return self._parsed(metadata_of, self.metadata_json) or {}

    def memory(self, embedding: npt.NDArray[np.float32] | None = None) -> Memory:
        """Return the row as a memory.

        Args:
            embedding: the decoded vector; the store itself cannot read those bytes.
        """
        values: dict[str, Any] = dict(zip(SAME, self[3:], strict=False))
        for name, words in ENUMS.items():
            values[name] = words[values[name]]
        values["pinned"] = bool(self.pinned)
        values["core"] = bool(self.core)
        return Memory(
            embedding=embedding,
            sessions=self.sessions,
            tags=self.tags,
            metadata=self.metadata,
            **values,
        )

    def _parsed(self, parse: Callable[[str], Result], text: str | None) -> Result | None:
        try:
            return None if text is None else parse(text)
        except (TypeError, ValueError, RecursionError) as error:
            msg = f"memory {self.id!r}: JSON in the store is not what its field holds ({error})"
            raise StoreCorrupt(msg) from error


SAME: Final = _Row._fields[3:-4]  # the fields that a memory holds under the same name
COLUMNS: Final = ("revision", "embedding", *SAME, "sessions", "tags", "metadata")

INSERT: Final = (
    f"INSERT INTO memory ({', '.join(COLUMNS)}, text_digest) "
    f"VALUES ({', '.join('?' * len(COLUMNS))}, ?)"
)


def _sense() -> str:
    """SQL that is 1 where every value lies in its field's range.

    A damaged or hostile file must not put a code past the end of some table of weights.
    """
    ranges = {name: f"0 AND {len(words) - 1}" for name, words in ENUMS.items()}
    ranges |= dict.fromkeys(("pinned", "core"), "0 AND 1")
    ranges |= dict.fromkeys(("importance", "certainty", "impact", "strength"), "0.0 AND 1.0")
    ranges |= dict.fromkeys(("stability", "consolidation_quality"), "0.0 AND 3.4028234663852886e38")
    ranges |= dict.fromkeys(
        ("access_count", "revision_count", "duplicate_count"), "0 AND 4294967295"
    )
    ranges |= {"session_spread": "1 AND 4294967295", "priority": "1 AND 5", "depth": "1 AND 3"}
    ranges |= {"feedback": "-32768 AND 32767"}
    return " AND ".join(f"{name} BETWEEN {span}" for name, span in ranges.items())


SELECT: Final = f"SELECT sequence, {', '.join(COLUMNS)}, {_sense()} FROM memory"


def fresh_row(sequence: int, row: Sequence[Any]) -> StoredMemory:
    """Return what :data:`SELECT` reads of a row that was inserted.

    Args:
        sequence: the number it was given.
        row: the values of :data:`INSERT`.
    """
    values = [sequence, *row]
    values[-1] = 1  # where the text's digest stood
    return StoredMemory._make(values)


def stored(rows: Iterable[tuple[Any, ...]]) -> list[StoredMemory]:
    """Return rows of :data:`SELECT`.

    Raises:
        StoreCorrupt: a value lies outside its range.
    """
    found = list(map(StoredMemory._make, rows))
    for row in found:
        if not row[-1]:
            msg = f"memory {row.id!r}: a value in the store lies outside its field's range"
            raise StoreCorrupt(msg)
    return found


@lru_cache(maxsize=4096)  # memories of one session share its name, and many their tags
def _words(text: str) -> tuple[str, ...]:
    value = json.loads(text)
    if not (isinstance(value, list) and all(isinstance(word, str) for word in value)):
        msg = "not a list of strings"
        raise TypeError(msg)
    return tuple(value)


def _object(text: str) -> dict[str, object]:
    value = json.loads(text)
    if not isinstance(value, dict):
        msg = "not an object"
        raise TypeError(msg)
    return value


def sessions_of(text: str) -> frozenset[str]:
    """Return the sessions that the JSON of ``sessions_json`` names.

    Raises:
        ValueError, TypeError, RecursionError: it is not what the field holds; so with the others.
    """
    return frozenset(_words(text))


def tags_of(text: str) -> list[str]:
    """Return the tags that the JSON of ``tags_json`` names."""
    return list(_words(text))


def metadata_of(text: str) -> dict[str, object]:
    """Return the object that the JSON of ``metadata_json`` holds."""
    return _object(text)
