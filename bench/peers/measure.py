"""The suites that every engine takes part in: searches, and changes of one text."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from bench.peers.corpora import Corpus
from bench.peers.worker import Worker
from oneiros.benchmark.exact import Reference, share_found
from oneiros.benchmark.remote import EngineFailed, Remote

__all__ = ["Plan", "changes", "percentiles", "prepare", "say", "searches"]

STARTED = perf_counter()
JUDGED_QUERIES = 200
SLOW_ROUNDS = 2
"""Rounds of an engine so slow that it is not asked every query."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a run."""

    engines: tuple[str, ...]
    rounds: int
    cache: Path
    kept_since: float = 0.0
    """Indexes that were kept before this time are rebuilt."""


def say(text: str) -> None:
    """Tell how far the run is."""
    sys.stderr.write(f"{perf_counter() - STARTED:5.0f} s  {text}\n")
    sys.stderr.flush()


def percentiles(spent: Sequence[float], unit: float, name: str) -> dict[str, float]:
    """Return p50 and p99 in a unit."""
    p50, p99 = (np.percentile(spent, [50, 99]) / unit).tolist()
    return {f"{name}_p50": p50, f"{name}_p99": p99}


def searches(corpus: Corpus, plan: Plan) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Return a row of figures for each engine, and why those left out are.

    Engines take turns by round, so that what else the machine does hits all alike; a query's time
    is its best over the rounds, and so is a rate; percentiles are over queries.
    """
    missing: dict[str, str] = {}
    rows: list[dict[str, Any]] = []
    with ExitStack() as stack:
        remotes: dict[str, Remote] = {}
        built: dict[str, dict[str, Any]] = {}
        for name in plan.engines:
            with _leaving_out(name, missing):
                remote = stack.enter_context(_remote(name, corpus, plan))
                built[name] = remote.ask("build")
                built[name]["queries"] = remote.ask("warm_up")
                remotes[name] = remote
                say(f"{corpus.name}: {name} is built")
        for name, turns in _rounds(corpus, plan.rounds, remotes, built, missing).items():
            with _leaving_out(name, missing):
                rows.append(_row(name, remotes[name], built[name], turns))
        answers = {row["engine"]: row.pop("answers") for row in rows}
    best = Reference(corpus.texts(), corpus.queries()[:JUDGED_QUERIES]).best()
    for row in rows:
        row["agreement"] = share_found(answers[row["engine"]], best)
    return rows, missing


def changes(corpus: Corpus, plan: Plan) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Return a row for each engine: one text added and found, one deleted, in microseconds."""
    missing: dict[str, str] = {}
    rows: list[dict[str, Any]] = []
    for name in plan.engines:
        with _leaving_out(name, missing), _remote(name, corpus, plan) as remote:
            spent = remote.ask("changes")
            rows.append(
                {
                    "engine": name,
                    "changes": len(spent["add"]),
                    **percentiles(spent["add"], 1e-6, "add"),
                    **percentiles(spent["delete"], 1e-6, "delete"),
                }
            )
            say(f"{corpus.name}: {name} has changed")
    return rows, missing


def prepare(corpus: Corpus, plan: Plan) -> None:
    """Build what later runs reuse."""
    for name in plan.engines:
        with _leaving_out(name, {}), _remote(name, corpus, plan) as remote:
            built = remote.ask("build")
            say(f"{corpus.name}: {name}: {built['texts'] / built['seconds']:,.0f} texts a second")


def _remote(name: str, corpus: Corpus, plan: Plan) -> Remote:
    return Remote(Worker, engine=name, corpus=corpus, cache=plan.cache, kept_since=plan.kept_since)


@contextmanager
def _leaving_out(name: str, missing: dict[str, str]) -> Iterator[None]:
    try:
        yield
    except EngineFailed as reason:
        missing[name] = str(reason)
        say(f"{name} is left out: {reason}")


def _rounds(
    corpus: Corpus,
    rounds: int,
    remotes: dict[str, Remote],
    built: dict[str, dict[str, Any]],
    missing: dict[str, str],
) -> dict[str, list[dict[str, Any]]]:
    """Return what each engine measured in each of its turns."""
    all_queries = len(corpus.queries())
    turns: dict[str, list[dict[str, Any]]] = {name: [] for name in remotes}
    for number in range(rounds):
        for name, remote in remotes.items():
            is_slow = built[name]["queries"] < all_queries
            if name in missing or (is_slow and number >= SLOW_ROUNDS):
                continue
            with _leaving_out(name, missing):
                turns[name].append(remote.ask("turn"))
        say(f"{corpus.name}: round {number + 1} of {rounds}")
    return {name: taken for name, taken in turns.items() if name not in missing}


def _row(
    name: str, remote: Remote, built: dict[str, Any], turns: list[dict[str, Any]]
) -> dict[str, Any]:
    best = {
        asked: np.min([turn[asked] for turn in turns], axis=0).tolist()
        for asked in ("top10", "top100")
    }
    return {
        "engine": name,
        "queries": built["queries"],
        **percentiles(best["top10"], 1e3, "top10"),
        **percentiles(best["top100"], 1e3, "top100"),
        **{rate: max(turn[rate] for turn in turns) for rate in ("rate_1_thread", "rate_2_threads")},
        "other_cores": float(np.mean([turn["other_cores"] for turn in turns])),
        "build_rate": built["texts"] / built["seconds"],
        "build_is_kept": built["is_kept"],
        **remote.ask("sizes"),
        "answers": remote.ask("answers", count=JUDGED_QUERIES),
    }
