"""The index of the package, in memory."""

from __future__ import annotations

from typing import ClassVar

from bench.peers.engines.engine import Engine
from oneiros.benchmark.rivals.oneiros_engine import LexicalAlone


class Oneiros(LexicalAlone, Engine):
    distributions: ClassVar[tuple[str, ...]] = ("oneiros",)

    def search_many(self, queries: list[str], k: int, threads: int) -> None:
        self.index.search_many(queries, k=k, threads=threads)

    def add(self, id: int, text: str) -> None:
        self.index.add(id, text)

    def delete(self, id: int) -> None:
        self.index.delete(id)

    def index_bytes(self) -> int:
        return self.index.nbytes
