"""The parts of an UPDATE that stand before its bound values."""

from __future__ import annotations

from typing import Final

from oneiros.field_checks import wrong
from oneiros.fields import FIELDS, INT16_MAX, U32_MAX

__all__ = ["assigned", "increased"]

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
