"""Better numbers from judged questions: found on some, believed on others. docs/systems/house.md H5."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from oneiros import profiles
from oneiros.evaluation.metrics import mean
from oneiros.evaluation.tasks import JudgedQuery, Task, demo_task, measure
from oneiros.evaluation.tuning import (
    PARAMETERS,
    Parameter,
    ProfileTrials,
    Tuning,
    fitting,
    tune,
    value_at,
    with_value,
)
from oneiros.scoring.channels import LexicalChannel
from oneiros.scoring.factors import HalfLifeRecency
from oneiros.scoring.fusion import Blend
from oneiros.scoring.profile import Profile

HOUSE = profiles.get("oneiros")
DAY = 86_400.0
FADING = Profile(
    name="fading",
    channels=(LexicalChannel(),),
    fusion=Blend(),
    factors=(HalfLifeRecency(half_life_days=30.0, floor=0.0, damping=0.5),),
)
DAMPING = Parameter("factors.*.damping", (0.0, 0.25, 0.5, 0.75))


def kettles(count: int, *, is_old: bool | None) -> Task:
    """Questions whose answer is the older of two memories, the newer, or one then the other."""
    records, questions = [], []
    for n in range(count):
        for age, days in (("old", 400.0), ("new", 1.0)):
            created = 1e9 - days * DAY
            records.append({"id": f"{age}{n}", "text": f"kettle k{n}", "created_at": created})
        wants_old = n % 4 < 2 if is_old is None else is_old
        questions.append(
            JudgedQuery(
                id=f"q{n}",
                type="odd" if n % 2 else "even",
                text=f"kettle k{n}",
                answers={f"{'old' if wants_old else 'new'}{n}": 1.0},
                embedding=None,
                now=1e9,
                where=None,
            )
        )
    return Task(name="kettles", records=records, questions=questions)


def test_numbers_are_read_and_changed_where_they_stand() -> None:
    assert value_at(HOUSE, "channels.lexical.k1") == 1.2
    assert value_at(HOUSE, "fusion.weight") == 0.55
    changed = with_value(HOUSE, "factors.*.damping", 0.2)
    undamped = {"trust", "question_feedback"}
    damped = [factor for factor in changed.factors if factor.name not in undamped]
    assert {factor.damping for factor in damped} == {0.2}  # type: ignore[attr-defined]
    depth = value_at(HOUSE, "channels.lexical.depth")
    deeper = with_value(HOUSE, "channels.lexical.depth", depth + 10.0)
    assert value_at(deeper, "channels.lexical.depth") == depth + 10
    with pytest.raises(TypeError, match=r"expected an integer, got float 1\.5"):
        with_value(HOUSE, "channels.lexical.depth", 1.5)
    one = with_value(HOUSE, "factors.strength.damping", 0.2)
    assert [factor.name for factor in one.factors if factor not in HOUSE.factors] == ["strength"]
    assert with_value(one, "factors.strength.damping", 0.15) == HOUSE
    assert {one.path for one in fitting(HOUSE)} == {one.path for one in PARAMETERS} - {"fusion.k"}
    assert "fusion.k" in {one.path for one in fitting(profiles.get("reverie"))}


@pytest.mark.parametrize("name", ["oneiros", "omega", "cognitive"])
def test_a_trial_is_what_a_search_finds(name: str) -> None:
    """Also where the answers of channels are used again, and where they must not be."""
    demo = demo_task()
    questions = [question for question in demo.questions if question.answers][::9]
    held = {id for question in questions for id in question.answers}
    records = [one for n, one in enumerate(demo.records) if n < 60 or one["id"] in held]
    task = Task(name="few", records=records, questions=questions)
    profile = profiles.get(name)
    changes = [profile, profile.replace(abstention=None)]
    changes += [with_value(profile, one.path, one.values[1]) for one in fitting(profile)[:4]]
    with ProfileTrials([task]) as trials:
        for changed in changes:
            report = measure(task, changed)
            assert mean(trials.figures(changed)) == pytest.approx(report.overall.ndcg, abs=1e-12)


def test_what_helps_is_found_and_holds_where_it_was_not_looked_for() -> None:
    seen: list[int] = []
    found = tune([kettles(24, is_old=True)], FADING, [DAMPING], advance=seen.append)
    assert found.is_better
    assert value_at(found.tuned, DAMPING.path) == 0.0
    assert [(one.before, one.after) for one in found.changes] == [(0.5, 0.0)]
    assert found.gain.is_significant
    assert [fold.question_count for fold in found.folds] == [12, 12]
    assert all(fold.after > fold.before for fold in found.folds)
    assert sum(seen) == found.trial_count <= 4


@pytest.mark.parametrize("is_old", [False, None])
def test_without_a_gain_beyond_chance_nothing_changes(is_old: bool | None) -> None:
    found = tune([kettles(24, is_old=is_old)], FADING, [DAMPING])
    assert not found.is_better
    assert found.tuned == FADING


def test_a_change_that_helps_no_one_is_put_back() -> None:
    """The weight of words makes no difference where there is nothing else."""
    weight = Parameter("fusion.weight", (0.1, 0.4, 0.9))
    found = tune([kettles(16, is_old=True)], FADING, [weight, DAMPING], method="grid")
    assert [one.path for one in found.changes] == [DAMPING.path]


def test_a_number_that_is_tuned_to_0_can_still_be_read() -> None:
    for path in ("neighbours.session_share", "neighbours.whole_length"):
        without = with_value(HOUSE, path, 0.0)
        assert value_at(without, path) == 0.0
        assert with_value(without, path, value_at(HOUSE, path)) == HOUSE
    words = with_value(HOUSE, "channels.lexical.half_length", 0.0)
    assert value_at(words, "channels.lexical.half_length") == 0.0


def test_numbers_that_a_path_names_together_are_put_back_each_to_its_own() -> None:
    """A few more of the questions want the old: a gain that may be chance."""
    strength = next(factor for factor in HOUSE.factors if factor.name == "strength")
    profile = FADING.replace(factors=(*FADING.factors, replace(strength, damping=0.1)))
    tasks = [kettles(6, is_old=True), kettles(5, is_old=False)]
    found = tune(tasks, profile, [DAMPING])
    assert found.trial_count > 2
    assert (found.found, found.changes) == (profile, ())


def test_the_same_seed_finds_the_same_and_questions_are_dealt_evenly() -> None:
    task = kettles(12, is_old=None)

    def found(seed: int) -> Tuning:
        return tune([task], FADING, [DAMPING], folds=3, seed=seed)

    assert found(5) == found(5)
    assert [fold.question_count for fold in found(5).folds] == [4, 4, 4]


def test_several_collections_are_tuned_together() -> None:
    found = tune([kettles(8, is_old=True), kettles(8, is_old=True)], FADING, [DAMPING])
    assert sum(fold.question_count for fold in found.folds) == 16


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"parameters": [Parameter("fusion.shine", (1.0,))]},
            "fusion.shine: profile fading has no",
        ),
        (
            {"parameters": [Parameter("fusion", (1.0,))]},
            "fusion: profile fading has no such number",
        ),
        ({"parameters": [Parameter("fusion.weight", (1.5,))]}, "weight: must be >= 0 and <= 1"),
        ({"parameters": []}, "parameters: profile fading has none of the usual ones"),
        (
            {"parameters": [Parameter("fusion.weight", (each,)) for each in (0.4, 0.5)]},
            "parameters: must name each path once, got 'fusion.weight' twice",
        ),
        ({"method": "guess"}, "method: "),
        ({"folds": 1}, "folds: must be from 2 to 20, got 1"),
        ({"folds": 20}, "folds: 20 need as many questions, got 4"),
        (
            {
                "method": "grid",
                "parameters": [Parameter("fusion.weight", tuple(n / 6_000 for n in range(5_001)))],
            },
            "a grid of 5001 combinations; at most 5000",
        ),
    ],
)
def test_errors_name_the_rule(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tune([kettles(4, is_old=True)], FADING, **arguments)
