"""The curves of a report: the profile's own kernels, and memories where they stand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oneiros import kernels, profiles
from oneiros.dream.draft import Draft
from oneiros.dream.figures import CURVE_DAYS, MOST_KINDS, decay_curves
from oneiros.scoring.callable_factor import CallableFactor
from oneiros.scoring.expression import Expression
from oneiros.scoring.factors import Strength, TimeDecay
from oneiros.scoring.profile import Profile
from tests.dream.test_distributions import BOUNDS
from tests.dream.worlds import DAY, NOW, World
from tests.oracles import dreams

FADES = Profile(name="fades", factors=(TimeDecay(tau_days=7.0), Strength()))
MEMORY = st.fixed_dictionaries(
    {},
    optional={
        "kind": st.sampled_from(["note", "fact"]),
        "strength": st.sampled_from([0.0, 0.25, 0.5, 1.0]),
        "created_at": st.sampled_from([NOW + 9.0, NOW, NOW - 2 * DAY, NOW - 400 * DAY]),
        "last_accessed_at": st.sampled_from([None, NOW - DAY, NOW - 30 * DAY]),
        "deleted_at": st.sampled_from([None, None, NOW - DAY]),
        "erased": st.booleans(),
    },
)


def test_a_curve_is_what_the_kernels_say_of_a_memory_left_alone() -> None:
    world = World([{"kind": "fact", "strength": 0.3, "created_at": NOW - 5 * DAY}])
    (curve,) = decay_curves(Draft(world, now=NOW), FADES)
    assert (curve.kind, curve.days) == ("fact", CURVE_DAYS)
    want = kernels.time_decay_boost(np.array(CURVE_DAYS), tau_days=7.0)
    np.testing.assert_allclose(curve.values, want, rtol=1e-5)  # its strength is that of a new one


@given(st.lists(MEMORY, max_size=12))
def test_memories_stand_where_their_own_values_are(memories: list[dict[str, Any]]) -> None:
    world = World(memories)
    half = Profile(name="half", factors=(Expression("strength / 2"),))
    told = {one.kind: one for one in decay_curves(Draft(world, now=NOW), half)}
    lives: dict[str, list[tuple[float, float]]] = {}
    for row in world.live_rows():
        memory = world.memories[row]
        used = memory["last_accessed_at"] or memory["created_at"]
        days = max(0.0, (NOW - used) / DAY)
        lives.setdefault(memory["kind"], []).append((days, memory["strength"] / 2))
    assert told.keys() == lives.keys()
    for kind, curve in told.items():
        want = dreams.standing(lives[kind], BOUNDS["age_days"])
        assert [one.memories for one in curve.standing] == [count for *_, count in want]
        got = [(one.days, one.value) for one in curve.standing]
        np.testing.assert_allclose(got, [pair[:2] for pair in want], rtol=1e-5, atol=1e-12)


def test_the_kinds_with_the_most_memories_have_a_curve() -> None:
    world = World([{"kind": f"k{n}"} for n in range(MOST_KINDS + 3) for _ in range(n + 1)])
    told = decay_curves(Draft(world, now=NOW), FADES)
    assert [one.kind for one in told] == [f"k{n}" for n in range(MOST_KINDS + 2, 2, -1)]


def test_what_is_not_finite_and_functions_of_ones_own_are_left_out() -> None:
    def fails(strength: Any) -> Any:
        raise AssertionError(strength)

    own = CallableFactor(fails, name="own", columns=("strength",))
    odd = Profile(name="odd", factors=(Expression("1 / strength"), own))
    world = World([{"strength": 0.0}, {"strength": 0.5}])
    (curve,) = decay_curves(Draft(world, now=NOW), odd)
    assert [(one.value, one.memories) for one in curve.standing] == [(2.0, 1)]
    nowhere = Profile(name="nowhere", factors=(Expression("1 / (strength - strength)"),))
    assert decay_curves(Draft(world, now=NOW), nowhere) == ()


@pytest.mark.parametrize("name", profiles.names())
def test_every_profile_has_curves(name: str) -> None:
    world = World([{"kind": "note"}, {"kind": "user_preference"}])
    told = decay_curves(Draft(world, now=NOW), profiles.get(name))
    assert [one.kind for one in told] == ["note", "user_preference"]
    assert all(np.diff(one.values).max() <= 0 for one in told)


def test_an_empty_store_has_none() -> None:
    assert decay_curves(Draft(World([]), now=NOW), FADES) == ()
