"""The rivals by name; the module of one is imported in its own process only."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Final, Literal, TypeAlias

from oneiros.runtime.dataclasses import dataclass

__all__ = ["ENTRANTS", "TASKS", "Entrant", "Task"]

Task: TypeAlias = Literal["memories", "words", "vectors"]

TASKS: Final[dict[Task, str]] = {
    "memories": "whole searches: words, vector, one project, ten texts read",
    "words": "words alone (BM25), ten ids of all memories",
    "vectors": "vectors alone, ten ids of all memories",
}
"""The tasks, and what one search of each is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrant:
    """An engine in a task."""

    name: str
    """As tables name it."""

    task: Task

    place: str
    """Module and class, as in "package.module:Class"."""

    needs: tuple[str, ...] = ()
    """The packages that it needs, beyond those of Oneiros, by their names in the package index."""

    judged_by: Literal["both", "words", "vectors", "nothing"] = "both"
    """The exact answer that it is compared with; "nothing": it ranks by rules of its own."""

    most: int | None = None
    """The most memories that it takes in reasonable time; None: any number."""

    build_seconds: float = 1.0
    """Roughly what 10,000 memories take it on one slow core, for the estimate."""

    note: str = ""
    """Remarks on its settings, where they are not obvious."""

    def missing(self) -> list[str]:
        """Return the packages that are not installed."""
        return [name for name in self.needs if not _is_installed(name)]


def _is_installed(distribution: str) -> bool:
    try:
        version(distribution)
    except PackageNotFoundError:
        return False
    return True


def _entrant(task: Task, name: str, place: str, *needs: str, **rest: object) -> Entrant:
    where = f"{__name__}.{place}"
    return Entrant(name=name, task=task, place=where, needs=needs, **rest)  # type: ignore[arg-type]


ENTRANTS: Final[tuple[Entrant, ...]] = (
    _entrant(
        "memories",
        "Oneiros, default profile, reinforcing",
        "oneiros_engine:OneirosDefault",
        judged_by="nothing",
        build_seconds=4.0,
        note="ranks by more than words and vectors, so no exact answer is its own",
    ),
    _entrant(
        "memories",
        "Oneiros, reciprocal ranks alone",
        "oneiros_engine:OneirosFused",
        build_seconds=4.0,
    ),
    _entrant(
        "memories",
        "tantivy + FAISS + sqlite3 by hand",
        "tantivy_index:TantivyFaissAndSqlite",
        "tantivy",
        build_seconds=2.5,
        note="HNSW with a selector of the project, and projects below 3,000 compared whole",
    ),
    _entrant(
        "memories",
        "SQLite FTS5 + FAISS by hand",
        "sqlite:Fts5AndFaiss",
        build_seconds=2.5,
    ),
    _entrant(
        "memories",
        "SQLite FTS5 + NumPy by hand",
        "sqlite:Fts5AndNumpy",
        note="every vector of the project compared",
    ),
    _entrant(
        "memories",
        "SQLite FTS5 + sqlite-vec",
        "sqlite:Fts5AndSqliteVec",
        "sqlite-vec",
        note="every vector of the project compared",
    ),
    _entrant("memories", "Qdrant Edge", "qdrant:QdrantEdge", "qdrant-edge-py", build_seconds=9.0),
    _entrant(
        "memories",
        "LanceDB",
        "lancedb_table:LanceDb",
        "lancedb",
        build_seconds=8.0,
        note="IVF_HNSW_SQ, full text, bitmap of projects",
    ),
    _entrant(
        "memories",
        "Chroma",
        "chroma:Chroma",
        "chromadb",
        judged_by="vectors",
        build_seconds=12.0,
        note="ranks no words",
    ),
    _entrant(
        "memories",
        "DuckDB",
        "duckdb_table:DuckDb",
        "duckdb",
        "duckdb-extension-fts",
        "pyarrow",
        build_seconds=3.0,
        note="every vector of the project compared",
    ),
    _entrant(
        "memories",
        "Qdrant, local mode of its client",
        "qdrant:QdrantLocal",
        "qdrant-client",
        judged_by="vectors",
        most=1_000,
        build_seconds=250.0,
        note="ranks no words",
    ),
    _entrant("words", "Oneiros, lexical index", "oneiros_engine:LexicalAlone", build_seconds=0.2),
    _entrant("words", "SQLite FTS5", "sqlite:SqliteFts5", build_seconds=0.3),
    _entrant("words", "tantivy", "tantivy_index:Tantivy", "tantivy", build_seconds=0.5),
    _entrant(
        "words", "bm25s, numba", "bm25s_index:Bm25sNumba", "bm25s", "numba", build_seconds=8.0
    ),
    _entrant("words", "bm25s, NumPy", "bm25s_index:Bm25sNumpy", "bm25s"),
    _entrant(
        "words",
        "rank_bm25",
        "rank_bm25_index:RankBm25",
        "rank-bm25",
        note="another idf; every text is scored",
    ),
    _entrant("vectors", "Oneiros, vector index", "oneiros_engine:VectorsAlone", build_seconds=3.0),
    _entrant("vectors", "NumPy", "numpy_scan:NumpyScan", build_seconds=0.1, note="exact"),
    _entrant(
        "vectors",
        "FAISS, flat",
        "faiss_index:FaissFlat",
        build_seconds=0.1,
        note="exact, one thread",
    ),
    _entrant("vectors", "FAISS, HNSW", "faiss_index:FaissGraph", build_seconds=2.0),
    _entrant("vectors", "hnswlib", "hnswlib_index:HnswlibGraph", "hnswlib", build_seconds=2.0),
)
"""Every engine, in the order in which they take turns."""
