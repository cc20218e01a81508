"""O30: the same question is given the same answer for a while, and only the same question."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from oneiros import profiles
from oneiros.clock import VirtualClock
from oneiros.scoring.selection import Selection
from oneiros.scoring.stages import ResponseCache
from oneiros.search.cache import CachedResponse, RecentAnswers
from oneiros.search.response import SearchResponse
from tests.oracles.recent_answers import Recent
from tests.search import responses

pytestmark = pytest.mark.filterwarnings("ignore::oneiros.MissingEmbedderWarning")
NOW = 1_750_000_000.0
OMEGA = profiles.get("omega")


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(NOW)


@pytest.fixture
def mind(clock: VirtualClock) -> Iterator[oneiros.Engine]:
    with oneiros.Engine(":memory:", profile="omega", clock=clock) as opened:
        opened.add("coffee is black", id="a", kind="fact", project="p", embedding=[1.0, 0.0])
        opened.add("coffee in the morning", id="b", session="s", embedding=[0.9, 0.4])
        opened.add("black tea", id="c", tags=["tea"], embedding=[0.0, 1.0])
        yield opened


def is_hit(response: SearchResponse) -> bool:
    return [stage.name for stage in response.trace.stages][:1] == ["response_cache"]


def hits(ask: Callable[[], SearchResponse]) -> bool:
    return is_hit(ask())


moves = st.lists(
    st.one_of(
        st.tuples(st.just("ask"), st.integers(0, 5), st.sampled_from([0.2, 0.7, 0.71])),
        st.tuples(st.just("wait"), st.sampled_from([0.5, 59.5, 60.0, 241.0, -30.0]), st.none()),
        st.tuples(st.just("write"), st.none(), st.none()),
    ),
    max_size=40,
)


@settings(max_examples=80, deadline=None)
@given(moves=moves, most=st.integers(1, 4))
def test_a_history_of_questions_is_answered_as_the_page_says(
    moves: list[tuple[str, Any, Any]], most: int
) -> None:
    rule = ResponseCache(most=most)
    recent, oracle, now, revision = RecentAnswers(), Recent(most), NOW, 0
    for number, (move, value, confidence) in enumerate(moves):
        if move == "wait":
            now += value
        elif move == "write":
            revision += 1
            oracle.write()
        else:
            held = recent.get(value, revision=revision, now=now)
            want = oracle.ask(value, now)
            assert (None if held is None else held.response.query) == want
            if held is None:
                told = responses.response(str(number), now=now)
                kept = CachedResponse(told, rule.kept_for(confidence))
                recent.put(value, kept, revision=revision, most=most)
                oracle.answer(value, now, confidence, str(number))
            assert len(recent) <= most


def test_what_was_found_before_a_write_is_not_given_after_it() -> None:
    recent, kept = RecentAnswers(), CachedResponse(responses.response("q", now=NOW), 60.0)
    recent.put("q", kept, revision=2, most=128)
    recent.put("late", kept, revision=1, most=128)  # looked for before the write, ready after it
    assert recent.get("late", revision=2, now=NOW) is None
    assert recent.get("q", revision=2, now=NOW) is kept
    assert recent.get("q", revision=3, now=NOW) is None


def test_a_hit_is_the_same_answer_and_says_so(mind: oneiros.Engine, clock: VirtualClock) -> None:
    first = mind.search("coffee", embedding=[1.0, 0.0])
    clock.advance(59)
    again = mind.search("coffee", embedding=[1.0, 0.0])
    assert not is_hit(first)
    assert is_hit(again)
    assert again.ids == first.ids != []
    assert [one.score for one in again] == [one.score for one in first]
    assert (again.now, again.profile_hash) == (NOW + 59, OMEGA.hash)
    stage = again.trace.stages[0]
    assert (stage.candidate_count, stage.survivor_count) == (len(again), len(again))
    assert first.confidence == pytest.approx(2 / 3)  # of three results, one is missing
    assert stage.note == "answered 59 s ago, and kept for 60 s"
    assert [one.raw_score for one in again] == [one.raw_score for one in first]
    assert again.confidence == first.confidence
    assert again.trace.duplicates == first.trace.duplicates
    assert [stage.name for stage in again.trace.stages] == ["response_cache", "reinforcement"]


def test_a_hit_strengthens_and_strengthening_does_not_make_it_miss(
    mind: oneiros.Engine, clock: VirtualClock
) -> None:
    for count in range(1, 4):
        clock.advance(1)
        response = mind.search("coffee morning", session="s2")
        assert is_hit(response) == (count > 1)
        mind.flush()
        assert response.results[0].memory.access_count == count
        assert response.results[0].memory.last_accessed_at == clock()
    assert hits(lambda: mind.search("coffee morning", reinforce=False))
    assert mind.get("b").access_count == 3


def test_its_time_is_the_engines_clock(mind: oneiros.Engine, clock: VirtualClock) -> None:
    for seconds, is_kept in ((0, False), (60, True), (0.5, False), (-1, False), (1, True)):
        clock.advance(seconds)
        unsure = OMEGA.replace(cache=ResponseCache(confident_seconds=60))
        assert hits(lambda: mind.search("coffee", profile=unsure)) == is_kept, seconds  # noqa: B023
    assert mind.search("coffee", k=2).confidence == 1.0  # of as many as are asked for
    clock.advance(300)
    assert hits(lambda: mind.search("coffee", k=2))
    clock.advance(0.5)
    assert not hits(lambda: mind.search("coffee", k=2))


WRITES: dict[str, Callable[[oneiros.Engine], object]] = {
    "add": lambda mind: mind.add("zebra"),
    "add_many": lambda mind: mind.add_many([{"text": "zebra"}]),
    "update": lambda mind: mind.update("c", text="green tea"),
    "feedback": lambda mind: mind.feedback("c", "helpful"),
    "delete": lambda mind: mind.delete("c"),
    "restore": lambda mind: (mind.delete("c"), mind.search("coffee"), mind.restore("c")),
    "forget": lambda mind: mind.forget("c"),
    "supersede": lambda mind: mind.supersede("c", "a"),
    "pin": lambda mind: mind.pin("c"),
    "link": lambda mind: mind.link("a", "c"),
    "reembed": lambda mind: mind.reembed(lambda texts: [[1.0, 2.0]] * len(texts)),
}


@pytest.mark.parametrize("write", WRITES)
def test_any_write_makes_it_miss(mind: oneiros.Engine, write: str) -> None:
    mind.search("coffee")
    assert hits(lambda: mind.search("coffee"))
    WRITES[write](mind)
    assert not hits(lambda: mind.search("coffee"))
    assert hits(lambda: mind.search("coffee"))


def test_a_memory_that_expires_or_becomes_valid_makes_it_miss(
    mind: oneiros.Engine, clock: VirtualClock
) -> None:
    mind.add("coffee until noon", id="noon", valid_until=NOW + 10)
    mind.add("coffee for a while", id="while", kind="transient_state", ttl=20.0)
    mind.add("coffee from then on", id="then", valid_from=NOW + 30)
    told = []
    for seconds in (0, 10, 1, 0, 9, 1, 8, 1, 1):
        clock.advance(seconds)
        response = mind.search("coffee", profile=BARE)
        told.append((clock() - NOW, is_hit(response), set(response.ids) - {"a", "b"}))
    assert told == [
        (0, False, {"noon", "while"}),
        (10, True, {"noon", "while"}),
        (11, False, {"while"}),
        (11, True, {"while"}),
        (20, True, {"while"}),
        (21, False, set()),
        (29, True, set()),
        (30, False, {"then"}),
        (31, True, {"then"}),
    ]


def test_what_does_not_expire_in_the_profile_makes_it_hit(
    mind: oneiros.Engine, clock: VirtualClock
) -> None:
    plans = Selection(expiring_kinds=("plan",))
    profile = BARE.replace(selection=plans)
    mind.add("coffee until noon", id="fact", kind="fact", valid_until=NOW + 10)
    mind.add("coffee until one", id="plan", kind="plan", valid_until=NOW + 20)
    found = []
    for seconds in (0, 10, 5, 6, 1):
        clock.advance(seconds)
        response = mind.search("coffee", profile=profile)
        found.append((clock() - NOW, is_hit(response), set(response.ids) - {"a", "b"}))
    assert found == [
        (0, False, {"fact", "plan"}),
        (10, True, {"fact", "plan"}),
        (15, True, {"fact", "plan"}),
        (21, False, {"fact"}),
        (22, True, {"fact"}),
    ]


OTHERS: dict[str, dict[str, Any]] = {
    "query": {"query": "Coffee"},
    "k": {"k": 2},
    "where": {"where": oneiros.where(kind="fact")},
    "profile": {"profile": OMEGA.replace(name="mine")},
    "preset": {"profile": profiles.get("omega", preset="decision")},
    "embedding": {"embedding": [1.0, 0.0]},
    "zero embedding": {"embedding": [0.0, 0.0]},
    "hint": {"hint": "decision"},
    "date_range": {"date_range": (NOW - 10, None)},
    "soft_range": {"date_range": (NOW - 10, None), "soft_range": True},
    "context": {"context": oneiros.Context(tags=["tea"])},
    "status": {"status": ["staged"]},
    "valid_at": {"valid_at": NOW},
    "include_expired": {"include_expired": True},
    "deep_recall": {"deep_recall": True},
    "syntax": {"syntax": "query"},
    "reranker": {"reranker": lambda _, texts: [1.0] * len(texts)},
}


@pytest.mark.parametrize("other", OTHERS)
def test_another_question_is_asked_anew_and_then_kept_itself(
    mind: oneiros.Engine, other: str
) -> None:
    mind.search("coffee")
    given = {"query": "coffee", **OTHERS[other]}
    assert not hits(lambda: mind.search(**given))
    assert hits(lambda: mind.search(**given))
    assert hits(lambda: mind.search("coffee"))


def test_a_soft_range_is_another_question_than_a_hard_one(mind: oneiros.Engine) -> None:
    hard: dict[str, Any] = {"date_range": (NOW - 10, None)}
    mind.search("coffee", **hard)
    assert not hits(lambda: mind.search("coffee", **hard, soft_range=True))
    assert hits(lambda: mind.search("coffee", **hard, soft_range=False))


@pytest.mark.parametrize(
    "past", [{"now": NOW}, {"explain": True}, {"profile": "cognitive"}, {"profile": "oneiros"}]
)
def test_some_calls_go_past_it(mind: oneiros.Engine, past: dict[str, Any]) -> None:
    for _ in range(2):
        assert not hits(lambda: mind.search("coffee", **past))
    assert not hits(lambda: mind.search("coffee"))  # nor was theirs kept
    assert not is_hit(mind.search_many(["coffee"])[0])
    assert mind.search("coffee", explain=True).results[0].explanation is not None


def test_a_scope_is_given_nothing_of_another(mind: oneiros.Engine) -> None:
    assert len(mind.search("coffee").ids) == 2
    scope = mind.scope(project="p")
    assert not hits(lambda: scope.search("coffee"))
    assert scope.search("coffee").ids == ["a"]
    assert hits(lambda: mind.scope(project="p").search("coffee"))
    assert not hits(lambda: mind.scope(project="q").search("coffee"))
    assert not hits(lambda: mind.scope(session="p").search("coffee"))


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"k": -1}, ValueError),
        ({"k": True}, TypeError),
        ({"query": 5}, TypeError),
        ({"where": {"kind": "fact"}}, TypeError),
        ({"status": ["nobody's"]}, ValueError),
        ({"status": [[]]}, TypeError),
        ({"include_expired": 1}, TypeError),
        ({"syntax": "sql"}, ValueError),
        ({"embedding": [1.0]}, ValueError),
        ({"valid_at": "soon"}, ValueError),
        ({"session": 5}, TypeError),
    ],
)
def test_what_is_refused_is_refused_with_an_answer_at_hand(
    mind: oneiros.Engine, wrong: dict[str, Any], error: type[Exception]
) -> None:
    for kept in ({}, {"k": 1}, {"include_expired": True}):
        mind.search(**{"query": "coffee", **kept})
    with pytest.raises(error):
        mind.search(**{"query": "coffee", **wrong})


def test_another_process_writes(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    clock = VirtualClock(NOW)
    with (
        oneiros.Engine(path, profile="omega", clock=clock) as one,
        oneiros.Engine(path, profile="omega", clock=clock) as other,
    ):
        one.add("coffee")
        other.search("coffee")
        assert hits(lambda: other.search("coffee"))
        one.add("more coffee, twice", id="more")
        response = other.search("coffee")
        assert not is_hit(response)
        assert "more" in response.ids


def test_what_a_reranker_fell_short_of_is_not_kept(mind: oneiros.Engine) -> None:
    calls = []

    def unsteady(_: str, texts: list[str]) -> list[float]:
        calls.append(len(texts))
        if len(calls) == 1:
            msg = "no network"
            raise ConnectionError(msg)
        return [1.0] * len(texts)

    told = [hits(lambda: mind.search("coffee", reranker=unsteady)) for _ in range(3)]
    assert told == [False, False, True]
    assert len(calls) == 2


def test_what_an_expander_fell_short_of_is_not_kept(clock: VirtualClock) -> None:
    told: Any = iter([ConnectionError("no network"), "no list of texts", ["coffee"], ["never"]])

    def unsteady(_: str) -> list[str]:
        one = next(told)
        if isinstance(one, Exception):
            raise one
        return one  # type: ignore[no-any-return]

    with oneiros.Engine(":memory:", profile="omega", query_expander=unsteady, clock=clock) as mind:
        mind.add("coffee is black")
        assert not hits(lambda: mind.search("explain black", deadline=1e-9))
        assert [hits(lambda: mind.search("explain black")) for _ in range(4)] == [
            *(False, False, False, True)
        ]


def test_a_compound_question_that_was_judged_is_kept(mind: oneiros.Engine) -> None:
    def judge(_: str, texts: list[str]) -> list[float]:
        return [1.0] * len(texts)

    query = "is the coffee black and also who drinks black tea"
    asked: dict[str, Any] = {"reranker": judge, "profile": OMEGA.replace(strong_signal=None)}
    first, again = (mind.search(query, **asked) for _ in range(2))
    assert len(first.parts) == 2
    assert "rerank" in [stage.name for stage in first.trace.stages]
    assert is_hit(again)
    assert again.ids == first.ids != []


def test_what_a_caller_does_to_results_is_not_told_to_the_next(mind: oneiros.Engine) -> None:
    for _ in range(3):
        told = mind.search("coffee")
        assert told.ids == ["a", "b"]
        assert told.results[0].score == 1.0
        assert told.results[0].memory.id == "a"
        told.results[0].id = "forged"
        told.results[0].combined_score = -7.0


def test_threads_ask_while_one_writes(mind: oneiros.Engine) -> None:
    """No answer of before a write is given after it, whichever thread asks."""
    written, wrong = [0], []
    stop = threading.Event()

    def asking() -> None:
        while not stop.is_set():
            least = written[0]
            found = len(mind.search("zebra", 50, profile=BARE, reinforce=False))
            if found < least:
                wrong.append((least, found))

    threads = [threading.Thread(target=asking) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(30):
        mind.add(f"zebra {number}")
        written[0] = number + 1
    stop.set()
    for thread in threads:
        thread.join()
    assert wrong == []


BARE = OMEGA.replace(duplicates=None, abstention=None)


def test_the_published_numbers_and_their_toml() -> None:
    assert OMEGA.cache == ResponseCache(
        most=128, seconds=60.0, confident_seconds=300.0, above_confidence=0.7
    )
    assert [name for name in profiles.names() if profiles.get(name).cache is not None] == [
        *("omega", "omega-bounded")
    ]
    mine = OMEGA.replace(cache=ResponseCache(most=3, seconds=1))
    assert oneiros.Profile.from_toml(mine.to_toml()) == mine
    assert "cache" not in OMEGA.replace(cache=None).to_toml()
    for wrong, match in (
        ({"most": 0}, "most: must be in 1 to 100000"),
        ({"seconds": -1}, "seconds: must be >= 0"),
        ({"above_confidence": 2}, "above_confidence: must be >= 0"),
    ):
        with pytest.raises(ValueError, match=match):
            ResponseCache(**wrong)
