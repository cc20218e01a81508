"""Times without a time zone, read in the zone of an engine."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from oneiros.model.calls import nearest
from oneiros.model.fields import FIELDS
from oneiros.runtime.dataclasses import replace

if TYPE_CHECKING:
    from datetime import tzinfo

    from oneiros.model.memory import Memory

__all__ = ["checked_zone", "zoned", "zoned_fields", "zoned_memory"]

_TIMES: Final = tuple(name for name, field in FIELDS.items() if field.kind == "time")


def checked_zone(timezone: object) -> tzinfo | None:
    """Return a time zone given by name or as a ``tzinfo``; None for None.

    Raises:
        TypeError: neither a str nor a ``tzinfo``.
        ValueError: no time zone has this name.
    """
    if timezone is None:
        return None
    from datetime import tzinfo  # noqa: PLC0415 - slow to load, and on use only

    if isinstance(timezone, tzinfo):
        return timezone
    if not isinstance(timezone, str):
        got = f"{type(timezone).__name__} {timezone!r}"
        msg = f"timezone: expected a name such as 'Europe/Berlin' or a tzinfo, got {got}"
        raise TypeError(msg)
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones  # noqa: PLC0415

    try:
        return ZoneInfo(timezone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        near = nearest(timezone, available_timezones())
        hint = f"; did you mean {near!r}?" if near else ""
        msg = f"timezone: no time zone is called {timezone!r} on this system{hint}"
        raise ValueError(msg) from None


def zoned(value: Any, zone: tzinfo) -> Any:
    """Return a naive ``datetime`` or ISO 8601 text as a datetime in the zone, all else unchanged.

    A time that occurs twice, when clocks are set back, is the first of the two unless its ``fold``
    says otherwise.
    """
    if isinstance(value, str):
        from datetime import datetime  # noqa: PLC0415 - slow to load

        try:
            written = datetime.fromisoformat(value)
        except ValueError:
            return value  # the check of the time refuses it
        return written.replace(tzinfo=zone) if written.utcoffset() is None else value
    datetime_module = sys.modules.get("datetime")
    if datetime_module is None or not isinstance(value, datetime_module.datetime):
        return value
    if value != value:  # noqa: PLR0124 - NaT of pandas, which the check of the time refuses
        return value
    return value.replace(tzinfo=zone) if value.utcoffset() is None else value


def zoned_fields(
    record: Mapping[str, Any], zone: tzinfo, names: tuple[str, ...] = _TIMES
) -> Mapping[str, Any]:
    """Return a record with the naive times of its fields in the zone.

    Args:
        record: values by field.
        zone: the time zone.
        names: the fields that are times.
    """
    changes = {name: zoned(record[name], zone) for name in names if name in record}
    return {**record, **changes} if changes else record


def zoned_memory(memory: Memory, zone: tzinfo) -> Memory:
    """Return a memory, which may be made by hand, with its naive times in the zone."""
    times = {name: getattr(memory, name) for name in _TIMES}
    changes = {
        name: found for name, value in times.items() if (found := zoned(value, zone)) is not value
    }
    return replace(memory, **changes) if changes else memory
