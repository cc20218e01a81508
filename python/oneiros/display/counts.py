"""Counts in words."""

from __future__ import annotations

__all__ = ["count_of"]


def count_of(count: int, noun: str, *, grouped: bool = False) -> str:
    """Return a count with its noun, such as "1 memory" and "2 memories".

    Args:
        count: how many.
        noun: in the singular; its plural ends with "s", that of "y" after a consonant with "ies".
        grouped: whether commas separate thousands.
    """
    shown = f"{count:,}" if grouped else str(count)
    if count == 1:
        return f"{shown} {noun}"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{shown} {noun[:-1]}ies"
    return f"{shown} {noun}s"
