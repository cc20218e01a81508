"""The statements of memories by row, read when they are first compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from oneiros.conflicts.model import reader
from oneiros.runtime.locks import fork_safe_lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from oneiros import _core

__all__ = ["Statements"]

_MOST: Final = 16_384


class Statements:
    """The statements of the rows compared last, at most 16,384.

    A statement holds hashes of words, nothing of the text. Many threads may read; a write of the
    read model drops the rows that it changes.
    """

    def __init__(self) -> None:
        self._of_row: dict[int, _core.Statement] = {}
        self._changes = 0
        self._lock = fork_safe_lock()

    def of(
        self, rows: Sequence[int], texts: Callable[[Sequence[int]], Sequence[str | None]]
    ) -> list[_core.Statement | None]:
        """Return the statement of each row; None for a row without a text.

        Args:
            rows: the rows.
            texts: reads the texts of rows, with None for one that is forgotten or damaged.
        """
        held = self._of_row
        found = [held.get(row) for row in rows]
        missing = [row for row, statement in zip(rows, found, strict=True) if statement is None]
        if not missing:
            return found
        changes = self._changes
        read = {
            row: reader().read(text)
            for row, text in zip(missing, texts(missing), strict=True)
            if text is not None
        }
        with self._lock:
            if self._changes == changes:  # else what was read may be of an older text
                if len(self._of_row) + len(read) > _MOST:
                    self._of_row = {}
                self._of_row.update(read)
        return [
            read.get(row) if statement is None else statement
            for row, statement in zip(rows, found, strict=True)
        ]

    def drop(self, rows: Iterable[int]) -> None:
        """Forget the statements of rows whose text may have changed."""
        with self._lock:
            self._changes += 1
            if self._of_row:
                for row in rows:
                    self._of_row.pop(row, None)
