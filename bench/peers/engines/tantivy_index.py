"""tantivy: words split at spaces, frequencies kept, no positions."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import tantivy

from bench.peers.engines.engine import Engine, Ids, bytes_of

BUILD_BYTES, CHANGE_BYTES = 512_000_000, 64_000_000


class Tantivy(Engine):
    """Its k1 and b are fixed, at this run's; it keeps a text's length in one byte.

    Hits are not counted: the binding counts them by default, and then cannot prune.
    """

    distributions: ClassVar[tuple[str, ...]] = ("tantivy",)
    changes: ClassVar[int] = 100

    def build(self, texts: list[str], folder: Path) -> None:
        schema = tantivy.SchemaBuilder()
        schema.add_unsigned_field("id", stored=False, fast=True, indexed=True)
        schema.add_text_field("text", stored=False, tokenizer_name="spaces", index_option="freq")
        self.folder = folder
        self.index = tantivy.Index(schema.build(), path=str(folder))
        spaces = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
        self.index.register_tokenizer("spaces", spaces)
        writer = self.index.writer(BUILD_BYTES, 1)
        for id, text in enumerate(texts):
            writer.add_document(_document(id, text))
        writer.commit()
        writer.wait_merging_threads()
        self._reload()
        self.writer: tantivy.IndexWriter | None = None

    def search(self, query: str, k: int) -> Ids:
        parsed = self.index.parse_query(query, ["text"])
        hits = self.searcher.search(parsed, k, count=False).hits
        ids: Ids = self.searcher.fast_field_values("id", [address for _, address in hits])
        return ids

    def add(self, id: int, text: str) -> None:
        writer = self._writer()
        writer.add_document(_document(id, text))
        writer.commit()
        self._reload()

    def delete(self, id: int) -> None:
        writer = self._writer()
        query = tantivy.Query.term_query(self.index.schema, "id", id)
        writer.delete_documents_by_query(query)
        writer.commit()
        self._reload()

    def index_bytes(self) -> int:
        return bytes_of(self.folder)

    def _writer(self) -> tantivy.IndexWriter:
        if self.writer is None:
            self.writer = self.index.writer(CHANGE_BYTES, 1)
        return self.writer

    def _reload(self) -> None:
        self.index.reload()
        self.searcher = self.index.searcher()


def _document(id: int, text: str) -> tantivy.Document:
    document = tantivy.Document()
    document.add_unsigned("id", id)
    document.add_text("text", text)
    return document
