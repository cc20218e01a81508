"""The SQL that changes rows: columns set, with the revision and the checksum that follow."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import count
from typing import Final

from oneiros.field_checks import wrong
from oneiros.fields import FIELDS, INT16_MAX, U32_MAX
from oneiros.store.checksums import COVERED, checksum_after

__all__ = ["assigned", "increased", "update_of"]


@cache
def update_of(table: str, assignments: tuple[tuple[str, str], ...]) -> str:
    """Return SQL that sets columns of a memory's row, its revision and its checksum.

    Args:
        table: "memory" or "lifecycle".
        assignments: column and SQL for its value, in which ``?`` stands for a value that is bound.
            After these values the revision is bound, then the memory's sequence number.
    """
    cells = dict(assignments) | {"revision": "?"}
    numbers = count(1)
    numbered = {name: _numbered(cell, numbers) for name, cell in cells.items()}
    condition = _numbered("sequence = ?", numbers)
    covered = COVERED[table]
    numbered["checksum"] = checksum_after(
        {name: cell for name, cell in numbered.items() if name in covered}
    )
    setting = ", ".join(f"{name} = {cell}" for name, cell in numbered.items())
    return f"UPDATE {table} SET {setting} WHERE {condition}"


def _numbered(sql: str, numbers: Iterator[int]) -> str:
    """Number what stands for values, so that it can stand there twice."""
    first, *parts = sql.split("?")
    return first + "".join(f"?{next(numbers)}{part}" for part in parts)


_COUNTERS: Final = {
    "access_count": (0, U32_MAX),
    "revision_count": (0, U32_MAX),
    "duplicate_count": (0, U32_MAX),
    "feedback": (-INT16_MAX - 1, INT16_MAX),
}


def assigned(name: str) -> tuple[str, str]:
    """Return a field's column and the SQL that sets it: its name may stand there because it is ours.

    Raises:
        ValueError: no field has the name, or it is ``id``.
    """
    if name not in FIELDS or name == "id":
        raise ValueError(wrong("field", "one of a memory's fields but id", name))
    return name, "?"


def increased(name: str) -> tuple[str, str]:
    """Return a counter's column and the SQL that adds to it and stops at the ends of its range.

    Raises:
        ValueError: no counter has the name.
    """
    if name not in _COUNTERS:
        raise ValueError(wrong("counter", "one of " + ", ".join(_COUNTERS), name))
    low, high = _COUNTERS[name]
    return name, f"max({low}, min({high}, {name} + ?))"
