"""A seventh system: one file with a formula of its own, and everything else works with it."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import oneiros
from oneiros import CallableFactor, Expression, Profile, profiles
from oneiros.errors import UnknownProfile
from oneiros.scoring.channels import LexicalChannel, VectorChannel
from tests.conftest import NOW

DAY = 86_400.0
SEVENTH = '''
"""Seventh: trusted things first, and gone in a week unless they are lessons."""

from dataclasses import dataclass
from typing import ClassVar

from oneiros import Expression, Profile
from oneiros.scoring.channels import LexicalChannel
from oneiros.scoring.fusion import ReciprocalRankFusion


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """``factor = max(certainty, floor)``."""

    name: ClassVar[str] = "trust"
    is_lifecycle: ClassVar[bool] = False

    floor: float = 0.25

    def emit(self, program):
        return program.call("maximum", program.column("certainty"), program.constant(self.floor))


PROFILES = (
    Profile(
        name="seventh",
        channels=(LexicalChannel(depth=50),),
        fusion=ReciprocalRankFusion(k=10.0),
        factors=(
            Trust(),
            Expression("1 if kind == 'lesson' else exp(-age_days / 7)", name="week"),
            Expression("0.001 * priority", "urgent", "add"),
        ),
    ),
)
'''
RECORDS: list[dict[str, Any]] = [
    {"id": "fresh", "text": "red kettle", "kind": "note", "certainty": 0.5, "created_at": NOW},
    {"id": "old", "text": "red kettle", "kind": "note", "created_at": NOW - 70 * DAY},
    {"id": "lesson", "text": "red kettle", "kind": "lesson", "created_at": NOW - 70 * DAY},
]


@pytest.fixture
def seventh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Profile:
    """The profile that the file declares."""
    (tmp_path / "seventh.py").write_text(SEVENTH, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "seventh", raising=False)
    (profile,) = importlib.import_module("seventh").PROFILES
    return profile


@pytest.fixture
def kettles(mind: oneiros.Engine) -> oneiros.Engine:
    mind.add_many(RECORDS)
    return mind


def test_a_search_ranks_and_explains_by_it(kettles: oneiros.Engine, seventh: Profile) -> None:
    response = kettles.search("kettle", profile=seventh, explain=True)
    assert response.profile == "seventh"
    assert response.ids == ["lesson", "fresh", "old"]
    factors = {
        result.id: {factor.name: factor.value for factor in result.explanation.factors}
        for result in response.results
    }
    assert factors["lesson"] == {"trust": 1.0, "week": 1.0, "urgent": 0.004}
    assert factors["fresh"] == {"trust": 0.5, "week": 1.0, "urgent": 0.003}
    assert factors["old"]["week"] == pytest.approx(np.exp(-10.0), rel=1e-12)
    for result in response.results:
        assert result.explanation.evaluate() == result.score


def test_a_new_kind_is_seen_at_once(kettles: oneiros.Engine, seventh: Profile) -> None:
    only_haiku = seventh.replace(factors=(Expression("kind == 'haiku'"),))
    assert {result.score for result in kettles.search("kettle", profile=only_haiku).results} == {
        0.0
    }
    kettles.add("red kettle, green moss", id="haiku", kind="haiku")
    assert kettles.search("kettle", profile=only_haiku).ids[0] == "haiku"


def test_a_name_makes_it_known_everywhere(seventh: Profile) -> None:
    with pytest.raises(UnknownProfile):
        profiles.get("seventh")
    try:
        profiles.register(seventh)
        assert profiles.get("seventh") is seventh
        assert [factor.name for factor in profiles.get("seventh", trust=False).factors] == [
            "week",
            "urgent",
        ]
        with oneiros.Engine(":memory:", profile="seventh") as mind:
            assert mind.search("kettle").profile == "seventh"
    finally:
        profiles._profiles.pop("seventh", None)


def test_a_file_in_the_folder_is_all_it_takes(tmp_path: Path) -> None:
    (tmp_path / "seventh.py").write_text(SEVENTH, encoding="utf-8")
    code = (
        "import sys, oneiros.profiles as profiles\n"
        "profiles.__path__.append(sys.argv[1])\n"
        "print(profiles.names())\n"
        "print([factor.name for factor in profiles.get('seventh').factors])\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], check=True, capture_output=True, text=True
    ).stdout
    assert "'seventh'" in told
    assert "['trust', 'week', 'urgent']" in told


# --- raw scores -------------------------------------------------------------------------------

VECTORS = {"words": [0.6, 0.8], "both": [1.0, 0.0], "meaning": [0.8, 0.6]}
COSINES = {"words": 0.6, "both": 1.0, "meaning": 0.8}


@pytest.fixture
def lamps() -> Iterator[oneiros.Engine]:
    with oneiros.Engine(":memory:", analyzer="simple", clock=lambda: NOW) as engine:
        for name, vector in VECTORS.items():
            text = "the sea" if name == "meaning" else "a lamp"
            engine.add(text, id=name, embedding=vector, now=NOW)
        yield engine


def test_an_expression_reads_every_raw_score(lamps: oneiros.Engine) -> None:
    # Two results a channel: each lacks one that the other found, until it is asked for.
    shallow = (LexicalChannel(depth=2), VectorChannel(depth=2))
    factors = (Expression("cosine", "cosine", "add"), Expression("bm25 > 0", "found"))
    profile = Profile(name="raw", channels=shallow, factors=factors)
    response = lamps.search("lamp", embedding=[1.0, 0.0], profile=profile, explain=True)
    values = {
        result.id: [factor.value for factor in result.explanation.factors]
        for result in response.results
    }
    assert {name: value[0] for name, value in values.items()} == pytest.approx(COSINES, rel=1e-6)
    assert {name: value[1] for name, value in values.items()} == {
        "words": 1,
        "both": 1,
        "meaning": 0,
    }


def test_a_channel_that_was_not_asked_scores_0(lamps: oneiros.Engine) -> None:
    profile = Profile(name="raw", factors=(Expression("1 + cosine"),))
    response = lamps.search("lamp", profile=profile, explain=True)
    assert [result.explanation.factors[0].value for result in response.results] == [1.0, 1.0]


def test_relevance_is_what_fusion_gave(lamps: oneiros.Engine) -> None:
    profile = Profile(name="raw", factors=(Expression("relevance"),))
    for result in lamps.search("lamp", profile=profile, reinforce=False).results:
        assert result.score == result.relevance_score**2


# --- functions of Python ----------------------------------------------------------------------


def lessons_only(kind: np.ndarray[Any, Any], age_days: np.ndarray[Any, Any]) -> Any:
    return np.where(kind == "lesson", 2.0, 1.0 / (1.0 + age_days))


LESSONS = CallableFactor(lessons_only, "lessons", ("kind", "age_days"))


def test_a_search_calls_a_function_and_explains_its_value(
    kettles: oneiros.Engine, seventh: Profile
) -> None:
    profile = seventh.replace(factors=(LESSONS,))
    response = kettles.search("kettle", profile=profile, explain=True)
    assert response.ids == ["lesson", "fresh", "old"]
    values = [result.explanation.factors[0].value for result in response.results]
    assert values == [2.0, 1.0, 1.0 / 71.0]
    for result in response.results:
        assert result.explanation.evaluate() == result.score
    (again,) = kettles.search_many(["kettle"], profile=profile)
    assert again.ids == response.ids


def test_a_function_is_not_called_without_candidates(
    kettles: oneiros.Engine, seventh: Profile
) -> None:
    def fail(_strength: np.ndarray[Any, Any]) -> Any:
        raise AssertionError

    profile = seventh.replace(factors=(CallableFactor(fail, "fail", ("strength",)),))
    assert kettles.search("zebra", profile=profile).ids == []


def test_a_function_that_fails_breaks_its_search_and_nothing_else(
    kettles: oneiros.Engine, seventh: Profile
) -> None:
    def fail(_strength: np.ndarray[Any, Any]) -> Any:
        msg = "no wind today"
        raise RuntimeError(msg)

    profile = seventh.replace(factors=(CallableFactor(fail, "wind", ("strength",)),))
    with pytest.raises(RuntimeError, match="no wind today") as caught:
        kettles.search("kettle", profile=profile)
    assert "the function of factor 'wind'" in caught.value.__notes__[0]
    assert kettles.search("kettle", profile=seventh).ids == ["lesson", "fresh", "old"]
    assert kettles.check() == []


def test_a_function_may_use_the_engine(kettles: oneiros.Engine, seventh: Profile) -> None:
    def ask_again(strength: np.ndarray[Any, Any]) -> Any:
        kettles.add("blue kettle", id="blue", on_conflict="update")
        return strength * len(kettles.search("red", profile=seventh, reinforce=False).ids)

    profile = seventh.replace(factors=(CallableFactor(ask_again, "again", ("strength",)),))
    response = kettles.search("kettle", profile=profile, explain=True)
    assert {result.explanation.factors[0].value for result in response.results} == {3.0}


def test_each_function_has_arrays_of_its_own(kettles: oneiros.Engine, seventh: Profile) -> None:
    def spoil(certainty: np.ndarray[Any, Any]) -> Any:
        certainty[:] = 9.0
        return certainty

    def same(certainty: np.ndarray[Any, Any]) -> Any:
        return certainty

    functions = (same, spoil, same)
    factors = tuple(
        CallableFactor(function, f"factor{place}", ("certainty",))
        for place, function in enumerate(functions)
    )
    profile = seventh.replace(factors=factors)
    response = kettles.search("kettle", profile=profile, explain=True)
    (fresh,) = [one.explanation for one in response if one.id == "fresh"]
    assert fresh is not None
    assert [factor.value for factor in fresh.factors] == [0.5, 9.0, 0.5]


def test_a_function_reads_a_kind_that_came_while_the_search_ran(
    kettles: oneiros.Engine, seventh: Profile
) -> None:
    read = []

    def note(kind: np.ndarray[Any, Any]) -> Any:
        kettles.update("old", kind="brand new")
        read.append(set(kind.tolist()))
        return np.ones(len(kind))

    profile = seventh.replace(factors=(CallableFactor(note, "note", ("kind",)),))
    kettles.search_many(["red", "kettle"], profile=profile, threads=1)
    assert read == [{"note", "lesson"}, {"note", "lesson", "brand new"}]


def test_a_coroutine_function_is_no_factor() -> None:
    async def awaited(strength: np.ndarray[Any, Any]) -> Any:
        return strength

    with pytest.raises(TypeError, match="function: expected a plain callable, got a coroutine"):
        CallableFactor(awaited, "awaited", ("strength",))  # type: ignore[arg-type]
