"""A profile without each of its parts, and what that changes."""

from __future__ import annotations

import pytest

from oneiros import profiles
from oneiros.evaluation.ablation import ablate, without_each_part
from oneiros.evaluation.tasks import BASELINES, JudgedQuery, Task, system_names
from oneiros.scoring.channels import LexicalChannel, TemporalChannel, VectorChannel
from oneiros.scoring.factors import HalfLifeRecency, Priority
from oneiros.scoring.fusion import Blend, ReciprocalRankFusion, WeightedSum
from oneiros.scoring.parts import OPTIONAL_PARTS
from oneiros.scoring.profile import Profile
from oneiros.scoring.relevance_adjustments import Neighbours

WORDS, MEANING = LexicalChannel(), VectorChannel()
RECENCY, PRIORITY = HalfLifeRecency(damping=0.5), Priority(damping=0.5)


def test_each_part_leaves_once_and_all_else_stays() -> None:
    whole = Profile(
        name="whole",
        channels=(WORDS, MEANING),
        fusion=WeightedSum(weights=(0.7, 0.2), importance=0.1, normalise=("max", "clamp")),
        factors=(RECENCY, PRIORITY),
        neighbours=Neighbours(),
    )
    words = WeightedSum(weights=(0.7,), importance=0.1, normalise=("max",))
    meaning = WeightedSum(weights=(0.2,), importance=0.1, normalise=("clamp",))
    assert dict(without_each_part(whole)) == {
        "channels.lexical": whole.replace(channels=(MEANING,), fusion=meaning),
        "channels.vector": whole.replace(channels=(WORDS,), fusion=words),
        "fusion.weighted_sum": whole.replace(fusion=ReciprocalRankFusion()),
        "factors.recency": whole.replace(factors=(PRIORITY,)),
        "factors.priority": whole.replace(factors=(RECENCY,)),
        "neighbours": whole.replace(neighbours=None),
    }


def test_a_fusion_keeps_the_last_channel_with_raw_scores() -> None:
    whole = Profile(name="dated", channels=(WORDS, TemporalChannel()), fusion=Blend())
    assert [part for part, _ in without_each_part(whole)] == ["channels.temporal", "fusion.blend"]


@pytest.mark.parametrize("name", [*system_names(), *BASELINES])
def test_every_profile_can_be_without_each_of_its_parts(name: str) -> None:
    profile = BASELINES.get(name) or profiles.get(name)
    parts = [part for part, _ in without_each_part(profile)]
    assert len(parts) == len(set(parts))
    assert [part for part in parts if part.startswith("factors.")] == [
        f"factors.{factor.name}" for factor in profile.factors
    ]
    held = {key for key in OPTIONAL_PARTS if getattr(profile, key) is not None}
    assert held - {"reinforcement", "promotion"} <= set(parts)
    assert all(rest != profile for _, rest in without_each_part(profile))


def test_what_a_part_costs_is_told() -> None:
    """Old memories answer: fading costs every question the same."""
    ages = {"old": 400.0, "new": 1.0}
    records = [
        {"id": f"{age}{n}", "text": f"kettle {n}", "created_at": 1e9 - days * 86_400.0}
        for n in range(4)
        for age, days in ages.items()
    ]
    questions = [
        JudgedQuery(
            id=f"q{n}",
            type="all",
            text=f"kettle {n}",
            answers={f"old{n}": 1.0},
            embedding=None,
            now=1e9,
            where=None,
        )
        for n in range(4)
    ]
    task = Task(name="kettles", records=records, questions=questions)
    profile = Profile(name="fading", channels=(WORDS,), factors=(RECENCY,))
    seen: list[int] = []
    ablation = ablate(task, profile, seen.append)
    (one,) = ablation.without
    assert sum(seen) == 2 * len(questions)
    assert one.part == "factors.recency"
    assert one.ndcg.is_significant
    assert one.ndcg.mean == one.report.overall.ndcg - ablation.whole.overall.ndcg
    assert one.recall.mean == 0.0  # both are found in any case
