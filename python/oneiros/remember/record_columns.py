"""Records on their way into the store, by column: plain dicts that are all new and all valid."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from oneiros import _core
from oneiros.field_checks import unit_rows
from oneiros.memory import Memory, checked_columns
from oneiros.store.cells import DEFAULT_CELLS, cell_columns, encoded_cells

if TYPE_CHECKING:
    from oneiros.ranking.initial_stability import InitialStability

__all__ = ["RecordColumns", "joined", "record_columns"]

_IMPORTANCE: Final = Memory(text="").importance


class RecordColumns:
    """What the store's tables hold of new memories.

    Args:
        varying: by field, one cell per record: see ``store.cells.cell_columns``; ``embedding``: the
            encoded vectors.
        shared: by field, the cell of all records; what is in neither has its default.
        width: components of the vectors; 0: there are none.
    """

    __slots__ = ("shared", "varying", "width")

    def __init__(
        self, varying: Mapping[str, list[Any]], shared: Mapping[str, Any], width: int
    ) -> None:
        self.varying = varying
        self.shared = shared
        self.width = width

    def __len__(self) -> int:
        return len(self.varying["id"])

    @property
    def ids(self) -> list[str]:
        """The ids, in order."""
        return self.varying["id"]

    @property
    def blobs(self) -> list[bytes | None]:
        """The encoded vectors, in order."""
        return self.column("embedding")

    @property
    def kinds(self) -> set[str]:
        """The kinds that there are."""
        return set(self.column("kind"))

    def column(self, name: str) -> list[Any]:
        """Return a field's cells, one per record."""
        cells = self.varying.get(name)
        if cells is None:
            cells = [self.shared.get(name, DEFAULT_CELLS.get(name))] * len(self)
        return cells


def record_columns(
    records: Sequence[object],
    *,
    now: float,
    initial_stability: InitialStability | None,
    require_width: Callable[[int], None],
) -> RecordColumns | None:
    """Return records by column; None where they have to be checked one by one.

    Args:
        records: at least one.
        now: for what they leave out.
        initial_stability: of what comes without one; None: the field's default.
        require_width: raises ValueError for a width of vectors that the store has no room for.
    """
    if set(map(type, records)) != {dict}:
        return None
    rows: Sequence[dict[str, Any]] = records  # type: ignore[assignment]
    blobs: list[bytes] = []
    width = 0
    if any("embedding" in row for row in rows):
        vectors = [row.get("embedding") for row in rows]
        if any(vector is None for vector in vectors):
            return None
        try:
            matrix = unit_rows(vectors)
            if matrix is None:
                return None
            width = matrix.shape[1]
            require_width(width)
        except (TypeError, ValueError):
            return None
        blobs = _core.encode_embeddings(matrix=matrix)
        rows = [{name: row[name] for name in row if name != "embedding"} for row in rows]
    values = checked_columns(rows, now=now)
    if values is None:
        return None
    varying, shared = values
    varying.pop("learned_at", None)
    shared["learned_at"] = now  # by this store, not by the one that exported it
    if initial_stability is not None:
        given = [row.get("stability") for row in rows]
        if given.count(None) == len(rows):
            importances = varying.get("importance")
            if importances is None:
                shared["stability"] = initial_stability.of(_IMPORTANCE)
            else:
                varying["stability"] = list(map(initial_stability.of, importances))
        elif None in given:
            return None
    cells = cell_columns(varying)
    if blobs:
        cells["embedding"] = blobs
    return RecordColumns(cells, encoded_cells(shared), width)


def joined(parts: Sequence[RecordColumns]) -> RecordColumns | None:
    """Return parts of a batch as one; None where their vectors differ in width."""
    if len(parts) == 1:
        return parts[0]
    if len({part.width for part in parts}) > 1:
        return None
    shared = dict(parts[0].shared)
    names = dict.fromkeys(name for part in parts for name in part.varying)
    for name in [*shared, *(name for part in parts[1:] for name in part.shared)]:
        held = [part.shared.get(name, _NOTHING) for part in parts]
        if any(cell is _NOTHING or cell != held[0] for cell in held):
            names[name] = None
    varying: dict[str, list[Any]] = {}
    for name in names:
        shared.pop(name, None)
        column: list[Any] = []
        for part in parts:
            column += part.column(name)
        varying[name] = column
    return RecordColumns(varying, shared, parts[0].width)


_NOTHING: Final = object()
