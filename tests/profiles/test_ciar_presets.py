"""CIAR's presets: the source's table, and files in its layout. Source: docs/systems/ciar.md A6 to A9."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from oneiros import profiles
from oneiros.scoring.factors import CiarDecay
from oneiros.scoring.profile import Profile

SOURCE = """
ciar:
  # Decay rate: controls memory fading speed
  lambda_decay: 0.0231
  alpha_reinforcement: 0.1
  promotion_threshold: 0.6

  presets:
    customer_service:
      lambda_decay: 0.1      # Fast decay (7-day half-life)
      alpha_reinforcement: 0.05
      promotion_threshold: 0.7

    research_assistant:
      lambda_decay: 0.01     # Slow decay (69-day half-life)
      alpha_reinforcement: 0.2
      promotion_threshold: 0.5

    personal_assistant:
      lambda_decay: 0.0231   # Medium decay (30-day half-life)
      alpha_reinforcement: 0.1
      promotion_threshold: 0.6
"""
TOML = """
[ciar]
lambda_decay = 0.0231
[ciar.presets.customer_service]
lambda_decay = 0.1
alpha_reinforcement = 0.05
promotion_threshold = 0.7
[ciar.presets.keen]
alpha_reinforcement = 0
"""
TABLE = {  # A8
    "customer_service": (0.1, 0.05, 0.7),
    "research_assistant": (0.01, 0.2, 0.5),
    "personal_assistant": (0.0231, 0.1, 0.6),
    "real_time_monitoring": (0.5, 0.01, 0.8),
    "knowledge_base": (0.005, 0.3, 0.4),
}


def numbers_of(profile: Profile) -> tuple[float, float, float]:
    _, decay, reinforcement = profile.factors
    assert profile.promotion is not None
    return decay.rate, reinforcement.reinforcement, profile.promotion.threshold  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", TABLE)
def test_the_published_presets(name: str) -> None:
    assert numbers_of(profiles.get("ciar", preset=name)) == TABLE[name]


def test_the_sources_own_file(tmp_path: Path) -> None:
    path = tmp_path / "ciar_config.yaml"
    path.write_text(SOURCE)
    presets = profiles.presets_from(path)
    assert list(presets) == ["default", *list(TABLE)[:3]]
    assert presets["default"] == profiles.get("ciar")
    for name in list(TABLE)[:3]:
        assert presets[name] == profiles.get("ciar", preset=name)


def test_a_toml_file_and_what_it_leaves_out(tmp_path: Path) -> None:
    path = tmp_path / "ciar.toml"
    path.write_text(TOML)
    presets = profiles.presets_from(str(path))
    assert presets["customer_service"] == profiles.get("ciar", preset="customer_service")
    assert numbers_of(presets["keen"]) == (0.0231, 0.0, 0.6)
    path.write_text(TOML, encoding="utf-8-sig")  # with a byte order mark
    assert profiles.presets_from(path) == presets


def test_half_lives_can_be_read() -> None:
    assert CiarDecay().half_life_days == pytest.approx(30.0, abs=0.01)
    fast = profiles.get("ciar", preset="customer_service").factors[1]
    assert isinstance(fast, CiarDecay)
    assert fast.half_life_days == math.log(2) / 0.1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ciar:\n  lambda_decay: 1.0", r"ciar.lambda_decay .*must be > 0 and < 1.*got 1.0"),
        ("ciar:\n  lambda_decay: 0", r"ciar.lambda_decay .*must be > 0.*got 0"),
        ("ciar:\n  lambda_decay: .nan", r"ciar.lambda_decay .*got nan"),
        ("ciar:\n  lambda_decay: fast", r"ciar.lambda_decay .*expected a number, got str 'fast'"),
        ("ciar:\n  lambda_decay: true", r"ciar.lambda_decay .*expected a number, got bool"),
        ("ciar:\n  alpha_reinforcement: -0.1", r"ciar.alpha_reinforcement .*got -0.1"),
        ("ciar:\n  alpha_reinforcement: 1", r"ciar.alpha_reinforcement .*got 1"),
        ("ciar:\n  promotion_threshold: 0.0", r"ciar.promotion_threshold .*got 0.0"),
        ("ciar:\n  promotion_threshold: 1.1", r"ciar.promotion_threshold .*got 1.1"),
        ("ciar:\n  halflife: 3", r"ciar: unknown key 'halflife'"),
        ("ciar: 3", r"ciar: expected a table, got int"),
        ("mem0: {}", r"unknown key 'mem0'"),
        ("ciar:\n  presets: [1]", r"ciar.presets: expected a table, got list"),
        ("ciar:\n  presets: {a: 3}", r"ciar.presets.a: expected a table, got int"),
        ("ciar:\n  presets: {a: {b: 1}}", r"ciar.presets.a: unknown key 'b'"),
        ("ciar:\n  presets: {default: {}}", r"ciar.presets.default: a preset's name is"),
        (
            "ciar:\n  presets: {a: {promotion_threshold: 2}}",
            r"ciar.presets.a.promotion_threshold .*got 2",
        ),
    ],
)
def test_what_is_refused_names_file_and_place(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "ciar.yaml"
    path.write_text(text)
    with pytest.raises(
        (TypeError, ValueError), match=f"^ciar.yaml: {words}" if "mem0" not in text else words
    ):
        profiles.presets_from(path)
