"""tantivy: words split at spaces, frequencies kept, no positions."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tantivy

from oneiros.benchmark.rivals.rival import DEPTH, Ids, MemorySearch, Question, WordSearch, fused

if TYPE_CHECKING:
    from oneiros.benchmark.corpus import Corpus

__all__ = ["Tantivy", "TantivyFaissAndSqlite"]

_BUILD_BYTES = 512_000_000
_SPACES = "spaces"


def _index(folder: Path, *, has_projects: bool) -> tantivy.Index:
    schema = tantivy.SchemaBuilder()
    schema.add_unsigned_field("id", stored=False, fast=True, indexed=True)
    schema.add_text_field("text", stored=False, tokenizer_name=_SPACES, index_option="freq")
    if has_projects:
        schema.add_text_field("project", stored=False, tokenizer_name="raw", index_option="basic")
    index = tantivy.Index(schema.build(), path=str(folder))
    spaces = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
    index.register_tokenizer(_SPACES, spaces)
    return index


def document(id: int, text: str, project: str | None = None) -> Any:
    """Return a text as tantivy takes it."""
    made = tantivy.Document()
    made.add_unsigned("id", id)
    made.add_text("text", text)
    if project is not None:
        made.add_text("project", project)
    return made


class Tantivy(WordSearch):
    """Its k1 and b are fixed, at those of the other rivals; it keeps a text's length in one byte.

    Hits are not counted: the binding counts them by default, and then cannot prune.
    """

    def build(self, texts: list[str], folder: Path) -> None:
        self.folder = folder
        self.index = _index(folder, has_projects=False)
        writer = self.index.writer(_BUILD_BYTES, 1)
        for id, text in enumerate(texts):
            writer.add_document(document(id, text))
        writer.commit()
        writer.wait_merging_threads()
        self.reload()

    def reload(self) -> None:
        """Search what is committed from now on."""
        self.index.reload()
        self.searcher = self.index.searcher()

    def search(self, query: str, k: int) -> Ids:
        parsed = self.index.parse_query(query, ["text"])
        hits = self.searcher.search(parsed, k, count=False).hits
        ids: Ids = self.searcher.fast_field_values("id", [address for _, address in hits])
        return ids


class TantivyFaissAndSqlite(MemorySearch):
    """Fast parts glued by hand: tantivy's words, FAISS's graph, texts in SQLite, Python between."""

    def build(self, corpus: Corpus, folder: Path) -> None:
        from oneiros.benchmark.rivals.faiss_index import ProjectGraph  # noqa: PLC0415 - FAISS alone

        texts, projects = corpus.texts(), corpus.projects()
        words = folder / "words"
        words.mkdir()
        self._index = _index(words, has_projects=True)
        writer = self._index.writer(_BUILD_BYTES, 1)
        for id, (text, project) in enumerate(zip(texts, projects, strict=True)):
            writer.add_document(document(id, text, project))
        writer.commit()
        writer.wait_merging_threads()
        self._index.reload()
        self._searcher = self._index.searcher()
        self._connection = sqlite3.connect(folder / "texts.db")
        self._connection.execute("CREATE TABLE memory(id INTEGER PRIMARY KEY, text TEXT)")
        with self._connection:
            self._connection.executemany("INSERT INTO memory VALUES (?, ?)", enumerate(texts))
        self._graph = ProjectGraph(corpus.vectors(), projects)

    def search(self, question: Question, k: int) -> list[tuple[int, str]]:
        nearest = self._graph.nearest(question.vector, question.project)
        best = fused((self._by_words(question), nearest), k)
        sql = f"SELECT id, text FROM memory WHERE id IN ({','.join('?' * len(best))})"
        texts = dict(self._connection.execute(sql, best))
        return [(id, texts[id]) for id in best]

    def close(self) -> None:
        self._connection.close()

    def _by_words(self, question: Question) -> list[int]:
        query, schema = tantivy.Query, self._index.schema
        words = query.boolean_query(
            [
                (tantivy.Occur.Should, query.term_query(schema, "text", word))
                for word in question.words.split()
            ]
        )
        own = query.const_score_query(query.term_query(schema, "project", question.project), 0.0)
        both = query.boolean_query([(tantivy.Occur.Must, words), (tantivy.Occur.Must, own)])
        hits = self._searcher.search(both, DEPTH, count=False).hits
        ids = self._searcher.fast_field_values("id", [address for _, address in hits])
        return [int(id) for id in ids]
