"""Sets of rows as bitmaps, and the bits that the channels take."""

from __future__ import annotations

import array
import re
import struct
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import TYPE_CHECKING, Final, TypeAlias

from pyroaring import BitMap

from oneiros import _core
from oneiros._lazy import np

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = [
    "Bits",
    "Rows",
    "RowsByValue",
    "allowed_bits",
    "rows_of_bits",
    "rows_where",
    "set_of",
    "sets_of_arrays",
    "values_and_rows",
]


Rows: TypeAlias = "npt.NDArray[np.uint32]"
Numbers: TypeAlias = "array.array[int]"
Bits: TypeAlias = bytes

_PLAIN: Final = 12346  # cookie of a bitmap without run containers
_SPAN: Final = 65_536  # rows per container
_UNFIT: Final = "sets of rows do not fit their values"
_ARRAY_LIMIT: Final = 4_096  # the most rows of a container that is an array of uint16


def set_of(rows: Rows | Iterable[int]) -> BitMap:
    """Return the set of these rows (0 to 2^32 - 1).

    pyroaring copies the memory of an ``array.array``, but reads a NumPy array one Python number at
    a time, at ten times the cost.
    """
    if not isinstance(rows, list | range) and isinstance(rows, np.ndarray):
        return BitMap(array.array("I", np.ascontiguousarray(rows, np.uint32).tobytes()))
    return BitMap(array.array("I", rows))


def rows_where(mask: npt.NDArray[np.bool_]) -> BitMap:
    """Return the set of rows r with ``mask[r]``.

    Args:
        mask: shape (n,), bool.
    """

    def containers() -> Iterator[tuple[int, int, bytes]]:
        for key, start in enumerate(range(0, len(mask), _SPAN)):
            part = mask[start : start + _SPAN]
            count = int(np.count_nonzero(part))
            if count > _ARRAY_LIMIT:
                yield key, count, np.packbits(part, bitorder="little").tobytes()
            elif count:
                yield key, count, np.flatnonzero(part).astype("<u2").tobytes()

    return _joined(containers())


def rows_of_bits(bits: memoryview, row_count: int) -> BitMap:
    """Return the set of rows whose bits are set, without NumPy.

    Opening a store must not load NumPy.

    Args:
        bits: bit r of byte r // 8 is set if row r is in the set.
        row_count: the number of rows; later bits are ignored.
    """
    if row_count % 8:
        last = bits[row_count // 8] & ((1 << row_count % 8) - 1)
        bits = memoryview(bits[: row_count // 8].tobytes() + bytes((last,)))

    def containers() -> Iterator[tuple[int, int, bytes]]:
        for key, start in enumerate(range(0, len(bits), _SPAN // 8)):
            part = bits[start : start + _SPAN // 8].tobytes()
            count = int.from_bytes(part).bit_count()
            if count > _ARRAY_LIMIT:
                yield key, count, part
            elif count:
                yield key, count, _places(part)

    return _joined(containers())


def _places(bits: bytes) -> bytes:
    """Return the numbers of the set bits as uint16; few are set."""
    places = (
        8 * found.start() + bit
        for found in re.finditer(rb"[^\0]", bits)
        for bit in range(8)
        if bits[found.start()] >> bit & 1
    )
    return struct.pack(f"<{int.from_bytes(bits).bit_count()}H", *places)


def _joined(containers: Iterable[tuple[int, int, bytes]]) -> BitMap:
    """Return the set made of containers (key, row count, array or bits), in order of keys."""
    heads: list[bytes] = []
    bodies: list[bytes] = []
    for key, count, body in containers:
        heads.append(struct.pack("<HH", key, count - 1))
        bodies.append(body if count <= _ARRAY_LIMIT else body.ljust(_SPAN // 8, b"\0"))
    first = 8 + 8 * len(bodies)
    offsets = [first, *accumulate((len(body) for body in bodies[:-1]), initial=first)][1:]
    head = struct.pack("<II", _PLAIN, len(bodies))
    table = struct.pack(f"<{len(bodies)}I", *offsets[: len(bodies)])
    return BitMap.deserialize(b"".join([head, *heads, table, *bodies]))


class RowsByValue:
    """Value -> rows. A single row is an int, since most sessions, topics and urls have few."""

    def __init__(self) -> None:
        self._sets: dict[object, int | BitMap] = {}

    def add(self, value: object, row: int) -> None:
        rows = self._sets.get(value)
        if rows is None:
            self._sets[value] = row
        elif isinstance(rows, int):
            self._sets[value] = BitMap((rows, row))
        else:
            rows.add(row)

    def add_all(self, value: object, rows: list[int]) -> None:
        if len(rows) == 1:
            self.add(value, rows[0])
            return
        existing = self._sets.get(value)
        added = set_of(rows)
        if isinstance(existing, int):
            added.add(existing)
        elif existing is not None:
            added |= existing
        self._sets[value] = added

    def discard(self, value: object, row: int) -> None:
        rows = self._sets.get(value)
        if rows == row:
            del self._sets[value]
        elif isinstance(rows, BitMap):
            rows.discard(row)
            if not rows:
                del self._sets[value]

    def discard_all(self, value: object, rows: list[int]) -> None:
        existing = self._sets.get(value)
        if len(rows) == 1 or not isinstance(existing, BitMap):
            for row in rows:
                self.discard(value, row)
            return
        existing -= set_of(rows)
        if not existing:
            del self._sets[value]

    def items(self) -> Iterable[tuple[object, int | BitMap]]:
        """Return each value with its row or its set, not copied."""
        return self._sets.items()

    def has(self, value: object, row: int) -> bool:
        """Return whether a row has a value."""
        rows = self._sets.get(value)
        return rows == row if rows is None or isinstance(rows, int) else row in rows

    def __contains__(self, value: object) -> bool:
        """Return whether any row has a value."""
        return value in self._sets

    def values(self) -> list[object]:
        """Return a new list of the values."""
        return list(self._sets)

    def put(self, value: object, rows: int | BitMap) -> None:
        """Replace the rows of a value."""
        self._sets[value] = rows

    def rows(self, value: object) -> BitMap:
        """Return a new set of the rows of a value."""
        rows = self._sets.get(value)
        if rows is None:
            return BitMap()
        return BitMap((rows,)) if isinstance(rows, int) else BitMap(rows)

    def rows_of_any(self, values: Iterable[object]) -> BitMap:
        found = [rows for value in values if (rows := self._sets.get(value)) is not None]
        sets = [rows for rows in found if isinstance(rows, BitMap)]
        single = set_of([row for row in found if isinstance(row, int)])
        return BitMap.union(single, *sets) if sets else single

    def counts(self, rows: BitMap) -> list[tuple[object, int]]:
        """Return each value with its number of rows among these, values without any left out."""
        counts = (
            (
                value,
                int(own in rows) if isinstance(own, int) else own.intersection_cardinality(rows),
            )
            for value, own in list(self.items())  # one step: a writer may add values
        )
        return [(value, count) for value, count in counts if count]


def allowed_bits(rows: BitMap, row_count: int) -> Bits:
    """Return the rows of a set as packed bits: bit r % 8 of byte r // 8 is set if row r is in it.

    Args:
        rows: the set; rows from ``row_count`` on are left out.
        row_count: the number of rows, >= 0.

    Returns:
        ceil(row_count / 8) bytes.

    Raises:
        ValueError: ``row_count`` is negative.
    """
    if row_count < 0:
        msg = f"row_count: must be >= 0, got {row_count}"
        raise ValueError(msg)
    return _core.packed_bits(bitmap=rows.serialize(), row_count=row_count)


def values_and_rows(sets: RowsByValue) -> tuple[list[object], Numbers, Numbers]:
    """Return the values, the row count of each, and all rows.

    The values None, True and False are lists of one item.
    """
    values: list[object] = []
    sizes, all_rows = array.array("I"), array.array("I")
    for value, existing in sets.items():
        values.append(list(value) if isinstance(value, tuple) else value)
        rows = BitMap((existing,)) if isinstance(existing, int) else existing
        sizes.append(len(rows))
        all_rows += rows.to_array()
    return values, sizes, all_rows


def sets_of_arrays(
    values: list[object],
    sizes: Numbers | memoryview[int],
    rows: Numbers | memoryview[int],
    row_end: int,
) -> RowsByValue:
    """Return the sets from the output of :func:`values_and_rows`, without NumPy.

    Args:
        values: one per set.
        sizes: the number of rows of each set, uint32.
        rows: the rows of all sets, one set after the other, uint32.
        row_end: all rows must be below it.

    Raises:
        ValueError: the arguments do not fit each other, or a value is invalid.
    """
    if len(values) != len(sizes) or sum(sizes) != len(rows) or 0 in sizes:
        raise ValueError(_UNFIT)
    all_rows = memoryview(rows).cast("B")
    sets = RowsByValue()
    start = 0
    for value, size in zip(values, sizes, strict=True):
        one_or_many: int | BitMap = rows[start]
        if size > 1:
            own = array.array("I")
            own.frombytes(all_rows[4 * start : 4 * (start + size)])
            one_or_many = BitMap(own)
        if (one_or_many if isinstance(one_or_many, int) else one_or_many.max()) >= row_end:
            raise ValueError(_UNFIT)
        sets.put(_key_of(value), one_or_many)
        start += size
    return sets


def _key_of(value: object) -> object:
    if (
        isinstance(value, list)
        and len(value) == 1
        and (value[0] is None or isinstance(value[0], bool))
    ):
        return (value[0],)
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return value
    msg = "a value that nothing can have"
    raise ValueError(msg)
