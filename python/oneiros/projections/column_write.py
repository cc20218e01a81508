"""One column of many memories, written at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["ColumnWrite"]


class ColumnWrite(NamedTuple):
    """One field of many memories."""

    field: str
    rows: npt.NDArray[np.uint32]
    """Each once."""
    values: npt.NDArray[Any]
    """In the column's dtype."""
