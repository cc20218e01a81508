"""A reranker in a search: O25 and C8 by definition, in time or not at all, and told in the trace."""

from __future__ import annotations

import asyncio
import itertools
import math
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from oneiros import profiles
from oneiros.models.rerankers import Judged
from oneiros.scoring.factors import Rerank
from oneiros.scoring.stages import Reranking, Surfacing, with_place
from tests.oracles import reranking as oracle

NOW = 1_750_000_000.0
COUNT = 26
COGNITIVE, OMEGA = profiles.get("cognitive"), profiles.get("omega")
BARE = OMEGA.replace(duplicates=None, abstention=None, retry=None, normalisation=None)
SCORE = (
    st.none()
    | st.integers(-3, 3)
    | st.floats(-1e6, 1e6)
    | st.sampled_from([math.nan, math.inf, -math.inf])
)
Scores = Sequence[float | None]


class Told:
    """Gives texts the scores it was told, by the numbers that they end with."""

    def __init__(self, scores: Scores) -> None:
        self.scores = scores
        self.asked: list[tuple[str, list[str]]] = []

    def __call__(self, query: str, texts: list[str]) -> list[float | None]:
        self.asked.append((query, texts))
        return [self.scores[int(text.split()[-1])] for text in texts]


@pytest.fixture(scope="module")
def mind() -> Iterator[oneiros.Engine]:
    with oneiros.Engine(":memory:", profile="cognitive", clock=lambda: NOW) as opened:
        for number in range(COUNT):
            nearness = 1.0 - number / 40
            opened.add(
                f"ant {'bee ' * (number % 5)}{number}",
                id=f"m{number}",
                title="An insect" if number == 3 else "",
                embedding=[nearness, math.sqrt(1 - nearness**2)],
            )
        yield opened


def ask(mind: oneiros.Engine, k: int = COUNT, **options: Any) -> oneiros.SearchResponse:
    given: dict[str, Any] = {"embedding": [1.0, 0.0], "reinforce": False}
    return mind.search("ant", k, **{**given, **options})


def test_what_a_reranker_lets_be_forgotten_is_no_near_miss() -> None:
    strict = OMEGA.replace(abstention=Surfacing(least_overlap=0.0, least_score=1e6))
    with oneiros.Engine(":memory:", profile=strict, clock=lambda: NOW) as opened:
        for number in range(3):
            opened.add(f"ant {number} " + "abc"[number] * 20, id=f"m{number}")

        def forgetful(_: str, texts: list[str]) -> list[float]:
            opened.forget("m0")
            return [1.0] * len(texts)

        response = opened.search("ant", reranker=forgetful)
        assert response.abstained
        assert {one.memory.id for one in response.nearest_misses} == {"m1", "m2"}


@settings(max_examples=20, deadline=None)
@given(
    scores=st.lists(SCORE, min_size=COUNT, max_size=COUNT),
    k=st.integers(1, COUNT),
    top=st.sampled_from([1, 5, 20]),
)
def test_scores_multiply_by_their_ranks_where_the_profile_has_the_factor(
    mind: oneiros.Engine, scores: Scores, k: int, top: int
) -> None:
    profile = BARE.replace(rerank=Reranking(top=top))
    before = ask(mind, profile=profile)
    assert len(before) == COUNT
    response = ask(mind, k, profile=profile, reranker=Told(scores), explain=True)
    numbers = [int(id[1:]) for id in before.ids]
    want = {one.id: one.score for one in before}
    held = [scores[number] for number in numbers[:top]]
    if any(one is not None and math.isfinite(one) for one in held):
        for id, boost in zip(before.ids, oracle.boosts(held), strict=False):
            want[id] *= boost
    order = sorted(want, key=lambda id: (-want[id], int(id[1:])))
    assert [one.score for one in response] == pytest.approx([want[id] for id in order[:k]])
    gaps = [want[a] - want[b] for a, b in itertools.pairwise(order)]
    if all(gap == 0 or gap > 1e-9 for gap in gaps):  # min-max rounds
        assert response.ids == order[:k]
    for one in response:
        assert one.explanation is not None
        assert one.explanation.evaluate() == one.score


@settings(max_examples=20, deadline=None)
@given(scores=st.lists(SCORE, min_size=COUNT, max_size=COUNT), k=st.integers(1, COUNT))
def test_the_order_is_the_scores_where_it_has_not(
    mind: oneiros.Engine, scores: Scores, k: int
) -> None:
    before = ask(mind)
    reranker = Told(scores)
    response = ask(mind, k, reranker=reranker)
    numbers = [int(id[1:]) for id in before.ids]
    places = oracle.order([scores[number] for number in numbers[:10]])  # C8: the top 10
    want = [before.ids[place] for place in [*places, *range(10, COUNT)]]
    assert response.ids == want[:k]
    by_id = {one.id: one for one in before}
    assert [one.score for one in response] == [by_id[id].score for id in response.ids]
    ((query, texts),) = reranker.asked
    assert query == "ant"
    assert [text.split()[-1] for text in texts] == [str(number) for number in numbers[:10]]
    assert "An insect ant bee bee bee 3" in texts


def test_the_published_numbers_and_their_toml() -> None:
    assert COGNITIVE.rerank == Reranking(top=10, after_links=False, deadline_seconds=5.0)
    assert OMEGA.rerank == Reranking(top=20, after_links=True, deadline_seconds=5.0)
    assert Rerank() in OMEGA.factors
    patient = OMEGA.replace(rerank=Reranking(deadline_seconds=math.inf))
    assert oneiros.Profile.from_toml(patient.to_toml()) == patient
    assert patient.hash != OMEGA.hash
    with pytest.raises(ValueError, match="deadline_seconds: must be > 0, got 0"):
        Reranking(deadline_seconds=0)


def test_a_profile_without_a_place_has_the_default_one(mind: oneiros.Engine) -> None:
    house = profiles.get("oneiros")
    before = ask(mind, profile=house)
    assert "rerank" not in [stage.name for stage in before.trace.stages]
    response = ask(mind, profile=house, reranker=Told(range(COUNT)))
    first = sorted(before.ids[:20], key=lambda id: -int(id[1:]))
    assert response.ids == [*first, *before.ids[20:]]
    assert response.profile_hash == house.hash
    assert with_place(house).rerank == Reranking()
    assert with_place(OMEGA) is OMEGA


class Failing:
    """Fails in the way it is told to."""

    def __init__(self, how: object) -> None:
        self.how = how

    def __call__(self, *_: object) -> Any:
        if isinstance(self.how, Exception):
            raise self.how
        return self.how


@pytest.mark.parametrize("profile", [COGNITIVE, OMEGA, BARE], ids=lambda one: one.name)
@pytest.mark.parametrize(
    ("how", "note"),
    [
        (TimeoutError("the model is away"), "TimeoutError: the model is away"),
        ([1.0], "ValueError: expected "),
        ([math.inf, None], "ValueError: expected "),
        ("scores", "TypeError: expected numbers"),
    ],
)
def test_one_that_fails_leaves_the_order_as_it_was(
    mind: oneiros.Engine, profile: oneiros.Profile, how: object, note: str
) -> None:
    want = ask(mind, profile=profile)
    for response in (
        ask(mind, profile=profile, reranker=Failing(how)),
        *mind.search_many(
            ["ant"],
            COUNT,
            embeddings=[[1.0, 0.0]],
            profile=profile,
            reranker=Failing(how),
            reinforce=False,
        ),
    ):
        assert [(one.id, one.score) for one in response] == [(one.id, one.score) for one in want]
        (stage,) = [one for one in response.trace.stages if one.name == "rerank"]
        assert stage.note.startswith(f"as it was without: {note}")


def test_one_that_is_slow_is_not_waited_for(mind: oneiros.Engine) -> None:
    gate = threading.Event()

    def slow(_: str, texts: list[str]) -> list[float]:
        gate.wait(30)
        return [float(place) for place, _ in enumerate(texts)]

    hasty = COGNITIVE.replace(rerank=replace(Reranking(top=10), deadline_seconds=0.01))
    want = ask(mind).ids
    try:
        for options in ({"deadline": 0.01}, {"profile": hasty}):
            response = ask(mind, reranker=slow, **options)
            assert response.ids == want
            (stage,) = [one for one in response.trace.stages if one.name == "rerank"]
            assert stage.note.startswith("as it was without: no answer within 0.0")
        many = mind.search_many(
            ["ant", "bee"],
            embeddings=[[1.0, 0.0]] * 2,
            reranker=slow,
            deadline=0.05,
            reinforce=False,
        )
        notes = [one.note for response in many for one in response.trace.stages]
        assert "as it was without: no time was left" in notes  # of both together
    finally:
        gate.set()
    assert ask(mind, reranker=slow, profile=hasty, deadline=30.0).ids != want
    assert ask(mind, reranker=slow, profile=hasty, deadline=math.inf).ids != want


def test_tokens_stand_in_the_trace(mind: oneiros.Engine) -> None:
    def priced(_: str, texts: list[str]) -> Judged:
        scores = [None if place == 0 else 1.0 for place, _ in enumerate(texts)]
        return Judged(scores, prompt_tokens=100 * len(texts), completion_tokens=len(texts))

    trace = ask(mind, reranker=priced).trace
    (stage,) = [one for one in trace.stages if one.name == "rerank"]
    assert (stage.prompt_tokens, stage.completion_tokens) == (1_000, 10)
    assert (stage.candidate_count, stage.survivor_count) == (COUNT, COUNT)
    assert stage.note == "1 of 10 have no finite score"
    assert trace.total_tokens == 1_010
    assert "1000" in str(trace)


def test_an_engine_has_one_of_its_own_and_asks_it_what_is_said() -> None:
    reranker = Told([0.0, 2.0, 1.0])
    options: dict[str, Any] = {"profile": "cognitive", "clock": lambda: NOW, "reranker": reranker}
    asked: dict[str, Any] = {"syntax": "query", "reinforce": False, "embedding": [1.0]}
    with oneiros.Engine(":memory:", **options) as mind:
        rows = [{"id": f"m{n}", "text": f"ant {n}", "embedding": [1.0]} for n in range(3)]
        mind.add_many(rows, links=False)
        assert mind.search("+ant -bee", **asked).ids == ["m1", "m2", "m0"]
        assert reranker.asked[0][0] == "ant"  # not what must not be
        asked = {"embedding": [1.0], "reinforce": False}
        other = mind.search("ant", reranker=Told([0.0, 1.0, 2.0]), **asked)
        assert other.ids == ["m2", "m1", "m0"]
        before = len(reranker.asked)
        assert mind.search("nothing").ids == []
        assert len(reranker.asked) == before  # nothing to judge
        told = mind.why_not("ant", "m0", k=1, embedding=[1.0])
        assert (told.is_returned, told.place) == (False, 3)
        assert told.lacked == "stands behind place 1 in the reranker's order"
        told = mind.why_not("ant", "m0", k=1, embedding=[1.0], profile=BARE)
        assert told.explanation is not None
        assert told.kth is not None
        assert told.kth.factors[-1].value == 1.15
        assert "its rerank factor 1.0000 (there 1.1500) costs most" in told.lacked
        assert mind.scope(project="p").search("ant").ids == []

    async def awaited() -> list[str]:
        async with oneiros.AsyncEngine(":memory:", **options) as mind:
            await mind.add_many([{"id": f"m{n}", "text": f"ant {n}"} for n in range(3)])
            return (await mind.search("ant", profile="oneiros")).ids

    assert asyncio.run(awaited()) == ["m1", "m2", "m0"]


def test_what_is_no_reranker_or_deadline_is_refused(mind: oneiros.Engine) -> None:
    for wrong in (5, "model", [lambda *_: []]):
        with pytest.raises(TypeError, match="reranker: expected a callable"):
            oneiros.Engine(":memory:", reranker=wrong)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="reranker: expected a callable"):
            ask(mind, reranker=wrong)

    class Awaited:
        async def predict(self, pairs: list[tuple[str, str]]) -> list[float]:
            return [1.0 for _ in pairs]

    for awaited in (Awaited(), Awaited().predict):
        with pytest.raises(TypeError, match="reranker: expected a plain callable, got a coroutine"):
            ask(mind, reranker=awaited)
    for wrong in (0, -1.0, math.nan):
        with pytest.raises(ValueError, match="deadline: must be > 0"):
            ask(mind, deadline=wrong)
    for wrong in ("soon", True):
        with pytest.raises(TypeError, match="deadline: expected a number"):
            ask(mind, deadline=wrong)


@pytest.mark.parametrize("k", [1, 3, 8, 16])
def test_an_order_with_low_scores_first_leaves_no_place_empty(k: int) -> None:
    """O26 looks through all where O27 takes away what an order by a reranker has put first."""
    surfacing = Surfacing(least_cosine=0.0, least_overlap=0.0, least_score=0.5)
    profile = profiles.get("omega-bounded").replace(abstention=surfacing)
    with oneiros.Engine(":memory:", embedder="hashing", clock=lambda: NOW) as mind:
        for number in range(16):
            text = f"pool {chr(97 + number) * 5} " + f"filler {chr(113 - number) * 4} " * number
            mind.add(text, id=f"m{number}", priority=5 if number < 8 else 1)

        def ask(k: int, **options: Any) -> oneiros.SearchResponse:
            return mind.search("pool", k, profile=profile, reinforce=False, **options)

        count = len(ask(16))
        assert 8 <= count < 16
        found = ask(k, reranker=lambda _, texts: [float(n) for n in range(len(texts))])
        assert len(found) == min(k, count)
        assert found.ids == ask(16).ids[::-1][:k]
