"""Profiles that differ in a function of the user's alone share a hash and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

import oneiros

pytestmark = pytest.mark.filterwarnings("ignore::oneiros.MissingEmbedderWarning")


def multiplied_by(value: float) -> oneiros.Profile:
    factor = oneiros.CallableFactor(
        lambda importance: np.full(len(importance), value), "bonus", ("importance",)
    )
    base = oneiros.profiles.get("reverie")
    return base.replace(name="mine", factors=(*base.factors, factor))


def test_each_ranks_by_its_own_function() -> None:
    one, other = multiplied_by(2.0), multiplied_by(8.0)
    assert one.hash == other.hash
    assert one != other
    with oneiros.Engine(":memory:", clock=lambda: 1_750_000_000.0) as mind:
        mind.add("coffee is black")

        def score(profile: oneiros.Profile) -> float:
            return mind.search("coffee", profile=profile, reinforce=False).scores[0]

        for _ in range(2):
            assert score(other) == 4.0 * score(one)
