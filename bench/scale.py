"""A large corpus through the engine: import, memory, search, close, reopen.

    python bench/scale.py CORPUS.jsonl QUERIES.jsonl [--limit N] [--folder DIR]

Both files hold one object a line with a "text". Prints figures; asserts only that answers stay.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import oneiros

CHUNK, NOW = 20_000, 1_770_000_000.0


def texts(path: Path, limit: int) -> Iterator[str]:
    """Yield the texts of a file."""
    with path.open(encoding="utf-8") as lines:
        for line in itertools.islice(lines, limit):
            yield json.loads(line)["text"]


def say(name: str, figure: str) -> None:
    """Print one figure."""
    sys.stdout.write(f"{name:<44} {figure}\n")
    sys.stdout.flush()


def resident_mb() -> float:
    """Return this process's resident memory."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def load(mind: oneiros.Engine, corpus: Path, limit: int) -> None:
    """Import the corpus in chunks, each one transaction."""
    before, started, spent = resident_mb(), time.perf_counter(), 0.0
    count = 0
    source = texts(corpus, limit)
    while chunk := [{"text": text} for text in itertools.islice(source, CHUNK)]:
        mark = time.perf_counter()
        count += len(mind.add_many(chunk, now=NOW + count).ids)
        spent += time.perf_counter() - mark
    say("import, memories a second", f"{count / spent:,.0f} ({count:,} in {spent:.1f} s)")
    say("reading the file beside it", f"{time.perf_counter() - started - spent:.1f} s")
    lexical = mind.stats()["lexical"]["resident_bytes"] / 1e6
    say("resident memory, MB", f"{resident_mb() - before:,.0f} (lexical index {lexical:,.0f})")


def ask(mind: oneiros.Engine, queries: list[str]) -> list[list[str]]:
    """Search one by one and in a batch."""
    for query in queries[:50]:
        mind.search(query, now=NOW, reinforce=False)
    spent, found = [], []
    for query in queries:
        mark = time.perf_counter()
        found.append(mind.search(query, now=NOW, reinforce=False).ids)
        spent.append(time.perf_counter() - mark)
    p50, p99 = np.percentile(spent, [50, 99]) * 1e3
    say("search, ms", f"p50 {p50:.3f}, p99 {p99:.3f} ({len(queries)} queries)")
    for threads in (1, 2):
        mark = time.perf_counter()
        many = mind.search_many(queries, now=NOW, reinforce=False, threads=threads)
        rate = len(queries) / (time.perf_counter() - mark)
        say(f"search_many, {threads} thread(s), queries a second", f"{rate:,.0f}")
        assert [response.ids for response in many] == found
    return found


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("queries", type=Path)
    parser.add_argument("--limit", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, help="on the disk to use")
    given = parser.parse_args()
    queries = list(texts(given.queries, 1_000))
    say("load before", " ".join(f"{value:.2f}" for value in os.getloadavg()))
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        path = Path(folder) / "mind.db"
        with oneiros.Engine(path) as mind:
            load(mind, given.corpus, given.limit)
            found = ask(mind, queries)
            mark = time.perf_counter()
        say("close, s", f"{time.perf_counter() - mark:.2f}")
        say("file, MB", f"{path.stat().st_size / 1e6:,.0f}")
        mark = time.perf_counter()
        with oneiros.Engine(path) as again:
            say("reopen, s", f"{time.perf_counter() - mark:.2f}")
            mark = time.perf_counter()
            assert again.search(queries[0], now=NOW, reinforce=False).ids == found[0]
            say("first answer after it, ms", f"{(time.perf_counter() - mark) * 1e3:.2f}")
    say("load after", " ".join(f"{value:.2f}" for value in os.getloadavg()))


if __name__ == "__main__":
    main()
