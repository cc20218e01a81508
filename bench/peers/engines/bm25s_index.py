"""bm25s, kept and changed: a change is a rebuild."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import bm25s  # type: ignore[import-untyped]
import numpy as np

from bench.peers.engines.engine import Engine
from oneiros.benchmark.rivals import bm25s_index


class Bm25sNumpy(bm25s_index.Bm25sNumpy, Engine):
    distributions: ClassVar[tuple[str, ...]] = ("bm25s",)
    kept_as: ClassVar[str | None] = "bm25s"
    changes: ClassVar[int] = 2

    def build(self, texts: list[str], folder: Path) -> None:
        self.texts = texts
        super().build(texts, folder)

    def keep(self, folder: Path) -> None:
        self.index.save(folder, show_progress=False)
        self.texts = []

    def open(self, folder: Path) -> None:
        self.index = bm25s.BM25.load(folder, show_progress=False)
        self.index.backend = self.backend
        if self.backend == "numba":
            self.index.activate_numba_scorer()

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
        super().build(self.texts, Path())

    def delete(self, id: int) -> None:
        self.texts[id] = ""
        super().build(self.texts, Path())

    def index_bytes(self) -> int:
        arrays = self.index.scores.values()
        return sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))


class Bm25sNumba(Bm25sNumpy):
    distributions: ClassVar[tuple[str, ...]] = ("bm25s", "numba")
    backend = bm25s_index.Bm25sNumba.backend
