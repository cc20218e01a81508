"""SQLite FTS5, kept and changed."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from bench.peers.engines.engine import Engine
from oneiros.benchmark.rivals import sqlite


class SqliteFts5(sqlite.SqliteFts5, Engine):
    distributions: ClassVar[tuple[str, ...]] = ("apsw",)
    kept_as: ClassVar[str | None] = "sqlite-fts5"

    def open(self, folder: Path) -> None:
        self.connect(folder)

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
