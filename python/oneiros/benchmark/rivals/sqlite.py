"""SQLite: FTS5 for words, and beside it NumPy, FAISS or sqlite-vec for vectors."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import numpy as np

from oneiros.benchmark.rivals.rival import (
    DEPTH,
    Ids,
    MemorySearch,
    Question,
    Vectors,
    WordSearch,
    fused,
)

if TYPE_CHECKING:
    from oneiros.benchmark.corpus import Corpus

__all__ = ["Fts5AndFaiss", "Fts5AndNumpy", "Fts5AndSqliteVec", "SqliteFts5"]

_SETTINGS = (
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
    "PRAGMA cache_size = -400000; PRAGMA mmap_size = 2000000000"
)


def _match(words: str) -> str:
    return " OR ".join(f'"{word}"' for word in words.split())


class SqliteFts5(WordSearch):
    """FTS5 as applications use it: default options, ORDER BY rank, a file in WAL mode.

    Its k1 and b are those of the other rivals. ``synchronous=NORMAL``: a commit outlives the process,
    and waits for no disk.
    """

    def build(self, texts: list[str], folder: Path) -> None:
        self.connect(folder)
        self.connection.execute("CREATE VIRTUAL TABLE memory USING fts5(text)")
        with self.connection:
            self.connection.executemany(
                "INSERT INTO memory(rowid, text) VALUES (?, ?)", enumerate(texts)
            )
        self.connection.execute("INSERT INTO memory(memory) VALUES ('optimize')")

    def connect(self, folder: Path) -> None:
        """Open the file."""
        self.path = folder / "texts.db"
        self.connection = apsw.Connection(str(self.path))
        self.connection.execute(_SETTINGS)

    def search(self, query: str, k: int) -> Ids:
        sql = "SELECT rowid FROM memory WHERE memory MATCH ? ORDER BY rank LIMIT ?"
        return [row[0] for row in self.connection.execute(sql, (_match(query), k))]

    def close(self) -> None:
        self.connection.close()


class _Fts5AndVectors(MemorySearch):
    """A table of memories, FTS5 over it, vectors elsewhere, both lists fused in Python."""

    def build(self, corpus: Corpus, folder: Path) -> None:
        self.connection = apsw.Connection(str(folder / "memories.db"))
        self.connection.execute(_SETTINGS)
        self.connection.execute(
            "CREATE TABLE memory(id INTEGER PRIMARY KEY, text TEXT, project TEXT);"
            "CREATE VIRTUAL TABLE words USING fts5(text, content='memory', content_rowid='id')"
        )
        texts, projects = corpus.texts(), corpus.projects()
        with self.connection:
            self.connection.executemany(
                "INSERT INTO memory VALUES (?, ?, ?)",
                zip(range(len(texts)), texts, projects, strict=True),
            )
            self.connection.execute("INSERT INTO words(rowid, text) SELECT id, text FROM memory")
            self._add_vectors(corpus.vectors(), projects)
        self.connection.execute("INSERT INTO words(words) VALUES ('optimize')")

    def search(self, question: Question, k: int) -> list[tuple[int, str]]:
        sql = (
            "SELECT words.rowid FROM words JOIN memory ON memory.id = words.rowid"
            " WHERE words MATCH ? AND memory.project = ? ORDER BY words.rank LIMIT ?"
        )
        given = (_match(question.words), question.project, DEPTH)
        by_words = [row[0] for row in self.connection.execute(sql, given)]
        best = fused((by_words, self._nearest(question)), k)
        marks = ",".join("?" * len(best))
        texts = dict(
            self.connection.execute(f"SELECT id, text FROM memory WHERE id IN ({marks})", best)
        )
        return [(id, texts[id]) for id in best]

    def close(self) -> None:
        self.connection.close()

    def _add_vectors(self, vectors: Vectors, projects: list[str]) -> None:
        raise NotImplementedError

    def _nearest(self, question: Question) -> list[int]:
        raise NotImplementedError


class Fts5AndNumpy(_Fts5AndVectors):
    """Vectors of each project as one NumPy array, every one compared."""

    def _add_vectors(self, vectors: Vectors, projects: list[str]) -> None:
        names = np.array(projects)
        self._rows = {str(name): np.flatnonzero(names == name) for name in np.unique(names)}
        self._vectors = {name: np.array(vectors[rows]) for name, rows in self._rows.items()}

    def _nearest(self, question: Question) -> list[int]:
        cosines = self._vectors[question.project] @ question.vector
        count = min(DEPTH, len(cosines))
        best = np.argpartition(-cosines, count - 1)[:count]
        best = best[np.argsort(-cosines[best], kind="stable")]
        found: list[int] = self._rows[question.project][best].tolist()
        return found


class Fts5AndFaiss(_Fts5AndVectors):
    """FAISS's HNSW graph with a selector of the project's vectors."""

    def _add_vectors(self, vectors: Vectors, projects: list[str]) -> None:
        from oneiros.benchmark.rivals.faiss_index import ProjectGraph  # noqa: PLC0415 - FAISS alone

        self._graph = ProjectGraph(vectors, projects)

    def _nearest(self, question: Question) -> list[int]:
        return self._graph.nearest(question.vector, question.project)


class Fts5AndSqliteVec(_Fts5AndVectors):
    """sqlite-vec in the same file, its table cut by project, every vector compared."""

    def _add_vectors(self, vectors: Vectors, projects: list[str]) -> None:
        import sqlite_vec  # noqa: PLC0415 - the other classes need none

        self.connection.enable_load_extension(True)
        self.connection.load_extension(sqlite_vec.loadable_path())
        self.connection.execute(
            "CREATE VIRTUAL TABLE vectors USING vec0(project TEXT PARTITION KEY,"
            f" vector float[{vectors.shape[1]}] distance_metric=cosine)"
        )
        self.connection.executemany(
            "INSERT INTO vectors(rowid, project, vector) VALUES (?, ?, ?)",
            (
                (id, project, vector.tobytes())
                for id, (project, vector) in enumerate(zip(projects, vectors, strict=True))
            ),
        )

    def _nearest(self, question: Question) -> list[int]:
        sql = (
            "SELECT rowid FROM vectors WHERE vector MATCH ? AND k = ? AND project = ?"
            " ORDER BY distance"
        )
        given = (question.vector.tobytes(), DEPTH, question.project)
        return [row[0] for row in self.connection.execute(sql, given)]
