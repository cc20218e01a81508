"""Readers of what ``oneiros import`` takes: each yields one :class:`Row` a record.

A record that cannot be read is a row with a problem, so that one bad line never hides the others;
what makes the whole source useless (no such file, an unknown column) is a ``CommandError``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from oneiros.cli.failures import CommandError
from oneiros.runtime.dataclasses import dataclass

__all__ = ["Row", "open_file"]

EXTENSIONS = (".jsonl", ".csv", ".parquet")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One record of a source, or what is wrong with it."""

    place: str
    """Where it stands, for messages: "line 17"."""
    record: dict[str, Any] | None = None
    """Fields of a memory by name; None when ``problem`` says why not."""
    problem: str = ""


def open_file(path: Path, *, extra_to_metadata: bool) -> Iterator[Row]:
    """Return the rows of a file, read as its extension says.

    Args:
        path: a ``.jsonl``, ``.csv`` or ``.parquet`` file.
        extra_to_metadata: columns that are no field of a memory go to its metadata; without it
            they are an error.

    Raises:
        CommandError: no such file, another extension, or a header that cannot be used.
    """
    extension = path.suffix.lower()
    if extension not in EXTENSIONS:
        msg = f"{path}: expected a file ending in {', '.join(EXTENSIONS)}"
        raise CommandError(msg)
    if not path.is_file():
        msg = f"{path}: no such file"
        raise CommandError(msg)
    # Each format on its own import: only Parquet needs a library that may be missing.
    if extension == ".jsonl":
        from oneiros.cli.sources import json_lines  # noqa: PLC0415

        return json_lines.rows(path, extra_to_metadata=extra_to_metadata)
    if extension == ".csv":
        from oneiros.cli.sources import csv_table  # noqa: PLC0415

        return csv_table.rows(path, extra_to_metadata=extra_to_metadata)
    from oneiros.cli.sources import parquet  # noqa: PLC0415

    return parquet.rows(path, extra_to_metadata=extra_to_metadata)
