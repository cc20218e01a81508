"""What people say of memories: feedback, and the Thompson boost that follows from it (O12, O15)."""

from __future__ import annotations

from pathlib import Path

import pytest

import oneiros
from oneiros.scoring.factors import Thompson
from tests.oracles import omega

NOW = 1_750_000_000.0
ALIKE = oneiros.profiles.get("omega").replace(duplicates=None)
"""All three memories say the same."""
SEEDED = ALIKE.with_factors(Thompson(seed=7))


@pytest.fixture
def mind() -> oneiros.Engine:
    mind = oneiros.Engine(":memory:", profile=ALIKE, analyzer="simple", clock=lambda: NOW)
    mind.add("ant", id="fact", kind="fact", project="p")
    mind.add("ant", id="other", kind="fact", project="q")
    mind.add("ant", id="lesson", kind="lesson_learned")
    return mind


def judge(mind: oneiros.Memories, id: str, *, helpful: int = 0, unhelpful: int = 0) -> None:
    for verdict, count in (("helpful", helpful), ("unhelpful", unhelpful)):
        for _ in range(count):
            mind.feedback(id, verdict)


def boosts(mind: oneiros.Memories, now: float = NOW, **options: object) -> dict[str, float]:
    """The Thompson factor of each result; each explanation is its score to the bit."""
    found = {}
    for result in mind.search("ant", now=now, explain=True, **options):
        told = result.explanation
        assert told.evaluate() == result.score
        (found[result.id],) = (one.value for one in told.factors if one.name == "thompson")
    return found


def test_a_memory_holds_the_sum_of_its_verdicts(mind: oneiros.Engine) -> None:
    for verdict in ("helpful", "helpful", "outdated", "unhelpful"):
        mind.feedback("fact", verdict)
    assert mind.get("fact").feedback == 2 - 2 - 1
    assert mind.get("fact").access_count == 0
    with pytest.raises(ValueError, match="verdict: must be one of helpful, unhelpful, outdated"):
        mind.feedback("fact", "nice")
    with pytest.raises(oneiros.UnknownMemory):
        mind.feedback("absent", "helpful")
    with pytest.raises(oneiros.UnknownMemory):
        mind.scope(project="q").feedback("fact", "helpful")
    assert mind.get("fact").feedback == -1


def test_three_bad_verdicts_leave_all_results(mind: oneiros.Engine) -> None:
    judge(mind, "fact", unhelpful=3)
    assert mind.search("ant").ids == ["lesson", "other"]


def test_ten_verdicts_on_a_kind_weigh_all_its_memories(mind: oneiros.Engine) -> None:
    judge(mind, "fact", helpful=7)
    judge(mind, "other", unhelpful=2)
    assert boosts(mind) == {"fact": 1.0, "other": 1.0, "lesson": 1.0}
    mind.feedback("fact", "helpful")
    want = omega.thompson_boost(8, 2)
    assert want != 1.0
    assert boosts(mind) == {"fact": want, "other": want, "lesson": 1.0}
    (score,) = (one.score for one in mind.search("ant", reinforce=False) if one.id == "other")
    assert mind.why_not("ant", "other").explanation.evaluate() == score
    scores = dict(mind.rescore("omega"))
    assert scores["other"] == pytest.approx(
        1.0 * omega.feedback_factor(-2) * omega.priority_factor(3) * want
    )
    mind.forget("fact")
    assert boosts(mind) == {"other": 1.0, "lesson": 1.0}


def test_a_scope_weighs_by_its_own_verdicts_alone(mind: oneiros.Engine) -> None:
    judge(mind, "fact", helpful=10)
    assert boosts(mind.scope(project="q")) == {"other": 1.0}
    assert boosts(mind.scope(project="p")) == {"fact": omega.thompson_boost(10, 0)}


def test_verdicts_of_another_engine_are_counted(tmp_path: Path) -> None:
    with oneiros.Engine(tmp_path / "a.db", profile="omega") as here:
        here.add("ant", id="a", now=NOW)
        judge(here, "a", helpful=9)
        assert boosts(here) == {"a": 1.0}
        with oneiros.Engine(tmp_path / "a.db") as there:
            there.feedback("a", "helpful")
        assert boosts(here) == {"a": omega.thompson_boost(10, 0)}


def test_draws_are_off_unless_a_seed_is_given(mind: oneiros.Engine) -> None:
    judge(mind, "fact", helpful=12)
    assert Thompson().seed is None
    mean, drawn = boosts(mind), boosts(mind, profile=SEEDED)
    assert mean["fact"] == omega.thompson_boost(12, 0) != drawn["fact"]
    assert drawn["fact"] == drawn["other"]  # one draw a kind
    assert drawn["lesson"] == 1.0  # under ten observations


def test_a_draw_follows_from_seed_verdicts_and_now(mind: oneiros.Engine) -> None:
    judge(mind, "fact", helpful=6, unhelpful=4)
    judge(mind, "lesson", helpful=6, unhelpful=2)
    judge(mind, "lesson", unhelpful=2)
    mind.update("lesson", feedback=0)
    mind.update("fact", feedback=0)
    drawn = boosts(mind, profile=SEEDED)
    assert boosts(mind, profile=SEEDED) == drawn
    assert drawn["fact"] != drawn["lesson"]  # the same counts, another kind
    assert boosts(mind, NOW + 1, profile=SEEDED)["fact"] != drawn["fact"]
    other = ALIKE.with_factors(Thompson(seed=8))
    assert boosts(mind, profile=other)["fact"] != drawn["fact"]
    assert drawn["fact"] == 0.8 + 0.4 * Thompson(seed=7).draw("fact", (6, 4), NOW)
    assert dict(mind.rescore(SEEDED))["fact"] == pytest.approx(0.94 * drawn["fact"])


@pytest.mark.parametrize(("good", "bad"), [(10, 0), (3, 8), (40, 25)])
def test_draws_are_those_of_the_beta_distribution(good: int, bad: int) -> None:
    """Kolmogorov and Smirnov: the greatest distance of 4,000 draws, at a level of 1e-6."""
    factor, count = Thompson(seed=1), 4_000
    draws = sorted(factor.draw("fact", (good, bad), float(now)) for now in range(count))
    distances = (
        abs(omega.beta_distribution(draw, 1 + good, 1 + bad) - (place + 0.5) / count)
        for place, draw in enumerate(draws)
    )
    assert max(distances) < 2.7 / count**0.5


def test_a_seed_is_kept_with_its_profile() -> None:
    again = oneiros.Profile.from_toml(SEEDED.to_toml())
    assert again == SEEDED
    assert again.hash != oneiros.profiles.get("omega").hash


@pytest.mark.parametrize("seed", [-1, 2**53 + 1, 1.5, True, "x"])
def test_a_seed_that_is_none_is_refused(seed: object) -> None:
    with pytest.raises(ValueError, match=r"seed: must be an integer in 0 to 2\^53, or None, got "):
        Thompson(seed=seed)  # type: ignore[arg-type]
