"""Each part of a compound question is searched, and what they find merged: docs/systems/omega.md O10."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from oneiros.scoring.expression import Expression
from tests.engine.embedders import LetterCounts
from tests.engine.random_world import NOW, random_question, random_store
from tests.engine.test_profiles_against_oracles import engine_of
from tests.oracles import omega

OMEGA = oneiros.profiles.get("omega")
OPEN = OMEGA.replace(abstention=None, duplicates=None)
"""All that is found is returned."""
TWO = "the black coffee of ada and also green tea of bob"


@pytest.fixture
def mind() -> Iterator[oneiros.Engine]:
    with oneiros.Engine(
        ":memory:", profile=OPEN, analyzer="simple", clock=lambda: NOW, embedder=LetterCounts()
    ) as engine:
        for text in ("black coffee of ada", "green tea of bob", "coffee and tea", "zebra"):
            engine.add(text, id=text)
        yield engine


def merged(mind: oneiros.Engine, parts: list[str], **options: Any) -> list[tuple[str, float]]:
    """What the parts find when each is asked alone, put together."""
    told: dict[str, list[float]] = {}
    for part in parts:
        for one in mind.search(part, reinforce=False, **options):
            told.setdefault(one.id, []).append(one.raw_score)
    scored = [(id, omega.compound(scores)) for id, scores in told.items()]
    rows = {memory.id: row for row, memory in enumerate(mind.list(limit=1_000))}
    return sorted(scored, key=lambda one: (-one[1], rows[one[0]]))[: options["k"]]


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(2, 4), k=st.integers(1, 20))
def test_parts_are_merged_by_the_best_score_and_gain_by_each_further(
    seed: int, count: int, k: int
) -> None:
    store = random_store(seed, 16)
    parts = [f"{random_question(seed + n)[0]} unheard words".strip() for n in range(count)]
    vector = random_question(seed)[1]
    query = " and also ".join(parts)
    with engine_of(store, profile=OPEN) as mind:
        options: dict[str, Any] = {"k": k, "embedding": vector, "explain": True}
        told = mind.search(query, **options)
        want = merged(mind, parts, **options)
        assert told.parts == tuple(parts)
        raw = [one.raw_score for one in told]
        assert raw == pytest.approx([score for _, score in want], rel=1e-12)
        assert [one.score for one in told] == omega.final_normalisation(raw)  # O29
        for one, (id, score) in zip(told, want, strict=True):
            assert one.id == id or score == pytest.approx(dict(want)[one.id], rel=1e-12)
            assert one.explanation is not None
            assert one.explanation.evaluate() == one.score
            alone = [
                part
                for part in parts
                if one.id in mind.search(part, reinforce=False, **options).ids
            ]
            assert one.parts == tuple(alone)
        again = mind.search_many(
            ["w1", query, *parts], k, embeddings=[vector] * (2 + count), explain=True
        )
        assert [(one.id, one.score, one.parts) for one in again[1]] == [
            (one.id, one.score, one.parts) for one in told
        ]
        assert again[0].parts == again[2].parts == ()
        assert [len(one) for one in again[2:]] == [
            len(mind.search(part, reinforce=False, **options)) for part in parts
        ]


def test_both_parts_find_theirs_and_the_trace_tells_of_each(mind: oneiros.Engine) -> None:
    told = mind.search(TWO, 3, reinforce=False)
    black, green = told.parts
    assert (black, green) == ("the black coffee of ada", "green tea of bob")
    assert set(told.ids) == {"black coffee of ada", "green tea of bob", "coffee and tea"}
    names = [stage.name for stage in told.trace.stages]
    assert names.count("bm25_search") == names.count("scoring") == 2
    last = told.trace.stages[-1]
    assert (last.name, last.survivor_count, last.note) == ("compound", 3, "2 parts")
    assert last.candidate_count >= 3
    assert f"part 2: {green}" in told.trace.notes
    assert told.trace.stages[0].note.startswith("part 1")


def test_scores_beside_an_infinite_one_stay_as_they_are() -> None:
    endless = OPEN.replace(
        name="endless", factors=(*OPEN.factors, Expression("1 / access_count", name="unused"))
    )
    with oneiros.Engine(":memory:", profile=endless, clock=lambda: NOW) as mind:
        mind.add("green tea of bob", id="never")
        mind.add("black coffee of ada", id="once", access_count=1)
        for query in ("green tea of bob or black coffee of ada", TWO):
            answer = mind.search(query, explain=True)
            assert (answer.ids, answer.scores[0]) == (["never", "once"], math.inf)
            assert 0 < answer.scores[1] < math.inf
            for one in answer:
                assert one.score == one.raw_score
                assert one.explanation is not None
                assert one.explanation.evaluate() == one.score
                assert mind.why_not(query, one.id).score == one.score


def test_parts_are_embedded_together_and_each_result_counts_once() -> None:
    embedder = LetterCounts()
    calls: list[list[str]] = []

    def counted(texts: list[str]) -> np.ndarray[Any, Any]:
        calls.append(texts)
        return embedder(texts)

    with oneiros.Engine(
        ":memory:", profile=OPEN, analyzer="simple", clock=lambda: NOW, embedder=counted
    ) as engine:
        id = engine.add("coffee and tea of ada and bob")
        calls.clear()
        for told in (engine.search(TWO), *engine.search_many([TWO])):
            assert told.results[0].parts == told.parts
            assert len(told.parts) == 2
        assert calls == [list(told.parts)] * 2
        assert engine.get(id).access_count == 2
        assert [stage.name for stage in told.trace.stages][-2:] == ["compound", "reinforcement"]


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    profile=st.sampled_from([OPEN, OMEGA, oneiros.profiles.get("omega-bounded")]),
    k=st.integers(0, 8),
    offset=st.integers(0, 4),
)
def test_why_not_is_of_the_merged_results(
    seed: int, profile: oneiros.Profile, k: int, offset: int
) -> None:
    parts = [f"{random_question(seed + n)[0]} unheard words".strip() for n in range(3)]
    query = " and also ".join(parts)
    options: dict[str, Any] = {"k": k, "offset": offset, "embedding": random_question(seed)[1]}
    with engine_of(random_store(seed, 16), profile=profile) as mind:
        found = mind.search(query, **options, explain=True)
        for id in [*(memory.id for memory in mind), "never stored"]:
            why = mind.why_not(query, id, **options)
            assert (why.query, why.k, why.offset) == (query, k, offset)
            assert why.is_returned == (id in found.ids)
            if len(found) == k > 0:
                assert (why.kth_id, why.kth_score) == (found.ids[-1], found.scores[-1])
            elif k > 0 and not offset:
                assert (why.kth_id, why.kth_score) == (None, None)
            if why.is_returned:
                place = found.ids.index(id)
                assert offset + place + 1 == (why.linked_place or why.place)
                assert why.explanation == found[place].explanation
                assert why.part in found[place].parts
                assert why.lacked == ""
            elif why.exists:
                assert why.part in parts
                assert why.lacked


def test_why_not_names_the_part_that_finds_the_memory_best(mind: oneiros.Engine) -> None:
    green, zebra = (mind.why_not(TWO, id, k=2) for id in ("green tea of bob", "zebra"))
    assert (green.part, green.verdict) == ("green tea of bob", "returned, in place 1")
    assert str(green).startswith(
        f"'green tea of bob' for {TWO!r}, part 'green tea of bob': returned"
    )
    assert not zebra.is_returned
    assert (mind.why_not("coffee", "zebra").part, mind.why_not(TWO, "never").part) == ("", "")
    mind.update("green tea of bob", status="archived")
    hidden = mind.why_not(TWO, "green tea of bob", k=2)
    assert (hidden.verdict, hidden.part) == ("hidden: archived", "green tea of bob")
    mind.add_many([{"id": "x", "text": "coffee tea"}, {"id": "y", "text": "Coffee  tea"}])
    profile = OPEN.replace(duplicates=OMEGA.duplicates)
    assert mind.why_not(TWO, "y", profile=profile).verdict == "hidden: duplicate"


def test_what_is_alike_across_parts_is_left_once(mind: oneiros.Engine) -> None:
    profile = OPEN.replace(duplicates=OMEGA.duplicates)
    mind.add_many([{"id": "x", "text": "coffee tea"}, {"id": "y", "text": "Coffee  tea"}])
    told = mind.search(TWO, 10, profile=profile, reinforce=False)
    assert "y" not in told.ids
    assert any((one.id, one.of) == ("y", "x") for one in told.trace.duplicates)


def test_why_not_names_the_part_in_which_it_is_a_duplicate() -> None:
    profile = OPEN.replace(duplicates=OMEGA.duplicates)
    with oneiros.Engine(":memory:", profile=profile, clock=lambda: NOW) as engine:
        texts = {"tea": "green tea leaves", "x": "ant bee hive", "y": "Ant  bee hive"}
        engine.add_many([{"id": id, "text": text} for id, text in texts.items()], links=False)
        query = "green tea leaves and also ant bee hive"
        response = engine.search(query, reinforce=False)
        assert [(one.id, one.of) for one in response.trace.duplicates] == [("y", "x")]
        why = engine.why_not(query, "y")  # which the first part does not find
        assert (why.part, why.verdict) == ("ant bee hive", "hidden: duplicate")
        assert why.lacked == "it is like 'x', which stands better"


def test_where_no_part_is_near_enough_the_whole_says_so(mind: oneiros.Engine) -> None:
    query = "quagga xylophone quartz and also vuvuzela unicorn"
    told = mind.search(query, profile=OMEGA, embedding=[0.0, 0, 0, 0, 0, 0, 0, 1.0])
    assert len(told.parts) == 2
    assert told.ids == []
    assert told.abstained
    assert mind.search(query, 0).ids == []
    assert 0 < len(told.nearest_misses) <= 3
    assert len({one.id for one in told.nearest_misses}) == len(told.nearest_misses)


def test_others_and_structured_questions_stay_whole(mind: oneiros.Engine) -> None:
    for profile in ("oneiros", "reverie", "cognitive"):
        assert mind.search(TWO, profile=profile, reinforce=False).parts == ()
    assert mind.search(TWO, syntax="query", reinforce=False).parts == ()
    assert mind.search("coffee", reinforce=False).results[0].parts == ()
