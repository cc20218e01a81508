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
from oneiros.errors import StoreCorrupt
from oneiros.numpy_on_use import np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    Array = npt.NDArray[Any]

__all__ = ["KeptColumn", "KeptLink", "decoded", "encoded"]

_MAGIC: Final = b"oneiros-dream-1\n"
_LENGTHS: Final = struct.Struct("<II")  # CRC-32 of all that follows it; the header's length
_CHECKED_FROM: Final = len(_MAGIC) + 4
_LEVEL: Final = 1  # most values repeat: more effort gains little
_MOST_ROWS: Final = 2**28


class KeptColumn(NamedTuple):
    """One field of many memories, as a cycle changed it."""

    field: str
    sequences: npt.NDArray[np.int64]
    """Rising."""
    before: Array
    """In the column's dtype."""
    after: Array


class KeptLink(NamedTuple):
    """One link, as a cycle changed it: (kind, weight, created_at, co_retrieved_at), or None for none."""

    first: int
    second: int
    before: tuple[int, float, float, float | None] | None
    after: tuple[int, float, float, float | None] | None


def encoded(columns: Sequence[KeptColumn], links: Sequence[KeptLink]) -> bytes:
    """Return the bytes of what a cycle changed."""
    blocks: list[bytes] = []
    head: list[dict[str, Any]] = []
    for column in columns:
        steps = np.diff(column.sequences, prepend=0).astype("<i8")
        parts = [zlib.compress(_plain(part), _LEVEL) for part in (steps, *column[2:])]
        head.append(
            {"field": column.field, "rows": len(steps), "bytes": [len(part) for part in parts]}
        )
        blocks += parts
    header = json.dumps({"columns": head, "links": links}, separators=(",", ":")).encode()
    made = b"".join((_MAGIC, _LENGTHS.pack(0, len(header)), header, *blocks))
    checksum = zlib.crc32(memoryview(made)[_CHECKED_FROM:])
    return b"".join((_MAGIC, checksum.to_bytes(4, "little"), memoryview(made)[_CHECKED_FROM:]))


def decoded(blob: bytes) -> tuple[list[KeptColumn], list[KeptLink]]:
    """Return what :func:`encoded` made bytes of.

    Raises:
        StoreCorrupt: it made no such bytes.
    """
    try:
        return _decoded(blob)
    except (
        *(ValueError, TypeError, KeyError, OverflowError, RecursionError),
        *(struct.error, zlib.error),
    ) as error:
        msg = f"the store holds damaged changes of a dream cycle ({error})"
        raise StoreCorrupt(msg) from error


def _decoded(blob: bytes) -> tuple[list[KeptColumn], list[KeptLink]]:
    header, place = _header(blob)
    dtypes: Mapping[str, str] = _core.Columns.schema()
    columns = []
    for one in header["columns"]:
        rows = one["rows"]
        if not (isinstance(rows, int) and 0 <= rows <= _MOST_ROWS):
            msg = f"{rows!r} rows"
            raise ValueError(msg)
        arrays = []
        sizes = [int(size) for size in one["bytes"]]
        dtype = dtypes[one["field"]]
        for size, kind in zip(sizes, ("<i8", dtype, dtype), strict=True):
            arrays.append(_array(blob, place, size, rows, kind))
            place += size
        columns.append(KeptColumn(one["field"], np.cumsum(arrays[0]), *arrays[1:]))
    if place != len(blob):
        msg = f"{len(blob)} bytes, {place} told of"
        raise ValueError(msg)
    return columns, [
        KeptLink(int(first), int(second), _state(before), _state(after))
        for first, second, before, after in header["links"]
    ]


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


def _state(held: Any) -> tuple[int, float, float, float | None] | None:
    if held is None:
        return None
    kind, weight, created, last = held
    return int(kind), float(weight), float(created), None if last is None else float(last)


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
