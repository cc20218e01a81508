"""What the crash test drives, behind six calls: another subject is another class of this shape."""

from __future__ import annotations

from pathlib import Path

from oneiros.clock import system_clock
from oneiros.memory import Memory, validate_changes
from oneiros.store import Store

State = tuple[str, float]
"""What is checked of a memory: its text and its importance."""


class StoreSubject:
    """The store by itself."""

    def __init__(self, path: Path, durability: str) -> None:
        self._store = Store(path, durability=durability)

    def add(self, id: str, text: str) -> None:
        """Add one memory."""
        self.add_many({id: text})

    def add_many(self, texts: dict[str, str]) -> None:
        """Add memories, all or none."""
        now = system_clock()
        memories = [Memory.from_record({"id": i, "text": t}, now=now) for i, t in texts.items()]
        with self._store.write() as transaction:
            transaction.insert_many(memories)

    def update(self, id: str, text: str, importance: float) -> None:
        """Change two fields of a memory at once."""
        changes = validate_changes({"text": text, "importance": importance})
        with self._store.write() as transaction:
            transaction.update(id, changes)

    def delete(self, id: str) -> None:
        """Delete a memory softly."""
        with self._store.write() as transaction:
            transaction.update_columns([(id, {"deleted_at": system_clock()})])

    def tidy(self) -> None:
        """Do what moves files about."""
        self._store.checkpoint()

    def states(self) -> dict[str, State]:
        """Return all memories that are not deleted."""
        found = (row for part in self._store.changes(0) for row in part)
        return {row.id: (row.text, row.importance) for row in found if row.deleted_at is None}

    def problems(self) -> list[str]:
        """Return what is wrong with the structure."""
        return self._store.quick_check()

    def close(self) -> None:
        """Close it."""
        self._store.close()


SUBJECT = StoreSubject
"""The one that is tested; the line to change for another."""
