"""Shards in this process: engines that hold the parts of a whole one."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import oneiros
from oneiros.ray.candidates import CandidateSource
from oneiros.ray.ranking import Client
from oneiros.ray.rounds import search_shards

__all__ = ["LocalShards", "by_id", "loosen", "one_by_one", "split"]


def by_id(mind: oneiros.Engine, count: int) -> dict[str, int]:
    """Return the shard of each memory: any, but with the memories that it superseded."""
    with mind._scope.services.store.read() as reading:
        rows = [row for batch in reading.changes(0) for row in batch]
    newer = {row.id: row.superseded_by for row in rows}

    def last(id: str) -> str:
        seen = {id}
        while (after := newer.get(id)) in newer and after not in seen:
            assert after is not None
            id = after
            seen.add(id)
        return id

    return {
        id: int.from_bytes(hashlib.blake2b(last(id).encode(), digest_size=4).digest(), "big")
        % count
        for id in newer
    }


def one_by_one(mind: oneiros.Engine, path: Path, **options: Any) -> oneiros.Engine:
    """Return a copy whose memories were added one after the other, a millisecond each."""
    mind.backup(path)
    copy = oneiros.Engine(path, durability="normal", **options)
    with copy._scope.services.store.write() as transaction:
        rows = [row for batch in transaction.changes(0) for row in batch]
        for row in rows:
            transaction.update(row.id, {"learned_at": row.learned_at + row.sequence / 1e3})
    copy.refresh()
    return copy


def loosen(mind: oneiros.Engine, shard_of: Mapping[str, int]) -> None:
    """Remove the links between shards, which a sharded store never has."""
    services = mind._scope.services
    with services.store.read() as reading:
        links = [link for batch in reading.links(0) for link in batch]
    between = [link for link in links if shard_of[link.one] != shard_of[link.other]]
    with services.store.write() as transaction:
        for link in between:
            transaction.remove_link(link.one, link.other)
    mind.refresh()


def split(
    mind: oneiros.Engine, shard_of: Mapping[str, int], folder: Path, **options: Any
) -> list[oneiros.Engine]:
    """Return an engine for each shard, with all that the whole one knows of its memories."""
    engines = []
    for shard in range(max(shard_of.values()) + 1):
        path = folder / f"{shard}.db"
        mind.backup(path)
        engine = oneiros.Engine(path, durability="normal", **options)
        others = [id for id, own in shard_of.items() if own != shard]
        with engine._scope.services.store.write() as transaction:
            transaction.erase_many(others)
        engine.close()
        engines.append(oneiros.Engine(path, durability="normal", **options))
    return engines


class LocalShards:
    """Shards of engines in this process.

    Args:
        engines: one for each shard.
        client: what ranks.
    """

    def __init__(self, engines: Sequence[oneiros.Engine], client: Client) -> None:
        self.engines = engines
        self.client = client
        self.sources = {n: CandidateSource(engine, n) for n, engine in enumerate(engines)}
        self.calls: list[str] = []

    def ask(self, method: str, *args: Any, **keywords: Any) -> dict[int, Any]:
        self.calls.append(method)
        return {
            number: getattr(source, method)(*args, **keywords)
            for number, source in self.sources.items()
        }

    def tell(self, method: str, args: Mapping[int, tuple[Any, ...]]) -> None:
        self.calls.append(method)
        for number, values in args.items():
            getattr(self.sources[number], method)(*values)

    def search(
        self,
        query: str,
        k: int = 10,
        *,
        bounds: Mapping[str, str] | None = None,
        embedding: Any = None,
        **options: Any,
    ) -> oneiros.SearchResponse:
        """Search all shards, as :meth:`oneiros.Engine.search`."""
        return search_shards(
            self,
            self.client,
            query,
            k,
            bounds=bounds or {},
            embedding=embedding,
            options=self.client.options(options, self.search),
        )

    def leave_out(self, shard: int) -> bool:
        self.sources.pop(shard)
        return bool(self.sources)

    def close(self) -> None:
        for engine in self.engines:
            engine.close()
