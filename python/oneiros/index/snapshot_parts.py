"""Parts of a snapshot as bytes: a sequence of arrays and JSON, read with every bound checked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from oneiros.errors import SnapshotDamaged

if TYPE_CHECKING:
    import numpy.typing as npt
    from typing_extensions import Buffer

__all__ = ["PartReader", "PartWriter", "require_sense"]

_ALIGNMENT: Final = 8
_SIZES: Final = {"B": 1, "I": 4, "Q": 8}

Values: TypeAlias = Literal["B", "I", "Q"]


def require_sense(holds: object, rule: str) -> None:
    """Raise SnapshotDamaged, with the rule as its message, unless the rule holds."""
    if not holds:
        raise SnapshotDamaged(rule)


class PartWriter:
    """Collects values for a PartReader, in the same order."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def put(self, values: npt.NDArray[Any]) -> None:
        """Add an array with one dimension."""
        self.put_bytes(values.tobytes())

    def put_bytes(self, data: bytes) -> None:
        """Add bytes."""
        padding = bytes(-len(data) % _ALIGNMENT)
        self._pieces += [len(data).to_bytes(_ALIGNMENT, "little"), data, padding]

    def put_json(self, value: object) -> None:
        """Add a JSON value."""
        self.put_bytes(json.dumps(value, separators=(",", ":")).encode())

    def bytes(self) -> bytes:
        """Return the bytes of all values."""
        return b"".join(self._pieces)


class PartReader:
    """Reads the values of a PartWriter.

    Args:
        data: untrusted bytes, a buffer with one dimension.
    """

    def __init__(self, data: Buffer) -> None:
        self._data = memoryview(data)
        self._at = 0

    def take(self, values: Values) -> memoryview:
        """Return the next array, without a copy.

        Args:
            values: "B" for bytes, "I" for uint32, "Q" for uint64.

        Raises:
            SnapshotDamaged: the bytes end before the array does, or it ends within a value.
        """
        size = int.from_bytes(self._next(_ALIGNMENT), "little")
        data = self._next(size)
        self._next(-size % _ALIGNMENT)
        require_sense(size % _SIZES[values] == 0, "a part's array ends within a value")
        return data.cast(values)

    def take_json(self) -> Any:
        """Return the next JSON value.

        Raises:
            SnapshotDamaged: it cannot be read.
        """
        try:
            return json.loads(self.take("B").tobytes())
        except (ValueError, RecursionError) as error:
            msg = f"a part's JSON cannot be read: {error}"
            raise SnapshotDamaged(msg) from error

    def end(self) -> None:
        """Raise SnapshotDamaged unless everything was read."""
        require_sense(self._at == len(self._data), "a part is longer than what it holds")

    def _next(self, count: int) -> memoryview:
        require_sense(count <= len(self._data) - self._at, "a part ends early")
        self._at += count
        return self._data[self._at - count : self._at]
