"""The cost of a search over all shards, by the number of shards, and how its tail grows with them.

Shards are engines of this process, so that each call's processor time can be measured without Ray and
without the other shards. ``python bench/shard_fanout.py`` prints the tables of
docs/howto/ray_planning.md; ``--recall`` compares shards that walk graphs of vectors with one exact store.
"""

from __future__ import annotations

import argparse
import gc
import pickle
import random
import sys
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

import oneiros
from oneiros.ray.candidates import CandidateSource
from oneiros.ray.ranking import Client
from oneiros.ray.rounds import search_shards

NOW = 1.75e9
WORDS = [f"word{number}" for number in range(5_000)]


class MeasuredShards:
    """Shards of this process that note what each call costs.

    Args:
        engines: one for each shard.
    """

    def __init__(self, engines: list[oneiros.Engine]) -> None:
        self.sources = [CandidateSource(engine, number) for number, engine in enumerate(engines)]
        self.bytes = 0
        self.calls = 0
        self.seconds: dict[str, list[float]] = {}
        """Seconds of every call, by method."""
        self.spent = np.zeros(len(engines))
        """Seconds of each shard in the current search."""

    def ask(self, method: str, *args: Any, **keywords: Any) -> dict[int, Any]:
        self.calls += 1
        sent = len(pickle.dumps((args, keywords)))
        found = {}
        for number, source in enumerate(self.sources):
            started = time.process_time()
            found[number] = getattr(source, method)(*args, **keywords)
            spent = time.process_time() - started
            self.spent[number] += spent
            self.seconds.setdefault(method, []).append(spent)
            self.bytes += sent + len(pickle.dumps(found[number]))
        return found

    def tell(self, method: str, args: Mapping[int, tuple[Any, ...]]) -> None:
        raise NotImplementedError  # searches here do not count as used

    def leave_out(self, shard: int) -> bool:
        raise NotImplementedError


def text_of(chance: random.Random) -> str:
    """Return 20 words, most of them frequent ones."""
    return " ".join(WORDS[int(len(WORDS) * chance.random() ** 3)] for _ in range(20))


def engines_of(memories: int, shards: int, chance: random.Random) -> list[oneiros.Engine]:
    """Return engines that share memories in sessions of twelve, with vectors of 512 numbers."""
    records = [
        {
            "id": f"m{number}",
            "text": text_of(chance),
            "session": f"s{number // 12}",
            "created_at": NOW - chance.random() * 3e7,
        }
        for number in range(memories)
    ]
    engines = []
    for shard in range(shards):
        engine = oneiros.Engine(
            ":memory:", clock=lambda: NOW, embedder="hashing", vector_index="flat"
        )
        own = [r for number, r in enumerate(records) if number // 12 % shards == shard]
        engine.add_many(own, now=NOW - 1e6)
        engines.append(engine)
    gc.collect()
    gc.freeze()  # as a shard does once it is open
    return engines


def measured(
    memories: int, shards: int, searches: int
) -> tuple[MeasuredShards, list[float], list[float]]:
    """Return the shards after searches, and seconds a search of the caller and of each shard."""
    chance = random.Random(1)
    client = Client.of({"embedder": "hashing", "clock": lambda: NOW})
    known = MeasuredShards(engines_of(memories, shards, chance))
    own: list[float] = []
    theirs: list[float] = []
    for number in range(-5, searches):
        if number == 0:  # the first ones load modules and texts
            known.bytes, known.calls, known.seconds = 0, 0, {}
            own, theirs = [], []
        known.spent[:] = 0.0
        before = time.process_time()
        search_shards(
            known,
            client,
            " ".join(text_of(chance).split()[:4]),
            10,
            bounds={},
            embedding=None,
            options=client.options({"reinforce": False}, search_shards),
        )
        own.append(time.process_time() - before - float(known.spent.sum()))
        theirs += known.spent.tolist()
    return known, own, theirs


def tails(seconds: Mapping[str, list[float]], shards: int) -> tuple[float, float]:
    """Return p50 and p99 of the slowest shard's time, summed over the rounds, in milliseconds.

    Each round waits for the slowest of so many shards, whose times are drawn from those measured.
    """
    draw = np.random.default_rng(7)
    total = np.zeros(20_000)
    again = len(seconds["around"]) / len(seconds["found"]) - 1
    for name, share in (("overview", 1.0), ("found", 1.0), ("around", 1.0), ("around", again)):
        # The greatest of n draws, by the inverse of its distribution.
        slowest = np.quantile(np.array(seconds[name]), draw.random(len(total)) ** (1 / shards))
        total += slowest * (draw.random(len(total)) < share)
    p50, p99 = np.quantile(total * 1e3, [0.5, 0.99]).tolist()
    return p50, p99


def recall(vectors: int, shards: int, searches: int) -> float:
    """Return the share of the ten nearest vectors that shards find by their graphs."""
    draw = np.random.default_rng(4)
    width = 96
    centres = draw.normal(size=(400, width))
    given = centres[draw.integers(400, size=vectors)] + 0.6 * draw.normal(size=(vectors, width))
    records = [{"id": str(n), "text": "x", "embedding": vector} for n, vector in enumerate(given)]
    whole = oneiros.Engine(":memory:", vector_index="flat", profile="cosine")
    whole.add_many(records, now=NOW)
    engines = []
    for shard in range(shards):
        engine = oneiros.Engine(":memory:", vector_index="hnsw", profile="cosine")
        engine.add_many(records[shard::shards], now=NOW)
        built = engine._scope.services.read_model.indexes.vectors
        assert built is not None
        built.settle()
        engines.append(engine)
    client = Client.of({"profile": "cosine"})
    known, found = MeasuredShards(engines), 0
    for _ in range(searches):
        query = given[draw.integers(vectors)] + 0.3 * draw.normal(size=width)
        response = search_shards(
            known,
            client,
            "",
            10,
            bounds={},
            embedding=query,
            options=client.options({"now": NOW}, search_shards),
        )
        assert any("approximate" in stage.note for stage in response.trace.stages)
        found += len({*response.ids} & {*whole.search("", 10, embedding=query, now=NOW).ids})
    return found / (10 * searches)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=4_000, help="in a shard")
    parser.add_argument("--searches", type=int, default=60)
    parser.add_argument("--recall", action="store_true")
    given = parser.parse_args()
    say = sys.stdout.write
    if given.recall:
        share = recall(66_000, 3, given.searches)
        say(f"66,000 vectors in 3 shards with graphs: recall@10 {share:.4f}\n")
        return
    say("shards  kB a search  calls  caller, ms p50 / p99  a shard, ms p50 / p99\n")
    for shards in (1, 4, 16):
        known, own, theirs = measured(given.memories * shards, shards, given.searches)
        figures = (
            known.bytes / given.searches / 1e3,
            known.calls / given.searches,
            *(np.quantile(own, [0.5, 0.99]) * 1e3).tolist(),
            *(np.quantile(theirs, [0.5, 0.99]) * 1e3).tolist(),
        )
        say("{:6} {:12.0f} {:6.1f} {:11.1f} / {:5.1f} {:13.1f} / {:.1f}\n".format(shards, *figures))
        sys.stdout.flush()
    say("\nshards  the slowest shards of a search, ms p50 / p99\n")
    for shards in (1, 4, 16, 64, 256, 1_000):
        say("{:6} {:12.1f} / {:.1f}\n".format(shards, *tails(known.seconds, shards)))


if __name__ == "__main__":
    main()
