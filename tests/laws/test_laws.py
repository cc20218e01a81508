"""The laws that every profile and every factor keeps, whatever its formula.

An exception that a published formula forces stands in a table here, with its rule.
"""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from oneiros import _core
from oneiros.scoring.profile import Profile
from tests.engine.random_world import random_question, random_store
from tests.engine.test_profiles_against_oracles import engine_of
from tests.laws.bounds import BOUNDS
from tests.laws.rows import DAY, DEFAULTS, NOW, Table, random_table, repeated, rows_of

NAMES = tuple(oneiros.profiles.names())
FEW = settings(max_examples=1_000 if os.environ.get("ONEIROS_LONG") else 5, deadline=None)
each = pytest.mark.parametrize("name", NAMES)
seeds = st.integers(0, 2**32 - 1)

# Columns whose rise never lowers a score.
RISING: dict[str, list[Any]] = {
    "created_at": [NOW - days * DAY for days in (4000, 400, 181, 90, 31, 7, 1, 0.01, 0, -5)],
    "updated_at": [NOW - days * DAY for days in (4000, 400, 31, 1, 0, -5)],
    "last_accessed_at": [NOW - days * DAY for days in (4000, 400, 31, 1, 0, -5)],
    "importance": [0.0, 0.25, 0.5, 1.0],
    "certainty": [0.0, 0.25, 0.5, 1.0],
    "impact": [0.0, 0.25, 0.5, 1.0],
    "priority": [1, 2, 3, 4, 5],
    "feedback": [-(2**15), -5, -2, -1, 0, 1, 5, 10, 11, 2**15 - 1],
    "access_count": [0, 1, 2, 5, 9, 10, 11, 1000, 2**32 - 1],
    "session_spread": [1, 2, 3, 8, 100, 2**32 - 1],
    "strength": [0.0, 0.25, 0.5, 1.0],
    "depth": [1, 2, 3],
    "stability": [0.0, 0.01, 0.3, 1.0, 2.0, 50.0],
    "consolidation_quality": [0.0, 0.5, 3.0, 9.0],
    "trust": [0.0, 0.3, 0.5, 1.0],
}
STRONG = "R8: above S = 1 the boost grows with the days since the last access"
FALLING = {  # (profile, column): why the law does not hold
    (name, column): STRONG
    for name in ("reverie", "reverie-capped")
    for column in ("created_at", "last_accessed_at")
}

NOT_NEUTRAL = {  # (profile, factor): the value of a memory just added, and why it is not 1
    ("reverie", "time_decay"): (1.3, "R4: a fresh memory has the whole boost"),
    ("reverie-capped", "time_decay"): (1.3, "R4"),
    ("mnemosyne-3", "veracity"): (0.8, "M8: unknown"),
    ("omega", "priority"): (0.94, "O13: 3 by default"),
    ("omega-bounded", "tie_break"): (0.0025, "O32 adds: half the priority's share"),
    ("omega-bounded", "freshness"): (0.05, "O32 adds: age 0"),
    ("ciar", "significance"): (0.5, "A1: impact 0.5 by default"),
    ("ciar-shipped", "significance"): (0.5, "A12"),
    ("oneiros", "priority"): (0.85 + 0.15 * 0.94, "H6, O13: 3 by default"),
}


def factors(table: Table, name: str) -> dict[str, Any]:
    """Each factor's value; A6: CIAR is asked to take a creation ahead of now as age 0."""
    return dict(oneiros.factors(table, profile=name, now=NOW, invalid="clamp"))


def score(table: Table, name: str) -> np.ndarray[Any, Any]:
    """The score without a query, as ``rescore`` gives it."""
    got = oneiros.rescore(table, profile=name, now=NOW, invalid="clamp")
    return np.asarray(got["score"], np.float64)


@each
@FEW
@given(seed=seeds)
def test_every_factor_is_finite_and_within_its_bounds(name: str, seed: int) -> None:
    got = factors(random_table(seed, 200), name)
    assert list(got) == list(BOUNDS[name])  # by DESIGN's names, in order
    for factor, values in got.items():
        low, high = BOUNDS[name][factor]
        slack = 1e-14
        assert np.all(np.isfinite(values)), factor
        assert np.all((values >= low - slack) & (values <= high + slack)), factor


@each
@pytest.mark.parametrize("column", RISING)
@FEW
@given(seed=seeds)
def test_a_better_memory_never_scores_lower(name: str, column: str, seed: int) -> None:
    if (name, column) in FALLING:
        return  # test_what_a_published_formula_turns_round looks at these
    values = RISING[column]
    table = random_table(seed, 12)
    for row in range(rows_of(table)):
        varied = repeated(table, row, len(values))
        varied[column] = np.array(values, np.asarray(table[column]).dtype)
        got = score(varied, name)
        assert np.all(np.diff(got) >= -1e-15 * np.abs(got[1:])), (column, got)


@pytest.mark.parametrize(("name", "column"), FALLING)
def test_what_a_published_formula_turns_round(name: str, column: str) -> None:
    """R8: with S <= 1 the law holds; above, a memory long unused scores higher, as published."""
    values = RISING[column]
    for stability, is_turned in ((0.5, False), (1.0, False), (2.0, True)):
        table = {key: np.repeat(value, len(values)) for key, value in DEFAULTS.items()}
        table["created_at"] = table["updated_at"] = np.full(len(values), NOW - 4000 * DAY)
        table[column] = np.array(values)
        table["stability"] = np.full(len(values), stability)
        got = factors(table, name)["stability"]
        assert np.all(np.diff(got) <= 0) if is_turned else np.all(np.diff(got) >= 0)


@each
def test_a_memory_just_added_is_neutral(name: str) -> None:
    for table in (
        {"created_at": np.array([NOW])},
        {key: [value] for key, value in DEFAULTS.items()},
    ):
        for factor, values in factors(table, name).items():
            want, _ = NOT_NEUTRAL.get((name, factor), (1.0, ""))
            (got,) = np.asarray(values).tolist()
            assert got == want if want == 1.0 else got == pytest.approx(want, rel=1e-15), factor


@each
@FEW
@given(seed=seeds)
def test_a_time_ahead_counts_as_now(name: str, seed: int) -> None:
    table = random_table(seed, 20)
    ahead, level = dict(table), dict(table)
    for column in ("created_at", "updated_at", "last_accessed_at"):
        ahead[column] = np.full(20, NOW + 40 * DAY)
        level[column] = np.full(20, NOW)
    for factor, values in factors(ahead, name).items():
        assert values.tolist() == factors(level, name)[factor].tolist()


def test_ciar_alone_refuses_a_creation_ahead_of_now() -> None:
    ahead = {"created_at": np.array([NOW + DAY])}
    for name in NAMES:
        if name == "ciar":  # A6
            with pytest.raises(ValueError, match="created_at: must be at most now"):
                oneiros.factors(ahead, profile=name, now=NOW)
        else:
            oneiros.factors(ahead, profile=name, now=NOW)


@each
@FEW
@given(seed=seeds)
def test_a_row_does_not_depend_on_its_company(name: str, seed: int) -> None:
    """Nor on its place, the number of rows or of threads: the same bits."""
    table = random_table(seed, 3_000)
    whole = score(table, name)
    order = np.random.default_rng(seed).permutation(3_000)
    mixed = {key: np.asarray(column)[order] for key, column in table.items()}
    assert score(mixed, name).tolist() == whole[order].tolist()
    for row in (0, 7, 2_999):
        alone = {key: np.asarray(column)[row : row + 1] for key, column in table.items()}
        assert score(alone, name).tolist() == [whole[row]]
    for threads in (1, 2, 5):
        got = oneiros.rescore(table, profile=name, now=NOW, threads=threads)["score"]
        assert np.asarray(got).tolist() == whole.tolist()


@each
def test_every_path_gives_the_same_bits(name: str) -> None:
    table, store = random_table(11, 5_000), random_store(11, 200)
    query, vector = random_question(11)
    before = _core.simd_path()
    scores, found = [], []
    with engine_of(store) as mind:
        try:
            for path in _core.simd_paths():
                _core.use_simd_path(name=path)
                scores.append(score(table, name).tolist())
                asked = mind.search(
                    query, k=50, embedding=vector, profile=name, explain=True, reinforce=False
                )
                found.append([(one.id, one.score, str(one.explanation)) for one in asked])
        finally:
            _core.use_simd_path(name=before)
    assert all(one == scores[0] for one in scores)
    assert all(one == found[0] for one in found)


@each
@FEW
@given(seed=seeds, asks=st.booleans())
def test_an_explanation_evaluates_to_its_score(name: str, seed: int, asks: bool) -> None:
    query, vector = random_question(seed)
    with engine_of(random_store(seed, 60)) as mind:
        question = vector if asks else None
        response = mind.search(
            query, k=60, embedding=question, profile=name, explain=True, reinforce=False
        )
        plain = mind.search(query, k=60, embedding=question, profile=name, reinforce=False)
        few = mind.search(query, k=5, embedding=question, profile=name, reinforce=False)
    for result in response:
        told = result.explanation
        assert told is not None
        assert math.isfinite(result.score)
        assert told.evaluate() == told.score == result.score  # bit for bit
        factors, rule = list(BOUNDS[name]), oneiros.profiles.get(name).strong_signal
        skipped = () if rule is None else rule.skips  # O5
        alone = [factor for factor in factors if factor not in skipped]
        assert [one.name for one in told.factors] in (factors, alone)
    ranked = [(one.id, one.score) for one in response]
    assert [(one.id, one.score) for one in plain] == ranked  # looking changes nothing
    if not name.startswith("cognitive"):  # C4: 3k candidates, so k shapes the channels
        assert [(one.id, one.score) for one in few] == ranked[:5]
    scores = [one.score for one in response]
    assert scores == sorted(scores, reverse=True)


@each
@FEW
@given(seed=seeds)
def test_rescoring_gives_the_factors_of_a_search(name: str, seed: int) -> None:
    store = random_store(seed, 60)
    query, vector = random_question(seed)
    with engine_of(store) as mind:
        response = mind.search(
            query, k=60, embedding=vector, profile=name, explain=True, reinforce=False
        )
        rescored = dict(mind.rescore(profile=name, now=NOW))
    records = list(store.records.values())
    alone = oneiros.factors(records, profile=name, now=NOW, invalid="clamp")
    place = {id: row for row, id in enumerate(store.records)}
    for result in response:
        assert result.explanation is not None
        for one in result.explanation.factors:
            if one.name in {"tie_break", "overlap", "cluster"}:  # O32, O18, O21: only of a query
                continue
            assert one.value == float(alone[one.name][place[result.id]]), one.name
    assert all(math.isfinite(value) for value in rescored.values())


@each
def test_a_profile_comes_back_from_toml_the_same(name: str) -> None:
    profile = oneiros.profiles.get(name)
    again = Profile.from_toml(profile.to_toml())
    assert again == profile
    assert again.hash == profile.hash
    assert again.to_toml() == profile.to_toml()


def test_no_two_profiles_are_the_same() -> None:
    assert len({oneiros.profiles.get(name).hash for name in NAMES}) == len(NAMES)
    assert tuple(sorted(NAMES)) == NAMES or set(NAMES) == BOUNDS.keys()


@pytest.mark.parametrize("preset", ["customer_service", "real_time_monitoring", "knowledge_base"])
def test_a_preset_comes_back_from_toml_the_same(preset: str) -> None:
    profile = oneiros.profiles.get("ciar", preset=preset)
    assert Profile.from_toml(profile.to_toml()).hash == profile.hash
    assert profile.hash != oneiros.profiles.get("ciar").hash
