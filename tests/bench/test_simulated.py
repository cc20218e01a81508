"""The worlds and profiles behind the figures of simulated lives."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from bench.interest import FORMS, Choice, fitted, question_ages
from bench.simulated import BY_KIND, SECTIONS, Simulations, with_limits
from oneiros import profiles
from oneiros.scoring.phases.reverie import Place, Prune
from oneiros.scoring.tables import Table
from oneiros.simulation.world import World


def kinds(world: World) -> list[tuple[int | None, str]]:
    return [
        (telling.fact, telling.record["kind"])
        for session in world.sessions
        for telling in session.tellings
    ]


def test_dealt_kinds_change_nothing_but_kinds() -> None:
    run = Simulations([0], 400)
    plain, dealt = run.world(0, 365.0), run.world(0, 365.0, are_dealt=True)
    assert [one.asked for one in plain.sessions] == [one.asked for one in dealt.sessions]
    assert kinds(plain) != kinds(dealt)
    assert len({fact for fact, _ in kinds(dealt)}) == len(dict(kinds(plain)))
    of_fact: dict[int | None, set[str]] = {}
    for fact, kind in kinds(dealt):
        of_fact.setdefault(fact, set()).add(kind)
    assert all(len(each) == 1 for fact, each in of_fact.items() if fact is not None)
    chatter = Counter(kind for fact, kind in kinds(dealt) if fact is None)
    facts = Counter(kind for fact, kind in kinds(dealt) if fact is not None)
    share = chatter["session"] / chatter.total() - facts["session"] / facts.total()
    assert abs(share) < 0.15  # nearly all chatter is of that kind before


def test_a_life_is_run_once() -> None:
    run = Simulations([0], 30)
    first = run.lives("ciar", None, days=30.0)
    again = run.lives(profiles.get("ciar"), None, days=30.0)
    assert [course.checkpoints for course in first.courses] == [
        course.checkpoints for course in again.courses
    ]  # with their times
    assert again.profile == "ciar"


def test_limits_are_those_given() -> None:
    profile = with_limits(Table({}), 90.0, "90")
    limited = [phase for phase in profile.phases if isinstance(phase, Prune | Place)]
    assert {(phase.limits_days, phase.other_limit_days) for phase in limited} == {(Table({}), 90.0)}
    assert profile.rails.kept_priority is None
    assert set(BY_KIND) <= {kind for _, kind in kinds(Simulations([0], 400).world(0, 60.0))}


def test_each_section_names_its_page() -> None:
    for section in SECTIONS.values():
        assert section.__doc__ is not None
        assert section.__doc__.startswith("docs/")


@pytest.mark.parametrize(("days", "tail"), [(10.0, 1.0), (60.0, 2.0)])
def test_a_fit_finds_the_law_by_which_choices_were_made(days: float, tail: float) -> None:
    generator = np.random.default_rng(3)
    made = []
    for _ in range(700):
        older = generator.uniform(0.0, 1_000.0, 300)
        weights = (1.0 + older / days) ** -tail
        made.append(Choice(generator.choice(older, 1, p=weights / weights.sum()), older))
    form, start = FORMS["(1 + age / days)^-tail"]
    fit = fitted(made, form, start)
    assert fit.gain > 0.0
    for age in (30.0, 300.0):
        got = (1.0 + age / fit.parameters[0]) ** -fit.parameters[1]
        assert got == pytest.approx((1.0 + age / days) ** -tail, rel=0.4)
    other = fitted(made, *FORMS["exp(-age / days)"])
    assert other.gain < fit.gain


def test_ages_are_those_of_first_statements() -> None:
    ages = question_ages(Simulations([0], 200).world(0, 100.0))
    assert len(ages) > 20
    assert np.all(ages >= 0.0)
