"""Searches of an engine that changes agree with those of an engine that has just opened the store."""

from __future__ import annotations

import contextlib
import random
from pathlib import Path
from typing import Any

import pytest

import oneiros

NOW = 1_750_000_000.0
WORDS = [f"word{number}" for number in range(12)]
FIELDS: dict[str, list[Any]] = {
    "kind": ["note", "fact"],
    "status": ["staged", "consolidated", "archived", "quarantined"],
    "trust": [0.2, 0.6, 1.0],
    "project": ["p", "q"],
    "session": ["s", "t"],
    "tier": ["hot", "cold"],
    "embedding": [[1.0, 0.5, 0.0], [0.0, 1.0, -1.0]],
}
TIMES: dict[str, list[Any]] = {
    "kind": ["note", "fact", "session_summary"],
    "ttl": [5.0, 50.0],
    "valid_from": [NOW + 10, NOW + 40],
    "valid_until": [NOW + 20, NOW + 60],
}
OPTIONS: dict[str, list[Any]] = {
    "where": [oneiros.where(project="p"), ~oneiros.where(kind="fact"), oneiros.where(tier="hot")],
    "status": ["archived", ["staged", "quarantined"]],
    "valid_at": [NOW, NOW + 30],
    "include_expired": [True],
    "deep_recall": [True],
    "exclude": [["m1", "m2"]],
    "least_trust": [0.5],
    "offset": [1],
    "explain": [True],
    "embedding": [[1.0, 1.0, 0.5]],
    "profile": ["oneiros", "cognitive", "omega", "mnemosyne"],
}


def some(chosen: random.Random, values: dict[str, list[Any]], share: float) -> dict[str, Any]:
    return {name: chosen.choice(of) for name, of in values.items() if chosen.random() < share}


def change(
    engine: oneiros.Engine,
    chosen: random.Random,
    fields: dict[str, list[Any]],
    count: int,
    now: float,
) -> None:
    id, other = (f"m{chosen.randrange(count)}" for _ in range(2))
    step = chosen.randrange(8)
    with contextlib.suppress(oneiros.UnknownMemory, oneiros.DuplicateId, ValueError):
        if step == 0:
            text = " ".join(chosen.choices(WORDS, k=4))
            engine.add(text, id=f"m{count}", now=now, **some(chosen, fields, 0.3))
        elif step == 1:
            engine.delete(id, now=now)
        elif step == 2:
            engine.restore(id, now=now)
        elif step == 3:
            engine.forget(id, now=now)
        elif step == 4:
            engine.supersede(id, other, now=now)
        elif step == 5:
            engine.link(id, other, now=now)
        else:
            engine.update(id, now=now, **some(chosen, fields, 0.4))


def found(engine: oneiros.Engine, bounds: dict[str, str], call: dict[str, Any]) -> list[object]:
    memories = engine.scope(**bounds) if bounds else engine
    response = memories.search("word1 word2 word3", k=8, reinforce=False, **call)
    return [(result.id, result.score.hex()) for result in response.results]


@pytest.mark.filterwarnings("ignore::oneiros.MissingEmbedderWarning")
@pytest.mark.parametrize("is_timed", [False, True])  # with times, no rows are kept
def test_a_living_engine_finds_what_a_new_one_finds(tmp_path: Path, *, is_timed: bool) -> None:
    chosen, now = random.Random(7), NOW
    fields = FIELDS | TIMES if is_timed else FIELDS
    path = tmp_path / "mind.db"
    with oneiros.Engine(path, durability="normal") as living:
        texts = [" ".join(chosen.choices(WORDS, k=4)) for _ in range(20)]
        living.add_many(
            [
                {"id": f"m{number}", "text": text, **some(chosen, fields, 0.2)}
                for number, text in enumerate(texts)
            ],
            now=NOW,
        )
        each = [{}, *({name: value} for name, of in OPTIONS.items() for value in of)]
        mixed = [some(chosen, OPTIONS, 0.25) for _ in range(6)]
        calls = [(bounds, call) for bounds in ({}, {"project": "p"}) for call in [*each, *mixed]]
        for count in range(20, 30):
            for _ in range(3):
                change(living, chosen, fields, count, now)
            now += chosen.choice([0.0, 1.0, 7.0])
            results = [found(living, bounds, {**call, "now": now}) for bounds, call in calls]
            living.flush()
            # In another order, so that what one search keeps for the next is of another one.
            places = chosen.sample(range(len(calls)), len(calls))
            with oneiros.Engine(path, read_only=True) as fresh:
                for place in places:
                    bounds, call = calls[place]
                    assert found(fresh, bounds, {**call, "now": now}) == results[place]
        assert any(results)
