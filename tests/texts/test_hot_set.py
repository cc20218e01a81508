"""What is recalled most often comes back where it holds enough of the question: O1."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import oneiros
from oneiros import profiles
from oneiros.scoring.channels import VectorChannel
from oneiros.scoring.fusion import WeightedSum
from oneiros.scoring.profile import Profile
from oneiros.scoring.relevance_adjustments import HotSet

NOW = 1_750_000_000.0
PLAIN = profiles.get("omega").replace(
    abstention=None,
    duplicates=None,
    retry=None,
    normalisation=None,
    fast_path=None,
    strong_signal=None,
    factors=(),
    reinforcement=None,
)


@pytest.fixture
def mind() -> Iterator[oneiros.Engine]:
    """A text channel of one hit, so that what is hot must come in by itself."""
    texts = {
        "found": ("ash oak elm", 0),
        "hot": ("ash oak fir", 5),
        "warm": ("ash oak yew", 2),
        "cool": ("ash box bay", 9),
        "never": ("ash oak sky", 0),
        "other": ("ash oak elm ivy", 7),
        "gone": ("ash oak elm sea", 7),
    }
    channels = tuple(
        one if one.name != "lexical" else type(one)(depth=1, word_share=0.3, floor=0.1)
        for one in PLAIN.channels
    )
    profile = PLAIN.replace(channels=channels)
    with oneiros.Engine(":memory:", analyzer="simple", profile=profile, clock=lambda: NOW) as made:
        for id, (text, accesses) in texts.items():
            project = "theirs" if id == "other" else "ours"
            made.add(text, id=id, access_count=accesses, project=project)
        made.delete("gone")
        yield made


def test_hot_memories_join_by_the_maximum(mind: oneiros.Engine) -> None:
    ours = oneiros.where(project="ours")
    response = mind.search("ash oak elm", where=ours, explain=True)
    scores = {one.id: one.score for one in response}
    assert scores == pytest.approx({"found": 1.0, "hot": 0.8 * 2 / 3, "warm": 0.8 * 2 / 3})
    explained = response.results[1].explanation
    assert explained is not None
    assert {part.name: part.value for part in explained.parts}["hot_set"] == scores["hot"]
    stage = next(one for one in response.trace.stages if one.name == "hot_set")
    assert (stage.candidate_count, stage.survivor_count) == (
        3,
        2,
    )  # a third of "cool" is too little


def test_only_so_many_of_the_most_accessed_are_looked_at(mind: oneiros.Engine) -> None:
    ours = oneiros.where(project="ours")
    assert PLAIN.hot_set is not None

    def found(rule: HotSet | None) -> list[str]:
        profile = mind._scope.services.profile.replace(hot_set=rule)
        return mind.search("ash oak elm", where=ours, profile=profile).ids

    assert found(None) == ["found"]
    assert found(HotSet(size=1)) == ["found"]  # "cool", which holds too little
    assert found(HotSet(size=2)) == ["found", "hot"]
    assert found(HotSet(size=1, least_overlap=0.3)) == ["found", "cool"]
    assert found(HotSet(weight=2.0)) == ["hot", "warm", "found"]


def test_what_was_deleted_takes_no_place_of_the_hot(mind: oneiros.Engine) -> None:
    for n in range(8):
        mind.add(f"ash oak elm {n}", id=f"g{n}", access_count=99)
        (mind.delete if n % 2 else mind.forget)(f"g{n}")
    profile = mind._scope.services.profile.replace(hot_set=HotSet(size=3))
    response = mind.search("ash oak elm", profile=profile)
    assert set(response.ids) == {"found", "other", "hot"}
    stage = next(one for one in response.trace.stages if one.name == "hot_set")
    assert (stage.candidate_count, stage.survivor_count) == (3, 2)  # "cool" holds too little


def test_what_is_not_hot_keeps_a_relevance_below_0() -> None:
    fusion = WeightedSum(weights=(1.0,), importance=0.0, normalise=("none",))
    vectors = {"near": (-0.2, 1.0), "far": (-1.0, 0.0), "hot": (-1.0, 0.1)}
    for hot_set in (None, HotSet()):
        profile = Profile(name="below", channels=(VectorChannel(),), fusion=fusion, hot_set=hot_set)
        with oneiros.Engine(":memory:", profile=profile, clock=lambda: NOW) as mind:
            for id, vector in vectors.items():
                accesses = 3 if id == "hot" else 0
                mind.add(id, id=id, embedding=np.float32(vector), access_count=accesses)
            found = mind.search("hot", embedding=np.float32([1.0, 0.0]), reinforce=False)
        scores = {one.id: one.score for one in found}
        assert scores["near"] == pytest.approx(-0.2 / 1.04**0.5)
        assert scores["far"] == pytest.approx(-1.0)
        assert scores["hot"] == pytest.approx(0.8 if hot_set else -1.0 / 1.01**0.5)


@pytest.mark.parametrize(
    ("field", "value"),
    [("size", 0), ("size", 10_001), ("least_overlap", 1.1), ("weight", 0.0), ("weight", -1.0)],
)
def test_a_value_out_of_its_range_is_refused(field: str, value: float) -> None:
    with pytest.raises(ValueError, match=field):
        HotSet(**{field: value})  # type: ignore[arg-type]
