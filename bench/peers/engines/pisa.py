"""PISA through the compiled module inside pyterrier-pisa, without PyTerrier and Java.

Queries go through the `retrieve` that the package's own transformer calls; the data frames around it
are left out, in PISA's favour.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import ClassVar

import numpy as np

from bench.peers.engines.engine import Engine, bytes_of
from oneiros.benchmark.rivals.rival import K1, B, Ids

BATCH, BLOCK = 100_000, 64


def _compiled() -> ModuleType:
    package = importlib.util.find_spec("pyterrier_pisa")  # its __init__ would import PyTerrier
    folders = [] if package is None else list(package.submodule_search_locations or [])
    for path in (path for folder in folders for path in Path(folder).glob("_pisathon*.so")):
        spec = importlib.util.spec_from_file_location("pyterrier_pisa._pisathon", path)
        if spec is not None and spec.loader is not None:
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return module
    msg = "no pyterrier_pisa._pisathon: pip install --no-deps pyterrier-pisa tbb==2020.3.254"
    raise ImportError(msg)


_pisa = _compiled()


@contextmanager
def _silence() -> Iterator[None]:
    """Let go of what the library prints: its bars of progress have no switch."""
    kept = [os.dup(number) for number in (1, 2)]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        for number in (1, 2):
            os.dup2(nowhere, number)
        yield
    finally:
        for number, copy in zip((1, 2), kept, strict=True):
            os.dup2(copy, number)
            os.close(copy)
        os.close(nowhere)


class _Pisa(Engine):
    distributions: ClassVar[tuple[str, ...]] = ("pyterrier-pisa", "tbb")
    can_change: ClassVar[bool] = False
    algorithm: ClassVar[str]
    quantize: ClassVar[int] = 0

    def build(self, texts: list[str], folder: Path) -> None:
        source = folder / "texts.txt"
        with source.open("w", encoding="ascii") as lines:
            lines.writelines(f"{id} {text}\n" for id, text in enumerate(texts))
        with _silence():
            _pisa.index(str(source), str(folder), "", BATCH, 1)
        source.unlink()
        self.open(folder)

    def open(self, folder: Path) -> None:
        self.folder = folder
        self.context = _pisa.RetrievalContext()
        with _silence():
            _pisa.prepare_index(
                self.context,
                str(folder),
                "block_simdbp",
                "bm25",
                "",
                block_size=BLOCK,
                quantize=self.quantize,
                bm25_k1=K1,
                bm25_b=B,
                stop_fname="",
            )

    def search(self, query: str, k: int) -> Ids:
        return self._retrieve([(0, query)], k, 1)

    def search_many(self, queries: list[str], k: int, threads: int) -> None:
        self._retrieve(list(enumerate(queries)), k, threads)

    def index_bytes(self) -> int:
        return bytes_of(self.folder, "bm25*") + bytes_of(self.folder, "fwd.*lex")

    def _retrieve(self, queries: list[tuple[int, str]], k: int, threads: int) -> Ids:
        count = len(queries) * k
        names = np.empty(count, dtype=object)
        found: int = _pisa.retrieve(
            self.context,
            self.algorithm,
            queries,
            k=k,
            threads=threads,
            query_weighted=0,
            pretokenised=False,
            result_qidxs=np.empty(count, dtype=np.int32),
            result_docnos=names,
            result_ranks=np.empty(count, dtype=np.int32),
            result_scores=np.empty(count, dtype=np.float32),
        )
        kept: Ids = names[:found]
        return kept


class MaxScore8Bit(_Pisa):
    """Scores rounded to 8 bits when the index is built: answers are near the exact ones."""

    kept_as: ClassVar[str | None] = "pisa-8bit"
    algorithm: ClassVar[str] = "maxscore"
    quantize: ClassVar[int] = 1


class MaxScore(_Pisa):
    kept_as: ClassVar[str | None] = "pisa"
    algorithm: ClassVar[str] = "maxscore"


class BlockMaxMaxScore(_Pisa):
    kept_as: ClassVar[str | None] = "pisa"
    algorithm: ClassVar[str] = "block_max_maxscore"
