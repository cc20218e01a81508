"""tantivy, changed text by text."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import tantivy

from bench.peers.engines.engine import Engine, bytes_of
from oneiros.benchmark.rivals import tantivy_index
from oneiros.benchmark.rivals.tantivy_index import document

CHANGE_BYTES = 64_000_000


class Tantivy(tantivy_index.Tantivy, Engine):
    distributions: ClassVar[tuple[str, ...]] = ("tantivy",)
    changes: ClassVar[int] = 100

    def build(self, texts: list[str], folder: Path) -> None:
        super().build(texts, folder)
        self.writer: tantivy.IndexWriter | None = None

    def add(self, id: int, text: str) -> None:
        writer = self._writer()
        writer.add_document(document(id, text))
        writer.commit()
        self.reload()

    def delete(self, id: int) -> None:
        writer = self._writer()
        query = tantivy.Query.term_query(self.index.schema, "id", id)
        writer.delete_documents_by_query(query)
        writer.commit()
        self.reload()

    def index_bytes(self) -> int:
        return bytes_of(self.folder)

    def _writer(self) -> tantivy.IndexWriter:
        if self.writer is None:
            self.writer = self.index.writer(CHANGE_BYTES, 1)
        return self.writer
