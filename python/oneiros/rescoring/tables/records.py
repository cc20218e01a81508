"""Tables given as lists of dicts, ``Memory`` objects, or both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from oneiros.model.fields import FIELDS
from oneiros.model.memory import BLANKS, Memory
from oneiros.model.validation import wrong
from oneiros.rescoring.tables.arrays import ValueColumn

if TYPE_CHECKING:
    from oneiros.rescoring.columns import Array, Coders, Column

__all__ = ["RecordTable"]


class RecordTable:
    """A list of records. A field that is None or absent from a record is missing.

    Raises:
        TypeError: a row is neither a mapping nor a ``Memory``.
    """

    are_records = True

    def __init__(self, rows: Sequence[Any]) -> None:
        for place, row in enumerate(rows):
            if not isinstance(row, Mapping | Memory):
                raise TypeError(wrong(f"table[{place}]", "a dict or a Memory", row))
        self._rows = rows
        self.size = len(rows)

    @property
    def names(self) -> tuple[str, ...]:
        """All fields that occur in a record."""
        found = (FIELDS if isinstance(row, Memory) else row for row in self._rows)
        return tuple(dict.fromkeys(str(name) for names in found for name in names))

    def column(self, name: str, coders: Coders) -> Column | None:
        """Return the column of a field, or None if no record has it."""
        if not any(isinstance(row, Memory) or name in row for row in self._rows):
            return None
        return ValueColumn(name, lambda start, stop: self._values(name, start, stop), coders)

    def result(self, columns: Mapping[str, Array]) -> list[dict[str, Any]]:
        """Return dicts of ``id``, if the row has one, and ``columns``."""
        names = list(columns)
        values = zip(*(column.tolist() for column in columns.values()), strict=True)
        found = [dict(zip(names, row, strict=True)) for row in values]
        for place, row in enumerate(self._rows):
            id = row.id if isinstance(row, Memory) else row.get("id")
            if id not in (None, ""):
                found[place] = {"id": id, **found[place]}
        return found

    def _values(self, name: str, start: int, stop: int) -> list[Any]:
        blank = BLANKS.get(name)
        found: list[Any] = []
        for row in self._rows[start:stop]:
            if isinstance(row, Memory):
                value = getattr(row, name)
                found.append(None if value == blank else value)
            else:
                found.append(row.get(name))
        return found
