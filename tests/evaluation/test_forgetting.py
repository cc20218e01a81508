"""The cost of forgetting: the policies by hand, and one real conversation."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest

from oneiros import profiles
from oneiros.engine import Engine
from oneiros.evaluation.collection import Collection, Document, Query
from oneiros.evaluation.forgetting import (
    POLICIES,
    ForgettingFigures,
    Policy,
    forget_along,
    measure_forgetting,
)
from oneiros.evaluation.tasks import JudgedQuery
from oneiros.evaluation.use import Arrival, Life, Search, lives_of
from oneiros.scoring.phases.house import Budget
from tests.collections_on_disk import one_conversation

DAY = 86_400.0
START = 1_704_067_200.0
HOUSE = profiles.get("oneiros")
ONLY = HOUSE.replace(name="only", phases=(Budget(),))


@pytest.fixture
def months() -> Collection:
    """One document a month, and a query for each."""
    documents = [
        Document(
            id=f"d{month}",
            title="",
            text=f"kettle word{month} {'and ' * month}",
            timestamp=f"2023-{month:02}-01T00:00:00",
            metadata={},
        )
        for month in range(1, 11)
    ]
    queries = [
        Query(
            id=f"q{month}",
            text=f"kettle word{month}",
            timestamp=None,
            metadata={},
            answers={f"d{month}": 1.0},
        )
        for month in range(1, 11)
    ]
    return Collection(
        name="months",
        documents=documents,
        queries=queries,
        document_vectors=None,
        query_vectors=None,
    )


def search(word: str, days: float, *, is_measured: bool = False) -> Search:
    question = JudgedQuery(
        id=f"{word} {days}",
        type="",
        text=word,
        answers={word: 1.0},
        embedding=None,
        now=START + days * DAY,
        where=None,
    )
    kind: Any = "new" if is_measured else None
    return Search(at=START + days * DAY, question=question, measured_as=kind)


def arrival(id: str, days: float, text: str) -> Arrival:
    at = START + days * DAY
    return Arrival(at=at, records=({"id": id, "text": text, "created_at": at},))


BY_HAND = Life(
    name="by hand",
    events=(
        arrival("ada", 0.0, "ada"),
        arrival("bob", 10.0, "bob has the longest of all these texts"),
        arrival("cat", 20.0, "cat is long too"),
        search("cat", 25.0),
        arrival("dog", 30.0, "dog"),
        search("ada", 40.0),
        search("cat", 41.0),
        search("ada", 42.0),
        search("bob", 50.0),
        arrival("eve", 60.0, "eve"),
        arrival("fox", 61.0, "fox"),
        search("dog", 100.0, is_measured=True),
    ),
)


def left(policy: Policy | None, share: float, *, every_days: float = 1_000.0) -> set[str]:
    with Engine(":memory:", profile=ONLY, vector_index="flat") as engine:
        rankings, kept = forget_along(engine, BY_HAND, policy, share=share, every_days=every_days)
        assert list(rankings) == ["dog 100.0"]
        ids = [event.records[0]["id"] for event in BY_HAND.events if isinstance(event, Arrival)]
        stays = {id for id in ids if engine.get(id).status != "archived"}
    assert kept == pytest.approx(len(stays) / len(ids))
    assert rankings["dog 100.0"] == (["dog"] if "dog" in stays else [])
    return stays


@pytest.mark.parametrize(
    ("policy", "best_first"),
    [
        ("fifo", "fox eve dog cat bob ada"),
        ("lru", "fox eve bob ada cat dog"),
        ("lfu", "ada cat bob fox eve dog"),
    ],
)
def test_what_a_policy_keeps(policy: Policy, best_first: str) -> None:
    order = best_first.split()
    for count in range(1, 6):
        assert left(policy, count / 6 - 0.01) == set(order[:count]), count


def test_the_shortest_texts_go_first() -> None:
    assert left("shortest", 1 / 6) == {"bob"}
    assert left("shortest", 2 / 6) == {"bob", "cat"}


def test_without_a_policy_nothing_goes() -> None:
    assert left(None, 0.01) == {"ada", "bob", "cat", "dog", "eve", "fox"}


def test_random_is_the_same_each_time_and_the_larger_share_holds_the_smaller() -> None:
    stays = [left("random", count / 6 - 0.01) for count in range(1, 7)]
    assert stays == [left("random", count / 6 - 0.01) for count in range(1, 7)]
    assert all(one < other for one, other in itertools.pairwise(stays))


def test_worth_keeps_what_helped() -> None:
    assert left("worth", 0.5) == {"ada", "bob", "cat"}


def test_searches_do_not_find_what_went_before() -> None:
    """On day 35 "cat" and "dog" stay, so the later searches for "ada" and "bob" use nothing."""
    assert left("lfu", 0.5, every_days=35.0) == {"cat", "eve", "fox"}


def test_all_policies_keep_equally_many(months: Collection) -> None:
    figures = measure_forgetting(lives_of(months), HOUSE, share=0.5, every_days=30.0)
    assert [one.policy for one in figures] == list(POLICIES)
    assert {one.kept for one in figures} == {0.5}
    assert {one.count for one in figures} == {5}
    for one in figures:
        # Each question finds its one answer, or it is archived.
        assert one.recall == pytest.approx(1.0 + one.recall_gain.mean)
        assert one.recall_gain.low <= one.recall_gain.mean <= one.recall_gain.high <= 0.0


def test_the_same_seed_gives_the_same_figures(months: Collection) -> None:
    seen: list[int] = []
    first, second = (
        measure_forgetting(
            lives_of(months),
            HOUSE,
            share=0.3,
            every_days=60.0,
            policies=("worth", "random"),
            seed=4,
            advance=seen.append,
        )
        for _ in range(2)
    )
    assert first == second
    assert sum(seen) == 2 * 3  # the life in which nothing is forgotten, and two policies


def test_a_share_of_one_costs_nothing(months: Collection) -> None:
    for one in measure_forgetting(lives_of(months), HOUSE, share=1.0, every_days=90.0):
        assert (one.kept, one.recall_gain.mean, one.ndcg_gain.mean) == (1.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("changes", "kind", "message"),
    [
        ({"share": 0.0}, ValueError, "share: must be"),
        ({"share": 1.1}, ValueError, "share: must be"),
        ({"share": math.nan}, ValueError, "share: must be"),
        ({"share": "half"}, TypeError, "share"),
        ({"every_days": 0.0}, ValueError, "every_days: must be"),
        ({"every_days": -1.0}, ValueError, "every_days: must be"),
        ({"policies": ("worst",)}, ValueError, "policy: must be one of worth, lru, .*'worst'"),
        ({"lives": ()}, ValueError, "lives: must have questions .* got none"),
    ],
)
def test_what_cannot_be_measured_is_refused(
    months: Collection, changes: dict[str, Any], kind: type[Exception], message: str
) -> None:
    given = {"lives": lives_of(months), "profile": HOUSE, **changes}
    with pytest.raises(kind, match=message):
        measure_forgetting(given.pop("lives"), given.pop("profile"), **given)


def test_worth_costs_less_than_chance_in_a_real_conversation() -> None:
    one = one_conversation()
    figures: dict[str, ForgettingFigures] = {
        each.policy: each
        for each in measure_forgetting(
            lives_of(one), HOUSE, share=0.5, every_days=30.0, policies=("worth", "random")
        )
    }
    assert figures["worth"].count > 50
    assert figures["worth"].kept == pytest.approx(figures["random"].kept, abs=0.05)
    assert figures["worth"].recall > figures["random"].recall
