"""What the crash test drives: the engine, as its users do."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import oneiros

State = tuple[str, float]
"""What is checked of a memory: its text and its importance."""


class Subject:
    """An engine on a file."""

    def __init__(self, path: Path, durability: str, embedder: str | None = None) -> None:
        self._path = path
        self._durability = durability
        self._embedder = embedder
        self._open()

    def _open(self) -> None:
        self._mind = oneiros.Engine(
            self._path, profile="reverie", durability=self._durability, embedder=self._embedder
        )

    def reopen(self) -> None:
        """Close the store and open it again."""
        self._mind.close()
        self._open()

    def add(self, id: str, text: str) -> None:
        """Add one memory."""
        self._mind.add(text, id=id)

    def add_many(self, texts: dict[str, str]) -> None:
        """Add memories, all or none."""
        self._mind.add_many([{"id": id, "text": text} for id, text in texts.items()])

    def update(self, id: str, text: str, importance: float) -> None:
        """Change two fields of a memory at once."""
        self._mind.update(id, text=text, importance=importance)

    def delete(self, id: str) -> None:
        """Delete a memory softly."""
        self._mind.delete(id)

    def forget(self, id: str) -> None:
        """Erase a memory, and empty the log."""
        self._mind.forget(id)

    def restore(self, id: str) -> None:
        """Take a soft deletion back."""
        self._mind.restore(id)

    def judge(self, id: str) -> None:
        """Record a verdict."""
        self._mind.feedback(id, "helpful")

    def link(self, one: str, other: str) -> None:
        """Link two memories, if they are two."""
        if one != other:
            self._mind.link(one, other)

    def supersede(self, old: str, new: str) -> None:
        """Mark a memory as superseded by another, unless that would close a circle."""
        with suppress(ValueError):
            self._mind.supersede(old, new, "newer")

    def recall(self, query: str) -> None:
        """Search, so that reinforcement is written behind while other writes go on."""
        self._mind.search(query, session="kill")

    def flush(self) -> None:
        """Write the reinforcement that waits."""
        self._mind.flush()

    def states(self) -> dict[str, State]:
        """Return all live memories."""
        return {
            memory.id: (memory.text, memory.importance) for memory in self._mind.list(limit=10**6)
        }

    def problems(self) -> list[str]:
        """Return what is wrong with the file, or with its read model."""
        return self._mind.check()

    def close(self) -> None:
        """Close it."""
        self._mind.close()
