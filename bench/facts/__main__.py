"""Facts that change: how often an outdated value leads, and how sure conflicts are.

    python -m bench.facts                          both halves, words only
    python -m bench.facts --half "held out"        one half
    python -m bench.facts --vectors FOLDER         with vectors of FOLDER/static_embed.py, too

Each question asks for the current value of a fact that was stated once, and changed once or twice
in other words, among ordinary conversation and look-alikes (bench/facts/templates.py). "old leads":
a memory with an outdated value is among the first ten and ranks above every memory with the current
one. "new leads": the reverse. ``off`` is the default profile without the rule, ``on`` with it;
``random`` supersedes as many memories as were outdated, but any; ``marked`` supersedes exactly
those; ``judged`` is the default profile after a dream cycle in which a judge who knows the facts settles
what the rule finds (H16). "first" is the share whose first result has the current value. "facts that
stay" are asked for in conversations in which each fact is stated once: there the rule can only do
harm. Intervals are of 95 %, by a bootstrap over conversations, and by Wilson's for shares.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np

import oneiros
from bench.facts.world import HALVES, Question, World, made
from oneiros import profiles
from oneiros.scoring.phases.house import ChangedFacts

Embed = Callable[[list[str]], Any]

_FIRST = 10
_LEVELS = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9)


class Leads(NamedTuple):
    """The outcome of one question."""

    old: bool
    new: bool
    first: bool
    """The first result has the current value."""


def leads(ids: Sequence[str], question: Question) -> Leads:
    """Return whether an outdated value leads the first ten results, or the current one."""
    first = list(ids[:_FIRST])
    old = min((first.index(id) for id in question.old if id in first), default=_FIRST)
    new = min((first.index(id) for id in question.new if id in first), default=_FIRST)
    return Leads(old < new, new < old, new == 0)


def engine_of(world: World, embed: Embed | None, *, is_on: bool) -> oneiros.Engine:
    """Return an engine with the conversation, with or without the rule H12."""
    profile = profiles.get("oneiros")
    if not is_on:
        profile = profile.replace(newer_first=None)
    engine = oneiros.Engine(":memory:", profile=profile, clock=lambda: world.now)
    vectors = None if embed is None else embed([line.text for line in world.lines])
    engine.add_many(
        {
            "id": line.id,
            "text": line.text,
            "created_at": line.created_at,
            "session": line.session,
            **({} if vectors is None else {"embedding": vectors[place]}),
        }
        for place, line in enumerate(world.lines)
    )
    return engine


def asked(engine: oneiros.Engine, world: World, embed: Embed | None) -> Iterator[Leads]:
    """Yield how each question of a conversation went."""
    texts = [question.text for question in world.questions]
    vectors = [None] * len(texts) if embed is None else embed(texts)
    for question, vector in zip(world.questions, vectors, strict=True):
        response = engine.search(question.text, _FIRST, embedding=vector, reinforce=False)
        yield leads(response.ids, question)


def runs(world: World, embed: Embed | None) -> dict[str, list[Leads]]:
    """Return the questions of a conversation under each condition."""
    outdated = sorted({id for question in world.questions for id in question.old})
    newest = {id: question.new[0] for question in world.questions for id in question.old}
    found = {}
    for name in ("off", "random", "on", "judged", "marked"):
        engine = engine_of(world, embed, is_on=name in {"on", "judged"})
        if name == "random":
            ids = [line.id for line in world.lines]
            for id in Random(0).sample(ids[:-1], len(outdated)):
                engine.supersede(id, ids[-1])
        elif name == "marked":
            for id in outdated:
                engine.supersede(id, newest[id])
        elif name == "judged":
            default = profiles.get("oneiros")
            phases = (*default.phases, ChangedFacts())
            engine.dream(profile=default.replace(phases=phases), judge=judge_of(world))
        found[name] = list(asked(engine, world, embed))
        engine.close()
    return found


def facts_that_stay(half: str, seeds: Sequence[int], embed: Embed | None) -> None:
    """Print how often the first result is right where no fact changes, without the rule and with it."""
    worlds = [made(half, seed, changes=False) for seed in seeds]
    for name in ("off", "on"):
        found = []
        for world in worlds:
            with engine_of(world, embed, is_on=name == "on") as engine:
                found.append([each.first for each in asked(engine, world, embed)])
        show(f"  facts that stay, {name:3s} first {interval(found)}")


def facts_restated(half: str, seeds: Sequence[int], embed: Embed | None) -> None:
    """Print how questions go where changes are stated as the facts were at first."""
    worlds = [made(half, seed, restated=True) for seed in seeds]
    for name in ("off", "on"):
        found = []
        for world in worlds:
            with engine_of(world, embed, is_on=name == "on") as engine:
                found.append(list(asked(engine, world, embed)))
        show(f"  restated, {name:3s} {shares(found)}")
    show_sureness(worlds, embed)


def judge_of(world: World) -> Callable[[str, str], str]:
    """Return a judge that calls a pair an update if the newer text states the fact of the older."""
    fact_of = {line.text: line.fact for line in world.lines}

    def judge(older: str, newer: str) -> str:
        fact = fact_of[older]
        return "update" if fact is not None and fact == fact_of[newer] else "distinct"

    return judge


def sureness(worlds: Sequence[World], embed: Embed | None) -> Iterator[tuple[float, int, int, int]]:
    """Yield for levels of confidence: pairs proposed by ``conflicts``, true ones, all true ones."""
    proposed: list[tuple[float, bool]] = []
    wanted = 0
    for world in worlds:
        line_of = {line.id: line for line in world.lines}
        engine = engine_of(world, embed, is_on=True)
        for pair in engine.conflicts(limit=100_000, least_confidence=min(_LEVELS)):
            older, newer = line_of[pair.older], line_of[pair.newer]
            is_true = older.fact is not None and older.fact == newer.fact
            proposed.append((pair.confidence, is_true and older.version < newer.version))
        engine.close()
        wanted += sum(
            one.fact is not None and one.fact == other.fact and one.version < other.version
            for one in world.lines
            for other in world.lines
        )
    for level in _LEVELS:
        among = [is_true for confidence, is_true in proposed if confidence >= level]
        yield level, len(among), sum(among), wanted


def wilson(good: int, count: int) -> tuple[float, float]:
    """Return Wilson's interval of 95 % for a share."""
    if count == 0:
        return 0.0, 1.0
    z, share = 1.959964, good / count
    middle = share + z * z / (2 * count)
    width = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return (middle - width) / (1 + z * z / count), (middle + width) / (1 + z * z / count)


def interval(by_world: Sequence[Sequence[bool]]) -> str:
    """Return a share with its interval, resampling conversations."""
    counts = np.array([(sum(world), len(world)) for world in by_world])
    picks = np.random.default_rng(0).integers(0, len(counts), (2_000, len(counts)))
    sums = counts[picks].sum(axis=1)
    low, high = np.quantile(sums[:, 0] / sums[:, 1], (0.025, 0.975))
    good, total = counts.sum(axis=0)
    return f"{good / total:.3f} [{low:.3f}, {high:.3f}]"


def show(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def report(half: str, seeds: Sequence[int], embed: Embed | None) -> None:
    """Print the tables of one half."""
    worlds = [made(half, seed) for seed in seeds]
    found = [runs(world, embed) for world in worlds]
    questions = sum(len(world.questions) for world in worlds)
    kind = "words" if embed is None else "words and vectors"
    show(f"\n{half}, {kind}: {questions} questions in {len(worlds)} conversations")
    for name in found[0]:
        show(f"  {name:8s} {shares([run[name] for run in found])}")
    show_sureness(worlds, embed)
    facts_that_stay(half, seeds, embed)
    facts_restated(half, seeds, embed)


def shares(found: Sequence[Sequence[Leads]]) -> str:
    """Return the shares of questions by conversation in which old and new lead, and new is first."""
    old = interval([[each.old for each in run] for run in found])
    new = interval([[each.new for each in run] for run in found])
    first = interval([[each.first for each in run] for run in found])
    return f"old leads {old}   new leads {new}   first {first}"


def show_sureness(worlds: Sequence[World], embed: Embed | None) -> None:
    """Print how sure ``conflicts`` is, by least confidence."""
    for level, count, good, wanted in sureness(worlds, embed):
        low, high = wilson(good, count)
        share = good / count if count else math.nan
        show(
            f"  confidence >= {level:.1f}: {count} pairs, precision {share:.3f} "
            f"[{low:.3f}, {high:.3f}], recall {good / wanted:.3f}"
        )


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m bench.facts", description=__doc__)
    parser.add_argument("--half", choices=HALVES)
    parser.add_argument("--conversations", type=int, default=12)
    parser.add_argument("--vectors", type=Path)
    given = parser.parse_args()
    embeds: list[Embed | None] = [None]
    if given.vectors is not None:
        spec = importlib.util.spec_from_file_location("static", given.vectors / "static_embed.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["static"] = module
        spec.loader.exec_module(module)
        embeds.append(module.StaticEmbedder())
    for half in HALVES if given.half is None else (given.half,):
        for embed in embeds:
            report(half, range(given.conversations), embed)


if __name__ == "__main__":
    main()
