"""The first answer of a process: a closed store opened, one search, ten results with their texts.

    python -m bench.first_answer FOLDER [--count N] [--width D] [--links N] [--rounds R] [--form NAME ...]

The first run makes FOLDER/first-N.db: texts of made-up words (some frequent, most rare), clustered
random vectors and ten projects of uneven size, closed when its graph is ready. With ``--links`` it has
so many links of random pairs, as a store has after many searches. Each round starts one
process of each form, in turns, and one bare interpreter; printed is the median of each, what it is
above the bare interpreter's, and how many times as long it takes.
"""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

CHUNK, A_CLUSTER, NOISE, PROJECTS, WORDS = 20_000, 50, 0.6, 10, 30_000
QUERY = "w40 w300 w2000"

START = """
import os, sys
from oneiros import Engine, Profile
from oneiros.scoring.fusion import ReciprocalRankFusion
fused = Profile(name="fused", fusion=ReciprocalRankFusion(k=60.0), factors=(), reinforcement=None)
"""
ANSWERED = """
assert len(found) == 10 and all(result.memory.text for result in found)
engine.close()
sys.stdout.flush()
os._exit(0)
"""
# Modules are compiled once, as where they are installed.
ENVIRONMENT = {
    name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
}
# The question's vector is one of the store's width whose components are all the same.
FORMS = {
    "bare interpreter": "pass",
    "import oneiros": "import oneiros",
    "import numpy": "import numpy",
    "words, default profile": """
import os, sys
from oneiros import Engine
engine = Engine({path!r})
found = engine.search({query!r}, 10, reinforce=False)
"""
    + ANSWERED,
    "words and vectors, default profile": """
import os, sys
import numpy
from oneiros import Engine
engine = Engine({path!r})
vector = numpy.ones({width}, numpy.float32)
found = engine.search({query!r}, 10, embedding=vector, reinforce=False)
"""
    + ANSWERED,
    "words, ranks fused": START
    + """
engine = Engine({path!r})
found = engine.search({query!r}, 10, profile=fused, reinforce=False)
"""
    + ANSWERED,
    "words and vectors, ranks fused": START
    + """
import numpy
from oneiros import where
engine = Engine({path!r})
found = engine.search(
    {query!r}, 10, embedding=numpy.ones({width}, numpy.float32), where=where(project="p0"),
    profile=fused, reinforce=False, session="bench",
)
"""
    + ANSWERED,
}


def records(count: int, width: int) -> Iterator[dict[str, Any]]:
    """Yield memories with vectors."""
    import numpy as np  # noqa: PLC0415 - the measuring process stays small

    random = np.random.default_rng(0)
    centres = random.standard_normal((max(count // A_CLUSTER, 1), width), np.float32)
    share = 1 / np.arange(1, PROJECTS + 1)
    projects = random.choice(PROJECTS, count, p=share / share.sum())
    rarity = 1 / np.arange(10, WORDS + 10)
    rarity /= rarity.sum()
    for start in range(0, count, CHUNK):
        places = random.integers(0, len(centres), min(CHUNK, count - start))
        vectors = centres[places] + NOISE * random.standard_normal((len(places), width), np.float32)
        words = random.choice(WORDS, (len(places), 30), p=rarity)
        for offset, vector in enumerate(vectors):
            yield {
                "id": str(start + offset),
                "text": " ".join(f"w{word}" for word in words[offset]),
                "embedding": vector,
                "project": f"p{projects[start + offset]}",
            }


def pairs(count: int, links: int) -> Iterator[tuple[str, str]]:
    """Yield the ends of links, each pair once."""
    random = Random(1)
    seen: set[tuple[int, int]] = set()
    while len(seen) < links:
        one, other = sorted(random.sample(range(count), 2))
        if (one, other) not in seen:
            seen.add((one, other))
            yield str(one), str(other)


def make(path: Path, count: int, width: int, links: int) -> None:
    """Make a store, and close it when its graph is ready."""
    import oneiros  # noqa: PLC0415

    began = time.perf_counter()
    with oneiros.Engine(path) as engine:
        engine.add_many(records(count, width))
        vectors = engine._scope.services.read_model.indexes.vectors
        assert vectors is not None
        vectors.settle()
        ends = pairs(count, links)
        while part := [(one, other, 0.5) for one, other in itertools.islice(ends, CHUNK)]:
            engine.link_many(part)
    sys.stdout.write(f"{path} made in {time.perf_counter() - began:.0f} s\n")


def start(code: str) -> float:
    """Return the milliseconds from start to end of a fresh interpreter that runs ``code``."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env=ENVIRONMENT)
    return (time.perf_counter() - began) * 1e3


def main() -> None:
    """Make the store if it is missing, start processes in turns, and print their medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    for name, value in {"count": 100_000, "width": 384, "links": 0, "rounds": 9}.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--form", choices=list(FORMS), action="append", help="default: all")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    linked = f"-{given.links}-links" if given.links else ""
    path = given.folder / f"first-{given.count}{linked}.db"
    if not path.exists():
        make(path, given.count, given.width, given.links)
    bare = next(iter(FORMS))
    codes = {
        name: FORMS[name].format(path=str(path), query=QUERY, width=given.width)
        for name in [bare, *(name for name in given.form or FORMS if name != bare)]
    }
    for code in codes.values():  # the files' pages are in memory afterwards
        start(code)
    times: dict[str, list[float]] = {name: [] for name in codes}
    for _ in range(given.rounds):
        for name, code in codes.items():
            times[name].append(start(code))
    base = statistics.median(times[bare])
    sys.stdout.write(f"load {os.getloadavg()[0]:.2f}; medians of {given.rounds}, least behind\n")
    for name, all_times in times.items():
        median = statistics.median(all_times)
        sys.stdout.write(
            f"{name:<36} {median:7.1f} ms ({min(all_times):.1f})  {median - base:+7.1f} over the bare "
            f"interpreter, {median / base:.1f} times its time\n"
        )


if __name__ == "__main__":
    main()
