"""Which facts are asked about: by popularity, by how lately they were told, by how interest fades."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pytest

from oneiros.simulation.workload import Demand, Workload

ASKED = 40_000


def demand(kinds: list[str], **numbers: float | bool) -> Demand:
    return Demand(kinds, Workload(**numbers), Random(7))  # type: ignore[arg-type]


def shares(asked: list[int], facts: int) -> list[float]:
    counts = Counter(asked)
    return [counts[fact] / len(asked) for fact in range(facts)]


@pytest.mark.parametrize("zipf", [0.0, 0.7, 1.0, 2.0])
def test_popularity_is_zipfs(zipf: float) -> None:
    one = demand(["preference"] * 20, zipf=zipf, recent=0.0)
    for fact in range(20):
        one.tell(fact, 0.0)
    assert sorted(one.ranks) == list(range(1, 21))
    weights = [rank**-zipf for rank in one.ranks.tolist()]
    want = [weight / sum(weights) for weight in weights]
    np.testing.assert_allclose(shares(one.ask(9.0, ASKED), 20), want, atol=0.01)


def test_what_was_told_lately_is_asked_about_by_halves() -> None:
    one = demand(["preference"] * 3, recent=1.0, recent_days=3.0)
    for fact, told_at in enumerate((0.0, 3.0, 6.0)):
        one.tell(fact, told_at)
    np.testing.assert_allclose(shares(one.ask(6.0, ASKED), 3), [1 / 7, 2 / 7, 4 / 7], atol=0.01)


def test_interest_in_a_session_halves_in_a_week_and_that_in_a_preference_stays() -> None:
    kinds = ["session", "preference"]
    fading = demand(kinds, zipf=0.0, recent=0.0)
    lasting = demand(kinds, zipf=0.0, recent=0.0, fading=False)
    for one in (fading, lasting):
        one.tell(0, 0.0)
        one.tell(1, 0.0)
    np.testing.assert_allclose(shares(fading.ask(7.0, ASKED), 2), [1 / 3, 2 / 3], atol=0.01)
    np.testing.assert_allclose(shares(lasting.ask(7.0, ASKED), 2), [0.5, 0.5], atol=0.01)


def test_nothing_is_asked_that_was_not_told() -> None:
    one = demand(["note"] * 3)
    assert one.ask(1.0, 5) == []
    one.tell(1, 2.0)
    assert one.ask(1.0, 5) == []
    assert one.ask(2.0, 5) == [1] * 5


def test_however_long_ago_all_was_told_something_is_asked() -> None:
    one = demand(["session"] * 2)
    one.tell(0, 0.0)
    assert one.ask(36_525.0, 50) == [0] * 50
