"""The engine against the plain model, over random lives of random stores."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import oneiros
from tests.engine.world import (
    KINDS,
    NOW,
    PROJECTS,
    QUESTIONS,
    Fields,
    Known,
    World,
    changes,
    gaps_are_wide,
    known,
    queries,
    records,
)
from tests.oracles import reverie


def filters() -> st.SearchStrategy[tuple[oneiros.Where, Callable[[Known], bool]]]:
    """Pairs of a filter and the same in plain Python."""
    by_project = st.sampled_from(PROJECTS[1:]).map(
        lambda name: (oneiros.where(project=name), lambda one: one.labels["project"] == name)
    )
    by_kinds = st.sets(st.sampled_from(KINDS)).map(
        lambda names: (oneiros.where(kind=sorted(names)), lambda one: one.labels["kind"] in names)
    )
    by_time = st.floats(0, 60).map(
        lambda age: (
            oneiros.where(created_at=(NOW - age * 86_400, None)),
            lambda one: one.life.created_at >= NOW - age * 86_400,
        )
    )
    simple = st.one_of(by_project, by_kinds, by_time)
    negated = simple.map(lambda pair: (~pair[0], lambda one: not pair[1](one)))
    both = st.tuples(simple, simple).map(
        lambda two: (two[0][0] & two[1][0], lambda one: two[0][1](one) and two[1][1](one))
    )
    either = st.tuples(simple, simple).map(
        lambda two: (two[0][0] | two[1][0], lambda one: two[0][1](one) or two[1][1](one))
    )
    return st.one_of(simple, negated, both, either)


class Recall(RuleBasedStateMachine):
    """Every operation on the engine and on the model; every answer compared."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.now = NOW
        self.world = World()
        self.mind = self.opened()

    def opened(self) -> oneiros.Engine:
        return oneiros.Engine(
            self.folder / "mind.db",
            profile="reverie",
            analyzer="simple",
            durability="normal",
            clock=lambda: self.now,
        )

    def teardown(self) -> None:
        self.mind.close()
        shutil.rmtree(self.folder)

    @initialize(fields=st.lists(records, max_size=8))
    def import_many(self, fields: list[Fields]) -> None:
        report = self.mind.add_many(fields)
        for id, one in zip(report.ids, fields, strict=True):
            self.world.known[id] = known(one, self.now)

    @rule(fields=records)
    def add(self, fields: Fields) -> None:
        given = {name: value for name, value in fields.items() if name != "text"}
        id = self.mind.add(fields["text"], **given)
        self.world.known[id] = known(fields, self.now)

    @rule(days=st.floats(0, 20))
    def wait(self, days: float) -> None:
        self.now += days * 86_400

    def chosen(self, data: st.DataObject, ids: list[str]) -> str:
        return data.draw(st.sampled_from(ids))

    @precondition(lambda self: self.world.live())
    @rule(data=st.data(), changed=changes)
    def update(self, data: st.DataObject, changed: Fields) -> None:
        id = self.chosen(data, list(self.world.live()))
        self.mind.update(id, **changed)
        one = self.world.known[id]
        lives = {
            name: changed[name] for name in ("strength", "depth", "stability") if name in changed
        }
        labels = {name: changed[name] for name in one.labels if name in changed}
        self.world.known[id] = replace(
            one,
            text=str(changed.get("text", one.text)),
            embedding=changed.get("embedding", one.embedding),  # type: ignore[arg-type]
            life=replace(one.life, updated_at=self.now, **lives),  # type: ignore[arg-type]
            labels={**one.labels, **labels},
        )

    @precondition(lambda self: self.world.live())
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        id = self.chosen(data, list(self.world.live()))
        assert self.mind.delete(id) == 1
        self.world.known[id] = replace(self.world.known[id], is_deleted=True)

    @precondition(lambda self: len(self.world.live()) < len(self.world.known))
    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        gone = [id for id, one in self.world.known.items() if one.is_deleted]
        id = self.chosen(data, gone)
        self.mind.restore(id)
        self.world.known[id] = replace(self.world.known[id], is_deleted=False)

    @precondition(lambda self: self.world.known)
    @rule(data=st.data())
    def forget(self, data: st.DataObject) -> None:
        id = self.chosen(data, list(self.world.known))
        self.mind.forget(id)
        del self.world.known[id]

    @rule()
    def reopen(self) -> None:
        self.mind.close()
        self.mind = self.opened()

    @rule(
        query=queries,
        k=st.integers(0, 20),
        embedding=st.one_of(st.none(), st.sampled_from(QUESTIONS)),
        chosen=st.one_of(st.none(), filters()),
        session=st.sampled_from([None, "s1", "s3"]),
        reinforce=st.booleans(),
        explain=st.booleans(),
    )
    def search(self, query, k, embedding, chosen, session, reinforce, explain) -> None:
        where, keep = (None, lambda _: True) if chosen is None else chosen
        want = self.world.search(query, k, self.now, embedding, keep)
        response = self.mind.search(
            query,
            k=k,
            where=where,
            embedding=None if embedding is None else np.array(embedding, np.float32),
            session=session,
            reinforce=reinforce,
            explain=explain,
        )
        assert [one.id for one in response.results] == [one.id for one in want]
        got = [one.score for one in response.results]
        assert got == pytest.approx([one.score for one in want], rel=1e-9, abs=0)
        if explain:
            rankings = self.world.rankings(query, embedding, keep)
            for result, one in zip(response.results, want, strict=True):
                check_explanation(result, one, rankings)
        if reinforce:
            self.world.reinforce([str(one.id) for one in want], self.now, session)

    @invariant()
    def holds_the_same(self) -> None:
        live = self.world.live()
        assert len(self.mind) == len(live)
        for id, memory in zip(live, self.mind.get_many(list(live)), strict=True):
            one = live[id]
            assert memory is not None
            assert memory.text == one.text
            life = one.life
            assert memory.access_count == life.access_count
            assert memory.last_accessed_at == life.last_accessed_at
            assert memory.session_spread == life.session_spread
            assert memory.stability == reverie.as_float32(life.stability)
            assert memory.strength == reverie.as_float32(life.strength)


def check_explanation(
    result: oneiros.SearchResult, want: reverie.Ranked, rankings: list[list[str]]
) -> None:
    """The parts of an explanation are the oracle's, and combined in order they are the score."""
    explanation = result.explanation
    assert explanation is not None
    found = {one.name: one for one in explanation.channels if one.rank}
    assert [one.rank for one in found.values()] == [
        ranking.index(result.id) + 1 for ranking in rankings if result.id in ranking
    ]
    relevance = 0.0
    for one in found.values():
        relevance += 1.0 / (30.0 + one.rank)
    assert explanation.relevance == result.relevance_score == relevance
    score, retention = relevance, 1.0
    for factor in explanation.factors:
        score *= factor.value
        retention *= factor.value
    assert score == explanation.score == result.score == result.combined_score
    assert result.retention_score == pytest.approx(retention, rel=1e-15, abs=0)
    assert [factor.name for factor in explanation.factors] == [name for name, _ in want.factors]
    got = [factor.value for factor in explanation.factors]
    assert got == pytest.approx([value for _, value in want.factors], rel=1e-12, abs=0)


def test_the_questions_tell_the_vectors_apart() -> None:
    assert gaps_are_wide()  # else the comparison would hang on float32 rounding


TestRecall = Recall.TestCase
TestRecall.settings = settings(
    max_examples=60,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
