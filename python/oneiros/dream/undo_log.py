"""What a cycle changed in columns and links, as bytes: what an undo goes by.

A checksum, a header, then blocks: the header is JSON, each block a compressed array. A memory is its
sequence number, so that nothing of what it says lies here.
"""

from __future__ import annotations

import json
import struct
import zlib
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from oneiros import _core
from oneiros._lazy import np
from oneiros.errors import StoreCorrupt
from oneiros.index.columns import LongNumbers
from oneiros.model.fields import FIELDS
from oneiros.store.links import stored_link

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    Array = npt.NDArray[Any]
    State = tuple[int, float, float, float | None]

__all__ = ["KeptColumn", "KeptLink", "decoded", "encoded", "revision_of"]

_MAGIC: Final = b"oneiros-dream-1\n"
_LENGTHS: Final = struct.Struct("<II")  # CRC-32 of all that follows it; the header's length
_CHECKED_FROM: Final = len(_MAGIC) + 4
_LEVEL: Final = 1  # most values repeat: more effort gains little
_MOST_ROWS: Final = 2**28
_NUMBERS_END: Final = 2**63  # of memories: SQLite's


class KeptColumn(NamedTuple):
    """One field of many memories, as a cycle changed it."""

    field: str
    sequences: npt.NDArray[np.int64]
    """Rising."""
    before: Array
    """In the column's dtype."""
    after: Array
    long: LongNumbers | None = None
    """What the store held before in place of some of ``before``; None: nothing else."""


class KeptLink(NamedTuple):
    """One link, as a cycle changed it: (kind, weight, created_at, co_retrieved_at), or None for none."""

    first: int
    second: int
    before: State | None
    after: State | None


def encoded(columns: Sequence[KeptColumn], links: Sequence[KeptLink], *, revision: int) -> bytes:
    """Return the bytes of what a cycle changed.

    Args:
        columns: each field once.
        links: each once.
        revision: of the commit that applies it.
    """
    blocks: list[bytes] = []
    head: list[dict[str, Any]] = []
    for column in columns:
        steps = np.diff(column.sequences, prepend=0).astype("<i8")
        parts = _packed(steps, column.before, column.after)
        told = {"field": column.field, "rows": len(steps), "bytes": list(map(len, parts))}
        if column.long is not None:
            more = _packed(
                np.diff(column.long.places, prepend=-1).astype("<i8"), column.long.values
            )
            told["long"] = [len(column.long.places), *map(len, more)]
            parts += more
        head.append(told)
        blocks += parts
    record = {"revision": revision, "columns": head, "links": links}
    header = json.dumps(record, separators=(",", ":")).encode()
    made = b"".join((_MAGIC, _LENGTHS.pack(0, len(header)), header, *blocks))
    checksum = zlib.crc32(memoryview(made)[_CHECKED_FROM:])
    return b"".join((_MAGIC, checksum.to_bytes(4, "little"), memoryview(made)[_CHECKED_FROM:]))


def decoded(blob: bytes) -> tuple[list[KeptColumn], list[KeptLink]]:
    """Return what :func:`encoded` made bytes of.

    Raises:
        StoreCorrupt: it made no such bytes, or they say what no cycle does: numbers of memories that
            do not rise, values that a field cannot hold.
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
    """Return the commit whose changes these are; 0 where they do not tell.

    Args:
        blob: that :func:`decoded` can read.
    """
    header, _ = _header(blob)
    revision = header.get("revision")
    return revision if type(revision) is int else 0


def _decoded(blob: bytes) -> tuple[list[KeptColumn], list[KeptLink]]:
    header, place = _header(blob)
    dtypes: Mapping[str, str] = _core.Columns.schema()
    columns = []
    for one in header["columns"]:
        rows = _count(one["rows"])
        arrays = []
        sizes = [int(size) for size in one["bytes"]]
        dtype = dtypes[one["field"]]
        for size, kind in zip(sizes, ("<i8", dtype, dtype), strict=True):
            arrays.append(_array(blob, place, size, rows, kind))
            place += size
        steps, before, after = arrays
        column = KeptColumn(one["field"], _rising(steps), before, after)
        if "long" in one:
            count, *sizes = map(_count, one["long"])
            arrays = []
            for size, kind in zip(sizes, ("<i8", "<f8"), strict=True):
                arrays.append(_array(blob, place, size, count, kind))
                place += size
            column = column._replace(long=LongNumbers(np.cumsum(arrays[0]) - 1, arrays[1]))
        _require_sense(column)
        columns.append(column)
    if len({column.field for column in columns}) < len(columns):
        msg = "a field twice"
        raise ValueError(msg)
    if place != len(blob):
        msg = f"{len(blob)} bytes, {place} told of"
        raise ValueError(msg)
    return columns, [_link(*link) for link in header["links"]]


def _count(told: Any) -> int:
    if not (isinstance(told, int) and 0 <= told <= _MOST_ROWS):
        msg = f"{told!r} rows or bytes"
        raise ValueError(msg)
    return told


def _header(blob: bytes) -> tuple[Any, int]:
    """What the header says, and where the blocks begin."""
    if blob[: len(_MAGIC)] != _MAGIC:
        msg = "another beginning"
        raise ValueError(msg)
    checksum, length = _LENGTHS.unpack_from(blob, len(_MAGIC))
    if zlib.crc32(memoryview(blob)[_CHECKED_FROM:]) != checksum:
        msg = "another checksum"
        raise ValueError(msg)
    start = len(_MAGIC) + _LENGTHS.size
    return json.loads(blob[start : start + length]), start + length


def _rising(steps: Array) -> Array:
    """The numbers of memories that are so far from each other."""
    sequences = np.cumsum(steps)
    if (steps < 1).any() or (sequences < 1).any():  # past the last number they begin below 0
        msg = "numbers of memories that do not rise"
        raise ValueError(msg)
    return sequences


def _require_sense(column: KeptColumn) -> None:
    """Refuse values that no memory holds: they must not come into the store by an undoing."""
    field = FIELDS.get(column.field)
    if field is None or field.range is None:
        msg = f"changes of {column.field!r}"
        raise ValueError(msg)
    long = () if column.long is None else (column.long.values,)
    for values in (column.before, column.after, *long):
        makes_sense = (values >= field.range.low) & (values <= field.most_stored)
        if field.nullable:
            makes_sense |= np.isnan(values)
        if not makes_sense.all():
            msg = f"{field.name}: must be {field.range.rule}, got {values[~makes_sense][0]!r}"
            raise ValueError(msg)
    if column.long is not None:
        places, numbers = column.long
        is_rising = (np.diff(places, prepend=-1) > 0).all() and (places < len(column.before)).all()
        if column.before.dtype != np.float32 or not is_rising:
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


def _state(held: Any) -> State | None:
    if held is None:
        return None
    kind, weight, created, last = held
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
    return [zlib.compress(_plain(values), _LEVEL) for values in arrays]


def _plain(values: Array) -> bytes:
    return values.astype(values.dtype.newbyteorder("<"), copy=False).tobytes()


def _array(blob: bytes, place: int, size: int, rows: int, kind: str) -> Array:
    dtype = np.dtype(kind).newbyteorder("<")
    wanted = rows * dtype.itemsize
    if not 0 <= size <= len(blob) - place:
        msg = f"a block of {size} bytes"
        raise ValueError(msg)
    inflater = zlib.decompressobj()
    found = inflater.decompress(blob[place : place + size], wanted + 1)
    if len(found) != wanted or not inflater.eof:
        msg = f"{len(found)} bytes for {rows} values"
        raise ValueError(msg)
    return np.frombuffer(found, dtype).astype(np.dtype(kind))
