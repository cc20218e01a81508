"""One text cell of a table, read as its column's type."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NoReturn

__all__ = ["value_of"]

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
    from oneiros.fields import FIELDS  # noqa: PLC0415  (the record's module is heavy)

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
