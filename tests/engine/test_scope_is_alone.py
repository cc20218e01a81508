"""A scope answers, to the bit, as a store that holds nothing else.

Ten scopes share one store, and each has a store of its own beside it. The same happens in both:
adds, searches that reinforce, links, verdicts, deletions, what was superseded. Answers, traces,
explanations and what they leave behind must be equal, whatever the other nine hold.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from oneiros.clock import VirtualClock
from tests.engine.test_whole_pipelines import READ, at, by_letters, options
from tests.engine.whole_world import NOW, random_link, random_question, random_record, random_step
from tests.oracles.records import DAY

LONG = int(os.environ.get("ONEIROS_LONG") or 0)
FEW = settings(max_examples=max(LONG, 200) if LONG else 5, deadline=None)
SCOPES = 10
STRANGER = ("ant ant ant bee", "elk dogs", "running " * 30, "a silent dog", "unheard cat")


class Pair:
    """A scope of the shared store, and a store that holds only what it holds."""

    def __init__(self, number: int, shared: oneiros.Engine, alone: oneiros.Engine) -> None:
        self.number = number
        self.both = (shared.scope(topic=f"t{number}"), alone.scope(topic=f"t{number}"))
        self.ids: list[str] = []

    def add(self, records: list[dict[str, Any]]) -> None:
        start = len(self.ids)
        batch = [
            {"id": f"{self.number}-{start + place}", **record}
            for place, record in enumerate(records)
        ]
        self.ids += [record["id"] for record in batch]
        for scope in self.both:
            scope.add_many([dict(record) for record in batch])

    def each(self, method: str, *args: Any, **keywords: Any) -> list[Any]:
        """Call a method of both; return the answer of each, or the kind of error it raises."""
        answers = []
        for scope in self.both:
            try:
                answers.append(getattr(scope, method)(*args, **keywords))
            except (oneiros.UnknownMemory, ValueError) as error:
                answers.append(repr(error))
        return answers

    def id(self, number: int) -> str:
        return self.ids[number % len(self.ids)]


def answer_of(response: oneiros.SearchResponse) -> dict[str, Any]:
    """Return all of a response but durations."""
    trace = response.trace
    return {
        "results": [
            (one.id, one.score.hex(), one.path,
             one.bridge, one.via_deep_recall, one.neighbour_of, str(one.explanation))
            for one in response
        ],
        "misses": [(one.id, one.score.hex()) for one in response.nearest_misses],
        "abstained": (response.abstained, response.reason, response.confidence),
        "stages": [
            (stage.name, stage.candidate_count, stage.survivor_count, stage.note)
            for stage in trace.stages
        ],
        "trace": (trace.notes, trace.duplicates),
    }  # fmt: skip


def ask(pair: Pair, seed: int, profile: str, *, explain: bool = False) -> None:
    random = np.random.default_rng([seed, 5])
    asked = at(random_question(random), NOW)
    keywords = options(asked, READ.get(profile, set())) | {"explain": explain}
    if asked.is_judged:
        keywords["reranker"] = by_letters
    mine, alone = pair.each("search", asked.words, asked.k, **keywords)
    assert answer_of(mine) == answer_of(alone)
    many = pair.each("search_many", [asked.words, "ant elk", "dog"], 5, reinforce=False)
    assert [answer_of(one) for one in many[0]] == [answer_of(one) for one in many[1]]
    if explain:
        del keywords["explain"], keywords["session"]
        for id in pair.ids[:3]:
            one, other = pair.each("why_not", asked.words, id, k=asked.k, **keywords)
            assert str(one) == str(other)


def happen(pair: Pair, seed: int, profile: str) -> None:
    name, what = random_step(seed)
    if name == "ask":
        ask(pair, seed, profile)
    elif name == "add":
        pair.add(what)
    elif name == "link" and pair.id(what[0]) != pair.id(what[1]):
        pair.each("link", pair.id(what[0]), pair.id(what[1]), what[2])
    elif name == "supersede" and what[0] % len(pair.ids) < what[1] % len(pair.ids):
        pair.each("supersede", pair.id(what[0]), pair.id(what[1]))
    elif name == "judge":
        pair.each("feedback", pair.id(what[0]), what[1])
    elif name in {"delete", "restore", "pin"}:
        pair.each(name, pair.id(what))


def kept(pair: Pair) -> None:
    """Compare what both hold."""
    mine, alone = pair.each("list")
    assert mine == alone
    assert [memory.sessions for memory in mine] == [memory.sessions for memory in alone]
    links = pair.each("links")
    assert links[0] == links[1]
    for words in ("ant", "elk running", 'dog*"'):
        one, other = pair.each("statistics", words)
        assert one == other
    for id in pair.ids[:3]:
        one, other = pair.each("similar", id)
        assert one == other
    one, other = pair.each("conflicts", least_confidence=1e-6)
    assert one == other
    rescored = pair.each("rescore")
    assert rescored[0].ids == rescored[1].ids
    assert rescored[0].scores.tobytes() == rescored[1].scores.tobytes()


@pytest.mark.parametrize("profile", oneiros.profiles.names())
@FEW
@given(seed=st.integers(0, 2**32 - 1), size=st.integers(1, 8))
def test_a_scope_is_a_store_of_its_own(profile: str, seed: int, size: int) -> None:
    clock = VirtualClock(NOW)
    random = np.random.default_rng(seed)
    shared = oneiros.Engine(":memory:", profile=profile, analyzer="simple", clock=clock)
    stores = [
        oneiros.Engine(":memory:", profile=profile, analyzer="simple", clock=clock)
        for _ in range(SCOPES)
    ]
    pairs = [Pair(number, shared, store) for number, store in enumerate(stores)]
    try:
        for number in range(size):  # a row of one scope, then a row of the next
            for pair in pairs:
                pair.add([random_record(seed + pair.number, number)])
            shared.add(STRANGER[number % len(STRANGER)], session="s1", access_count=2**31)
        for pair in pairs:
            for number in range(size):
                one, other, weight = random_link(seed + pair.number, number, size)
                if one != other:
                    pair.each("link", pair.id(one), pair.id(other), weight)
        for _ in range(25):
            pair = pairs[int(random.integers(SCOPES))]
            happen(pair, int(random.integers(2**32)), profile)
            if random.random() < 0.2:
                clock.advance(float(random.choice([0.01, 1.0, 30.0])) * DAY)
        for pair in pairs:
            ask(pair, int(random.integers(2**32)), profile, explain=True)
            kept(pair)
    finally:
        for engine in (shared, *stores):
            engine.close()


def test_store_statistics_are_those_of_all_memories() -> None:
    clock = VirtualClock(NOW)
    with oneiros.Engine(":memory:", profile="cognitive", clock=clock) as engine:
        mine = engine.scope(project="mine")
        mine.add_many([{"id": "1", "text": "green tea"}, {"id": "2", "text": "black tea"}])
        before = mine.search("green tea", reinforce=False).scores
        engine.add_many([{"text": f"green thing {number}"} for number in range(50)])
        assert mine.search("green tea", reinforce=False).scores == before
        store = mine.search("green tea", reinforce=False, statistics="store").scores
        assert store != before
        whole = engine.search(
            "green tea", reinforce=False, where=oneiros.where(project="mine")
        ).scores
        assert store == whole
        with pytest.raises(ValueError, match="statistics"):
            mine.search("tea", statistics="project")
        with pytest.raises(TypeError, match="statistics"):
            mine.search("tea", statistics=3)  # type: ignore[arg-type]
