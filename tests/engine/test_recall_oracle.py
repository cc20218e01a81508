"""The engine against the plain model, over random lives of random stores."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

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
    SHOWN,
    STATUSES,
    Fields,
    Known,
    World,
    anything,
    changes,
    gaps_are_wide,
    known,
    queries,
    records,
)
from tests.folders import IN_MEMORY
from tests.oracles import reverie

pytestmark = pytest.mark.filterwarnings("ignore::oneiros.MissingEmbedderWarning")


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
        self.folder = Path(tempfile.mkdtemp(dir=IN_MEMORY))
        self.now = NOW
        self.world = World()
        self.mind = self.opened()
        self.other: oneiros.Engine | None = None

    def opened(self) -> oneiros.Engine:
        return oneiros.Engine(
            self.folder / "mind.db",
            profile="reverie",
            analyzer="simple",
            durability="normal",
            clock=lambda: self.now,
        )

    def teardown(self) -> None:
        self.close()
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
        is_rewritten = changed.get("text", one.text) != one.text
        is_anew = is_rewritten and one.status == "consolidated" and one.life.access_count > 0
        kept = None if is_rewritten else one.embedding  # the old text's vector goes with it
        vector: Any = changed.get("embedding", kept)
        self.world.known[id] = replace(
            one,
            text=str(changed.get("text", one.text)),
            embedding=vector,
            life=replace(one.life, updated_at=self.now, **lives),  # type: ignore[arg-type]
            labels={**one.labels, **labels},
            status="staged" if is_anew else one.status,  # docs/systems/reverie.md R14
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
        held = self.world.known[id].status
        status = "consolidated" if held == "archived" else held  # docs/systems/reverie.md R19
        one = self.world.known[id]
        life = replace(one.life, last_accessed_at=self.now)
        self.world.known[id] = replace(one, is_deleted=False, status=status, life=life)

    @precondition(lambda self: self.world.known)
    @rule(data=st.data())
    def forget(self, data: st.DataObject) -> None:
        id = self.chosen(data, list(self.world.known))
        self.mind.forget(id)
        del self.world.known[id]

    def close(self) -> None:
        self.mind.close()
        if self.other is not None:
            self.other.close()

    @rule()
    def reopen(self) -> None:
        self.close()
        self.mind, self.other = self.opened(), None

    @rule()
    def go_on_with_the_other_engine_of_the_file(self) -> None:
        self.mind.flush()  # reinforcement is written behind
        self.mind, self.other = self.other or self.opened(), self.mind
        self.mind.refresh()  # a search may miss uses that another engine wrote just before

    @rule(data=st.data())
    def delete_by_filter(self, data: st.DataObject) -> None:
        where, keep = data.draw(filters())
        gone = {id for id, one in self.world.live().items() if keep(one)}
        assert self.mind.delete(where=where) == len(gone)
        for id in gone:
            self.world.known[id] = replace(self.world.known[id], is_deleted=True)

    @rule(
        query=queries,
        k=st.integers(0, 20),
        embedding=st.one_of(st.none(), st.sampled_from(QUESTIONS)),
        chosen=st.one_of(st.none(), filters()),
        statuses=st.one_of(st.none(), st.sets(st.sampled_from(STATUSES), min_size=1)),
        days=st.one_of(st.none(), st.floats(-30, 30)),
        session=st.sampled_from([None, "s1", "s3"]),
        reinforce=st.booleans(),
    )
    def search(
        self,
        query: str,
        k: int,
        embedding: tuple[float, ...] | None,
        chosen: tuple[oneiros.Where, Callable[[Known], bool]] | None,
        statuses: set[str] | None,
        days: float | None,
        session: str | None,
        reinforce: bool,
    ) -> None:
        where, keep = (None, anything) if chosen is None else chosen
        shown = SHOWN if statuses is None else statuses
        now = self.now if days is None else self.now + days * 86_400
        want = self.world.search(query, k, now, embedding, keep, shown)
        response = self.mind.search(
            query,
            k=k,
            where=where,
            embedding=None if embedding is None else np.array(embedding, np.float32),
            status=None if statuses is None else sorted(statuses),
            now=None if days is None else now,
            session=session,
            reinforce=reinforce,
            explain=True,
        )
        assert [one.id for one in response.results] == [one.id for one in want]
        got = [one.score for one in response.results]
        assert got == pytest.approx([one.score for one in want], rel=1e-9, abs=0)
        found = self.world.channels(query, embedding, keep, shown)
        for result, one in zip(response.results, want, strict=True):
            check_explanation(result, one, found)
        if reinforce:
            self.world.reinforce([str(one.id) for one in want], now, session)

    @rule()
    def flush(self) -> None:
        self.mind.flush()

    @invariant()
    def holds_the_same(self) -> None:
        """What is read back is R20's state, written or not yet."""
        assert len(self.mind) == len(self.world.live())
        live = self.world.live()
        for one, memory in zip(live.values(), self.mind.get_many(list(live)), strict=True):
            assert memory is not None
            assert memory.text == one.text
            life = one.life
            assert memory.access_count == life.access_count
            assert memory.last_accessed_at == life.last_accessed_at
            assert memory.session_spread == life.session_spread
            assert memory.sessions == life.sessions
            assert memory.stability == reverie.as_float32(life.stability)
            assert memory.strength == reverie.as_float32(life.strength)


def check_explanation(
    result: oneiros.SearchResult, want: reverie.Ranked, found: list[list[tuple[str, float]]]
) -> None:
    """The parts of an explanation are the oracle's, and combined in order they are the score."""
    explanation = result.explanation
    assert explanation is not None
    channels = [one for one in explanation.channels if one.rank]
    places = [
        (place, score)
        for channel in found
        for place, (id, score) in enumerate(channel, start=1)
        if id == result.id
    ]
    assert [one.rank for one in channels] == [place for place, _ in places]
    assert [one.score for one in channels] == pytest.approx(
        [score for _, score in places], rel=1e-6, abs=1e-6
    )
    relevance = 0.0
    for one in channels:
        relevance += 1.0 / (30.0 + one.rank)
    assert explanation.relevance == result.relevance_score == relevance
    score, retention = relevance, 1.0
    for factor in explanation.factors:
        score *= factor.value
        retention *= 1.0 if factor.name == "time_decay" else factor.value
    assert score == explanation.score == result.score == result.combined_score
    assert result.retention_score == pytest.approx(retention, rel=1e-15, abs=0)
    assert [factor.name for factor in explanation.factors] == [name for name, _ in want.factors]
    got = [factor.value for factor in explanation.factors]
    assert got == pytest.approx([value for _, value in want.factors], rel=1e-12, abs=0)


def test_the_questions_tell_the_vectors_apart() -> None:
    assert gaps_are_wide()  # else the comparison would hang on float32 rounding


TestRecall = Recall.TestCase
TestRecall.settings = settings(
    max_examples=40,
    stateful_step_count=25,
    deadline=None,
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)
