"""What the table holds for a memory's values: codes for words, JSON for lists and objects."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final, TypeAlias

from oneiros.dataclasses_on_use import MISSING, fields
from oneiros.fields import ENUMS, FIELDS
from oneiros.hashing import blake2b
from oneiros.memory import Memory
from oneiros.store.lifecycle_rows import LIFECYCLE
from oneiros.store.rows import MEMORY

__all__ = [
    "MEMORY_CELLS",
    "Cells",
    "cell",
    "cells_of",
    "json_text",
    "memory_cells",
    "text_digest",
]

_CODES: Final = {name: {w: c for c, w in enumerate(words)} for name, words in ENUMS.items()}


Cells: TypeAlias = list[Any]
"""What the tables hold of a new memory: first :data:`MEMORY_CELLS` values of ``rows.INSERT``, without
the commit's number and the encoded embedding, then those of ``rows.INSERT_LIFECYCLE``, without the
memory's number and the commit's."""

_NAMES: Final = (*MEMORY[2:], "text_digest", *LIFECYCLE)
MEMORY_CELLS: Final = len(_NAMES) - len(LIFECYCLE)
_DIGEST: Final = MEMORY_CELLS - 1


def cells_of(values: Mapping[str, Any]) -> Cells:
    """Return a new memory's cells.

    Args:
        values: as :func:`oneiros.memory.checked_values` returns them; ``embedding`` is passed over.
    """
    cells = _DEFAULT_CELLS.copy()
    places = _PLACES
    for name, value in values.items():
        place, encode = places[name]
        cells[place] = value if encode is None else encode(value)
    cells[_DIGEST] = text_digest(values["text"])
    return cells


def memory_cells(memory: Memory) -> Cells:
    """Return the cells of a complete memory."""
    return cells_of({name: getattr(memory, name) for name in FIELDS})


def _places() -> dict[str, tuple[int, Callable[[Any], Any] | None]]:
    """Where a field's cell stands, and what makes it of the value; None: it is the value."""
    places: dict[str, tuple[int, Callable[[Any], Any] | None]] = {
        name: (place, None) for place, name in enumerate(_NAMES)
    }
    for name, codes in _CODES.items():
        places[name] = (places[name][0], codes.__getitem__)
    for name in ("pinned", "core"):
        places[name] = (places[name][0], int)
    for name in ("sessions", "tags", "metadata"):
        places[name] = (places[name][0], partial(cell, name))
    places["embedding"] = (_DIGEST, None)  # where the text's digest is put at last
    return places


def text_digest(text: str) -> int:
    """Return the number by which equal texts are looked for; no one can aim at another's."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little", signed=True)


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


_PLACES: Final = _places()
_DEFAULTS: Final = {
    field.name: int(field.default) if isinstance(field.default, bool) else field.default
    for field in fields(Memory)
    if field.default is not MISSING
}


def _default_cell(name: str) -> Any:
    if name in _CODES:
        return _CODES[name].get(str(_DEFAULTS[name]), 0)
    return cell(name, _DEFAULTS[name]) if name in _DEFAULTS else None


_DEFAULT_CELLS: Final[Cells] = list(map(_default_cell, _NAMES))
