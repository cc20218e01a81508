"""Use in lives of dated collections, their order, and what each mode leaves in a store."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from oneiros import profiles
from oneiros.engine import Engine
from oneiros.evaluation.collection import Collection, Document, Query
from oneiros.evaluation.tasks import BASELINES
from oneiros.evaluation.use import (
    DEPTH,
    MODES,
    QUESTION_KINDS,
    Arrival,
    Life,
    Search,
    UseFigures,
    live,
    lives_of,
    measure_use,
)
from oneiros.runtime.dataclasses import replace
from tests.collections_on_disk import one_conversation

DAY = 86_400.0
MONDAY = 1_704_067_200.0
SIZE = 8


def stamp(day: int) -> str:
    return f"2024-01-{day:02}T00:00:00"


def document(group: str, day: int, **changes: Any) -> Document:
    """Return a document of the word "kettle" and a word of its own; one a day."""
    fields: dict[str, Any] = {
        "id": f"{group}{day}",
        "title": "",
        "text": f"kettle {group}word{day}",
        "timestamp": stamp(day),
        "metadata": {"group": group, "session": day // 3},
    }
    return Document(**{**fields, **changes})


def query(group: str, day: int, *, as_of: int | None = None, **changes: Any) -> Query:
    """Return a query for the document of a day, asked on another day where that is given."""
    fields: dict[str, Any] = {
        "id": f"q-{group}{day}",
        "text": f"which kettle is {group}word{day}?",
        "timestamp": None if as_of is None else stamp(as_of),
        "metadata": {"group": group, "asof": as_of is not None},
        "answers": {f"{group}{day}": 1.0},
    }
    return Query(**{**fields, **changes})


def collection(documents: list[Document], queries: list[Query]) -> Collection:
    return Collection(
        name="kettles",
        documents=documents,
        queries=queries,
        document_vectors=None,
        query_vectors=None,
    )


@pytest.fixture
def kettles() -> Collection:
    """Two groups; the queries of "b" are asked on the day of a document that is not theirs."""
    days = range(1, SIZE + 1)
    documents = [document(group, day) for day in reversed(days) for group in "ab"]
    plain = [query("a", day) for day in days]
    dated = [query("b", day, as_of=day + 2) for day in days]
    unanswerable = query("a", 1, id="nothing", answers={"a1": 0.0})
    return collection(documents, [*plain, *dated, unanswerable])


def searches_of(life: Life) -> list[Search]:
    return [event for event in life.events if isinstance(event, Search)]


def played(life: Life, mode: Any, name: str = "bm25") -> tuple[Engine, dict[str, list[str]]]:
    profile = BASELINES.get(name) or profiles.get(name)
    engine = Engine(":memory:", profile=profile, vector_index="flat")
    return engine, live(engine, life, mode)


@pytest.mark.parametrize("seed", range(12))
def test_each_search_comes_after_the_older_documents_alone(kettles: Collection, seed: int) -> None:
    """A scan of the documents says which memories a search of a time finds stored."""
    for life in lives_of(kettles, seed):
        times = {one.id: MONDAY + DAY * (int(one.id[1:]) - 1) for one in kettles.documents}
        stored: list[str] = []
        last = 0.0
        for event in life.events:
            assert event.at >= last
            last = event.at
            if isinstance(event, Arrival):
                assert [float(record["created_at"]) for record in event.records][-1] == event.at
                stored += [record["id"] for record in event.records]
            else:
                older = [id for id, at in times.items() if id[0] == life.name and at < event.at]
                assert stored == sorted(older, key=times.__getitem__)
        assert len(stored) == SIZE


@pytest.mark.parametrize("seed", range(12))
def test_half_of_the_questions_are_asked_before_they_are_measured(
    kettles: Collection, seed: int
) -> None:
    plain, dated = lives_of(kettles, seed)
    for life, end in ((plain, MONDAY + DAY * (SIZE - 1)), (dated, MONDAY + DAY * (SIZE + 1))):
        searches = searches_of(life)
        kinds = Counter(each.measured_as for each in searches)
        assert kinds["new"] == kinds["repeated"] == SIZE // 2
        asked = Counter(each.question.id for each in searches if each.measured_as is None)
        repeated = {each.question.id for each in searches if each.measured_as == "repeated"}
        assert set(asked) == repeated
        assert set(asked.values()) <= {1, 2, 3}
        own = {each.question.id: each.question.now for each in searches}
        for each in searches:
            evidence = MONDAY + DAY * (int(each.question.id[3:]) - 1)
            if each.measured_as == "repeated" or (each.measured_as == "new" and life is plain):
                assert each.at == end + DAY
            elif each.measured_as == "new":
                assert each.at == own[each.question.id]
            else:
                assert evidence + 60.0 <= each.at <= max(end, evidence + 60.0)
        if life is dated:
            first = {each.question.id: each.at for each in reversed(searches)}
            assert first == own


def test_about_two_of_five_questions_are_asked_again() -> None:
    days = range(1, 29)
    long = collection(
        [document("a", day) for day in days],
        [query("a", day, id=f"{day}-{n}") for day in days for n in range(20)],
    )
    (life,) = lives_of(long)
    asked = Counter(each.question.id for each in searches_of(life) if each.measured_as is None)
    times = Counter(asked.values())
    assert sum(times.values()) == 280
    assert 84 <= times[2] + times[3] <= 140
    assert min(times[2], times[3]) >= 30


def test_the_unasked_life_writes_nothing(kettles: Collection) -> None:
    for life in lives_of(kettles):
        engine, _ = played(life, "unasked", "oneiros")
        with engine, Engine(":memory:", profile="oneiros", vector_index="flat") as untouched:
            for event in life.events:
                if isinstance(event, Arrival):
                    untouched.add_many(event.records, now=event.at)
            ids = [one.id for one in kettles.documents if one.id.startswith(life.name)]
            assert [engine.get(id) for id in ids] == [untouched.get(id) for id in ids]
            assert engine.count() == SIZE


def test_silent_searches_reinforce_and_feedback_lands_on_answers_alone(kettles: Collection) -> None:
    for life in lives_of(kettles):
        uses = [each for each in searches_of(life) if each.measured_as is None]
        answered = Counter(id for each in uses for id in each.question.answers)
        silent, _ = played(life, "silent")
        with silent:
            memories = [silent.get(f"{life.name}{day}") for day in range(1, SIZE + 1)]
            assert sum(memory.access_count for memory in memories) >= len(uses)
            assert {memory.feedback for memory in memories} == {0}
        engine, _ = played(life, "feedback")
        with engine:  # the words of a question find its answer each time
            for day in range(1, SIZE + 1):
                assert engine.get(f"{life.name}{day}").feedback == answered[f"{life.name}{day}"]


@pytest.mark.parametrize("mode", MODES)
def test_questions_as_of_a_time_see_no_later_documents(kettles: Collection, mode: str) -> None:
    (_, life) = lives_of(kettles)
    engine, rankings = played(life, mode)
    engine.close()
    assert len(rankings) == SIZE
    for each in searches_of(life):
        found = rankings[each.question.id]
        day = int(each.question.id[3:])
        # Every document has the word "kettle"; that of the question's own day is not older.
        assert {int(id[1:]) for id in found} == set(range(1, min(day + 2, SIZE + 1)))


def test_feedback_lifts_a_repeated_question() -> None:
    """All documents have the question's word, and the oldest is its answer: use can raise it."""
    documents = [document("a", day) for day in range(1, SIZE + 1)]
    queries = [query("a", 1, id=f"q{n}", text="kettle") for n in range(2)]
    lives = lives_of(collection(documents, queries))
    figures = measure_use(lives, profiles.get("oneiros"))
    repeated = figures["repeated"]
    assert repeated.count == figures["new"].count == 1
    assert repeated.ndcg < 1.0
    assert repeated.ndcg_gains["feedback"].mean > 0.0


def test_the_same_seed_gives_the_same_figures(kettles: Collection) -> None:
    lives = lives_of(kettles, 3)
    assert lives == lives_of(kettles, 3) != lives_of(kettles, 4)
    seen: list[int] = []
    first, second = (
        measure_use(lives_of(kettles, 3), profiles.get("oneiros"), seed=3, advance=seen.append)
        for _ in range(2)
    )
    assert first == second
    assert sum(seen) == 2 * len(MODES) * 2 * SIZE
    assert list(first) == list(QUESTION_KINDS)


def test_a_collection_without_groups_is_one_life() -> None:
    documents = [document("a", day, metadata={}) for day in range(1, 5)]
    queries = [query("a", day, metadata={}) for day in range(1, 5)]
    (life,) = lives_of(collection(documents, queries))
    assert life.name == ""
    assert repr(life).startswith("<Life '': ")
    engine, rankings = played(life, "silent")
    engine.close()
    assert {id: found[0] for id, found in rankings.items()} == {
        f"q-a{day}": f"a{day}" for day in range(1, 5)
    }


def test_a_question_whose_answers_lie_in_another_group_is_not_asked(kettles: Collection) -> None:
    astray = replace(kettles.queries[0], id="astray", answers={"nowhere": 1.0})
    with_it = replace(kettles, queries=[*kettles.queries, astray])
    asked = {search.question.id for life in lives_of(with_it) for search in searches_of(life)}
    assert asked == {
        search.question.id for life in lives_of(kettles) for search in searches_of(life)
    }


def test_lives_without_questions_are_refused() -> None:
    with pytest.raises(ValueError, match="lives: must have questions of both kinds, got no new"):
        measure_use((), profiles.get("bm25"))


def test_what_cannot_be_lived_is_refused(kettles: Collection) -> None:
    undated = replace(kettles, documents=[*kettles.documents, document("a", 9, timestamp=None)])
    plain = replace(undated, queries=[query("a", 1), query("a", 2)])
    message = "kettles: every document needs a timestamp to measure use, got 16 of 17 with one"
    with pytest.raises(ValueError, match=message):
        lives_of(plain)
    with pytest.raises(ValueError, match="got 0 of 0"):
        lives_of(replace(kettles, documents=[]))
    elsewhere = replace(query("a", 2), answers={"nowhere": 1.0})
    message = "kettles: a group needs at least 2 answerable questions, got 1"
    for other in (query("b", 1), elsewhere):
        with pytest.raises(ValueError, match=message):
            lives_of(replace(kettles, queries=[query("a", 1), other]))
    twice = [query("a", 1), query("b", 2), query("b", 3, id="q-a1")]
    with pytest.raises(
        ValueError, match="kettles: ids of queries must be unique, got 'q-a1' twice"
    ):
        lives_of(replace(kettles, queries=twice))
    untimed = query("b", 1, metadata={"group": "b", "asof": True})
    with pytest.raises(ValueError, match=r"query q-b1: metadata\.asof is true, so it needs"):
        lives_of(replace(kettles, queries=[untimed]))
    with pytest.raises(ValueError, match="seed: must be in 0 to"):
        lives_of(kettles, -1)
    with pytest.raises(TypeError, match="seed"):
        lives_of(kettles, 1.5)  # type: ignore[arg-type]
    with (
        Engine(":memory:") as engine,
        pytest.raises(
            ValueError, match="mode: must be one of unasked, silent, feedback, got 'silnt'"
        ),
    ):
        live(engine, lives_of(kettles)[0], "silnt")  # type: ignore[arg-type]


def assert_within_bounds(figures: UseFigures) -> None:
    assert 0.0 < figures.ndcg <= 1.0
    assert 0.0 < figures.recall <= 1.0
    for gains, before in (
        (figures.ndcg_gains, figures.ndcg),
        (figures.recall_gains, figures.recall),
    ):
        for gain in gains.values():
            assert gain.low <= gain.mean <= gain.high
            assert 0.0 <= before + gain.mean <= 1.0


def test_use_changes_nothing_under_words_alone_in_a_real_conversation() -> None:
    one = one_conversation()
    lives = lives_of(one)
    assert sum(each.measured_as is None for each in searches_of(lives[0])) > 50
    for figures in measure_use(lives, BASELINES["bm25"]).values():
        assert_within_bounds(figures)
        assert figures.count > 50
        for gain in (*figures.ndcg_gains.values(), *figures.recall_gains.values()):
            assert (gain.low, gain.mean, gain.high) == (0.0, 0.0, 0.0)
    for figures in measure_use(lives, profiles.get("oneiros")).values():
        assert_within_bounds(figures)
        assert figures.ndcg_gains["feedback"].mean != 0.0
    assert DEPTH == 10
