"""An array that grows at its end while others read what was there before."""

from __future__ import annotations

from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

__all__ = ["GrowingArray"]

Value = TypeVar("Value", np.float32, np.int64)

LEAST_CAPACITY = 64


class GrowingArray(Generic[Value]):
    """Values of one dtype in rows of one width. Views taken earlier never change and never dangle.

    Args:
        first: the first values, copied; shape (n,) or (n, width).
        room: values to make room for beyond them. Room costs address space, not memory, until used.
    """

    __slots__ = ("_count", "_held")

    def __init__(self, first: npt.NDArray[Value], room: int = 0) -> None:
        self._count = 0
        self._held = np.empty(
            (max(LEAST_CAPACITY, len(first) + room), *first.shape[1:]), first.dtype
        )
        self.append(first)

    @property
    def values(self) -> npt.NDArray[Value]:
        """What is held now, without a copy."""
        return self._held[: self._count]

    def reserve(self, more: int) -> None:
        """Make room for so many more values; beyond the capacity all move to twice the room."""
        count = self._count + more
        if count > len(self._held):
            size = max(count, 2 * len(self._held))
            grown = np.empty((size, *self._held.shape[1:]), self._held.dtype)
            grown[: self._count] = self.values
            self._held = grown

    def append(self, more: npt.NDArray[Value]) -> None:
        """Add values at the end."""
        self.reserve(len(more))
        count = self._count + len(more)
        self._held[self._count : count] = more
        self._count = count

    def extend(self, more: int) -> npt.NDArray[Value]:
        """Add so many values at the end, and return them to be set, before anyone looks at them."""
        self.reserve(more)
        self._count += more
        return self._held[self._count - more : self._count]

    def keep(self, count: int) -> None:
        """Keep the first so many values. REQUIRES: nobody was given those after them."""
        self._count = count
