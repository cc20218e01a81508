"""What a declaration of a phase refuses, and how phases stand in a profile."""

from __future__ import annotations

import math
from typing import Any

import pytest

from oneiros import profiles
from oneiros.scoring.phases.cognitive import Conflicts, Cooling, Stubbing, Summarising
from oneiros.scoring.phases.omega import Forgetting
from oneiros.scoring.phases.reverie import (
    Consolidate,
    Downscale,
    Place,
    Promote,
    Prune,
    Scan,
)
from oneiros.scoring.profile import Profile


@pytest.mark.parametrize(
    ("kind", "fields", "error", "message"),
    [
        (Scan, {"limit": 0}, ValueError, "limit: must be in 1 to 2147483647, got 0"),
        (Scan, {"limit": True}, TypeError, "limit: expected an integer, got bool True"),
        (Scan, {"half_life_hours": 0.0}, ValueError, "half_life_hours: must be > 0"),
        (Scan, {"min_age_hours": -1.0}, ValueError, "min_age_hours: must be >= 0"),
        (Scan, {"compared": 5_000}, ValueError, "compared: must be in 0 to 4096, got 5000"),
        (Consolidate, {"nearest": 1.5}, TypeError, "nearest: expected an integer"),
        (Consolidate, {"link_gain": 1.5}, ValueError, "link_gain: must be >= 0 and <= 1"),
        (Downscale, {"rate": 1.1}, ValueError, "rate: must be >= 0 and <= 1, got 1.1"),
        (Downscale, {"floor": math.nan}, ValueError, "floor: must be"),
        (Prune, {"limits_days": {"bug": 0}}, ValueError, "limits_days.bug: must be > 0, got 0"),
        (Prune, {"limits_days": {"bug": math.nan}}, ValueError, "limits_days.bug: must be > 0"),
        (Prune, {"limits_days": 30}, TypeError, "limits_days: expected a table of numbers"),
        (Prune, {"archived_kinds": "session"}, TypeError, "archived_kinds: expected a list of"),
        (Place, {"least_activity": -1}, ValueError, "least_activity: must be in 0 to"),
        (Place, {"other_limit_days": 0.0}, ValueError, "other_limit_days: must be > 0, got 0.0"),
        (Promote, {"third_spread": 0}, ValueError, "third_spread: must be in 1 to"),
        (Promote, {"weights": {"bug": math.inf}}, ValueError, "weights.bug: must be >= 0"),
    ],
)
def test_a_phase_says_what_is_wrong(
    kind: type[Any], fields: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        kind(**fields)


def test_consolidate_stands_after_scan() -> None:
    message = "phases: consolidate must stand after scan, got consolidate, scan"
    with pytest.raises(ValueError, match=message):
        Profile(name="mine", phases=(Consolidate(), Scan()))
    with pytest.raises(ValueError, match="phases: consolidate must stand after scan"):
        Profile.from_toml('name = "mine"\n[[phases]]\nname = "consolidate"')
    apart = (Scan(), Downscale(), Consolidate())
    assert Profile(name="mine", phases=apart).phases == apart


def test_no_limit_is_told_from_one_left_out() -> None:
    everything = Profile(name="mine", phases=(Scan(limit=None),))
    assert "limit = false" in everything.to_toml()
    again = Profile.from_toml(everything.to_toml())
    assert again.phases == (Scan(limit=None),)
    assert again.hash == everything.hash != Profile(name="mine", phases=(Scan(),)).hash


def test_an_endless_limit_survives_toml() -> None:
    reverie = profiles.get("reverie")
    assert "preference = inf" in reverie.to_toml()
    again = Profile.from_toml(reverie.to_toml())
    assert again.phases == reverie.phases
    assert again.hash == reverie.hash


@pytest.mark.parametrize("name", ["cognitive", "cognitive-0.5"])
def test_cognitive_maintains_as_its_page_says(name: str) -> None:
    assert profiles.get(name).phases == (
        Cooling(within=0.001, days=7.0),  # C19
        Stubbing(days=180.0, characters=200),  # C20
        Summarising(below=0.2, least_cosine=0.7, group_size=5, link=0.8),  # C21
        Conflicts(above_cosine=0.85),  # C22
    )


@pytest.mark.parametrize("name", ["omega", "omega-bounded"])
def test_omega_forgets_as_its_page_says(name: str) -> None:
    exempt = ("user_preference", "error_pattern", "constraint", "reminder")
    forgetting = Forgetting(age_days=30.0, disliked_at=-3.0, below=0.05, exempt=exempt)
    assert profiles.get(name).phases == (forgetting,)  # O31
