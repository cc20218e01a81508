"""What the table holds for a memory's values: codes for words, JSON for lists and objects."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from struct import unpack
from typing import Any, Final, TypeAlias

from oneiros.dataclasses_on_use import MISSING, fields
from oneiros.fields import ENUMS, FIELDS
from oneiros.hashing import blake2b
from oneiros.memory import Memory
from oneiros.store.lifecycle_rows import LIFECYCLE
from oneiros.store.rows import MEMORY

__all__ = [
    "DEFAULT_CELLS",
    "Cells",
    "cell",
    "cell_columns",
    "cells_of",
    "encoded_cells",
    "joined_cells",
    "json_text",
    "memory_cells",
    "text_digest",
]

_CODES: Final = {name: {w: c for c, w in enumerate(words)} for name, words in ENUMS.items()}


Cells: TypeAlias = dict[str, Any]
"""What the tables hold of a new memory, by field of ``rows.StoredMemory``; for what is left out, see
:data:`DEFAULT_CELLS`."""


def cells_of(values: Mapping[str, Any]) -> Cells:
    """Return a new memory's cells.

    Args:
        values: as :func:`oneiros.memory.checked_values` returns them; ``embedding`` is passed over.
    """
    cells = encoded_cells(values)
    cells["text_digest"] = text_digest(values["text"])
    return cells


def encoded_cells(values: Mapping[str, Any]) -> Cells:
    """Return the cells of some fields' values, as a memory holds them, but for ``embedding``."""
    cells = dict(values)
    for name in _ENCODINGS.keys() & cells.keys():
        stored, encode = _ENCODINGS[name]
        cells[stored] = encode(cells.pop(name))
    cells.pop("embedding", None)
    return cells


def memory_cells(memory: Memory) -> Cells:
    """Return the cells of a complete memory."""
    return cells_of({name: getattr(memory, name) for name in FIELDS})


def cell_columns(values: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """Return the cells of new memories by column.

    Args:
        values: by field, one value per memory as a memory holds it, ``text`` among them.
    """
    columns = {"text_digest": text_digests(values["text"])}
    for name, column in values.items():
        encoding = _ENCODINGS.get(name)
        if encoding is None:
            columns[name] = column
            continue
        stored, encode = encoding
        if name not in ("tags", "metadata"):  # few different ones
            encode = {value: encode(value) for value in set(column)}.__getitem__
        columns[stored] = list(map(encode, column))
    return columns


def joined_cells(memories: Sequence[Cells]) -> dict[str, list[Any]]:
    """Return the cells of memories by column, as :func:`cell_columns` does."""
    if len(memories) == 1:
        return {name: [cell] for name, cell in memories[0].items()}
    names = dict.fromkeys(name for cells in memories for name in cells)
    defaults = {name: DEFAULT_CELLS.get(name) for name in names}
    return {
        name: [cells.get(name, default) for cells in memories] for name, default in defaults.items()
    }


def text_digest(text: str) -> int:
    """Return the number by which equal texts are looked for; no one can aim at another's."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little", signed=True)


def text_digests(texts: Iterable[str]) -> list[int]:
    """Return :func:`text_digest` of each text."""
    digests = [blake2b(text, digest_size=8).digest() for text in map(str.encode, texts)]
    return list(unpack(f"<{len(digests)}q", b"".join(digests)))


def cell(name: str, value: Any) -> Any:
    """Return what the table holds for a field's value (an embedding: its encoded bytes).

    Raises:
        TypeError: an embedding that is not encoded.
    """
    kind = FIELDS[name].kind
    if kind == "enum":
        return _CODES[name][value]
    if kind == "word_set":
        return json_text(sorted(value)) if value else None
    if kind in {"words", "metadata"}:
        return json_text(value) if value else None
    if kind == "embedding" and not (value is None or isinstance(value, bytes)):
        msg = f"embedding: the store takes encoded bytes, got {type(value).__name__}"
        raise TypeError(msg)
    return value


def json_text(value: list[str] | Mapping[str, object] | Iterable[str]) -> str:
    """Return compact JSON; letters stay as they are, so that a text can be looked for in it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


_DEFAULTS: Final = {
    field.name: int(field.default) if isinstance(field.default, bool) else field.default
    for field in fields(Memory)
    if field.default is not MISSING
}
_STORED_NAMES: Final = {name: f"{name}_json" for name in ("sessions", "tags", "metadata")}


def _encodings() -> dict[str, tuple[str, Callable[[Any], Any]]]:
    """The fields whose cell is not their value: the name of the cell, and what makes it."""
    made: dict[str, Callable[[Any], Any]] = {
        name: codes.__getitem__ for name, codes in _CODES.items()
    }
    made |= dict.fromkeys(("pinned", "core"), int)
    made |= {name: partial(cell, name) for name in _STORED_NAMES}
    return {name: (_STORED_NAMES.get(name, name), encode) for name, encode in made.items()}


def _default_cell(name: str) -> Any:
    if name in _CODES:
        return _CODES[name].get(str(_DEFAULTS[name]), 0)
    return cell(name, _DEFAULTS[name]) if name in _DEFAULTS else None


_ENCODINGS: Final = _encodings()
DEFAULT_CELLS: Final[Mapping[str, Any]] = {
    _STORED_NAMES.get(name, name): _default_cell(name)
    for name in (*MEMORY[1:], *LIFECYCLE)  # without the commit's number
}
"""The cells of a memory of which nothing was given, by field of ``rows.StoredMemory``."""
