"""What the profile of an engine decides when a store is made and when a memory is added."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from oneiros import Engine, Memory, profiles
from oneiros.scoring.channels import LexicalChannel
from oneiros.scoring.ingest import InitialStability

SHORT = profiles.get("reverie").replace(name="short", channels=(LexicalChannel(k1=0.9, b=0.4),))
FRAGILE = profiles.get("reverie").replace(name="fragile", initial_stability=InitialStability())


def lexical(mind: Engine) -> tuple[float, float]:
    told: dict[str, Any] = mind.stats()["lexical"]
    return told["k1"], told["b"]


def test_a_new_store_takes_k1_and_b_from_the_profile_and_keeps_them(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with Engine(path, profile=SHORT) as mind:
        assert lexical(mind) == (0.9, 0.4)  # H5
    with Engine(path, profile="reverie") as mind:
        assert lexical(mind) == (0.9, 0.4)
        mind.add("a word")
    with Engine(path, profile="reverie", b=0.75) as mind:
        assert lexical(mind) == (0.9, 0.75)
    with Engine(path, profile=SHORT) as mind:
        assert lexical(mind) == (0.9, 0.75)


def test_a_store_that_holds_something_keeps_what_it_was_searched_with(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with Engine(path, profile="reverie") as mind:
        mind.add("a word")
        assert lexical(mind) == (1.2, 0.75)
    with Engine(path, profile=SHORT) as mind:
        assert lexical(mind) == (1.2, 0.75)


def test_arguments_come_before_the_profile() -> None:
    with Engine(":memory:", profile=SHORT, k1=2.0) as mind:
        assert lexical(mind) == (2.0, 0.4)


def test_a_memory_without_a_stability_starts_as_the_profile_says() -> None:
    with Engine(":memory:", profile=FRAGILE) as mind:
        plain = mind.add("plain")
        vital = mind.add("vital", importance=1.0)
        given = mind.add("given", stability=0.7)
        mind.add_many([Memory(text="made", id="made", importance=0.0), {"text": "a", "id": "a"}])
        assert mind.get(plain).stability == pytest.approx(0.25)  # C3
        assert mind.get(vital).stability == pytest.approx(0.4)
        assert mind.get(given).stability == pytest.approx(0.7)
        assert mind.get("made").stability == pytest.approx(0.1)
        mind.update(vital, importance=0.0)
        assert mind.get(vital).stability == pytest.approx(0.4)
        mind.add_many([{"id": given, "text": "again"}], on_conflict="update")
        assert mind.get(given).stability == pytest.approx(0.7)
    with Engine(":memory:", profile="reverie") as mind:
        assert mind.get(mind.add("plain")).stability == 1.0
