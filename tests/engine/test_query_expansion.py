"""A conceptual question is asked in other words, too: docs/systems/omega.md O6."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from oneiros.scoring.profile import Profile
from oneiros.search.query.expansion import Rephrased
from tests.engine.random_world import DIMENSIONS, NOW, random_question, random_store
from tests.engine.test_profiles_against_oracles import engine_of
from tests.oracles import omega

OPEN = oneiros.profiles.get("omega").replace(
    fast_path=None, strong_signal=None, abstention=None, duplicates=None, keep=()
)
"""All that is found is returned."""
WEIGHTS = {"lexical": 0.5, "vector": 1.8}  # O9, conceptual


class Telling:
    """Says a question in the words it was given."""

    def __init__(self, told: object) -> None:
        self.told = told
        self.asked: list[str] = []

    def __call__(self, query: str) -> Any:
        self.asked.append(query)
        return self.told() if callable(self.told) else self.told


class ByText:
    """An embedder: a vector that follows from the text alone."""

    name = "by-text"

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    def __call__(self, texts: list[str]) -> npt.NDArray[np.float32]:
        self.calls.append(list(texts))
        seeds = [zlib.crc32(text.encode()) for text in texts]
        return np.array([np.random.default_rng(s).normal(size=DIMENSIONS) for s in seeds], "f4")


def ranks_of(mind: oneiros.Engine, text: str) -> dict[str, dict[str, int]]:
    """Ids by channel with their ranks, as a question alone finds them."""
    found: dict[str, dict[str, int]] = {"lexical": {}, "vector": {}}
    for one in mind.search(text, 300, explain=True):
        assert one.explanation is not None
        for channel in one.explanation.channels:
            if channel.rank is not None:
                found[channel.name][one.id] = channel.rank
    return found


def relevance(mind: oneiros.Engine, query: str, variants: Sequence[str]) -> dict[str, float]:
    """O7 of what O6 leaves of the ranks."""
    own, others = ranks_of(mind, query), [ranks_of(mind, one) for one in variants]
    sums: dict[str, float] = {}
    for name, weight in WEIGHTS.items():
        ids = set(own[name]).union(*(other[name] for other in others))
        values = {
            id: omega.expanded(
                1 / (60 + own[name][id]) if id in own[name] else 0.0,
                [1 / (60 + other[name][id]) for other in others if id in other[name]],
            )
            for id in ids
        }
        for id, value in values.items():
            sums[id] = sums.get(id, 0.0) + weight * value / max(values.values())
    return {id: value / max(sums.values()) for id, value in sums.items()}


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 4))
def test_the_largest_over_the_variants_stands(seed: int, count: int) -> None:
    query, *variants = [
        f"explain {random_question(seed + number)[0]} {number}" for number in range(count + 1)
    ]
    telling = Telling(variants)
    store = random_store(seed, 16)
    with (
        engine_of(store, profile=OPEN, embedder=ByText()) as plain,
        engine_of(store, profile=OPEN, embedder=ByText(), query_expander=telling) as mind,
    ):
        want = relevance(plain, query, variants)
        told = mind.search(query, 300, explain=True)
        assert telling.asked == [query]
        assert set(told.ids) == set(want)
        assert told.profile_hash == OPEN.hash
        for one in told:
            assert one.explanation is not None
            assert one.relevance_score == pytest.approx(want[one.id], rel=1e-12)
            assert one.explanation.evaluate() == one.score
        assert told.trace.stages[0].name == "query_expansion"
        (again,) = mind.search_many([query], 300, explain=True)
        assert [(one.id, one.score) for one in again] == [(one.id, one.score) for one in told]


@pytest.fixture
def embedder() -> ByText:
    return ByText()


@pytest.fixture
def opened(embedder: ByText) -> Iterator[Callable[..., oneiros.Engine]]:
    minds: list[oneiros.Engine] = []

    def opening(told: object, profile: Profile = OPEN) -> oneiros.Engine:
        mind = oneiros.Engine(
            ":memory:",
            profile=profile,
            analyzer="simple",
            clock=lambda: NOW,
            embedder=embedder,
            query_expander=None if told is None else Telling(told),
        )
        for text in ("ant bee", "bee cat", "cat dog", "dog elk", "elk fox"):
            mind.add(text, id=text)
        embedder.calls.clear()
        minds.append(mind)
        return mind

    yield opening
    for mind in minds:
        mind.close()


def scores(told: oneiros.SearchResponse) -> list[tuple[str, float]]:
    return [(one.id, one.score) for one in told]


def test_question_and_variants_are_embedded_in_one_call_and_tokens_counted(
    opened: Callable[..., oneiros.Engine], embedder: ByText
) -> None:
    words = [
        "bee hive",
        " bee hive ",
        "",
        "explain ant",
        *(f"more {n}" for n in range(5)),
        "x" * 501,
    ]
    mind = opened(Rephrased(words, prompt_tokens=7, completion_tokens=11))
    told = mind.search("explain ant")
    assert embedder.calls == [["explain ant", "bee hive", "more 0", "more 1", "more 2"]]
    stage = told.trace.stages[0]
    assert (stage.candidate_count, stage.survivor_count) == (1, 5)
    assert (stage.prompt_tokens, stage.completion_tokens) == (7, 11)
    assert stage.note == "3 too long or beyond the first 4"
    assert told.trace.total_tokens == 18


def raising() -> object:
    msg = "no model"
    raise RuntimeError(msg)


@pytest.mark.parametrize(
    ("answer", "note"),
    [
        (raising, "RuntimeError: no model"),
        ("bee", "TypeError: expected a sequence of texts, got str"),
        (lambda: None, "TypeError: expected a sequence of texts, got NoneType"),
        ([3], "TypeError: expected texts, got int"),
        (["\ud800"], "TextEncodingError: variant"),
        ([], "no other words"),
    ],
)
def test_what_fails_leaves_the_question_alone_and_the_trace_says_why(
    opened: Callable[..., oneiros.Engine], answer: object, note: str
) -> None:
    told = opened(answer).search("explain ant bee", reinforce=False)
    assert scores(told) == scores(opened(None).search("explain ant bee", reinforce=False))
    assert told.trace.stages[0].name == "query_expansion"
    assert told.trace.stages[0].note.startswith(note)


def test_what_is_slow_is_waited_for_no_longer(opened: Callable[..., oneiros.Engine]) -> None:
    end = threading.Event()
    reader = OPEN.understanding
    assert reader is not None
    hasty = OPEN.replace(understanding=replace(reader, expander_seconds=0.02))
    mind = opened(lambda: end.wait(30) and ["bee"], hasty)
    try:
        told = mind.search("explain ant")
        assert told.trace.stages[0].note == "no answer within 0.02 s"
        assert "ant bee" in told.ids
        told = mind.search("explain ant", profile=OPEN, deadline=0.01)
        assert told.trace.stages[0].note.startswith("no answer within 0.0")
    finally:
        end.set()


def test_only_conceptual_questions_of_profiles_that_fuse_ranks_are_expanded(
    opened: Callable[..., oneiros.Engine],
) -> None:
    mind = opened(raising)
    for query in ("which ant", "ant_bee", "ant"):
        (stage,) = [s for s in mind.search(query).trace.stages if s.name == "query_expansion"]
        assert stage.note == "not asked: the question is not conceptual"
    for profile in ("oneiros", "reverie", "omega-bounded"):
        stage = mind.search("explain ant", profile=profile).trace.stages[0]
        assert stage.note == "not asked: the profile reads no questions or fuses no ranks"


def test_a_variant_finds_what_the_question_does_not_and_each_part_has_its_own(
    opened: Callable[..., oneiros.Engine],
) -> None:
    mind = opened(["elk fox"])
    told = mind.search("explain ant bee", 1, embedding=[0.0] * DIMENSIONS, reinforce=False)
    assert told.ids == ["ant bee"]
    two = mind.search("explain ant bee here and also explain cat dog there", reinforce=False)
    expander = mind._scope.services.expander
    assert isinstance(expander, Telling)
    assert expander.asked[1:] == list(two.parts)
    assert [stage.name for stage in two.trace.stages].count("query_expansion") == 2
    why = mind.why_not("explain ant bee", "elk fox", k=1)
    assert any(standing.name == "lexical" and standing.rank for standing in why.channels)


def test_an_expander_is_something_to_call() -> None:
    with pytest.raises(TypeError, match="query_expander: expected a callable query -> texts"):
        oneiros.Engine(":memory:", query_expander=["bee"])  # type: ignore[arg-type]

    async def awaited(query: str) -> list[str]:
        return [query]

    with pytest.raises(TypeError, match="query_expander: expected a plain callable, got a corou"):
        oneiros.Engine(":memory:", query_expander=awaited)  # type: ignore[arg-type]


def test_one_that_replaces_all_vectors_in_each_call_ends_the_search() -> None:
    engines: list[oneiros.Engine] = []

    def replacing(query: str) -> list[str]:
        engines[0].reembed(ByText())
        return [f"{query} again"]

    question = "why does the coffee taste better in the morning"
    with oneiros.Engine(":memory:", embedder=ByText(), query_expander=replacing) as mind:
        engines.append(mind)
        mind.add("coffee in the morning", id="coffee")
        for search in (
            lambda: mind.search(question, profile=OPEN),
            lambda: mind.search_many([question, "tea"], profile=OPEN),
            lambda: mind.why_not(question, "coffee", profile=OPEN),
        ):
            with pytest.raises(oneiros.EmbedderMismatch, match="must not call reembed"):
                search()
        assert mind.search(question).ids == ["coffee"]
