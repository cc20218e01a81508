"""bm25s: every score computed ahead, kept in a sparse matrix; a change is a rebuild."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import bm25s  # type: ignore[import-untyped]
import numpy as np

from bench.peers.engines.engine import K1, B, Engine, Ids


class Bm25sNumpy(Engine):
    distributions: ClassVar[tuple[str, ...]] = ("bm25s",)
    kept_as: ClassVar[str | None] = "bm25s"
    changes: ClassVar[int] = 2
    backend: ClassVar[str] = "numpy"

    def build(self, texts: list[str], folder: Path) -> None:  # noqa: ARG002 (it has no files yet)
        self.texts = texts
        self._rebuild()

    def keep(self, folder: Path) -> None:
        self.index.save(folder, show_progress=False)
        self.texts = []

    def open(self, folder: Path) -> None:
        self.index = bm25s.BM25.load(folder, show_progress=False)
        self.index.backend = self.backend
        if self.backend == "numba":
            self.index.activate_numba_scorer()

    def search(self, query: str, k: int) -> Ids:
        ids, _ = self.index.retrieve([query.split()], k=k, show_progress=False, n_threads=0)
        found: Ids = ids[0]
        return found

    def search_many(self, queries: list[str], k: int, threads: int) -> None:
        # 0 stands for the thread of the call.
        self.index.retrieve(
            [query.split() for query in queries],
            k=k,
            show_progress=False,
            n_threads=threads if threads > 1 else 0,
        )

    def add(self, id: int, text: str) -> None:
        self.texts[id:] = [text]
        self._rebuild()

    def delete(self, id: int) -> None:
        self.texts[id] = ""
        self._rebuild()

    def index_bytes(self) -> int:
        arrays = self.index.scores.values()
        return sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))

    def _rebuild(self) -> None:
        self.index = bm25s.BM25(method="lucene", k1=K1, b=B, backend=self.backend)
        self.index.index([text.split() for text in self.texts], show_progress=False)


class Bm25sNumba(Bm25sNumpy):
    distributions: ClassVar[tuple[str, ...]] = ("bm25s", "numba")
    backend: ClassVar[str] = "numba"
