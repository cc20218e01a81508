"""The facts that are asked about: by popularity, by recency, by their own interest."""

from __future__ import annotations

import math
from collections import Counter
from random import Random

import numpy as np
import pytest

from oneiros.simulation.workload import SPELL_DAYS, Demand, Workload

ASKED = 40_000
LASTING = {"interest_days": 36_525.0, "interest_tail": 1e-3}
"""Interest that hardly fades."""
STEADY = {"return_days": 0.01}
"""Topics that come up all the time."""


def demand(topics: list[str | None], **numbers: float) -> Demand:
    return Demand(topics, Workload(**numbers), Random(7))  # type: ignore[arg-type]


def shares(asked: list[int], facts: int) -> list[float]:
    counts = Counter(asked)
    return [counts[fact] / len(asked) for fact in range(facts)]


@pytest.mark.parametrize("zipf", [0.0, 0.7, 1.0, 2.0])
def test_popularity_is_zipfs(zipf: float) -> None:
    one = demand(["a"] * 20, zipf=zipf, recent=0.0, **LASTING)
    for fact in range(20):
        one.tell(fact, 0.0)
    assert sorted(one.ranks) == list(range(1, 21))
    weights = [rank**-zipf for rank in one.ranks.tolist()]
    want = [weight / sum(weights) for weight in weights]
    np.testing.assert_allclose(shares(one.ask(9.0, ASKED), 20), want, atol=0.01)


def test_what_was_told_lately_is_asked_about_by_halves() -> None:
    one = demand(["a"] * 3, recent=1.0, recent_days=3.0)
    for fact, told_at in enumerate((0.0, 3.0, 6.0)):
        one.tell(fact, told_at)
    np.testing.assert_allclose(shares(one.ask(6.0, ASKED), 3), [1 / 7, 2 / 7, 4 / 7], atol=0.01)


@pytest.mark.parametrize(("days", "tail"), [(75.0, 1.0), (20.0, 0.5), (10.0, 2.5)])
def test_interest_fades_as_a_power_of_the_age_over_all_facts(days: float, tail: float) -> None:
    topics: list[str | None] = [f"t{place % 4_000}" for place in range(40_000)]
    one = demand(topics, interest_days=days, interest_tail=tail)
    for age in (1.0, 10.0, 100.0, 1_000.0):
        want = (1.0 + age / days) ** -tail
        spread = (1.0 + 2.0 * age / days) ** -tail - want**2  # of one fact, by the same law
        atol = 5.0 * math.sqrt(spread / 4_000)
        assert np.exp(-one.rates * age).mean() == pytest.approx(want, abs=atol)


def test_a_fact_is_asked_about_by_its_own_rate() -> None:
    one = demand(["a", "a", "b"], zipf=0.0, recent=0.0, **STEADY)
    for fact in range(3):
        one.tell(fact, 0.0)
    for at in (5.0, 80.0):
        weights = np.exp(-one.rates * at)
        got = shares(one.ask(at, ASKED), 3)
        np.testing.assert_allclose(got, weights / weights.sum(), atol=0.1)  # attention varies


def test_facts_of_a_topic_have_rates_that_are_alike() -> None:
    topics: list[str | None] = [f"t{place // 2}" for place in range(20_000)]
    rates = demand(topics).rates
    first, second = rates[::2], rates[1::2]
    assert np.corrcoef(first, second)[0, 1] == pytest.approx(
        0.5, abs=0.05
    )  # half of each is shared
    alone = demand([None] * 20_000).rates
    assert np.corrcoef(alone[::2], alone[1::2])[0, 1] == pytest.approx(0.0, abs=0.05)


def test_a_topic_rests_and_comes_up_again_with_all_its_facts() -> None:
    topics: list[str | None] = [f"t{place // 2}" for place in range(40)]
    one = demand(topics, zipf=0.0, recent=0.0, return_days=100.0, **LASTING)
    for fact in range(40):
        one.tell(fact, 0.0)
    weeks = [Counter(one.ask(7.0 * week, 400)) for week in range(300)]
    of_topic = np.array([[week[2 * k] + week[2 * k + 1] for k in range(20)] for week in weeks])
    of_twin = np.array([[abs(week[2 * k] - week[2 * k + 1]) for k in range(20)] for week in weeks])
    rests = (of_topic == 0).mean()
    assert 0.2 < rests < 0.8
    for topic in range(20):
        asked = np.flatnonzero(of_topic[:, topic])
        assert np.diff(asked).max() * 7.0 > 4 * SPELL_DAYS  # dormant for long, and back again
    assert of_twin.sum() < 0.1 * of_topic.sum()


def test_attention_to_a_topic_is_one_on_average() -> None:
    one = demand([f"t{place}" for place in range(200)], recent=0.0, return_days=30.0)
    days = np.arange(0.0, 3_000.0, 5.0)
    means = [one._attention.at(day).mean() for day in days.tolist()]
    assert np.mean(means) == pytest.approx(1.0, abs=0.03)
    assert np.mean(means[:100]) == pytest.approx(1.0, abs=0.1)  # from the first day on


def test_nothing_is_asked_that_was_not_told() -> None:
    one = demand(["a"] * 3)
    assert one.ask(1.0, 5) == []
    one.tell(1, 2.0)
    assert one.ask(1.0, 5) == []
    assert one.ask(2.0, 5) == [1] * 5


def test_however_long_ago_all_was_told_something_is_asked() -> None:
    one = demand(["a", None])
    one.tell(0, 0.0)
    assert one.ask(36_525.0, 50) == [0] * 50
