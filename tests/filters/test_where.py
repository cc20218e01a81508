"""Filters as values: made, joined, printed, compared, refused."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import oneiros
from oneiros.errors import QueryTooLarge
from oneiros.filters import Where, where
from oneiros.filters.conditions import And, AnyOf, Everything, Not, Or, Within
from tests.filters.records import CONDITIONS

MARCH = datetime(2025, 3, 1, tzinfo=UTC).timestamp()


def test_where_is_the_public_name() -> None:
    assert oneiros.where is where


def test_equal_conditions_are_equal_objects() -> None:
    assert where(kind=["b", "a", "b"]) == where(kind=("a", "b"))
    assert hash(where(kind=["b", "a"])) == hash(where(kind={"a", "b"}))
    assert where(project="x") == where(project=["x"])
    assert where(project="x") != where(topic="x")
    assert where(metadata={"k": 1}) == where(metadata={"k": 1.0})
    assert where(metadata={"k": 1}) != where(metadata={"k": True})
    assert where(metadata={"k": 0}) != where(metadata={"k": None})
    assert len({where(), where(), ~~where()}) == 1
    assert "kind" in repr(where(kind="a"))


def test_joins_stay_flat_and_drop_idle_parts() -> None:
    a, b, c = (where(kind=kind) for kind in "abc")
    assert a & b & c == And((a, b, c)) == a & (b & c)
    assert a | b | c == Or((a, b, c))
    assert a & where() == a == where() & a
    assert a | where() == where()
    assert a & a == a == a | a
    assert ~~a == a
    assert (~a) == Not(a)
    assert where(kind="a", project="x") == a & where(project="x")


def test_a_filter_is_frozen_and_has_no_truth_value() -> None:
    with pytest.raises(AttributeError):
        where(kind="a").name = "topic"  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match="join filters with &"):
        bool(where(kind="a"))
    with pytest.raises(TypeError, match="unsupported operand"):
        where() & True  # type: ignore[operator]


@pytest.mark.parametrize(
    "start",
    [
        MARCH,
        np.float64(MARCH),
        datetime(2025, 3, 1, tzinfo=UTC),
        datetime(2025, 3, 1, 5, 30, tzinfo=timezone(timedelta(hours=5, minutes=30))),
        "2025-03-01T00:00:00Z",
        "2025-03-01T05:30:00+05:30",
    ],
)
def test_times_are_read_in_every_form(start: object) -> None:
    assert where(occurred_at=(start, None)) == Within("occurred_at", MARCH, None)
    assert where(created_at=[None, start]) == Within("created_at", None, MARCH)


def test_years_1_and_9999_are_times() -> None:
    condition = where(event_at=("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"))
    assert isinstance(condition, Within)
    assert condition.start == -62135596800.0


@pytest.mark.parametrize(
    ("conditions", "error", "message"),
    [
        ({"colour": "x"}, ValueError, "unknown field 'colour'; known: access_count, .*topic"),
        ({"deleted_at": (0, 1)}, ValueError, "unknown field 'deleted_at'"),
        ({"project": None}, TypeError, "project: expected text or a list of texts, got None"),
        ({"project": 3}, TypeError, "project: expected text .* got 3"),
        ({"project": ["a", 3]}, TypeError, "project: expected text .* got 3 in it"),
        ({"project": b"a"}, TypeError, "project: expected text"),
        ({"tags": {"a": 1}}, TypeError, "tags: expected text"),
        ({"status": "done"}, ValueError, "status: no such value 'done'; known: staged, consol"),
        ({"category": ["semantic", "x"]}, ValueError, "category: no such value 'x'"),
        ({"created_at": 5}, TypeError, r"created_at: expected a range \(start, end\)"),
        ({"created_at": (1, 2, 3)}, TypeError, "created_at: expected a range"),
        ({"created_at": "2025-03-01T00:00:00Z"}, TypeError, "created_at: expected a range"),
        ({"created_at": (2, 1)}, ValueError, "created_at: start must not be after end"),
        ({"created_at": (float("nan"), 1)}, ValueError, "created_at: must be finite, got nan"),
        ({"created_at": (float("inf"), None)}, ValueError, "created_at: must be finite, got inf"),
        (
            {"created_at": (1.7e12, None)},
            ValueError,
            "created_at: must be seconds since 1970.*milliseconds",
        ),
        (
            {"created_at": ("soon", None)},
            ValueError,
            "created_at: must be ISO 8601 with an offset",
        ),
        ({"created_at": ("2025-03-01", None)}, ValueError, "must be aware"),
        ({"created_at": (datetime(2025, 3, 1), None)}, ValueError, "must be aware"),
        ({"created_at": ([], None)}, TypeError, "created_at: must be a number"),
        ({"importance": "high"}, TypeError, "importance: must be a number, got 'high'"),
        ({"importance": None}, TypeError, "importance: must be a number, got None"),
        ({"depth": (None, 10**400)}, ValueError, "depth: must be finite, got 1000"),
        ({"strength": (float("-inf"), None)}, ValueError, "strength: must be finite, got -inf"),
        ({"depth": (3, 1)}, ValueError, "depth: start must not be after end"),
        ({"metadata": [("k", 1)]}, TypeError, "metadata: expected a dict"),
        ({"metadata": {1: 1}}, TypeError, "metadata: keys are text, got 1"),
        ({"metadata": {"k": [1]}}, TypeError, r"metadata\['k'\]: expected text, number"),
        ({"metadata": {"k": float("nan")}}, ValueError, r"metadata\['k'\]: must be finite"),
    ],
)
def test_a_bad_condition_is_refused(
    conditions: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        where(**conditions)


def test_limits() -> None:
    words = [str(number) for number in range(100_000)]
    full = where(id=words)
    assert full.size == 100_000
    with pytest.raises(QueryTooLarge, match="at most 100000 values, got 100001"):
        where(id=[*words, "one more"])
    with pytest.raises(QueryTooLarge, match="at most 100000 values"):
        full | where(kind="a")
    deep = where(kind="a")
    for level in range(31):
        deep = (deep & where(kind="b")) if level % 2 else (deep | where(kind="c"))
    assert deep.depth == 32
    with pytest.raises(QueryTooLarge, match="at most 32 levels deep, got 33"):
        deep & where(kind="b")
    wide = where(kind="a")
    for number in range(200):  # a chain of one join is no nesting
        wide = wide | where(topic=str(number))
    assert wide.depth == 2


@given(CONDITIONS)
def test_json_round_trip(condition: Where) -> None:
    assert Where.from_json(json.dumps(condition.to_json())) == condition
    assert Where.from_json(condition.to_json()) == condition


def test_times_of_far_years_survive_json() -> None:
    last = "9999-12-31T23:59:59.999999Z"  # as a number, it would be taken for milliseconds
    condition = where(occurred_at=("6025-03-01T00:00:00Z", last))
    assert condition.to_json() == {
        "occurred_at": ["6025-03-01T00:00:00Z", "9999-12-31T23:59:59.999969Z"]
    }
    assert Where.from_json(json.dumps(condition.to_json())) == condition


def test_json_reads_like_the_keywords() -> None:
    text = '{"occurred_at": ["2025-03-01T00:00:00Z", null], "project": "x", "kind": ["a", "b"]}'
    want = where(occurred_at=(MARCH, None), project="x", kind=["a", "b"])
    assert Where.from_json(text) == want
    assert want.to_json() == {"occurred_at": [MARCH, None], "project": "x", "kind": ["a", "b"]}
    assert Where.from_json({}) == Everything()
    joined = {"any": [{"kind": "a"}, {"not": {"topic": "t"}}], "project": "x"}
    assert Where.from_json(joined) == (where(kind="a") | ~where(topic="t")) & where(project="x")
    assert Where.from_json({"all": [{"tags": "a"}, {"tags": "b"}]}) == where(tags="a") & where(
        tags="b"
    )
    assert Where.from_json({"any": []}) == ~where()
    assert AnyOf("kind", ()) == where(kind=[])


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        ("{", ValueError, "where: not JSON"),
        ("[]", TypeError, "where: expected a JSON object, got list"),
        ('{"any": {}}', TypeError, "'any' joins a list of objects, got dict"),
        ('{"not": 3}', TypeError, "expected a JSON object, got int"),
        ('{"colour": 3}', ValueError, "unknown field 'colour'"),
        ('{"not": {}, "kind": "a", "not": {}}', ValueError, "where: 'not' comes twice"),
        ('{"metadata": {"n": {"$ne": 1, "$ne": 2}}}', ValueError, "'\\$ne' comes twice"),
        ('{"created_at": [NaN, null]}', ValueError, "created_at: must be finite"),
        ('{"not":' * 100 + "{}" + "}" * 100, QueryTooLarge, "at most 32 levels"),
        ('{"not":' * 100_000, QueryTooLarge, "at most 32 levels"),
        (" " * (16 * 2**20 + 1), QueryTooLarge, "characters of JSON"),
    ],
    ids=[
        "cut",
        "list",
        "any",
        "not",
        "field",
        "twice",
        "operator",
        "nan",
        "deep",
        "bottomless",
        "long",
    ],
)
def test_bad_json_is_refused(value: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Where.from_json(value)


HUGE = 10**5_000
"""An int with more digits than Python prints."""


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("conditions", "start"),
    [
        ({"importance": HUGE}, "importance: must be finite, got "),
        ({"importance": nested(3_000)}, "importance: expected a range "),
        ({"created_at": (HUGE, None)}, "created_at: must be a finite number, got "),
        ({"kind": HUGE}, "kind: expected text or a list of texts, got "),
        ({"metadata": {"n": {"$gte": HUGE}}}, "metadata['n']: must be finite, got "),
        ({"metadata": {"n": nested(3_000)}}, "metadata['n']: expected text, number, "),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_values_that_python_does_not_print_are_named(
    conditions: dict[str, Any], start: str
) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        where(**conditions)
    assert str(caught.value).startswith(start)
