"""What a file's columns mean: fields of a memory, or extras."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from oneiros.cli.failures import CommandError

__all__ = ["check_header", "extras", "fold"]


def check_header(columns: Iterable[str], *, file: str, extra_to_metadata: bool) -> None:
    """Refuse a table whose columns cannot all be kept.

    Raises:
        CommandError: an unnamed or repeated column, an extra one without ``extra_to_metadata``,
            or no column ``text``.
    """
    seen: set[str] = set()
    for column in columns:
        if not column:
            msg = f"{file}: a column has no name"
            raise CommandError(msg)
        if column in seen:
            msg = f"{file}: two columns are named {column!r}"
            raise CommandError(msg)
        seen.add(column)
    unknown = extras(seen)
    if unknown and not extra_to_metadata:
        msg = f"{file}: {_unknown(min(unknown))}"
        raise CommandError(msg)
    if "text" not in seen:
        msg = f"{file}: needs a column 'text'"
        raise CommandError(msg)


def extras(columns: Iterable[str]) -> set[str]:
    """Return those of the columns that are no field of a memory."""
    from oneiros.memory import FIELDS  # noqa: PLC0415  (the record's module is heavy)

    return {column for column in columns if column not in FIELDS}


def fold(values: Mapping[str, Any], *, extra_to_metadata: bool) -> dict[str, Any]:
    """Return a record: empty values left out, extras moved into its metadata.

    Raises:
        TypeError: metadata that is no object.
        ValueError: an extra without ``extra_to_metadata``, or one that its metadata names as well.
    """
    record = {name: value for name, value in values.items() if value is not None}
    unknown = sorted(extras(record))
    if not unknown:
        return record
    if not extra_to_metadata:
        raise ValueError(_unknown(unknown[0]))
    metadata = record.get("metadata", {})
    if not isinstance(metadata, dict):
        msg = f"metadata: must be an object, got {type(metadata).__name__}"
        raise TypeError(msg)
    record["metadata"] = dict(metadata)
    for name in unknown:
        if name in metadata:
            msg = f"{name}: stands both as a column and in metadata"
            raise ValueError(msg)
        record["metadata"][name] = record.pop(name)
    return record


def _unknown(column: str) -> str:
    return f"column {column!r} is not a field of a memory; --extra-to-metadata keeps it in metadata"
