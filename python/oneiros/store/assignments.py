"""The parts of an UPDATE that stand before its bound values."""

from __future__ import annotations

from typing import Final

from oneiros.field_checks import wrong
from oneiros.fields import FIELDS, INT16_MAX, U32_MAX

__all__ = ["UPDATE", "assigned", "increased"]

UPDATE: Final = {
    "memory": "UPDATE memory SET {0}, revision = ? WHERE id = ?",
    "lifecycle": """
UPDATE lifecycle SET {0}, revision = ?
WHERE sequence = (SELECT sequence FROM memory WHERE id = ?)""",
}
"""By table, what sets columns of it; {0}: the parts made here. The last values: revision and id."""

_COUNTERS: Final = {
    "access_count": (0, U32_MAX),
    "revision_count": (0, U32_MAX),
    "duplicate_count": (0, U32_MAX),
    "feedback": (-INT16_MAX - 1, INT16_MAX),
}


def assigned(name: str) -> str:
    """Return the SQL that sets a field: its name may stand there because it is one of ours.

    Raises:
        ValueError: no field has the name, or it is ``id``.
    """
    if name not in FIELDS or name == "id":
        raise ValueError(wrong("field", "one of a memory's fields but id", name))
    return f"{name} = ?"


def increased(name: str) -> str:
    """Return the SQL that adds to a counter and stops at the ends of its range.

    Raises:
        ValueError: no counter has the name.
    """
    if name not in _COUNTERS:
        raise ValueError(wrong("counter", "one of " + ", ".join(_COUNTERS), name))
    low, high = _COUNTERS[name]
    return f"{name} = max({low}, min({high}, {name} + ?))"
