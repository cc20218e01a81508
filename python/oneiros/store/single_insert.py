"""Stores one new memory by one call of the core, which an interrupt cannot split."""

from __future__ import annotations

from typing import Any, Final

from oneiros import _core
from oneiros.store.checksums import check_of
from oneiros.store.history import ADD_MOMENT, LAST_MOMENT
from oneiros.store.reading import LAST_REVISION, NEXT_SEQUENCE
from oneiros.store.rows import (
    INSERT,
    INSERT_LIFECYCLE,
    INSERTED,
    INSERTED_CELLS,
    INSERTED_LIFECYCLE,
    Cells,
)

__all__ = ["SINGLE_INSERT", "rows_of"]

SINGLE_INSERT: Final = _core.MemoryInsert(
    memory=INSERT,
    lifecycle=INSERT_LIFECYCLE,
    memory_checksum=check_of("memory"),
    lifecycle_checksum=check_of("lifecycle"),
    last_revision=LAST_REVISION,
    next_sequence=NEXT_SEQUENCE,
    last_moment=LAST_MOMENT,
    moment=ADD_MOMENT,
    moment_checksum=check_of("moment"),
    obstacles=[  # cases in which other rows change too
        ("SELECT 1 FROM memory WHERE text_digest = ?1 LIMIT 1", INSERTED.index("text_digest")),
        (
            "SELECT 1 FROM memory INDEXED BY successor WHERE superseded_by = ?1 LIMIT 1",
            INSERTED.index("id"),
        ),
    ],
)
_UNNUMBERED: Final = {**INSERTED_CELLS, "sequence": None, "revision": None}


def rows_of(cells: Cells) -> tuple[list[Any], list[Any]]:
    """Return the rows of a memory in both tables, without numbers and checksums.

    Args:
        cells: see :func:`oneiros.store.rows.cells_of`; ``embedding`` is the encoded vector.
    """
    row = _UNNUMBERED | cells
    return [row[name] for name in INSERTED], [row[name] for name in INSERTED_LIFECYCLE]
