"""A whole search by words and vector, every stage of a profile, beside glued pipelines.

    python -m bench.recall --corpus DIR/corpus.jsonl --embedding DIR/static-minilm
    python -m bench.recall ... --sizes 1000000 --prepare      # the graph of the largest takes minutes

Forms take turns by round; a question's time is its best over the rounds, so what only some rounds
pay (a write behind them) shows in the mean of all. Nothing is embedded while the clock runs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import oneiros
from bench.recall.forms import (
    DEPTH,
    PLAIN,
    Form,
    Ours,
    SqliteAndPython,
    TantivyFaissAndPython,
    make,
    opened,
)
from bench.recall.memories import Memories
from oneiros.benchmark.conditions import conditions, load

PROFILES = ("plain", "oneiros", "cognitive", "omega", "omega-bounded", "reverie")
RIVALS: dict[str, type[TantivyFaissAndPython | SqliteAndPython]] = {
    "tantivy": TantivyFaissAndPython,
    "sqlite": SqliteAndPython,
}
STACK = ("numpy", "faiss-cpu", "apsw", "sqlite-vec", "tantivy")


def measured(forms: list[Form], memories: Memories, queries: int, rounds: int) -> list[Any]:
    """Return p50, p99 and mean of each form in milliseconds, after a round that is not counted."""
    asked = list(zip(memories.queries, memories.query_vectors, strict=True))[:queries]
    spent: dict[str, list[list[float]]] = {form.name: [] for form in forms}
    for turn in range(rounds + 1):
        for form in forms:
            times = []
            for query, vector in asked[: form.most_queries]:
                started = time.perf_counter()
                found = form.ask(query, vector)
                times.append((time.perf_counter() - started) * 1e3)
                assert found or isinstance(form, Ours), f"{form.name} finds nothing for {query!r}"
            if turn:
                spent[form.name].append(times)
            elif isinstance(form, Ours):
                form.stage_ms.clear()
    rows = []
    for name, turns in spent.items():
        p50, p99 = np.percentile(np.min(turns, axis=0), [50, 99]).tolist()
        rows.append((name, p50, p99, float(np.mean(turns))))
    return rows


def shares_found(forms: list[Form], memories: Memories, queries: int) -> dict[str, float]:
    """Return the share of the exact nearest that each form goes by, of those that approximate."""
    vectors = memories.query_vectors[:queries]
    exact = []
    for query in vectors:
        cosines = memories.vectors @ query
        exact.append(np.partition(cosines, -DEPTH)[-DEPTH])
    shares = {}
    for form in forms:
        found = [form.nearest(query) for query in vectors]
        good = [
            np.mean(memories.vectors[np.array(rows)] @ query >= least - 1e-6)
            for rows, query, least in zip(found, vectors, exact, strict=True)
            if rows is not None
        ]
        if good:
            shares[form.name] = float(np.mean(good))
    return shares


def one_size(count: int, given: argparse.Namespace, console: Console) -> None:
    """Measure all forms over one number of memories."""
    memories = Memories(count, given.corpus, given.embedding, given.cache)
    names = given.profiles
    rivals = [RIVALS[name] for name in given.rivals]
    if given.prepare:
        if not (given.cache / f"mind-{count}").exists():
            make(memories, given.cache / f"mind-{count}")
        for rival in rivals:
            _made(rival, memories, given.cache)
        return
    with (
        tempfile.TemporaryDirectory(dir=given.cache) as own,
        opened(memories, given.cache, Path(own) / "mind") as mind,
    ):
        ours = [Ours(mind, name, reinforces=False) for name in names]
        made = (_made(rival, memories, given.cache) for rival in rivals)
        theirs = [form for form in made if form is not None]
        forms: list[Form] = [*ours, *theirs]
        rows = measured(forms, memories, given.queries, given.rounds)
        shares = shares_found([ours[0], *theirs], memories, min(given.queries, 100))
        # Last, over one store: what one of them strengthens the others find strengthened.
        strengthening = [Ours(mind, name, reinforces=True) for name in names]
        strengthening = [one for one in strengthening if one.profile.reinforcement is not None]
        rows += measured([*strengthening], memories, given.queries, given.rounds)
        forms += strengthening
    table = Table(title=f"{count:,} memories, milliseconds", title_justify="left")
    for heading in ("", "p50", "p99", "mean of all"):
        table.add_column(heading, justify="right" if heading else "left")
    for name, *figures in rows:
        table.add_row(name, *(f"{figure:.3f}" for figure in figures))
    console.print(table)
    for name, share in shares.items():
        console.print(f"{name}: {share:.1%} of the exact nearest {DEPTH}", highlight=False)
    for form in forms:
        if isinstance(form, Ours):
            stages = sorted(form.shares().items(), key=lambda one: -one[1])
            shown = ", ".join(f"{stage} {share:.0%}" for stage, share in stages if share >= 0.005)
            console.print(f"{form.name}: {shown}", markup=False, highlight=False, soft_wrap=True)


def _made(
    rival: type[TantivyFaissAndPython | SqliteAndPython], memories: Memories, kept: Path
) -> Form | None:
    try:
        return rival(memories, kept)
    except ImportError as error:
        sys.stderr.write(f"{rival.name} IS LEFT OUT: {error}\n")
        return None


def _count(written: str) -> int:
    count = int(written)
    if count < 1:
        raise ValueError
    return count


def _counts(written: str) -> list[int]:
    return [_count(one) for one in written.split(",")]


def _names(known: Iterable[str]) -> Callable[[str], list[str]]:
    def names(written: str) -> list[str]:
        found = [name for name in written.split(",") if name]
        for name in found:
            if name not in known:
                msg = f"must be of {', '.join(known)}, got {name!r}"
                raise argparse.ArgumentTypeError(msg)
        return found

    return names


def parsed(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return what the command is given; what is wrong ends it before anything is made."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.recall",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--corpus", type=Path, required=True, help="queries.jsonl stands beside it")
    parser.add_argument("--embedding", type=Path, required=True, help="folder of static_embed.py")
    parser.add_argument("--sizes", type=_counts, default="10000,100000,1000000")
    parser.add_argument(
        "--profiles",
        type=_names((PLAIN.name, *oneiros.profiles.names())),
        default=",".join(PROFILES),
    )
    parser.add_argument(
        "--rivals", type=_names(RIVALS), default=",".join(RIVALS), help="of %(default)s, or none"
    )
    parser.add_argument("--queries", type=_count, default=200)
    parser.add_argument("--rounds", type=_count, default=3)
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "oneiros-recall")
    parser.add_argument("--prepare", action="store_true", help="make what is kept, measure nothing")
    given = parser.parse_args(arguments)
    if not given.profiles:
        parser.error("argument --profiles: must name at least one")
    for path in (given.corpus, given.corpus.with_name("queries.jsonl"), given.embedding):
        if not path.exists():
            parser.error(f"{path} does not exist")
    return given


def main() -> None:
    """Run it."""
    given = parsed()
    given.cache.mkdir(parents=True, exist_ok=True)
    console = Console(width=None if sys.stdout.isatty() else 120)
    for name, value in conditions(STACK).items():
        console.print(f"{name}: {value}", markup=False, highlight=False, soft_wrap=True)
    for count in given.sizes:
        one_size(count, given, console)
    console.print(f"load after: {load()}", markup=False, highlight=False)


if __name__ == "__main__":
    main()
