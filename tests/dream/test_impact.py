"""What a plan would change for saved questions, and the rules that each difference depends on."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import oneiros
from oneiros.clock import VirtualClock
from oneiros.dream.impact import compared
from oneiros.scoring.phases.cognitive import Conflicts
from tests.dream.worlds import DAY
from tests.oracles import dream_impact as oracle

START = 1.7e9


def aged(path: str | Path, **options: object) -> tuple[oneiros.Engine, VirtualClock]:
    """A store in which two bugs grow stale beside a preference, which never does."""
    clock = VirtualClock(START)
    mind = oneiros.Engine(path, profile="reverie", clock=clock, **options)  # type: ignore[arg-type]
    mind.add("the login page crashed on empty passwords", id="bug", kind="bug")
    mind.add("the login page crashed on Sundays", id="other bug", kind="bug")
    mind.add("Ada wants the login page in blue", id="wish", kind="preference")
    clock.advance(70 * DAY)
    return mind, clock


@pytest.mark.parametrize("name", [":memory:", "agent.db"])
def test_lost_answers_name_the_rule_they_depend_on(name: str, tmp_path: Path) -> None:
    mind, _ = aged(name if name == ":memory:" else tmp_path / name)
    with mind:
        plan = mind.dream(dry_run=True)
        impact = plan.impact(["login page", "blue", "nothing of this"], k=2)
        login, blue, nothing = impact.queries
        assert set(login.before) <= {"bug", "other bug", "wish"}
        assert login.after == ("wish",)
        assert {one.rules for one in login.lost} == {("R13",)}
        assert login.rules == ("R13",)
        assert {one.id for one in login.lost} <= {"bug", "other bug"}
        assert login.overlap == len({*login.before} & {"wish"}) / 2
        assert (blue.before, blue.after, blue.overlap, blue.shifts) == (
            ("wish",),
            ("wish",),
            1.0,
            (),
        )
        assert (nothing.before, nothing.overlap) == ((), 1.0)
        assert impact.lost_by_rule() == {"R13": len(login.lost)}
        assert str(impact).splitlines()[0] == (
            f"3 questions, top 2: {impact.mean_overlap:.1%} stay; lost: pruning {len(login.lost)}"
        )
        assert "(pruning)" in str(impact).splitlines()[1]
        assert len(mind) == 3  # nothing was applied


def test_the_answers_foreseen_are_those_that_come() -> None:
    mind, _ = aged(":memory:")
    with mind:
        plan = mind.dream(dry_run=True)
        questions = ["login page", "crashed", "Sundays"]
        impact = plan.impact(questions)
        before = [tuple(mind.search(one, reinforce=False).ids) for one in questions]
        plan.apply()
        after = [tuple(mind.search(one, reinforce=False).ids) for one in questions]
        assert [one.before for one in impact.queries] == before
        assert [one.after for one in impact.queries] == after


def test_a_memory_that_moves_up_owes_it_to_the_rule_that_removed_those_above() -> None:
    mind, _ = aged(":memory:")
    with mind:
        one = mind.dream(dry_run=True).impact(["login crashed"], k=3).queries[0]
        shift = {shift.id: shift for shift in one.shifts}["wish"]
        assert (shift.before, shift.after, shift.rules) == (3, 1, ("R13",))
        assert not [lost for lost in one.lost if lost.id == "wish"]


def test_weakening_is_blamed_and_no_rule_that_changes_a_status_alone() -> None:
    """R12 weakens all but what is tagged; R14 consolidates all, which no score reads."""
    with oneiros.Engine(":memory:", profile="reverie", clock=lambda: START) as mind:
        for n in range(3):
            tag = "explicit" if n == 2 else "none"
            mind.add(
                "the red door", id=f"m{n}", topic=f"{n}", importance_tag=tag, now=START - 20 * DAY
            )
        plan = mind.dream(dry_run=True)
        assert {"R12", "R14"} <= set(plan.draft.rules())
        impact = plan.impact(["red door"], k=2)
    (one,) = impact.queries
    assert (one.before, one.after) == (("m0", "m1"), ("m0", "m2"))
    assert one.rules == ("R12",)
    assert {shift.id: shift.rules for shift in one.shifts} == {"m1": ("R12",), "m2": ("R12",)}
    assert impact.lost_by_rule() == {"R12": 1}
    assert str(impact) == (
        "1 question, top 2: 50.0% stay; lost: weakening 1\n  'red door': m1 (weakening)"
    )


def test_two_rules_that_each_suffice_are_none_alone() -> None:
    """What the judge supersedes is hidden, and so is what goes cold for it."""
    profile = oneiros.profiles.get("cognitive").replace(name="judged", phases=(Conflicts(),))
    with oneiros.Engine(":memory:", profile=profile, clock=lambda: START) as mind:
        mind.add("the door code is 12", id="old", embedding=(1.0, 0.0), now=START - DAY)
        mind.add("the door code is 34", id="new", embedding=(1.0, 0.1))
        plan = mind.dream(dry_run=True, judge=lambda *_: "update")
        assert set(plan.draft.rules()) == {"C19", "C22"}
        impact = plan.impact(["door code"])
    (one,) = impact.queries
    assert [(lost.id, lost.rules) for lost in one.lost] == [("old", ())]
    assert (one.rules, impact.lost_by_rule()) == ((), {"none alone": 1})
    assert "old (none alone)" in str(impact)


def test_a_difference_that_needs_two_rules_names_both() -> None:
    held = ["a", "b"]
    one = compared("q", held, ["b", "a"], {"R12": held, "R15": held, "R14": ["b", "a"]}, k=1)
    assert one.rules == ("R12", "R15")
    assert [(shift.id, shift.before, shift.after, shift.rules) for shift in one.shifts] == [
        ("a", 1, 2, ("R12", "R15")),
        ("b", 2, 1, ("R12", "R15")),
    ]


def test_a_rank_that_comes_back_in_part_is_no_rank_that_comes_back() -> None:
    one = compared("q", ["a", "b", "c"], ["b", "c", "a"], {"R12": ["b", "a", "c"]}, k=3)
    assert {shift.id: shift.rules for shift in one.shifts} == {"a": (), "b": (), "c": ("R12",)}
    assert one.rules == ()


def test_a_summary_that_is_left_out_is_not_made() -> None:
    with oneiros.Engine(":memory:", profile="cognitive", clock=lambda: START) as mind:
        for n in range(5):
            mind.add(
                f"the ferry leaves at {n}",
                id=f"m{n}",
                category="episodic",
                stability=0.1,
                embedding=(1.0, n / 100),
                now=START - 300 * DAY - n,
            )
        plan = mind.dream(dry_run=True, summarise=lambda _: "the ferry timetable")
        assert "C21" in plan.draft.rules()
        summary = plan.name(-1)
        one = plan.impact(["ferry"], k=10).queries[0]
    assert {shift.id: shift.rules for shift in one.shifts}[summary] == ("C21",)
    assert plan.draft.without("C21").unmade == {0}


class _Searched:
    """Copies of nothing: answers by plan, and how often each was searched."""

    def __init__(self, answers: dict[tuple[str, str], list[str]]) -> None:
        self.answers_of = answers
        self.calls: list[tuple[str, ...]] = []

    def answers(self, queries: Sequence[str], count: int, plan: Any = None) -> list[list[str]]:
        assert count == 30
        rules = "before" if plan is None else "+".join(plan.draft.rules())
        self.calls.append((rules, *queries))
        return [self.answers_of.get((rules, query), ["same"]) for query in queries]


def test_rules_are_left_out_only_where_an_answer_changed() -> None:
    mind, _ = aged(":memory:")
    with mind:
        plan = mind.dream(dry_run=True)
        every = "+".join(plan.draft.rules())
        still = _Searched({})
        oneiros.dream.impact.impact_of(plan, ["a", "b"], 3, still)
        assert still.calls == [("before", "a", "b"), (every, "a", "b")]
        moved = _Searched({(every, "b"): ["other"]})
        oneiros.dream.impact.impact_of(plan, ["a", "b"], 3, moved)
        assert moved.calls[:2] == still.calls
        assert len(moved.calls) == 2 + len(plan.draft.rules())
        assert {call[1:] for call in moved.calls[2:]} == {("b",)}


def _records(seed: int) -> list[dict[str, Any]]:
    """Memories of which some are stale, some said twice, some often used, some tagged."""
    pick = random.Random(seed)
    words = ["door", "train", "ferry", "coffee", "red", "blue"]
    records = []
    for n in range(40):
        text = " ".join(pick.choices(words, k=pick.randint(1, 4)))
        records.append(
            {
                "id": f"m{n}",
                "text": text,
                "kind": pick.choice(["note", "bug", "session", "preference"]),
                "topic": pick.choice(["a", "b"]),
                "created_at": START - pick.choice([2, 20, 50, 100, 200, 400]) * DAY - n,
                "strength": pick.choice([1.0, 0.75, 0.5, 0.1875, 0.01]),
                "depth": pick.choice([1, 2]),
                "session_spread": pick.choice([1, 2, 6]),
                "access_count": pick.choice([0, 0, 3]),
                "importance_tag": pick.choice(["none", "none", "explicit", "cross_session"]),
                "status": pick.choice(["staged", "consolidated"]),
            }
        )
    return records


def _search(records: Sequence[dict[str, Any]], query: str, count: int) -> list[str]:
    with oneiros.Engine(":memory:", profile="reverie", clock=lambda: START) as mind:
        mind.add_many(records, now=START - 500 * DAY)
        return mind.search(query, count, reinforce=False).ids


@pytest.mark.parametrize("seed", range(4))
def test_every_rule_left_out_by_hand_gives_the_same_blame(seed: int) -> None:
    profile = oneiros.profiles.get("reverie")
    questions = ["door", "train red", "ferry", "coffee blue"]
    with oneiros.Engine(":memory:", profile=profile, clock=lambda: START) as mind:
        mind.add_many(_records(seed), now=START - 500 * DAY)
        records = [memory.to_record() for memory in mind.get_many([f"m{n}" for n in range(40)])]
        plan = mind.dream(dry_run=True)
        changes = [
            oracle.Change(one.rule, one.id, one.field, one.before, one.after)
            for one in plan.changes()
            if one.field != "link"  # which this profile's searches do not read
        ]
        impact = plan.impact(questions, k=5)
    assert {"R12", "R13"} <= {change.rule for change in changes}
    wanted = {
        query: oracle.expected(records, changes, query, 5, 50, _search) for query in questions
    }
    for one in impact.queries:
        want = wanted[one.query]
        assert (list(one.before), list(one.after)) == (want.before, want.after)
        assert set(one.rules) == set(want.rules)
        found = [(s.id, s.before, s.after, sorted(s.rules)) for s in one.shifts]
        assert found == want.shifts
    assert impact.lost_by_rule() == oracle.lost_by_rule(wanted)
    assert any(one.shifts for one in impact.queries)


def test_leaving_out_a_rule_keeps_the_share_that_a_later_one_took() -> None:
    """R11 strengthens, R12 then weakens: without R11 the weakening is that of the weaker memory."""
    with oneiros.Engine(":memory:", profile="reverie", clock=lambda: START) as mind:
        for n in range(3):
            mind.add(f"text {n}", id=f"m{n}", session="s", strength=0.5, now=START - 0.1 * DAY)
        draft = mind.dream(dry_run=True).draft
    assert {"R11", "R12"} <= set(draft.rules())
    assert np.all(draft.column("strength") > np.float32(0.475))
    assert np.all(draft.without("R11").column("strength") == np.float32(0.475))
    both = draft.without("R11").without("R12")
    assert np.all(both.column("strength") == np.float32(0.5))
    assert np.all(draft.without("R12").column("strength") == draft.columns[0].after)


def test_an_impact_is_one_line_until_it_is_printed() -> None:
    mind, _ = aged(":memory:")
    with mind:
        impact = mind.dream(dry_run=True).impact(["login page", "blue"])
    assert repr(impact) == f"<Impact of {str(impact).splitlines()[0]}>"
    assert len(str(impact).splitlines()) > 1
    login = impact.queries[0]
    assert repr(login) == (
        f"<QueryImpact 'login page': {login.overlap:.1%} stay, "
        f"{len(login.shifts)} at another rank, {len(login.lost)} lost>"
    )


@pytest.mark.parametrize("k", [0, -1, 1.5, "3"])
def test_k_is_refused(k: object) -> None:
    mind, _ = aged(":memory:")
    with mind, pytest.raises((ValueError, TypeError), match="k"):
        mind.dream(dry_run=True).impact(["login"], k)  # type: ignore[arg-type]


def test_queries_are_texts() -> None:
    mind, _ = aged(":memory:")
    with mind, pytest.raises(TypeError, match="queries"):
        mind.dream(dry_run=True).impact([3])  # type: ignore[list-item]
