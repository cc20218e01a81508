"""Values as JSON has them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

__all__ = ["decoding_problem", "plain"]


def decoding_problem(error: Exception) -> str:
    """Return what is wrong with a line of JSON: the words and the column, without a line number."""
    if isinstance(error, json.JSONDecodeError):
        end = min(error.pos, len(error.doc.rstrip()))  # not behind the line's own break
        column = end - error.doc.rfind("\n", 0, end)
        return f"{error.msg.removesuffix(' at')} at column {column}"
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)


def plain(value: object) -> object:
    """Return ``value`` as JSON has it: NaN and infinities as None, arrays and sets as lists.

    Raises:
        TypeError: a value that has no JSON form.
    """
    if isinstance(value, bool | int | str) or value is None:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(held) for key, held in value.items()}
    if isinstance(value, AbstractSet):
        return sorted((plain(held) for held in value), key=str)
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [plain(held) for held in value]
    if hasattr(value, "tolist"):  # NumPy's arrays and scalars
        return plain(value.tolist())
    msg = f"no JSON form of {type(value).__name__}"
    raise TypeError(msg)
