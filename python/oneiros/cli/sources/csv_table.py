"""CSV: a header line of field names, commas, double quotes, UTF-8.

A cell is text; what it means follows from its column. An empty cell is an absent field.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from oneiros.cli.failures import CommandError
from oneiros.cli.sources import Row
from oneiros.cli.sources.columns import check_header, fold, value_of

__all__ = ["rows"]

CELL_LIMIT = 16 * 2**20  # characters: the longest text a memory may have


def rows(path: Path, *, extra_to_metadata: bool) -> Iterator[Row]:
    """Return each line's record; the header is judged before the first row is asked for.

    Raises:
        CommandError: no header, or one that :func:`check_header` refuses.
    """
    csv.field_size_limit(CELL_LIMIT)
    # Bytes that are not UTF-8 come through as lone surrogates, so that only their row is refused.
    file = path.open(encoding="utf-8-sig", errors="surrogateescape", newline="")
    try:
        reader = csv.reader(file, strict=True)
        header = next(reader, [])
        check_header(header, file=path.name, extra_to_metadata=extra_to_metadata)
    except csv.Error as error:
        file.close()
        msg = f"{path.name}: no header: {error}"
        raise CommandError(msg) from error
    except CommandError:
        file.close()
        raise
    return _rows(file, reader, header, extra_to_metadata=extra_to_metadata)


def _rows(file: Any, reader: Any, header: list[str], *, extra_to_metadata: bool) -> Iterator[Row]:
    with file:
        while True:
            place = f"line {reader.line_num + 1}"
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield Row(place=place, problem=f"not CSV: {error}")
                continue
            if cells:
                yield _row(place, header, cells, extra_to_metadata=extra_to_metadata)


def _row(place: str, header: list[str], cells: list[str], *, extra_to_metadata: bool) -> Row:
    if len(cells) > len(header):
        problem = f"{len(cells)} cells under {len(header)} columns"
        return Row(place=place, problem=problem)
    try:
        named = zip(header, cells, strict=False)  # absent at the end: absent fields
        values = {
            name: value_of(name, cell) for name, cell in named if cell != "" or name == "text"
        }
        return Row(place=place, record=fold(values, extra_to_metadata=extra_to_metadata))
    except UnicodeEncodeError:
        return Row(place=place, problem="not UTF-8")
    except (TypeError, ValueError, RecursionError) as error:
        return Row(place=place, problem=str(error))
