"""`oneiros.meta` and the JSON of its filters: made, compared, printed, refused."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import oneiros
from oneiros.errors import QueryTooLarge, TextEncodingError
from oneiros.filters import Where, where
from oneiros.filters.conditions import MetadataIs, MetadataRange
from tests.filters.metadata_oracle import ON_METADATA

meta = oneiros.meta


def test_the_path_has_one_form() -> None:
    assert (meta("k") == 1) == (meta(["k"]) == 1) == (meta(("k",)) == 1) == where(metadata={"k": 1})
    assert (meta("a.b") == 1) != (meta(["a", "b"]) == 1)
    assert (meta(["a", "b"]) == 1) == where(metadata={"a": {"b": 1}})
    assert (meta("a.b") == 1) == where(metadata={"a.b": 1})
    assert repr(meta("a.b")) == "oneiros.meta('a.b')"
    assert repr(meta(["a", "b"])) == "oneiros.meta(('a', 'b'))"


def test_equal_filters_are_equal_objects() -> None:
    k = meta("k")
    assert k.in_(["a", "b", "a"]) == k.in_(("b", "a"))
    assert hash(k.in_(["a", 1])) == hash(k.in_([1.0, "a"]))
    assert k.in_(["a"]) == (k == "a")
    assert k.in_([1, True]) != k.in_([1])
    assert k.contains("a") == k.contains_any(["a"]) == k.contains_all(["a"])
    assert k.contains_all(["a", "b"]) == k.contains("a") & k.contains("b")
    assert k.not_in(["a", "b"]) == ~k.in_(["a", "b"])
    assert (k != 1) == ~(k == 1)
    assert k.is_null() == where(metadata={"k": None})
    assert k.between(1, 2) == where(metadata={"k": {"$gte": 1, "$lte": 2}})
    assert (k >= np.float32(0.5)) == (k >= 0.5)
    assert (k == np.int64(5)) == (k == 5)
    assert isinstance(k == 5, MetadataIs)


def test_times_have_one_form() -> None:
    march = datetime(2025, 3, 1, tzinfo=UTC)
    forms = [march, date(2025, 3, 1), "2025-03-01", "2025-03-01T00:00:00Z", march.isoformat()]
    assert {meta("due") >= form for form in forms} == {
        MetadataRange("due", march.timestamp(), None, True, False, True)
    }
    assert meta("due").between("2025-03-01", "2025-03-02") == where(
        metadata={"due": {"$gte": "2025-03-01T01:00:00+01:00", "$lt": "2025-03-02"}}
    )
    assert (meta("due") < "2025-03-01").to_json() == {
        "metadata": {"due": {"$lt": "2025-03-01T00:00:00Z"}}
    }


@pytest.mark.parametrize(
    ("condition", "shown"),
    [
        (meta("k") == 1, {"k": 1}),
        (meta(["a", "b"]) == "x", {"a": {"b": "x"}}),
        (meta("k").in_([1, None]), {"k": {"$in": [1, None]}}),
        (meta("k") > 1, {"k": {"$gt": 1}}),
        (meta("k").between(1, 2), {"k": {"$gte": 1, "$lte": 2}}),
        (meta(["a", "b"]) <= 2, {"a": {"b": {"$lte": 2}}}),
        (meta("k").exists(), {"k": {"$exists": True}}),
        (meta("k").contains("x"), {"k": {"$contains": "x"}}),
        (meta("k").contains_any(["x", 1]), {"k": {"$contains_any": ["x", 1]}}),
        (meta("k").prefix("AB-"), {"k": {"$prefix": "AB-"}}),
        (meta("k").substring("B-"), {"k": {"$substring": "B-"}}),
        (meta("k").substring("b-", ignore_case=True), {"k": {"$isubstring": "b-"}}),
        (meta(["a.b"]) == 1, {"a.b": {"$path": ["a.b"], "$eq": 1}}),
        (meta(["a", "$b"]) < 1, {"a.$b": {"$path": ["a", "$b"], "$lt": 1}}),
        (meta("$k") == 1, {"$k": 1}),
    ],
)
def test_json_of_each_comparison(condition: Where, shown: dict[str, object]) -> None:
    assert condition.to_json() == {"metadata": shown}
    assert Where.from_json(json.dumps({"metadata": shown})) == condition
    assert where(metadata=shown) == condition


def test_json_of_negations_and_of_several_operators() -> None:
    k = meta("k")
    assert where(metadata={"k": {"$ne": 1}}) == (k != 1)
    assert where(metadata={"k": {"$nin": [1, 2]}}) == k.not_in([1, 2])
    assert where(metadata={"k": {"$exists": False}}) == ~k.exists()
    assert where(metadata={"k": {"$contains_all": ["a", "b"]}}) == k.contains_all(["a", "b"])
    assert where(metadata={"k": {"$eq": None}}) == k.is_null()
    assert where(metadata={"k": {"$prefix": "a", "$ne": "ab"}, "l": 1}) == (
        k.prefix("a") & (k != "ab") & (meta("l") == 1)
    )
    assert where(metadata={"a": {"b": {"$gt": 1}, "c": 2}}) == (
        (meta(["a", "b"]) > 1) & (meta(["a", "c"]) == 2)
    )


@given(ON_METADATA)
def test_json_round_trip(condition: Where) -> None:
    assert Where.from_json(json.dumps(condition.to_json())) == condition


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: meta(1), TypeError, "metadata: keys are text, got 1"),
        (lambda: meta(["a", 1]), TypeError, r"metadata: keys are text, got \['a', 1\]"),
        (lambda: meta([]), ValueError, "metadata: a path needs at least one key"),
        (lambda: meta(["a"] * 33), QueryTooLarge, "at most 32 keys, got 33"),
        (lambda: meta("a." * 32), QueryTooLarge, "at most 32 keys, got 33"),
        (lambda: meta("k") == [1], TypeError, r"metadata\['k'\]: expected text, number, truth"),
        (
            lambda: meta("k").contains(math.nan),
            ValueError,
            r"metadata\['k'\]: must be finite, got nan",
        ),
        (lambda: meta("k").in_("abc"), TypeError, "expected a list of values, got 'abc'"),
        (lambda: meta("k").in_(5), TypeError, "expected a list of values, got 5"),
        (lambda: meta("k").in_([[1]]), TypeError, "expected text, number, truth value or None"),
        (lambda: meta("k").contains([1]), TypeError, "expected text, number, truth value or None"),
        (lambda: meta("k").prefix(5), TypeError, r"metadata\['k'\]"),
        (lambda: meta("k").prefix("\ud800"), TextEncodingError, "lone surrogate"),
        (lambda: meta("k").substring(5), TypeError, r"metadata\['k'\]"),
        (lambda: meta("k").substring("\ud800"), TextEncodingError, "lone surrogate"),
        (lambda: meta("k").substring("a", ignore_case=1), TypeError, "ignore_case"),
        (lambda: meta("k") > "abc", ValueError, "a number or a time in ISO 8601 with an offset"),
        (lambda: meta("k") > "2025-03-01T00:00:00", ValueError, "must be aware"),
        (lambda: meta("k") > datetime(2025, 3, 1), ValueError, "must be aware"),
        (lambda: meta("k") > True, TypeError, "must be a number or a time, got True"),
        (lambda: meta("k") > None, TypeError, "must be a number or a time, got None"),
        (lambda: meta("k") > [1], TypeError, "must be a number or a time"),
        (lambda: meta("k") > float("inf"), ValueError, "must be finite, got inf"),
        (lambda: meta("k") < 10**400, ValueError, "must be finite, got 1000"),
        (lambda: meta("k").between(2, 1), ValueError, "start must not be after end"),
        (lambda: meta("k").between(1, "2025-03-01"), TypeError, "both ends must be numbers, or"),
        (lambda: meta("k").between(None, None), TypeError, r"\.exists\(\) matches any value"),
        (lambda: meta("k") > "0001-01-01T00:00:00+14:00", ValueError, "in the years 1 to 9999"),
        (lambda: bool(meta("k")), TypeError, "has no truth value"),
        (lambda: "x" in meta("k"), TypeError, r"use \.contains\('x'\)"),
        (lambda: (meta("k") > 1) & meta("l"), TypeError, "put comparisons into brackets"),
        (lambda: meta("k") & meta("l"), TypeError, "put comparisons into brackets"),
        (lambda: 1 < meta("k") < 3, TypeError, "a filter has no truth value"),
        (lambda: hash(meta("k")), TypeError, "unhashable"),
        (
            lambda: meta("k").contain("x"),  # type: ignore[operator]
            AttributeError,
            r"no comparison has the name 'contain'; known: between, .*; did you mean 'contains'",
        ),
        (
            lambda: where(metadata={"k": {"$gtt": 1}}),
            ValueError,
            r"metadata\['k'\]: unknown operator '\$gtt'; known: \$eq, .*; did you mean '\$gt'",
        ),
        (lambda: where(metadata={"k": {"$in": 1}}), TypeError, "expected a list of values, got 1"),
        (lambda: where(metadata={"k": {"$gt": None}}), TypeError, "must be a number or a time"),
        (
            lambda: where(metadata={"k": {"$gt": 1, "$gte": 1}}),
            ValueError,
            r"one of \$gte and \$gt",
        ),
        (lambda: where(metadata={"k": {"$exists": 1}}), TypeError, "True or False, got 1"),
        (lambda: where(metadata={"k": {"$gt": 1, "l": 1}}), ValueError, "unknown operator 'l'"),
        (lambda: where(metadata={"k": {"$path": ["k"]}}), ValueError, "alone is no condition"),
        (
            lambda: where(metadata={"k": {"$path": ["l"], "$eq": 1}}),
            ValueError,
            r"\$path must list the keys of 'k', got \['l'\]",
        ),
        (
            lambda: where(metadata={"k": {}}),
            TypeError,
            "expected text, number, truth value or None",
        ),
        (lambda: where(metadata={"k": {1: 2}}), TypeError, "metadata: keys are text, got 1"),
        (lambda: where(metdata={}), ValueError, "unknown field 'metdata'.*did you mean 'metadata'"),
        (lambda: where(tag="x"), ValueError, "unknown field 'tag'; .*did you mean 'tags'"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    make: Callable[[], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        make()


def test_limits() -> None:
    values = [str(number) for number in range(100_000)]
    assert meta("k").in_(values).size == 100_000
    with pytest.raises(QueryTooLarge, match="at most 100000 values"):
        meta("k").contains_any([*values, "one more"])
    nested: object = 1
    for _ in range(40):
        nested = {"k": nested}
    with pytest.raises(QueryTooLarge, match="at most 32 keys"):
        where(metadata=nested)
