"""The machine's side of a command: one JSON document on stdout."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

__all__ = ["plain", "write"]


def write(document: Mapping[str, object]) -> None:
    """Write one document and a newline to stdout.

    ASCII only: control characters and bidirectional marks in stored text stay escaped, so that even
    a document shown on a terminal is harmless.
    """
    json.dump(plain(document), sys.stdout, ensure_ascii=True, allow_nan=False, indent=2)
    sys.stdout.write("\n")


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
