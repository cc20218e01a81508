"""bm25s: every score computed ahead, kept in a sparse matrix."""

from __future__ import annotations

from pathlib import Path

import bm25s

from oneiros.benchmark.rivals.rival import K1, B, Ids, WordSearch

__all__ = ["Bm25sNumba", "Bm25sNumpy"]


class Bm25sNumpy(WordSearch):
    """Searched by NumPy."""

    backend = "numpy"

    def build(self, texts: list[str], folder: Path) -> None:  # noqa: ARG002 - it has no files yet
        self.index = bm25s.BM25(method="lucene", k1=K1, b=B, backend=self.backend)
        self.index.index([text.split() for text in texts], show_progress=False)

    def search(self, query: str, k: int) -> Ids:
        ids, _ = self.index.retrieve([query.split()], k=k, show_progress=False, n_threads=0)
        found: Ids = ids[0]
        return found


class Bm25sNumba(Bm25sNumpy):
    """Searched by code that numba compiles."""

    backend = "numba"
