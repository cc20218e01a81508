"""JSON Lines: one object a line, UTF-8."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from oneiros.cli.sources import Row
from oneiros.cli.sources.columns import fold

__all__ = ["rows"]

LINE_LIMIT = 64 * 2**20  # bytes: a text of 16 MiB escaped at its worst, and a vector


def rows(path: Path, *, extra_to_metadata: bool) -> Iterator[Row]:
    """Yield each line's record; blank lines are passed over, a byte order mark is ignored."""
    with path.open("rb") as file:
        for number, line in enumerate(_lines(file.readline), start=1):
            place = f"line {number}"
            content = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            if len(line) > LINE_LIMIT:
                yield Row(place=place, problem=f"longer than {LINE_LIMIT} bytes")
            elif content.strip():
                yield _row(place, content, extra_to_metadata=extra_to_metadata)


def _lines(readline: Any) -> Iterator[bytes]:
    """Yield lines, each cut just past the limit: a file without newlines must not fill memory."""
    while line := readline(LINE_LIMIT + 1):
        while not line.endswith(b"\n") and len(line) > LINE_LIMIT:
            rest = readline(LINE_LIMIT)
            if not rest or rest.endswith(b"\n"):
                break
        yield line


def _row(place: str, line: bytes, *, extra_to_metadata: bool) -> Row:
    try:
        values = json.loads(line.decode("utf-8"), parse_constant=_refuse)
        if not isinstance(values, dict):
            return Row(place=place, problem=f"expected an object, got {type(values).__name__}")
        return Row(place=place, record=fold(values, extra_to_metadata=extra_to_metadata))
    except json.JSONDecodeError as error:
        return Row(place=place, problem=f"not JSON: {error.msg} at column {error.colno}")
    except UnicodeDecodeError as error:
        return Row(place=place, problem=f"not UTF-8: byte {error.start}")
    except RecursionError:
        return Row(place=place, problem="nested too deeply")
    except (TypeError, ValueError) as error:
        return Row(place=place, problem=str(error))


def _refuse(constant: str) -> NoReturn:
    msg = f"not JSON: {constant}"
    raise ValueError(msg)
