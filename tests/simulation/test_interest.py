"""The time over which something is asked about: it has a heavy tail, whatever the kind."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oneiros.simulation.invented import KINDS, invent
from oneiros.simulation.script import Fact, Line, Script
from oneiros.simulation.workload import Workload
from oneiros.simulation.world import World

SMALL = Workload(days=200.0, memories=300)
LONG = Workload(days=3_650.0, memories=6_000, questions=6.0, recent=0.0)


def asked(world: World) -> list[tuple[float, int]]:
    """Return time and fact of every question."""
    return [(query.at, query.fact) for session in world.sessions for query in session.asked]


def shuffled(script: Script, random: Random) -> Script:
    """Return the script with the kinds, texts and questions of its facts dealt out again."""
    facts = len(script.facts)
    dealt = random.sample(range(facts), facts)
    kinds = random.sample(list(KINDS) * facts, len(script.lines))
    lines = [
        Line(line.record | {"kind": kind, "text": f"{kind} {place}"}, line.fact, line.version)
        for place, (line, kind) in enumerate(zip(script.lines, kinds, strict=True))
    ]
    phrases = [script.facts[place].phrases for place in dealt]
    topics = [fact.topic for fact in script.facts]
    return Script(lines, [Fact(*each) for each in zip(topics, phrases, strict=True)])


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**40), deal=st.randoms(use_true_random=False))
def test_shuffled_kinds_leave_the_times_of_the_questions_as_they_are(
    seed: int, deal: Random
) -> None:
    workload = replace(SMALL, seed=seed)
    script = invent(workload, Random(seed))
    plain, dealt = workload.world(script), workload.world(shuffled(script, deal))
    assert asked(plain) == asked(dealt) != []
    assert [one.at for one in plain.sessions] == [one.at for one in dealt.sessions]


def ages_by_kind(world: World) -> dict[str, list[float]]:
    """Return the ages of the questions' facts, in days, by the facts' kind."""
    kinds: dict[int, str] = {}
    stated: dict[int, float] = {}
    ages: dict[str, list[float]] = {}
    for session in world.sessions:
        for query in session.asked:
            ages.setdefault(kinds[query.fact], []).append(query.at - stated[query.fact])
        for telling in session.tellings:
            if telling.fact is not None:
                kinds[telling.fact] = telling.record["kind"]
                stated.setdefault(telling.fact, session.ends)
    return ages


def test_no_kind_is_asked_about_for_longer_than_another() -> None:
    ages: dict[str, list[float]] = {}
    for seed in range(4):
        for kind, of_kind in ages_by_kind(replace(LONG, seed=seed, zipf=0.0).world()).items():
            ages.setdefault(kind, []).extend(of_kind)
    assert set(ages) == set(KINDS)
    over_all = np.median(np.concatenate(list(ages.values())))
    for of_kind in ages.values():
        assert 0.6 < np.median(of_kind) / over_all < 1.6


def test_people_come_back_to_some_facts_for_years_and_to_others_never() -> None:
    world = replace(LONG, seed=1).world()
    stated: dict[int, float] = {}
    last: dict[int, float] = {}
    ages = []
    for session in world.sessions:
        for query in session.asked:
            last[query.fact] = query.at
            ages.append(query.at - stated[query.fact])
        for telling in session.tellings:
            if telling.fact is not None:
                stated.setdefault(telling.fact, session.ends)
    # Of git's commits, half of what people come back to is older than 393 days, a quarter than
    # 1,345 in 16 years (docs/simulation.md); here are ten.
    half, most = np.quantile(ages, [0.5, 0.75])
    assert 150.0 < half < 700.0
    assert 500.0 < most < 1_800.0
    # An exponential law with that median would have one in a thousand beyond ten medians.
    assert np.mean(np.array(ages) > 5.0 * half) > 0.04
    early = [fact for fact, at in stated.items() if at < 1_800.0]
    never = np.mean([fact not in last for fact in early])
    for_years = np.mean([last.get(fact, 0.0) > stated[fact] + 1_000.0 for fact in early])
    assert 0.2 < never < 0.8
    assert 0.1 < for_years < 0.6


def test_dormant_facts_are_asked_about_again() -> None:
    times: dict[int, list[float]] = {}
    for at, fact in asked(replace(LONG, seed=2).world()):
        times.setdefault(fact, []).append(at)
    gaps = np.concatenate([np.diff(of_fact) for of_fact in times.values()])
    assert np.mean(gaps < 7.0) > 0.15  # asked about in spells
    assert np.mean(gaps > 180.0) > 0.05  # and again after half a year


@pytest.mark.parametrize("setting", ["interest_days", "interest_tail"])
def test_interest_that_fades_more_slowly_means_older_questions(setting: str) -> None:
    ages = []
    for times in (0.2, 1.0, 5.0):
        value = getattr(LONG, setting) * (times if setting == "interest_days" else 1.0 / times)
        by_kind = ages_by_kind(replace(LONG, memories=2_000, **{setting: value}).world())
        ages.append(np.median(np.concatenate(list(by_kind.values()))))
    assert ages == sorted(ages)


def test_scripts_are_the_same_whatever_the_interest() -> None:
    one = SMALL.world()
    other = replace(SMALL, interest_days=5.0, return_days=10.0).world()
    texts = [
        [telling.record["text"] for session in world.sessions for telling in session.tellings]
        for world in (one, other)
    ]
    assert texts[0] == texts[1]
    assert Counter(fact for _, fact in asked(one)) != Counter(fact for _, fact in asked(other))
