"""A system of one's own in one file: a profile of factors that exist, and of one that is new."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from oneiros import profiles
from oneiros.scoring.factors import FlooredDecay, KindWeight, Priority, Strength
from oneiros.scoring.fusion import WeightedMean
from oneiros.scoring.profile import Profile
from oneiros.scoring.program import ProgramBuilder

NOW = 1_750_000_000.0
DAY = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Devotion:
    """Boost what is used often and lately: kernels that exist, in an order of its own."""

    name: ClassVar[str] = "devotion"
    is_lifecycle: ClassVar[bool] = True

    tau_days: float = 7.0

    def emit(self, program: ProgramBuilder) -> int:
        uses = program.call("log1p", program.column("access_count"))
        days = program.age("last_accessed_at", "created_at")
        lately = program.call("time_decay_boost", days, boost=1.0, tau_days=self.tau_days)
        return program.call("multiply", program.call("scale", uses, factor=0.1, offset=1.0), lately)


POCKET = Profile(
    name="pocket",
    fusion=WeightedMean(weights=(1.0, 2.0)),
    factors=(
        KindWeight(table={"promise": 4.0}, otherwise=0.5),
        FlooredDecay(rates={"promise": 0.0}, otherwise=0.1, decisions=()),
        Priority(base=0.5, step=0.1),
        Strength(damping=0.5),
        Devotion(tau_days=30.0),
    ),
)


@pytest.fixture
def registered() -> Iterator[Profile]:
    profiles.register(POCKET, presets={"brief": POCKET.replace(factors=POCKET.factors[:2])})
    yield POCKET
    for table in (profiles._profiles, profiles._presets):
        table.pop("pocket")


def test_it_is_found_by_its_name(registered: Profile) -> None:
    assert "pocket" in profiles.names()
    assert profiles.get("pocket") is registered
    assert [factor.name for factor in profiles.get("pocket", lifecycle=False).factors] == ["kind"]
    assert len(profiles.get("pocket", preset="brief").factors) == 2
    profiles.register(POCKET)  # once more changes nothing
    with pytest.raises(ValueError, match="profile: another one is called 'pocket'"):
        profiles.register(POCKET.replace(factors=()))
    with pytest.raises(TypeError, match="profile: expected Profile, got str 'pocket'"):
        profiles.register("pocket")  # type: ignore[arg-type]


def test_more_presets_leave_those_that_are_there(registered: Profile) -> None:
    brief = profiles.get("pocket", preset="brief")
    bare = registered.replace(factors=())
    profiles.register(registered, presets={"bare": bare})
    assert profiles.get("pocket", preset="brief") == brief
    profiles.register(registered, presets={"brief": bare})
    assert profiles.get("pocket", preset="brief") == profiles.get("pocket", preset="bare") == bare


def test_its_factors_are_computed_like_any_others() -> None:
    kinds = ("", "note", "promise")
    compiled = POCKET.compile(kinds)
    operands = {
        "kind": np.array([1, 2, 0], np.uint16),
        "access_count": np.array([0, 9, 1], np.uint32),
        "created_at": np.full(3, NOW - 30 * DAY),
        "last_accessed_at": np.array([np.nan, NOW, NOW + DAY]),
        "priority": np.array([1, 5, 3], np.uint8),
        "strength": np.array([1.0, 0.5, 0.0], np.float32),
    }
    (score, retention, *factors), future_count = compiled.program.run(
        operands=operands,
        now_seconds=NOW,
        size=3,
        outputs=[compiled.score, compiled.retention, *compiled.factors],
        dtype="float64",
        out=None,
        threads=1,
    )
    kind, decay, priority, strength, devotion = factors
    assert future_count == 1
    assert kind.tolist() == [0.5, 4.0, 0.5]
    assert decay.tolist() == [0.15, 1.0, 1.0]
    np.testing.assert_allclose(priority, [0.6, 1.0, 0.8], rtol=1e-15)
    assert strength.tolist() == [1.0, 0.75, 0.5]
    want = (1 + 0.1 * np.log1p([0, 9, 1])) * [1 + 1 / np.e, 2, 2]
    np.testing.assert_allclose(devotion, want, rtol=1e-14)
    folded = 1.0 * kind * decay * priority * strength * devotion
    assert score.tolist() == folded.tolist()
    undamped = operands["strength"].astype(float)
    np.testing.assert_allclose(retention, decay * priority * undamped * devotion, rtol=1e-15)


def test_a_class_that_toml_does_not_know_goes_by_python_alone() -> None:
    text = POCKET.to_toml()
    assert "tau_days = 30.0" in text
    with pytest.raises(ValueError, match=r"factors\[4\].name: must be one of .*got 'devotion'"):
        Profile.from_toml(text)
    mine = POCKET.replace(factors=POCKET.factors[:4])
    assert Profile.from_toml(mine.to_toml()) == mine
