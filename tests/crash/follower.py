"""A process that follows a store under load: it searches without end, and answers when asked.

Arguments: FILE reads|writes
"reads" opens the store with ``read_only=True``, "writes" as an engine that could write. For each line on
standard input it prints its answers as a line of JSON.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import select
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import oneiros
from oneiros.model.fields import FIELDS

EMBEDDER: Final = "hashing"
NOW: Final = 2_000_000_000.0
QUERIES: Final = ("memory changed more", "memory m1 m2 m3 m5 m8 m13", "and mor of it", "changed m7")
_TRIES: Final = 200
_COMPARED: Final = [name for name in FIELDS if name not in {"embedding", "sessions"}]
Texts = dict[str, str]


def opened(path: Path, *, read_only: bool) -> oneiros.Engine:
    """Return an engine that reads the store as it is when asked."""
    return oneiros.Engine(path, profile="reverie", embedder=EMBEDDER, read_only=read_only)


def answers(engine: oneiros.Engine, copy: Texts | None = None) -> dict[str, Any]:
    """Return what an engine says of its store: equal for equal stores, to the last bit.

    Args:
        engine: the engine.
        copy: the texts that a follower has. Those that differ from the engine's are named.
    """
    listed = engine.list(limit=10**6)
    return {
        "count": engine.count(),
        "memories": _digest(listed),
        "links": [[id, link.id, link.kind] for id, link in engine.links(now=NOW)],
        "found": [
            [[result.id, result.score.hex()] for result in response.results]
            for query in QUERIES
            for response in [engine.search(query, k=20, reinforce=False, now=NOW)]
        ],
        "unlike the copy": _unlike({memory.id: memory.text for memory in listed}, copy),
    }


def _digest(memories: Iterable[oneiros.Memory]) -> str:
    """Return a digest of every field of the memories, in their order."""
    digest = hashlib.sha256()
    for memory in memories:
        values = [getattr(memory, name) for name in _COMPARED]
        digest.update(f"{values} {sorted(memory.sessions)}\n".encode())
        digest.update(b"" if memory.embedding is None else memory.embedding.tobytes())
    return digest.hexdigest()


def _unlike(texts: Texts, copy: Texts | None) -> list[str]:
    if copy is None:
        return []
    return sorted(id for id in texts.keys() | copy.keys() if texts.get(id) != copy.get(id))[:5]


class Follower:
    """An engine and a copy of the texts that is kept by the feed of changes alone."""

    def __init__(self, path: Path, *, read_only: bool) -> None:
        self._path = path
        self._read_only = read_only
        self._engine = self._patiently(lambda: opened(path, read_only=read_only))
        self._copy: Texts = {}
        self._revision = 0

    @staticmethod
    def _patiently(call: Any) -> Any:
        """Call again where another process moved its log into the file meanwhile, as documented."""
        for _ in range(_TRIES):
            try:
                return call()
            except oneiros.StoreBusy:
                time.sleep(0.005)
        return call()

    def work(self, rng: random.Random) -> None:
        """Search, look at a memory, follow the feed."""
        word = f"m{rng.randrange(400)}"
        found = self._patiently(lambda: self._engine.search(f"memory {word}", reinforce=False))
        for id in found.ids[:1]:
            self._patiently(lambda id=id: self._engine.get_many([id]))
        if rng.random() < 0.2:
            self._patiently(self._follow)

    def answer(self) -> dict[str, Any]:
        """Return the answers of the engine, and the copy."""
        self._patiently(self._follow)
        self._patiently(self._engine.refresh)  # else uses may come a moment later
        found: dict[str, Any] = self._patiently(lambda: answers(self._engine, self._copy))
        return found

    def _follow(self) -> None:
        has_more = True
        while has_more:
            feed = self._engine.changes(self._revision)
            for id in feed.erased_among(list(self._copy)):
                del self._copy[id]
            ids = [change.id for change in feed if change.kind != "erased"]
            for id, memory in zip(ids, self._engine.get_many(ids), strict=True):
                if memory is None:
                    self._copy.pop(id, None)
                else:
                    self._copy[id] = memory.text
            if not feed.lists_erased:
                for id, memory in zip(
                    list(self._copy), self._engine.get_many(list(self._copy)), strict=True
                ):
                    if memory is None:
                        del self._copy[id]
            self._revision, has_more = feed.revision, feed.has_more


def main() -> None:
    """Follow until killed."""
    path, kind = sys.argv[1:]
    follower = Follower(Path(path), read_only=kind == "reads")
    rng = random.Random(kind)
    os.write(1, b'"open"\n')
    while True:
        if select.select([0], [], [], 0)[0]:
            if not os.read(0, 100):
                return
            said = json.dumps(follower.answer()).encode() + b"\n"
            sys.stdout.buffer.write(said)
            sys.stdout.buffer.flush()
        follower.work(rng)
        time.sleep(0.01)  # the writer needs its turns


def rehearse(folder: Path) -> None:
    """Follow a small store in both forms."""
    path = folder / "mind.db"
    with opened(path, read_only=False) as writer:
        writer.add_many([{"text": f"memory m{number}"} for number in range(20)])
        follows = [Follower(path, read_only=is_reader) for is_reader in (True, False)]
        writer.forget(writer.add("another one"))
        for follower in follows:
            for number in range(20):
                follower.work(random.Random(number))
            follower.answer()
