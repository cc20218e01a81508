"""The interface of an engine: a search by words that can also be kept, changed and weighed."""

from __future__ import annotations

import threading
from abc import abstractmethod
from pathlib import Path
from typing import ClassVar

from oneiros.benchmark.rivals.rival import WordSearch

__all__ = ["Engine", "bytes_of"]


class Engine(WordSearch):
    """An index of texts, ranked by BM25 with k1 = 1.2 and b = 0.75; queries join words by OR."""

    distributions: ClassVar[tuple[str, ...]]
    """The packages that it uses, by their names in the package index."""

    kept_as: ClassVar[str | None] = None
    """Where a built index is kept for later runs, if it is: building some takes minutes."""

    can_change: ClassVar[bool] = True
    """Whether a text can be added and deleted, be it by a rebuild."""

    changes: ClassVar[int] = 200
    """The number of changes that are measured: fewer where each takes long."""

    def keep(self, folder: Path) -> None:
        """Leave in the folder what `open` needs; only searches come after it."""

    def open(self, folder: Path) -> None:
        """Open what an earlier run kept in the folder; where `kept_as` is set."""
        raise NotImplementedError

    def search_many(self, queries: list[str], k: int, threads: int) -> None:
        """Search for each; where the engine has no such call, from Python's threads."""
        if threads == 1:
            for query in queries:
                self.search(query, k)
            return
        handles = [self.for_another_thread() for _ in range(threads)]

        def ask(handle: Engine, own: list[str]) -> None:
            for query in own:
                handle.search(query, k)

        workers = [
            threading.Thread(target=ask, args=(handle, queries[place::threads]))
            for place, handle in enumerate(handles)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    def for_another_thread(self) -> Engine:
        """Return a handle that may be used beside this one."""
        return self

    def add(self, id: int, text: str) -> None:
        """Add a text that the next search finds; `id` is the next free number."""
        raise NotImplementedError

    def delete(self, id: int) -> None:
        """Delete a text that no later search finds."""
        raise NotImplementedError

    @abstractmethod
    def index_bytes(self) -> int:
        """Return the size of the index: of its files, or of its arrays where it has none."""


def bytes_of(folder: Path, pattern: str = "**/*") -> int:
    """Return the size of the files of a folder."""
    return sum(path.stat().st_size for path in folder.glob(pattern) if path.is_file())
