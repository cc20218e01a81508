"""What the environment sets of a profile, where it is asked: O5, O26, O28."""

from __future__ import annotations

import pytest

from oneiros import UnknownProfile, profiles
from oneiros.scoring.profile_settings import VARIABLES

OMEGA = profiles.get("omega")


def test_each_variable_sets_its_number_and_no_other() -> None:
    for variable, (name, field) in VARIABLES.items():
        found = profiles.from_environment(environment={variable: "0.55"})
        part = getattr(found, name)
        assert getattr(part, field) == 0.55
        assert getattr(OMEGA, name) != part
        assert found.replace(**{name: getattr(OMEGA, name)}) == OMEGA
    every = profiles.from_environment(environment=dict.fromkeys(VARIABLES, "0.55"))
    assert every.strong_signal is not None
    assert (every.strong_signal.threshold, every.strong_signal.gap) == (0.55, 0.55)
    assert every.hash != OMEGA.hash


def test_the_process_s_own_is_read_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMEGA_STRONG_SIGNAL_GAP", "0.4")
    told = profiles.from_environment().strong_signal
    assert told is not None
    assert told.gap == 0.4
    assert profiles.get("omega") == OMEGA, "a profile by its name stays what it is"


def test_what_is_not_set_or_has_no_part_changes_nothing() -> None:
    assert profiles.from_environment(environment={}) == OMEGA
    assert profiles.from_environment(environment={"OMEGA_STRONG_SIGNAL_GAP": ""}) == OMEGA
    everything = dict.fromkeys(VARIABLES, "0.5")
    assert profiles.from_environment("reverie", environment=everything) == profiles.get("reverie")


@pytest.mark.parametrize("value", ["much", "nan", "-1", "inf", "1e9"])
def test_what_is_no_such_number_is_refused_by_name(value: str) -> None:
    with pytest.raises(ValueError, match="OMEGA_SEMANTIC_DEDUP_THRESHOLD: "):
        profiles.from_environment(environment={"OMEGA_SEMANTIC_DEDUP_THRESHOLD": value})


def test_an_unknown_profile_is_refused() -> None:
    with pytest.raises(UnknownProfile):
        profiles.from_environment("nobody's")
