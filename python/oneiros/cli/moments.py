"""Times as people write them on a command line."""

from __future__ import annotations

from datetime import UTC, datetime

from oneiros.cli.failures import CommandError

__all__ = ["moment", "range_of", "seconds_of"]


def seconds_of(name: str, written: str | None) -> float | None:
    """Return seconds since the epoch of ISO 8601 with an offset, or of a plain number; None of None.

    Raises:
        ValueError: anything else, naming the option and the value.
    """
    from oneiros.field_checks import moment as check  # noqa: PLC0415  (--help needs it not)

    if written is None:
        return None
    try:
        given: float | str = float(written)
    except ValueError:
        given = written
    return float(check(name)(given))


def range_of(name: str, written: str | None) -> tuple[float | None, float | None] | None:
    """Return the pair of times of ``START/END``, either of which may be left out; None of None.

    Raises:
        CommandError: no "/", or two.
        ValueError: a time that :func:`seconds_of` refuses.
    """
    if written is None:
        return None
    ends = written.split("/")
    if len(ends) != 2:
        msg = f"{name}: expected START/END, got {written!r}"
        raise CommandError(msg)
    start, end = (seconds_of(name, end.strip() or None) for end in ends)
    return start, end


def moment(seconds: float) -> str:
    """Return ISO 8601 in UTC, or the number itself outside the calendar's years."""
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat()
    except (OverflowError, ValueError, OSError):
        return f"{seconds:.0f} s"
