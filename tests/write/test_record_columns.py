"""Batches checked by column are stored as records that are checked one by one."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import oneiros
from oneiros import _core
from oneiros.index.indexes import AnalysisAhead
from oneiros.model import validation
from oneiros.model.fields import ENUMS, FIELDS
from oneiros.store import row_writing
from oneiros.store.columns import StoredColumns
from oneiros.store.transaction import Transaction
from oneiros.write import add
from oneiros.write import batch as batches

NOW = 1_750_000_000.0
GIVEN = {
    "title": st.sampled_from(["", "A title", "Straße"]),
    "kind": st.sampled_from(["note", "constraint", "lesson", "made up"]),
    "topic": st.sampled_from(["a", "b"]),
    "project": st.sampled_from(["p", "q"]),
    "session": st.sampled_from(["s1", "s2"]),
    "user": st.sampled_from(["ada", "bob"]),
    "agent": st.sampled_from(["writer"]),
    "namespace": st.sampled_from(["acme", "acme/eu"]),
    "tags": st.lists(st.sampled_from(["x", "y"]), max_size=2),
    "labels": st.lists(st.sampled_from(["x", "y"]), max_size=2),
    "metadata": st.dictionaries(st.sampled_from(["k", "l"]), st.integers(0, 2), max_size=2),
    "created_at": st.sampled_from([0.0, 1.5e9, 1_600_000_000, "2024-05-01T00:00:00Z"]),
    "updated_at": st.sampled_from([1.6e9]),
    "learned_at": st.sampled_from([1.0]),
    "importance": st.sampled_from([0.0, 0.25, 1]),
    "stability": st.sampled_from([0.5, 2.0]),
    "depth": st.sampled_from([1, 2, 3]),
    "priority": st.sampled_from([1, 5]),
    "pinned": st.booleans(),
    "source": st.sampled_from(["user", "tool"]),
    "source_ref": st.sampled_from(["a", "b"]),
    "derived_from": st.lists(st.sampled_from(["m0", "m1"]), max_size=3),
    "trust": st.sampled_from([0.0, 0.3, 1]),
    "status": st.sampled_from(ENUMS["status"]),
    "tier": st.sampled_from(ENUMS["tier"]),
    "ttl": st.sampled_from([60.0]),
    "deleted_at": st.sampled_from([1.7e9]),
    "superseded_by": st.sampled_from(["m0"]),
    "sessions": st.sampled_from([["s1", "s9"]]),
    "session_spread": st.sampled_from([1, 7]),
    "embedding": st.sampled_from([[1.0, 2.0], np.array([3, 4]), np.zeros(2, np.float32)]),
}
WRONG = {
    "text": st.sampled_from([7, "\ud800"]),
    "importance": st.sampled_from([2.0, float("nan"), "much"]),
    "created_at": st.sampled_from(["today", 1e12]),
    "embedding": st.sampled_from([[], [[1.0]], ["x"], [float("inf"), 1.0], [1.0, 2.0, 3.0]]),
    "kinds": st.just("note"),
    "namespace": st.sampled_from(["", "a//b", "a/", "/".join("x" * 17), 7]),
    "source": st.sampled_from(["somebody", 7]),
    "derived_from": st.sampled_from(["m0", [""], [7]]),
    "trust": st.sampled_from([-0.1, 1.5, "much"]),
    "tags": st.sampled_from(["x", [1]]),
    "depth": st.sampled_from([0, 9]),
}


@st.composite
def records(draw: st.DrawFn) -> list[dict[str, Any]]:
    names = draw(st.lists(st.sampled_from(sorted(GIVEN)), unique=True, max_size=6))
    count = draw(st.integers(8, 12))
    made = []
    for number in range(count):
        record: dict[str, Any] = {"id": f"m{number}", "text": draw(st.sampled_from(["a?", "b c"]))}
        for name in names:
            given = draw(st.sampled_from(["given", "given", "given", "None", "left out"]))
            if given != "left out":
                record[name] = draw(GIVEN[name]) if given == "given" else None
        made.append(record)
    if draw(st.integers(0, 4)) == 0:
        name = draw(st.sampled_from(sorted(WRONG)))
        made[draw(st.integers(0, count - 1))][name] = draw(WRONG[name])
    if draw(st.integers(0, 9)) == 0:
        made[-1]["id"] = "m0"
    return made


def state_of(engine: oneiros.Engine) -> tuple[Any, ...]:
    """Return what the store and the read model hold, in values that can be compared."""
    services = engine._scope.services
    read_model, columns = services.read_model, services.read_model.lifecycle
    hits, scores, _ = read_model.indexes.lexical.search(query="b", k=20, allowed=None)
    with services.store.read() as reading:
        stored = [row for rows in reading.changes(0) for row in rows]
    held = {name: columns.column(name).tobytes() for name in _core.Columns.schema()}
    sessions = [columns.sessions_of(row) for row in range(len(columns.ids))]
    states = {name: rows.to_array().tolist() for name, rows in read_model.row_sets.states().items()}
    found = (hits.tolist(), scores.tolist())
    vectors = read_model.indexes.vectors
    width = None if vectors is None else vectors.dimension
    return stored, held, sessions, states, found, width, read_model.kind_counts()


def outcome(given: list[dict[str, Any]], *, fewest: int, profile: str, chunk: int = 2_000) -> Any:
    """What an engine holds after records were added, or the error that they met."""
    patch = pytest.MonkeyPatch()
    with patch.context() as changed, oneiros.Engine(":memory:", profile=profile) as engine:
        changed.setattr(batches, "_FEWEST_BY_COLUMN", fewest)
        changed.setattr(batches, "_CHUNK", chunk)
        try:
            report = engine.add_many(given, now=NOW)
        except (TypeError, ValueError) as error:
            return type(error), str(error), error.__notes__
        assert engine.check() == []
        return report.ids, *state_of(engine)


@pytest.mark.parametrize("chunk", [2_000, 4])
@given(given=records(), profile=st.sampled_from(["oneiros", "cognitive"]))
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_a_batch_by_column_is_stored_as_one_by_one(
    chunk: int, given: list[dict[str, Any]], profile: str
) -> None:
    by_column = outcome(given, fewest=2, profile=profile, chunk=chunk)
    assert by_column == outcome(given, fewest=10_000, profile=profile)


def test_vectors_checked_at_once_have_the_bits_of_vectors_checked_alone() -> None:
    check = FIELDS["embedding"].check
    rng = np.random.default_rng(3)
    for dtype in (np.float64, np.float32, np.float16, np.int32):
        for width in (1, 2, 3, 7, 384, 1000):
            rows = (rng.normal(size=(40, width)) * 100).astype(dtype)
            rows[rows == 0] = 1
            rows[::3] = (
                np.stack([check(row) for row in rows]).astype(dtype)[::3]
                if dtype != np.int32
                else rows[::3]
            )
            given = [row for row in rows if np.any(row)]
            unit = validation.unit_rows(given)
            assert unit is not None
            assert unit.tobytes() == np.stack([check(row) for row in given]).tobytes()
    assert validation.unit_rows([[1, 2.5], (3, 4)]) is not None


@pytest.mark.parametrize(
    "given",
    [
        [[0.0, 0.0], [1.0, 0.0]],
        [[1.0], [1.0, 2.0]],
        [[1.0, float("nan")]],
        [[1e300, 1e300]],
        [[True, False]],
        [["a"]],
        [[]],
        [3.0],
        [[[1.0]]],
    ],
)
def test_what_is_odd_is_left_to_the_check_of_one(given: list[Any]) -> None:
    assert validation.unit_rows(given) is None


def test_records_of_a_generator_are_read_once_and_in_order() -> None:
    def produced() -> Any:
        for number in range(30):
            yield {
                "id": f"m{number}",
                "text": "t",
                **({"session_spread": 2} if number == 25 else {}),
            }

    patch = pytest.MonkeyPatch()
    with patch.context() as changed, oneiros.Engine(":memory:") as engine:
        changed.setattr(batches, "_CHUNK", 10)
        report = engine.add_many(produced())
        assert report.ids == [f"m{number}" for number in range(30)]
        assert [engine.get(id).session_spread for id in report.ids[24:27]] == [1, 2, 1]


def test_a_large_batch_updates_what_is_there(tmp_path: Any) -> None:
    with oneiros.Engine(tmp_path / "mind.db") as engine:
        engine.add_many([{"id": f"m{n}", "text": f"old {n}"} for n in range(20)], now=NOW)
        again = [{"id": f"m{n}", "text": f"new {n}"} for n in range(10, 40)]
        with pytest.raises(oneiros.errors.DuplicateId, match="m10"):
            engine.add_many(again, now=NOW)
        report = engine.add_many(again, on_conflict="update", now=NOW)
        assert report.updated == [f"m{n}" for n in range(10, 20)]
        assert report.ids == [f"m{n}" for n in range(10, 40)]
        assert engine.get("m15").text == "new 15"
        assert len(engine) == 40


def test_a_large_batch_supersedes_what_waited_for_it(tmp_path: Any) -> None:
    with oneiros.Engine(tmp_path / "mind.db") as engine:
        engine.add_many([{"id": "old", "text": "a plan", "superseded_by": "m5"}], now=NOW)
        assert [hit.id for hit in engine.search("plan")] == ["old"]
        engine.add_many([{"id": f"m{n}", "text": f"a plan {n}"} for n in range(20)], now=NOW)
        assert "old" not in [hit.id for hit in engine.search("plan", k=30)]
        assert engine.check() == []


def searches(engine: oneiros.Engine) -> list[tuple[list[str], list[float]]]:
    found = [engine.search(query, k=30, reinforce=False) for query in ("w1 w2", "tag 7", "title")]
    return [(one.ids, [result.score for result in one.results]) for one in found]


def test_texts_analyzed_beside_the_write_are_found_as_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    records = [
        {
            "id": f"m{n}",
            "text": f"w{n % 7} w{n % 11} number {n}",
            "tags": [f"tag {n % 13}"] if n % 3 else None,
            "title": "Title" if n % 5 == 0 else None,
        }
        for n in range(3_000)
    ]
    monkeypatch.setattr(add, "INSERTED_AT_ONCE", 700)
    monkeypatch.setattr(row_writing, "INSERTED_AT_ONCE", 700)
    taken: list[int] = []
    take = AnalysisAhead.take

    def watched(self: AnalysisAhead, memories: StoredColumns) -> _core.AnalyzedTexts | None:
        analyzed = take(self, memories)
        taken.append(0 if analyzed is None else len(analyzed))
        return analyzed

    monkeypatch.setattr(AnalysisAhead, "take", watched)
    with oneiros.Engine(":memory:") as beside, oneiros.Engine(":memory:") as after:
        beside.add_many(records, now=NOW)
        assert sum(taken) > 0
        assert len(taken) == 5
        monkeypatch.setattr(add, "_FEWEST_AHEAD", 10_000)
        after.add_many(records, now=NOW)
        assert len(taken) == 5
        assert searches(beside) == searches(after)
        assert beside.check() == []


def test_nothing_is_found_of_a_batch_that_is_rolled_back(tmp_path: Any) -> None:
    records = [{"id": f"m{n}", "text": f"word {n}"} for n in range(1_500)]
    with oneiros.Engine(tmp_path / "mind.db") as engine:
        engine.add("word", id="first", now=NOW)
        before = [result.score for result in engine.search("word", reinforce=False).results]
        with pytest.MonkeyPatch.context() as changed:

            def fail(*_given: object, **_named: object) -> None:
                msg = "cut off"
                raise RuntimeError(msg)

            changed.setattr(Transaction, "count_duplicates", fail)
            with pytest.raises(RuntimeError, match="cut off"):
                engine.add_many(records, now=NOW)
        response = engine.search("word", reinforce=False)
        assert (response.ids, [result.score for result in response.results]) == (["first"], before)
        assert engine._scope.services.read_model.indexes.analysis_ahead is None
        assert "oneiros-analysis" not in {thread.name for thread in threading.enumerate()}
        assert len(engine.add_many(records, now=NOW).ids) == 1_500
        assert engine.check() == []


def test_vectors_are_brought_to_length_1_in_one_call() -> None:
    rows = np.array([[3.0, 4.0], [0.0, -2.0]])
    units = _core.unit_vectors(values=rows)
    assert units is not None
    assert units.dtype == np.float32
    np.testing.assert_array_equal(units, np.array([[0.6, 0.8], [0.0, -1.0]], np.float32))
    assert _core.unit_vectors(values=np.array([[1.0, 0.0], [0.0, 0.0]])) is None
    assert _core.unit_vectors(values=np.array([[1.0, np.nan]], np.float32)) is None
    with pytest.raises(TypeError, match="values: expected float32 or float64, got int64"):
        _core.unit_vectors(values=np.ones((2, 2), np.int64))
    with pytest.raises(ValueError, match=r"values: expected shape \(n, d\), got \(2,\)"):
        _core.unit_vectors(values=np.ones(2))
    with pytest.raises(ValueError, match="values: must be contiguous"):
        _core.unit_vectors(values=np.ones((4, 4))[:, ::2])
