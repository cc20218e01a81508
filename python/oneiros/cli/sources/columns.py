"""The columns of a file as fields of a memory, and their cells as values."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

from oneiros.cli.failures import CommandError
from oneiros.model.fields import FIELDS

__all__ = ["check_header", "extras", "fold", "value_of"]


CLAIMS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def value_of(column: str, cell: str) -> Any:
    """Return what the cell says.

    Numbers and booleans as such; a time as a number (seconds) or else as its ISO 8601 text, which
    the record's own rules judge; ``tags`` and ``sessions`` as a JSON list or as words between
    semicolons; ``metadata`` and ``embedding`` as JSON. Text, and a column that is no field of a
    memory, unchanged.

    Raises:
        ValueError: the cell is not what its column holds, naming column and cell.
    """
    cell.encode()  # lone surrogates: UnicodeEncodeError, a ValueError
    kind = FIELDS[column].kind if column in FIELDS else "text"
    if kind == "time":
        return _time(cell)
    if kind in ("words", "word_set") and not cell.lstrip().startswith("["):
        return [word.strip() for word in cell.split(";") if word.strip()]
    if kind not in READERS:
        return cell
    reader, wanted = READERS[kind]
    try:
        return reader(cell)
    except (ValueError, KeyError) as error:
        shown = cell if len(cell) <= 40 else cell[:39] + "…"
        msg = f"{column}: must be {wanted}, got {shown!r}"
        raise ValueError(msg) from error


def _time(cell: str) -> float | str:
    try:
        return float(cell)
    except ValueError:
        return cell.strip()


def _json(cell: str) -> Any:
    return json.loads(cell, parse_constant=_refuse)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


READERS: dict[str, tuple[Callable[[str], Any], str]] = {
    "int": (int, "a whole number"),
    "float32": (float, "a number"),
    "seconds": (float, "a number"),
    "bool": (lambda cell: CLAIMS[cell.strip().lower()], "true or false"),
    "words": (_json, "JSON"),
    "word_set": (_json, "JSON"),
    "metadata": (_json, "JSON"),
    "embedding": (_json, "JSON"),
}
"""Kind of field -> its reader, and what a cell must be."""


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
