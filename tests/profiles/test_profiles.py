"""The scoring systems by name, against docs/systems."""

from __future__ import annotations

import math

import pytest

import oneiros
from oneiros import profiles
from oneiros.errors import UnknownProfile
from oneiros.ranking.channels import LexicalChannel, VectorChannel
from oneiros.ranking.factors import Depth, Spread, Stability, Strength, TimeDecay
from oneiros.ranking.fusion import ReciprocalRankFusion
from oneiros.ranking.reinforcement import Reinforcement


def test_reverie_reads_like_its_page() -> None:
    profile = profiles.get("reverie")
    assert profile.channels == (LexicalChannel(depth=100), VectorChannel(depth=100))  # R1, R2
    assert profile.fusion == ReciprocalRankFusion(k=30.0, weights=None)  # R3
    assert profile.factors == (
        TimeDecay(boost=0.3, tau_days=30.0),  # R4
        Strength(),  # R5
        Depth(table=(0.8, 1.0, 1.2)),  # R6
        Spread(cap=math.inf),  # R7
        Stability(tau_days=30.0, low=0.1, high=3.0),  # R8
    )
    assert profile.reinforcement == Reinforcement(gain=0.1, span_days=7.0, limit=10.0)  # R20


def test_reverie_capped_differs_in_the_cap_alone() -> None:
    plain, capped = profiles.get("reverie"), profiles.get("reverie-capped")
    assert capped.factors == tuple(
        Spread(cap=3.0) if isinstance(factor, Spread) else factor for factor in plain.factors
    )
    assert capped.replace(name="reverie", factors=plain.factors) == plain


def test_the_live_pipeline_is_the_profile_without_lifecycle() -> None:
    live = profiles.get("reverie", lifecycle=False)
    assert live.factors == (TimeDecay(),)
    assert live.hash != profiles.get("reverie").hash
    assert profiles.get("reverie", lifecycle=True) is profiles.get("reverie")


@pytest.mark.parametrize("switch", ["strength", "depth", "spread", "stability"])
def test_each_factor_has_its_own_switch(switch: str) -> None:
    names = [factor.name for factor in profiles.get("reverie", **{switch: False}).factors]
    every = [factor.name for factor in profiles.get("reverie").factors]
    assert names == [name for name in every if name != switch]


def test_every_name_gives_its_profile() -> None:
    assert profiles.names() == ["reverie", "reverie-capped"]
    for name in profiles.names():
        assert profiles.get(name).name == name
    assert oneiros.profiles is profiles


@pytest.mark.parametrize("name", ["", "Reverie", "memory", None, 1])
def test_an_unknown_name_lists_the_known_ones(name: str) -> None:
    with pytest.raises(UnknownProfile, match="known: reverie, reverie-capped"):
        profiles.get(name)


def test_an_unknown_option_lists_the_known_ones() -> None:
    with pytest.raises(TypeError, match="speed: no option of profile 'reverie'; known: lifecycle"):
        profiles.get("reverie", speed=True)
    with pytest.raises(TypeError, match="lifecycle: expected true or false, got int 0"):
        profiles.get("reverie", lifecycle=0)
