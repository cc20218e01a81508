"""The lexical index side by side with PISA, tantivy, bm25s and SQLite FTS5, in one run.

And whole searches of memories side by side with other engines (suite "memories"), as `oneiros bench`.

    python -m bench.peers                                # every corpus and suite
    python -m bench.peers --corpus short --rounds 5
    python -m bench.peers --prepare                      # only what later runs reuse

bench/README.md says how the rivals are installed and what is measured.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console

from bench.peers import inside
from bench.peers.corpora import SEED, Corpus, corpus
from bench.peers.engines import ENGINES
from bench.peers.measure import Plan, changes, prepare, say, searches
from bench.peers.report import markdown, show
from bench.peers.whole import memories
from oneiros.benchmark.conditions import conditions, load

CORPORA = "short,short@100000,short@10000,long"
SUITES = ("searches", "changes", "inside", "memories")
PIPED_WIDTH = 180
STACK = ("numpy", "apsw", "pyterrier-pisa", "tantivy", "bm25s", "numba")


def main() -> None:
    """Run it."""
    # `timeout` ends a run so: what is in temporary folders goes with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    given = _arguments()
    names, suites = given.corpus.split(","), given.suites.split(",")
    plan = Plan(
        tuple(given.engines.split(",")),
        given.rounds,
        given.cache,
        kept_since=time.time() if given.fresh else 0.0,
    )
    wanted = {*names, *([given.base] if {"changes", "inside", "memories"} & set(suites) else [])}
    corpora = {name: corpus(name, given.cache, given.source) for name in sorted(wanted)}
    if given.prepare:
        for name in names:
            prepare(corpora[name], plan)
        return
    result: dict[str, Any] = {
        "conditions": {
            **conditions(STACK),
            "source": "drawn words" if given.source is None else given.source.name,
            "seed": str(SEED),
            "rounds": str(plan.rounds),
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        },
        "corpora": {name: one.figures() for name, one in corpora.items()},
        "searches": {},
        "missing": {},
        **{name: [] for name in ("changes", "tail", "filters", "store")},
        "memories": {},
    }
    for _ in _steps(result, given, plan, corpora):
        # What is measured is kept, whatever ends the run.
        result["conditions"]["load after"] = load()
        if given.markdown:
            given.markdown.write_text(markdown(result), encoding="utf-8")
        if given.json:
            given.json.write_text(json.dumps(result, indent=1), encoding="utf-8")
    show(result, Console(width=None if sys.stdout.isatty() else PIPED_WIDTH))


def _steps(
    result: dict[str, Any], given: argparse.Namespace, plan: Plan, corpora: dict[str, Corpus]
) -> Iterator[None]:
    """Measure one thing after the other into the result."""
    suites, names = given.suites.split(","), given.corpus.split(",")
    if "searches" in suites:
        for name in names:
            rows, result["missing"][f"searches in {name}"] = searches(corpora[name], plan)
            result["searches"][name] = rows
            yield
    if "changes" in suites:
        rows, result["missing"]["changes"] = changes(corpora[given.base], plan)
        result["changes"] = [{"corpus": given.base, **row} for row in rows]
        yield
    if "inside" in suites:
        for name, measure in itertools.product(names, (inside.tail, inside.filters)):
            say(f"{name}: {measure.__name__}")
            rows = inside.in_own_process(measure, corpora[name], plan.rounds)
            result[measure.__name__] += rows
            yield
        say(f"{given.base}: through the store")
        result["store"] = inside.in_own_process(inside.store, corpora[given.base])
        yield
    if "memories" in suites:
        say(f"{given.base}: whole searches of memories")
        result["memories"] = memories(corpora[given.base], plan.rounds, given.embedding)
        result["missing"]["memories"] = result["memories"]["left_out"]
        yield


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.peers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--corpus", default=CORPORA, help="names with commas between (%(default)s)")
    parser.add_argument("--engines", default=",".join(ENGINES), help="of %(default)s")
    parser.add_argument("--suites", default=",".join(SUITES), help="of %(default)s")
    parser.add_argument(
        "--base", default="short@100000", help="what is changed and stored (%(default)s)"
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--source",
        type=Path,
        default=_default_source(),
        help="JSON lines, each with a text; by default corpus.jsonl in the folder that"
        " ONEIROS_SPEED_CORPUS names, and drawn words without it",
    )
    parser.add_argument(
        "--embedding",
        type=Path,
        help="folder of static_embed.py, for the vectors of the suite memories; without it, its texts"
        " and vectors are drawn",
    )
    parser.add_argument(
        "--cache",
        type=Path,
        default=Path.home() / ".cache" / "oneiros-bench",
        help="where corpora and the indexes of slow builders stay (%(default)s)",
    )
    parser.add_argument("--fresh", action="store_true", help="rebuild those indexes")
    parser.add_argument("--prepare", action="store_true", help="make what is kept, measure nothing")
    parser.add_argument("--markdown", type=Path, help="write the tables to this file, too")
    parser.add_argument("--json", type=Path, help="write every figure to this file, too")
    given = parser.parse_args()
    for name, value, known in (
        ("--engines", given.engines, ENGINES),
        ("--suites", given.suites, SUITES),
    ):
        for one in value.split(","):
            if one not in known:
                parser.error(f"{name}: must be of {', '.join(known)}, got {one!r}")
    if given.rounds < 1:
        parser.error(f"--rounds: must be at least 1, got {given.rounds}")
    return given


def _default_source() -> Path | None:
    folder = os.environ.get("ONEIROS_SPEED_CORPUS")
    return Path(folder) / "corpus.jsonl" if folder else None


if __name__ == "__main__":
    main()
