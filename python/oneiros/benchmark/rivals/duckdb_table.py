"""DuckDB: its full-text extension, and every vector of the project compared."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import duckdb_extension_fts
import numpy as np
import pyarrow as pa

from oneiros.benchmark.rivals.rival import DEPTH, K1, B, MemorySearch, Question, fused

if TYPE_CHECKING:
    from oneiros.benchmark.corpus import Corpus

__all__ = ["DuckDb"]


class DuckDb(MemorySearch):
    """A table in a file. Its HNSW index filters after the search, and is left out for that."""

    def build(self, corpus: Corpus, folder: Path) -> None:
        vectors = corpus.vectors()
        self._width = vectors.shape[1]
        self._connection = duckdb.connect(
            str(folder / "memories.duckdb"), config={"allow_unsigned_extensions": "true"}
        )
        package = Path(duckdb_extension_fts.__file__).parent
        extension = next(package.rglob("*.duckdb_extension"))
        self._connection.execute(f"LOAD '{extension}'")
        flat = pa.array(np.ascontiguousarray(vectors).reshape(-1))
        source = pa.table(
            {
                "id": pa.array(range(len(vectors)), pa.int64()),
                "text": pa.array(corpus.texts()),
                "project": pa.array(corpus.projects()),
                "vector": pa.FixedSizeListArray.from_arrays(flat, self._width),
            }
        )
        self._connection.register("source", source)
        self._connection.execute(
            f"CREATE TABLE memory AS SELECT id, text, project, vector::FLOAT[{self._width}] vector"
            " FROM source"
        )
        self._connection.unregister("source")
        self._connection.execute(
            "PRAGMA create_fts_index('memory', 'id', 'text', stemmer='none', stopwords='none',"
            " ignore='[^a-z0-9]+')"
        )

    def search(self, question: Question, k: int) -> list[tuple[int, str]]:
        by_words = self._ids(
            "SELECT id FROM (SELECT id, fts_main_memory.match_bm25"
            f"(id, ?, k := {K1}, b := {B}) score FROM memory WHERE project = ?)"
            " WHERE score IS NOT NULL ORDER BY score DESC LIMIT ?",
            (question.words, question.project, DEPTH),
        )
        nearest = self._ids(
            f"SELECT id FROM memory WHERE project = ? ORDER BY array_inner_product"
            f"(vector, ?::FLOAT[{self._width}]) DESC LIMIT ?",
            (question.project, question.vector, DEPTH),
        )
        best = fused((by_words, nearest), k)
        sql = f"SELECT id, text FROM memory WHERE id IN ({','.join('?' * len(best))})"
        texts = dict(self._connection.execute(sql, best).fetchall())
        return [(id, texts[id]) for id in best]

    def close(self) -> None:
        self._connection.close()

    def _ids(self, sql: str, given: tuple[object, ...]) -> list[int]:
        return [row[0] for row in self._connection.execute(sql, given).fetchall()]
