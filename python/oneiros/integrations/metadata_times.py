"""Times in the metadata of documents, with and without an offset.

The engine compares times with an offset alone. Frameworks have times without one, too, and read
them as UTC: adapters keep these in UTC under a key of their own, at the same paths.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import reduce
from typing import Any, TypeAlias

from oneiros.filters import Where, meta
from oneiros.filters.metadata_paths import Key
from oneiros.filters.metadata_times import seconds_of

__all__ = ["Compare", "at", "compared", "naive_times", "naive_times_patch", "time_of"]

Compare: TypeAlias = Callable[[Any, Any], Where]
"""One of ``operator.lt``, ``le``, ``gt`` and ``ge``."""

_DATE = len("2025-03-01")


def time_of(value: object) -> str | None:
    """Return a time as ISO 8601 with an offset, UTC where it has none; None: it is no time."""
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).isoformat()
    if not isinstance(value, str):
        return None
    return value if seconds_of(value) is not None else _naive_time(value)


def _naive_time(value: object) -> str | None:
    """Return a text in ISO 8601 without an offset as a time in UTC; None for any other value."""
    if not isinstance(value, str) or value[4:5] != "-" or value[7:8] != "-":
        return None
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return None
    if found.tzinfo or len(value) == _DATE:  # a date is midnight in UTC to the engine, too
        return None
    return found.replace(tzinfo=UTC).isoformat()


def naive_times(metadata: Mapping[str, object]) -> dict[str, Any]:
    """Return the times without an offset, in UTC, at their paths; {} without any."""
    found: dict[str, Any] = {}
    for key, item in metadata.items():
        moment = naive_times(item) if isinstance(item, Mapping) else _naive_time(item)
        if moment:
            found[key] = moment
    return found


def naive_times_patch(metadata: Mapping[str, object]) -> dict[str, Any]:
    """Return :func:`naive_times` as a merge patch that removes what these values replace."""
    return {
        key: naive_times_patch(item) if isinstance(item, Mapping) else _naive_time(item)
        for key, item in metadata.items()
    }


def compared(paths: Iterable[Key], compare: Compare, moment: object) -> Where:
    """Return the condition that the time at one of the paths compares so with a moment.

    Args:
        paths: a path, and the one where the adapter keeps it from :func:`naive_times`.
        compare: the comparison.
        moment: as :func:`time_of` returns it.
    """
    return reduce(operator.or_, (compare(meta(path), moment) for path in paths))


def at(paths: Sequence[Key], moment: object) -> Where:
    """Return the condition that the time at one of the paths is a moment, whatever its offset."""
    return compared(paths, operator.ge, moment) & compared(paths, operator.le, moment)
