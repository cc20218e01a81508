"""The measurements that run inside an engine's own process."""

from __future__ import annotations

import ctypes
import gc
import json
import os
import shutil
from pathlib import Path
from time import perf_counter, perf_counter_ns, process_time
from typing import Any

from bench.peers.corpora import Corpus
from bench.peers.engines import engine_class
from oneiros.benchmark.conditions import busy_seconds, distribution_version

__all__ = ["Worker"]

ROUND_SECONDS = 3.0
"""A slow engine is asked so few queries that a round lasts this long."""

FEWEST_QUERIES = 20
MARK = "zqx{}mark"


class Worker:
    """One engine over one corpus.

    Args:
        engine: its name.
        corpus: what to index and ask.
        cache: where built indexes are kept.
        scratch: an empty folder for those that are not.
        kept_since: rebuild what was kept before this time.
    """

    def __init__(
        self, engine: str, corpus: Corpus, cache: Path, scratch: Path, *, kept_since: float = 0.0
    ) -> None:
        self._class = engine_class(engine)
        self._engine = self._class()
        self._queries = corpus.queries()
        self._corpus = corpus
        self._cache = cache
        self._kept_since = kept_since
        self._scratch = scratch

    def build(self) -> dict[str, Any]:
        """Build the index, or open the kept one: then the seconds are those of the run it is from."""
        self._resident_before = _resident_bytes()
        folder = self._kept()
        receipt = None if folder is None else folder / "built.json"
        if folder is not None and receipt is not None and self._is_usable(receipt):
            self._engine.open(folder)
            return {**json.loads(receipt.read_text(encoding="utf-8")), "is_kept": True}
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        texts = self._corpus.texts()
        started = perf_counter()
        self._engine.build(texts, folder or self._scratch)
        built = {"seconds": perf_counter() - started, "texts": len(texts)}
        if folder is not None and receipt is not None:
            self._engine.keep(folder)
            receipt.write_text(json.dumps(built), encoding="utf-8")
        return {**built, "is_kept": False}

    def warm_up(self) -> int:
        """Search for each query once, if there is time for it; return how many a round has."""
        for query in self._queries[:3]:
            self._engine.search(query, 10)
        started = perf_counter()
        for query in self._queries[3:13]:
            self._engine.search(query, 10)
        a_query = (perf_counter() - started) / len(self._queries[3:13])
        fitting = max(FEWEST_QUERIES, int(ROUND_SECONDS / a_query))
        if fitting < len(self._queries):
            self._queries = self._queries[:fitting]
        else:
            for k in (10, 100):
                self._spent(k)
        return len(self._queries)

    def turn(self) -> dict[str, Any]:
        """Return the nanoseconds of each query, and queries a second by threads.

        And how many cores other processes kept busy meanwhile: figures taken beside much of that
        are not to be trusted, those of two threads first.
        """
        busy, own, started = busy_seconds(), process_time(), perf_counter()
        taken = {
            "top10": self._spent(10),
            "top100": self._spent(100),
            "rate_1_thread": self._rate(1),
            "rate_2_threads": self._rate(2),
        }
        others = busy_seconds() - busy - (process_time() - own)
        return {**taken, "other_cores": max(0.0, others / (perf_counter() - started))}

    def answers(self, count: int) -> list[list[int]]:
        """Return the top 10 of the first queries."""
        return [[int(id) for id in self._engine.search(q, 10)] for q in self._queries[:count]]

    def sizes(self) -> dict[str, int]:
        """Return the bytes of the index, and what the process holds more than before it."""
        resident = _resident_bytes() - self._resident_before
        return {"index_bytes": self._engine.index_bytes(), "resident_bytes": resident}

    def changes(self) -> dict[str, list[float]]:
        """Return the seconds of adding one text and finding it, and of deleting one."""
        if not self._class.can_change:
            msg = "it is built once, and takes no text after that"
            raise NotImplementedError(msg)
        texts = self._corpus.texts()
        count = len(texts)
        self._engine.build(texts, self._scratch)
        self._engine.search(texts[0], 1)  # what compiles at the first search has done so
        adding, deleting = [], []
        ids = range(count, count + self._class.changes)
        for id in ids:
            text, mark = texts[id - count], MARK.format(id)
            started = perf_counter()
            self._engine.add(id, f"{text} {mark}")
            found = self._engine.search(mark, 1)
            adding.append(perf_counter() - started)
            if [int(one) for one in found] != [id]:
                msg = f"{id} was added and not found, but {list(found)}"
                raise AssertionError(msg)
        for id in reversed(ids):
            started = perf_counter()
            self._engine.delete(id)
            deleting.append(perf_counter() - started)
            if id in self._engine.search(MARK.format(id), 1):
                msg = f"{id} was deleted and found"
                raise AssertionError(msg)
        return {"add": adding, "delete": deleting}

    def _spent(self, k: int) -> list[int]:
        """Return the nanoseconds of each query: the call, its parsing, and the ids' way out."""
        spent = []
        for query in self._queries:
            started = perf_counter_ns()
            self._engine.search(query, k)
            spent.append(perf_counter_ns() - started)
        return spent

    def _rate(self, threads: int) -> float:
        """Return queries a second."""
        started = perf_counter()
        self._engine.search_many(self._queries, 10, threads)
        return len(self._queries) / (perf_counter() - started)

    def _is_usable(self, receipt: Path) -> bool:
        return receipt.exists() and receipt.stat().st_mtime >= self._kept_since

    def _kept(self) -> Path | None:
        if self._class.kept_as is None:
            return None
        versions = "-".join(map(distribution_version, self._class.distributions[:1]))
        name = f"{self._class.kept_as}-{versions}"
        return self._cache / "indexes" / self._corpus.folder.name / name


def _resident_bytes() -> int:
    """Return what the process holds, once what was freed has gone back."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc's
    if trim is not None:
        trim(0)
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
