"""The stored form of a memory: enumerations as codes, lists and objects as JSON, vectors as bytes."""

from __future__ import annotations

import json
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from struct import unpack
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from oneiros import _core
from oneiros._lazy import np
from oneiros.errors import StoreCorrupt
from oneiros.model.fields import ENUMS, FIELDS
from oneiros.model.memory import Memory
from oneiros.runtime.dataclasses import MISSING, NamedTuple, fields
from oneiros.runtime.hashing import blake2b

if TYPE_CHECKING:
    import numpy.typing as npt

    Vector = npt.NDArray[np.float32]
    _Objects: TypeAlias = _core.RowObjects[Memory]

__all__ = [
    "DEFAULT_CELLS",
    "INSERT",
    "INSERTED",
    "INSERTED_CELLS",
    "INSERTED_LIFECYCLE",
    "INSERT_LIFECYCLE",
    "LIFECYCLE",
    "MEMORY",
    "OBJECTS",
    "STORED_NAMES",
    "SUPERSESSION",
    "WARM",
    "Cells",
    "Damaged",
    "StoredMemory",
    "by_table",
    "cell",
    "cell_columns",
    "cells_of",
    "current_again",
    "decoded_embeddings",
    "encoded_cells",
    "encoded_embedding",
    "ids_of",
    "index_damage",
    "is_cooled_since",
    "joined_cells",
    "json_damage",
    "json_text",
    "memory_cells",
    "metadata_of",
    "ranges_of",
    "select",
    "select_fresh",
    "sessions_of",
    "tags_of",
    "text_digest",
    "undecoded",
]

Result = TypeVar("Result")


LIFECYCLE: Final = tuple(name for name, field in FIELDS.items() if field.is_state)
"""The fields stored in the table ``lifecycle``; all others are in ``memory``."""
MEMORY: Final = ("revision", *(name for name, field in FIELDS.items() if not field.is_state))
"""The columns read from the table ``memory``, except ``sequence``."""
STORED_NAMES: Final = {
    name: f"{name}_json"
    for name, field in FIELDS.items()
    if field.kind in ("words", "word_set", "ids", "metadata")
}
"""The names in rows of the fields stored as JSON."""
_LAST_SEQUENCE: Final = 2.0**53  # columns store sequence numbers as float64


def by_table(names: Iterable[str]) -> dict[str, list[str]]:
    """Group fields by the table that has them, "memory" first; a table without any is left out."""
    found: dict[str, list[str]] = {"memory": [], "lifecycle": []}
    for name in names:
        found["lifecycle" if name in LIFECYCLE else "memory"].append(name)
    return {table: own for table, own in found.items() if own}


def ranges_of(places: Mapping[str, int]) -> _core.RowRanges:
    """Return the check that the numbers of a row lie in the ranges of their fields.

    A code from a damaged or hostile file must not index past the end of a table of weights.

    Args:
        places: field to position in the row, whose first cell is the sequence number; fields that
            are not numeric are ignored.
    """
    ranges = [(0, 1.0, _LAST_SEQUENCE, False)]
    ranges += [
        (place, field.range.low, field.most_stored, field.nullable)
        for name, place in places.items()
        if (field := FIELDS[name]).range is not None
    ]
    found, lows, highs, nullable = map(list, zip(*ranges, strict=True))
    return _core.RowRanges(places=found, lows=lows, highs=highs, nullable=nullable)


_OWN_CELLS: Final = ("sequence", *(STORED_NAMES.get(name, name) for name in MEMORY))
_STATE_CELLS: Final = tuple(STORED_NAMES.get(name, name) for name in LIFECYCLE)
_VERIFIED: Final = (
    "own_revision",
    "state_revision",
    "text_digest",
    "own_checksum",
    "state_checksum",
)
_named_tuple: Any = namedtuple  # type checkers require literal fields
_Row: Any = _named_tuple("_Row", (*_OWN_CELLS, *_STATE_CELLS, "is_superseded", *_VERIFIED))


class Damaged(NamedTuple):
    """A memory that cannot be read."""

    sequence: int
    id: str
    """As far as it is readable."""
    reason: str

    def error(self) -> StoreCorrupt:
        """Return the error that names the memory."""
        error = StoreCorrupt(f"memory {self.id!r}: {self.reason}")
        error.sequence, error.memory_id, error.reason = self
        return error


def index_damage(id: str) -> StoreCorrupt:
    """Return the error for an index that does not lead to the memory of an id.

    Its ``sequence`` is 0, since no row is known to be damaged.
    """
    reason = (
        "an index of the store is damaged and does not lead to it; check() rebuilds the index "
        "(oneiros doctor)"
    )
    return Damaged(0, id, reason).error()


class StoredMemory(_Row):  # type: ignore[misc]
    """A memory's rows of both tables, as read for the read model.

    The fields are ``sequence`` (the order of insertion, never reused), ``revision`` (the commit that
    last changed one of the two rows), the columns of ``memory``, then those of ``lifecycle``, and
    ``is_superseded`` (1 if the store holds the memory that ``superseded_by`` names, deleted or not).
    The others serve verification: the revisions of each row alone (0 for a state that has not
    changed, None without such a row), the text's digest, and the checksums.

    Enumerations are codes (:data:`oneiros.model.fields.ENUMS`), flags 0 or 1, missing times None, and
    the embedding is its encoded bytes. ``sessions``, ``tags``, ``labels``, ``derived_from`` and
    ``metadata`` are parsed from JSON on access, and raise ``StoreCorrupt`` if it is damaged.
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
    def labels(self) -> list[str]:
        """The labels, in their order."""
        return self._parsed(tags_of, self.labels_json) or []

    @property
    def derived_from(self) -> tuple[str, ...]:
        """The ids of the memories that it was made from."""
        return self._parsed(ids_of, self.derived_from_json) or ()

    @property
    def metadata(self) -> dict[str, object]:
        """The JSON object."""
        return self._parsed(metadata_of, self.metadata_json) or {}

    def memory(self, *, has_embedding: bool = True) -> Memory:
        """Return the row as a memory. REQUIRES: correct checksums.

        Values are not checked again: they were when written, and are unchanged.

        Args:
            has_embedding: False: leave out the embedding, which may be damaged.

        Raises:
            StoreCorrupt: the embedding, or JSON, is damaged.
        """
        if has_embedding:
            try:
                _core.checked_embedding(self.embedding)
            except ValueError as error:
                raise Damaged(self.sequence, self.id, _damage_of(error)).error() from error
        try:
            (memory,) = (OBJECTS if has_embedding else _WITHOUT_EMBEDDINGS).made(rows=[self])
        except (TypeError, ValueError, RecursionError) as error:
            raise json_damage(self.sequence, self.id, error) from error
        return memory

    def _parsed(self, parse: Callable[[str], Result], text: str | None) -> Result | None:
        try:
            return None if text is None else parse(text)
        except (TypeError, ValueError, RecursionError) as error:
            raise json_damage(self.sequence, self.id, error) from error


def json_damage(sequence: int, id: str, error: Exception) -> StoreCorrupt:
    """Return the error for JSON of a memory that cannot be parsed."""
    reason = f"JSON in the store is not what its field holds ({error})"
    return Damaged(sequence, id, reason).error()


_TEXTS: Final = {
    name
    for name, field in FIELDS.items()
    if field.kind in {"id", "text", "words", "word_set", "ids", "metadata"}
}
_TEXT_PLACES: Final = {
    place for place, name in enumerate(_Row._fields) if name.removesuffix("_json") in _TEXTS
}
_ID: Final = _Row._fields.index("id")
SUPERSESSION: Final = ("superseded_at", "superseded_reason")
"""The keys of ``metadata`` for when and why a memory was superseded."""
WARM: Final[Mapping[str, object]] = {"tier": "hot", "cold_since": None}
"""The fields of a cold memory that is hot again."""
_COLD: Final = ENUMS["tier"].index("cold")
INSERTED: Final = (*_OWN_CELLS, "text_digest")
"""The names here of the values bound in :data:`INSERT`, without the checksum."""
INSERT: Final = (
    f"INSERT INTO memory (sequence, {', '.join(MEMORY)}, text_digest, checksum) "
    f"VALUES (?, {', '.join('?' * len(MEMORY))}, ?, ?)"
)
INSERTED_LIFECYCLE: Final = ("sequence", "state_revision", *_STATE_CELLS)
"""The names here of the values bound in :data:`INSERT_LIFECYCLE`, without the checksum."""
INSERT_LIFECYCLE: Final = (
    f"INSERT INTO lifecycle (sequence, revision, {', '.join(LIFECYCLE)}, checksum) "
    f"VALUES (?, ?, {', '.join('?' * len(LIFECYCLE))}, ?)"
)

_REVISION: Final = "max(memory.revision, lifecycle.revision)"
_OWN: Final = ", ".join(f"memory.{name}" for name in MEMORY[1:])


_IS_SUPERSEDED: Final = """memory.superseded_by NOT NULL
  AND EXISTS (SELECT 1 FROM memory AS newer WHERE newer.id = memory.superseded_by)"""


def select(
    condition: str = "", *, hint: str = "", as_bytes: bool = False, in_order: bool = True
) -> str:
    """Return SQL that reads memories.

    A memory without a row in ``lifecycle`` is read too, to be reported as damaged.

    Args:
        condition: the WHERE clause; empty: all memories.
        hint: SQLite's index hint for ``memory``.
        as_bytes: read texts as bytes, for :func:`undecoded`.
        in_order: in order of insertion; else in any order.
    """
    order = "ORDER BY memory.sequence" if in_order else ""
    where = f" WHERE {condition}" if condition else ""
    own, states = _OWN, ", ".join(LIFECYCLE)
    if as_bytes:
        own = ", ".join(map(_bytes_of, MEMORY[1:]))
        states = ", ".join(map(_bytes_of, LIFECYCLE))
    return f"""
SELECT memory.sequence, {_REVISION}, {own}, {states}, {_IS_SUPERSEDED}, memory.revision,
  lifecycle.revision, text_digest, memory.checksum, lifecycle.checksum
FROM memory {hint} LEFT JOIN lifecycle ON lifecycle.sequence = memory.sequence{where}
{order}"""


def _bytes_of(name: str) -> str:
    return f"CAST({name} AS BLOB)" if name in _TEXTS else name


def undecoded(
    rows: Iterable[Sequence[Any]], on_damage: Callable[[Damaged], None]
) -> Iterator[tuple[Any, ...]]:
    """Yield rows with the texts decoded that came as bytes.

    Args:
        rows: of :func:`select`.
        on_damage: called with each memory whose text is not UTF-8; it is left out.
    """
    for row in rows:
        try:
            yield tuple(
                cell.decode() if place in _TEXT_PLACES and isinstance(cell, bytes) else cell
                for place, cell in enumerate(row)
            )
        except UnicodeDecodeError as error:
            id = row[_ID]
            name = id.decode(errors="replace") if isinstance(id, bytes) else str(id)
            reason = f"a text in the store is not UTF-8 ({error})"
            if "\ufffd" in name:
                reason = f"memory number {row[0]} in the store, {reason}"
            on_damage(Damaged(row[0], name, reason))


def select_fresh(condition: str) -> str:
    """Return SQL that reads memories with a fresh lifecycle; first bound: one ``?`` per state.

    The stored lifecycle is neither read nor verified.
    """
    states = ", ".join("?" * len(LIFECYCLE))
    return f"""
SELECT sequence, revision, {_OWN}, {states}, 0, revision, NULL, text_digest, checksum, NULL
FROM memory WHERE {condition}"""


_raw_decode: Final = json.JSONDecoder().raw_decode


def _json(text: str) -> Any:
    """Return as ``json.loads`` does, in half its time for the store's compact JSON."""
    try:
        value, end = _raw_decode(text)
    except ValueError:
        return json.loads(text)
    return value if end == len(text) else json.loads(text)


def _words(text: str) -> list[str]:
    value = _json(text)
    if not (isinstance(value, list) and all(isinstance(word, str) for word in value)):
        msg = "not a list of strings"
        raise TypeError(msg)
    return value


@lru_cache(maxsize=4096)  # memories of a session share its name
def sessions_of(text: str) -> frozenset[str]:
    """Return the sessions in the JSON of ``sessions_json``.

    Raises:
        ValueError, TypeError, RecursionError: the JSON is damaged; the functions below raise these too.
    """
    return frozenset(_words(text))


@lru_cache(maxsize=4096)  # many memories share their tags
def _tag_row(text: str) -> tuple[str, ...]:
    return tuple(_words(text))


def tags_of(text: str) -> list[str]:
    """Return the tags in the JSON of ``tags_json``."""
    return list(_tag_row(text))


def ids_of(text: str) -> tuple[str, ...]:
    """Return the ids in the JSON of ``derived_from_json``."""
    return _tag_row(text)


def metadata_of(text: str) -> dict[str, object]:
    """Return the object in the JSON of ``metadata_json``."""
    value = _json(text)
    if not isinstance(value, dict):
        msg = "not an object"
        raise TypeError(msg)
    return value


def current_again(text: str | None, tier: object, cold_since: object) -> dict[str, object]:
    """Return the changes by which a memory is current again whose successor is gone.

    Time and reason of the supersession go from its metadata, unless these are damaged, and what was
    cooled since it was superseded is hot again.

    Args:
        text: its ``metadata_json``.
        tier: its cell.
        cold_since: its cell.

    Source: docs/systems/fields.md.
    """
    changes: dict[str, object] = {"superseded_by": None}
    try:
        metadata = {} if text is None else metadata_of(text)
    except (TypeError, ValueError, RecursionError):
        return changes
    if is_cooled_since(metadata, tier, cold_since):
        changes |= WARM
    changes["metadata"] = {
        name: value for name, value in metadata.items() if name not in SUPERSESSION
    }
    return changes


def is_cooled_since(metadata: Mapping[str, object], tier: object, cold_since: object) -> bool:
    """Return whether a memory is cold because it was superseded, not for what it was before.

    Without the time in its metadata, a memory with a date counts as cooled since.

    Args:
        metadata: of the superseded memory.
        tier: its cell.
        cold_since: its cell.

    Source: docs/systems/cognitive.md C19, C21, C22.
    """
    if tier != _COLD or not isinstance(cold_since, int | float):
        return False
    superseded_at = metadata.get("superseded_at")
    return not isinstance(superseded_at, int | float) or cold_since >= superseded_at


def _made_of(name: str) -> Callable[[Any], Any] | None:
    """Return the converter from a field's cell to its value; None: the cell is the value."""
    if name in ENUMS:
        return ENUMS[name].__getitem__
    kinds: dict[str, Callable[[Any], Any]] = {
        "bool": bool,
        "word_set": lambda text: frozenset() if text is None else sessions_of(text),
        "words": lambda text: [] if text is None else tags_of(text),
        "ids": lambda text: () if text is None else ids_of(text),
        "metadata": lambda text: {} if text is None else metadata_of(text),
        "embedding": lambda _: None,
    }
    return kinds.get(FIELDS[name].kind)


def _objects_of(made_of: Mapping[str, tuple[str, Callable[[Any], Any] | None]]) -> _Objects:
    """Return what makes memories, given the slot and the converter of each field."""
    return _core.RowObjects(
        type=Memory,
        slots=[slot for slot, _ in made_of.values()],
        places=[_Row._fields.index(STORED_NAMES.get(name, name)) for name in made_of],
        converters=[converter for _, converter in made_of.values()],
    )


_MADE_OF: Final = {name: (name, _made_of(name)) for name in FIELDS}
_WITHOUT_EMBEDDINGS: Final = _objects_of(_MADE_OF)
OBJECTS: Final = _objects_of(_MADE_OF | {"embedding": ("_undecoded", _core.checked_embedding)})
"""Makes memories of rows, whose embeddings are decoded on first use."""


Cells: TypeAlias = dict[str, Any]
"""The table cells of a new memory, by field of ``rows.StoredMemory``; missing ones are in
:data:`DEFAULT_CELLS`."""


def cells_of(values: Mapping[str, Any]) -> Cells:
    """Return a new memory's cells.

    Args:
        values: as returned by :func:`oneiros.model.memory.checked_values`; ``embedding`` is ignored.
    """
    cells = encoded_cells(values)
    cells["text_digest"] = text_digest(values["text"])
    return cells


def encoded_cells(values: Mapping[str, Any]) -> Cells:
    """Return the cells of some field values, except ``embedding``."""
    cells = dict(values)
    cells.pop("embedding", None)
    for name in _ENCODERS.keys() & cells.keys():
        value = _ENCODERS[name](cells.pop(name))
        cells[STORED_NAMES.get(name, name)] = value
    return cells


def memory_cells(memory: Memory) -> Cells:
    """Return the cells of a complete memory."""
    return cells_of({name: getattr(memory, name) for name in FIELDS})


_NOT_HASHABLE: Final = frozenset(
    name for name, field in FIELDS.items() if field.kind in ("words", "metadata")
)


def cell_columns(values: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """Return the cells of new memories by column.

    Args:
        values: field to one value per memory; ``text`` is required.
    """
    columns = {"text_digest": text_digests(values["text"])}
    for name, column in values.items():
        encode = _ENCODERS.get(name)
        if encode is None:
            columns[name] = column
            continue
        if name not in _NOT_HASHABLE:  # the others have few distinct values
            encode = {value: encode(value) for value in set(column)}.__getitem__
        columns[STORED_NAMES.get(name, name)] = list(map(encode, column))
    return columns


def joined_cells(memories: Sequence[Cells]) -> dict[str, list[Any]]:
    """Return the cells of memories by column, as :func:`cell_columns` does."""
    if len(memories) == 1:
        return {name: [cell] for name, cell in memories[0].items()}
    names = dict.fromkeys(name for cells in memories for name in cells)
    defaults = {name: DEFAULT_CELLS.get(name) for name in names}
    return {
        name: [cells.get(name, default) for cells in memories] for name, default in defaults.items()
    }


def text_digest(text: str) -> int:
    """Return the digest by which equal texts are found; none can be crafted to match another's."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little", signed=True)


def text_digests(texts: Iterable[str]) -> list[int]:
    """Return :func:`text_digest` of each text."""
    digests = [blake2b(text, digest_size=8).digest() for text in map(str.encode, texts)]
    return list(unpack(f"<{len(digests)}q", b"".join(digests)))


def cell(name: str, value: Any) -> Any:
    """Return the table's cell for a field's value (an embedding: its encoded bytes).

    Raises:
        TypeError: an embedding that is not encoded.
    """
    encode = _ENCODERS.get(name)
    return value if encode is None else encode(value)


def json_text(value: list[str] | Mapping[str, object] | Iterable[str]) -> str:
    """Return compact JSON; non-ASCII letters are not escaped, so that texts can be searched in it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


_DEFAULTS: Final = {
    field.name: int(field.default) if isinstance(field.default, bool) else field.default
    for field in fields(Memory)
    if field.default is not MISSING
}


def _encoder(name: str) -> Callable[[Any], Any] | None:
    """Return the converter from a field's value to its cell; None: the value is the cell."""
    if name in ENUMS:
        return {word: code for code, word in enumerate(ENUMS[name])}.__getitem__
    kinds: dict[str, Callable[[Any], Any]] = {
        "bool": int,
        "word_set": lambda value: json_text(sorted(value)) if value else None,
        "words": lambda value: json_text(value) if value else None,
        "ids": lambda value: json_text(value) if value else None,
        "metadata": lambda value: json_text(value) if value else None,
        "embedding": _encoded_embedding,
    }
    return kinds.get(FIELDS[name].kind)


def _encoded_embedding(value: object) -> bytes | None:
    if value is None or isinstance(value, bytes):
        return value
    msg = f"embedding: the store takes encoded bytes, got {type(value).__name__}"
    raise TypeError(msg)


def _default_cell(name: str) -> Any:
    if name in ENUMS:  # "" is the layer of a memory whose layer is not given
        return cell(name, _DEFAULTS[name]) if _DEFAULTS[name] else 0
    return cell(name, _DEFAULTS.get(name))


_ENCODERS: Final = {name: encode for name in FIELDS if (encode := _encoder(name)) is not None}
DEFAULT_CELLS: Final[Mapping[str, Any]] = {
    STORED_NAMES.get(name, name): _default_cell(name) for name in FIELDS
}
"""The cells of a memory with default values, by field of ``rows.StoredMemory``."""
# If a memory names a successor, which the store may hold, all rows are read again.
INSERTED_CELLS: Final = {**DEFAULT_CELLS, "state_revision": 0, "is_superseded": 0}
"""The cells of a new memory with default values."""


def encoded_embedding(vector: Vector) -> bytes:
    """Return a vector in its stored form: a header, float32 components, a checksum."""
    return _core.encode_embeddings(matrix=vector[np.newaxis, :])[0]


def decoded_embeddings(blobs: Sequence[bytes]) -> npt.NDArray[np.float32]:
    """Return stored vectors as an array of shape (n, dimension), n >= 1.

    Raises:
        StoreCorrupt: the bytes are damaged, or the vectors differ in width.
    """
    try:
        dimension = _core.embedding_dimension(blob=blobs[0])
        return _core.decode_embeddings(blobs=list(blobs), dimension=dimension)
    except ValueError as error:
        raise StoreCorrupt(_damage_of(error)) from error


def _damage_of(error: ValueError) -> str:
    return f"the store holds a damaged embedding ({error})"
