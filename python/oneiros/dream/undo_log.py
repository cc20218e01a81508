"""The undo log of a cycle: its changes of columns and links, as bytes.

A checksum, a header, then blocks: the header is JSON, each block a compressed array. Memories appear
as sequence numbers, so the log holds none of their text.
"""

from __future__ import annotations

import json
import math
import struct
import zlib
from typing import TYPE_CHECKING, Any, Final

from oneiros import _core
from oneiros._lazy import np
from oneiros.errors import StoreCorrupt
from oneiros.index.columns import LongNumbers
from oneiros.model.fields import FIELDS
from oneiros.model.validation import LAST_MOMENT
from oneiros.runtime.dataclasses import NamedTuple
from oneiros.store.links import stored_link
from oneiros.store.rows import decoded_embeddings, metadata_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import numpy.typing as npt

    from oneiros.store.cycles import StoredContent

    Array = npt.NDArray[Any]
    State = tuple[int, float, float, float | None]

__all__ = [
    "KeptColumn",
    "KeptLink",
    "decoded",
    "encoded",
    "is_clock",
    "require_contents",
    "revision_of",
]


_MAGIC: Final = b"oneiros-dream-1\n"
_LENGTHS: Final = struct.Struct("<II")  # CRC-32 of everything after it; length of the header
_CHECKED_FROM: Final = len(_MAGIC) + 4
_LEVEL: Final = 1  # most values repeat, so higher levels gain little
_MOST_ROWS: Final = 2**28
_NUMBERS_END: Final = 2**63  # SQLite's limit of sequence numbers


class KeptColumn(NamedTuple):
    """One field of many memories, as a cycle changed it."""

    field: str
    sequences: npt.NDArray[np.int64]
    """In ascending order."""
    before: Array
    """In the column's dtype."""
    after: Array
    long: LongNumbers | None = None
    """Exact stored numbers for some of ``before``, which float32 rounds; None: none."""


class KeptLink(NamedTuple):
    """One link, as a cycle changed it.

    A state is (kind, weight, created_at, co_retrieved_at), or None for no link.
    """

    first: int
    second: int
    before: State | None
    after: State | None


def encoded(columns: Sequence[KeptColumn], links: Sequence[KeptLink], *, revision: int) -> bytes:
    """Encode the changes of a cycle.

    Args:
        columns: each field once.
        links: each link once.
        revision: of the commit that applies the cycle.
    """
    blocks: list[bytes] = []
    entries: list[dict[str, Any]] = []
    for column in columns:
        steps = np.diff(column.sequences, prepend=0).astype("<i8")
        parts = _packed(steps, column.before, column.after)
        entry = {"field": column.field, "rows": len(steps), "bytes": list(map(len, parts))}
        if column.long is not None:
            more = _packed(
                np.diff(column.long.places, prepend=-1).astype("<i8"), column.long.values
            )
            entry["long"] = [len(column.long.places), *map(len, more)]
            parts += more
        entries.append(entry)
        blocks += parts
    record = {"revision": revision, "columns": entries, "links": links}
    header = json.dumps(record, separators=(",", ":")).encode()
    blob = b"".join((_MAGIC, _LENGTHS.pack(0, len(header)), header, *blocks))
    checksum = zlib.crc32(memoryview(blob)[_CHECKED_FROM:])
    return b"".join((_MAGIC, checksum.to_bytes(4, "little"), memoryview(blob)[_CHECKED_FROM:]))


def decoded(blob: bytes) -> tuple[list[KeptColumn], list[KeptLink]]:
    """Decode the bytes of :func:`encoded`.

    Raises:
        StoreCorrupt: the bytes are damaged, or no cycle makes such changes: sequence numbers that
            are not ascending, values out of a field's range.
    """
    try:
        return _decoded(blob)
    except (
        *(ValueError, TypeError, KeyError, OverflowError, RecursionError),
        *(struct.error, zlib.error, StoreCorrupt),
    ) as error:
        msg = f"the store holds damaged changes of a dream cycle ({error})"
        raise StoreCorrupt(msg) from error


def revision_of(blob: bytes) -> int:
    """Return the revision of the commit that made these changes; 0 if it is missing.

    Args:
        blob: bytes that :func:`decoded` can read.
    """
    header, _ = _header(blob)
    revision = header.get("revision")
    return revision if type(revision) is int else 0


def _decoded(blob: bytes) -> tuple[list[KeptColumn], list[KeptLink]]:
    header, place = _header(blob)
    dtypes: Mapping[str, str] = _core.Columns.schema()
    columns = []
    for entry in header["columns"]:
        dtype = dtypes[entry["field"]]
        sizes = [int(size) for size in entry["bytes"]]
        arrays, place = _arrays(blob, place, sizes, _count(entry["rows"]), ("<i8", dtype, dtype))
        steps, before, after = arrays
        column = KeptColumn(entry["field"], _ascending(steps), before, after)
        if "long" in entry:
            count, *sizes = map(_count, entry["long"])
            (steps, values), place = _arrays(blob, place, sizes, count, ("<i8", "<f8"))
            column = column._replace(long=LongNumbers(np.cumsum(steps) - 1, values))
        _require_valid(column)
        columns.append(column)
    if len({column.field for column in columns}) < len(columns):
        msg = "a field twice"
        raise ValueError(msg)
    if place != len(blob):
        msg = f"{len(blob)} bytes, {place} expected"
        raise ValueError(msg)
    return columns, [_link(*link) for link in header["links"]]


def _count(value: Any) -> int:
    if not (isinstance(value, int) and 0 <= value <= _MOST_ROWS):
        msg = f"{value!r} rows or bytes"
        raise ValueError(msg)
    return value


def _header(blob: bytes) -> tuple[Any, int]:
    """Return the header, and the offset of the first block."""
    if blob[: len(_MAGIC)] != _MAGIC:
        msg = "another beginning"
        raise ValueError(msg)
    checksum, length = _LENGTHS.unpack_from(blob, len(_MAGIC))
    if zlib.crc32(memoryview(blob)[_CHECKED_FROM:]) != checksum:
        msg = "another checksum"
        raise ValueError(msg)
    start = len(_MAGIC) + _LENGTHS.size
    return json.loads(blob[start : start + length]), start + length


def _ascending(steps: Array) -> Array:
    """Return sequence numbers from their differences."""
    sequences = np.cumsum(steps)
    if (steps < 1).any() or (sequences < 1).any():  # negative after an overflow
        msg = "numbers of memories that do not rise"
        raise ValueError(msg)
    return sequences


def _require_valid(column: KeptColumn) -> None:
    """Refuse values that no memory can hold: an undo must not write them to the store."""
    field = FIELDS.get(column.field)
    if field is None or field.range is None:
        msg = f"changes of {column.field!r}"
        raise ValueError(msg)
    long = () if column.long is None else (column.long.values,)
    for values in (column.before, column.after, *long):
        is_valid = (values >= field.range.low) & (values <= field.most_stored)
        if field.nullable:
            is_valid |= np.isnan(values)
        if not is_valid.all():
            msg = f"{field.name}: must be {field.range.rule}, got {values[~is_valid][0]!r}"
            raise ValueError(msg)
    if column.long is not None:
        places, numbers = column.long
        is_sorted = (np.diff(places, prepend=-1) > 0).all() and (places < len(column.before)).all()
        if column.before.dtype != np.float32 or not is_sorted:
            msg = f"{field.name}: long numbers of no memory"
            raise ValueError(msg)
        if (numbers.astype(np.float32) != column.before[places]).any():
            msg = f"{field.name}: long numbers that are not what the column held"
            raise ValueError(msg)


def _link(first: Any, second: Any, before: Any, after: Any) -> KeptLink:
    for end in (first, second):
        if type(end) is not int or not 0 < end < _NUMBERS_END:
            msg = f"a link of a memory {end!r}"
            raise ValueError(msg)
    if first == second:
        msg = f"a link of the memory {first} with itself"
        raise ValueError(msg)
    link = KeptLink(first, second, _state(before), _state(after))
    for state in link[2:]:
        if state is not None:
            stored_link("links", (str(first), str(second), *state))
    return link


def _state(value: Any) -> State | None:
    if value is None:
        return None
    kind, weight, created, last = value
    if type(kind) is not int:
        msg = f"a link of the kind {kind!r}"
        raise TypeError(msg)
    return kind, _number(weight), _number(created), None if last is None else _number(last)


def _number(value: Any) -> float:
    if type(value) not in {int, float}:
        msg = f"a number {value!r}"
        raise TypeError(msg)
    return float(value)


def _packed(*arrays: Array) -> list[bytes]:
    return [
        zlib.compress(values.astype(values.dtype.newbyteorder("<"), copy=False).tobytes(), _LEVEL)
        for values in arrays
    ]


def _arrays(
    blob: bytes, place: int, sizes: Sequence[int], count: int, dtypes: Sequence[str]
) -> tuple[list[Array], int]:
    """Return one array of ``count`` values per block, and the offset behind the last block."""
    arrays = []
    for size, dtype in zip(sizes, dtypes, strict=True):
        arrays.append(_array(blob, place, size, count, dtype))
        place += size
    return arrays, place


def _array(blob: bytes, place: int, size: int, count: int, kind: str) -> Array:
    dtype = np.dtype(kind).newbyteorder("<")
    byte_count = count * dtype.itemsize
    if not 0 <= size <= len(blob) - place:
        msg = f"a block of {size} bytes"
        raise ValueError(msg)
    inflater = zlib.decompressobj()
    found = inflater.decompress(blob[place : place + size], byte_count + 1)
    if len(found) != byte_count or not inflater.eof:
        msg = f"{len(found)} bytes for {count} values"
        raise ValueError(msg)
    return np.frombuffer(found, dtype).astype(np.dtype(kind))


def is_clock(seconds: float) -> bool:
    """Whether a time is a valid clock of a cycle."""
    return math.isfinite(seconds) and seconds <= LAST_MOMENT


def require_contents(contents: Iterable[StoredContent]) -> None:
    """Refuse changes that no cycle makes, so that an undo does not write them to a memory.

    Raises:
        StoreCorrupt: a change is invalid; the message has the memory's number and the field.
    """
    for content in contents:
        try:
            check = _CHECKS[content.field]
            check(content.before)
            check(content.after)
        except (KeyError, TypeError, ValueError, RecursionError, StoreCorrupt) as error:
            msg = (
                "the store holds damaged changes of a dream cycle "
                f"(memory {content.sequence}, field {content.field!r}: {error})"
            )
            raise StoreCorrupt(msg) from error


def _require(value: object, kind: type) -> None:
    if not isinstance(value, kind):
        msg = f"must be {kind.__name__}, got {value!r:.80}"
        raise TypeError(msg)


def _text(value: object) -> None:
    _require(value, str)
    FIELDS["text"].check(value)


def _id(value: object) -> None:
    _require(value, str)
    FIELDS["superseded_by"].check(value)


def _metadata(value: Any) -> None:
    _require(value, str)
    metadata_of(value)


def _embedding(value: Any) -> None:
    _require(value, bytes)
    decoded_embeddings([value])


def _time(value: Any) -> None:
    _require(value, float)
    if not is_clock(value):
        msg = f"is the clock of no cycle, {value!r}"
        raise ValueError(msg)


def _nothing(value: object) -> None:
    _require(value, type(None))


def _or_none(check: Callable[[Any], None]) -> Callable[[Any], None]:
    return lambda value: None if value is None else check(value)


_CHECKS: Final[dict[str, Callable[[Any], None]]] = {
    "memory": _nothing,
    "text": _text,
    "embedding": _or_none(_embedding),
    "superseded_by": _or_none(_id),
    "metadata": _or_none(_metadata),
    "replayed_at": _or_none(_time),
}
