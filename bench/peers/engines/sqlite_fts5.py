"""SQLite FTS5 as applications use it: default options, ORDER BY rank, a file in WAL mode."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import apsw

from bench.peers.engines.engine import Engine, Ids


class SqliteFts5(Engine):
    """Its k1 and b are what this run's are, by its own defaults.

    ``synchronous=NORMAL``: a commit outlives the process, and waits for no disk.
    """

    distributions: ClassVar[tuple[str, ...]] = ("apsw",)
    kept_as: ClassVar[str | None] = "sqlite-fts5"

    def build(self, texts: list[str], folder: Path) -> None:
        self._connect(folder)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute("CREATE VIRTUAL TABLE memory USING fts5(text)")
        with self.connection:
            self.connection.executemany(
                "INSERT INTO memory(rowid, text) VALUES (?, ?)", enumerate(texts)
            )
        self.connection.execute("INSERT INTO memory(memory) VALUES ('optimize')")

    def open(self, folder: Path) -> None:
        self._connect(folder)

    def search(self, query: str, k: int) -> Ids:
        words = " OR ".join(f'"{word}"' for word in query.split())
        sql = "SELECT rowid FROM memory WHERE memory MATCH ? ORDER BY rank LIMIT ?"
        return [row[0] for row in self.connection.execute(sql, (words, k))]

    def for_another_thread(self) -> Engine:
        other = SqliteFts5()
        other.open(self.path.parent)
        return other

    def add(self, id: int, text: str) -> None:
        self.connection.execute("INSERT INTO memory(rowid, text) VALUES (?, ?)", (id, text))

    def delete(self, id: int) -> None:
        self.connection.execute("DELETE FROM memory WHERE rowid = ?", (id,))

    def index_bytes(self) -> int:
        list(self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)"))
        return self.path.stat().st_size

    def _connect(self, folder: Path) -> None:
        self.path = folder / "texts.db"
        self.connection = apsw.Connection(str(self.path))
        self.connection.execute("PRAGMA synchronous = NORMAL")
        self.connection.execute("PRAGMA cache_size = -400000")
        self.connection.execute("PRAGMA mmap_size = 2000000000")
