"""The house's own index, in memory."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from bench.peers.engines.engine import K1, B, Engine, Ids
from oneiros import LexicalIndex


class Oneiros(Engine):
    distributions: ClassVar[tuple[str, ...]] = ("oneiros",)

    def build(self, texts: list[str], folder: Path) -> None:  # noqa: ARG002 (it needs no files)
        self.index = LexicalIndex(k1=K1, b=B, analyzer="simple")
        self.index.add_many(range(len(texts)), texts)
        self.index.seal()

    def search(self, query: str, k: int) -> Ids:
        return self.index.search(query, k=k).ids

    def search_many(self, queries: list[str], k: int, threads: int) -> None:
        self.index.search_many(queries, k=k, threads=threads)

    def add(self, id: int, text: str) -> None:
        self.index.add(id, text)

    def delete(self, id: int) -> None:
        self.index.delete(id)

    def index_bytes(self) -> int:
        return self.index.nbytes
