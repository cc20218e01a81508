"""What a table must hold, and what happens where it does not. Source: docs/systems/ciar.md A6."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oneiros
from oneiros.rescoring.columns import all_coders
from tests.rescoring.forms import DAY, NOW, rescore

GOOD: dict[str, Any] = {
    "certainty": [0.9, 0.8, 1.0],
    "impact": [0.9, 0.5, 0.25],
    "created_at": [NOW - DAY, NOW, NOW - 30 * DAY],
    "access_count": [0, 3, 7],
}


def with_bad(name: str, value: object) -> dict[str, Any]:
    """Return good rows but for one value in row 1."""
    return {**GOOD, name: [GOOD[name][0], value, GOOD[name][2]]}


def forms_of(table: dict[str, Any]) -> dict[str, Any]:
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    held = {name: np.array(values) for name, values in table.items()}
    return {
        "lists": table,
        "dicts": rows,
        "arrays": held,
        "arrow": pa.table(held),
        "pandas": pd.DataFrame(held),
        "polars": pl.DataFrame(held),
    }


FORMS = tuple(forms_of(GOOD))
BAD = [
    ("certainty", 1.5, r"certainty: must be a number in \[0, 1\], got 1.5 in row 1"),
    ("certainty", -0.1, r"certainty: must be a number in \[0, 1\], got -0.1 in row 1"),
    ("impact", math.inf, r"impact: must be a number in \[0, 1\], got inf in row 1"),
    ("access_count", -1, r"access_count: must be an int in \[0, 4294967295\], got -1 in row 1"),
    ("access_count", 2**32, r"access_count: must be an int .*, got 4294967296 in row 1"),
    ("created_at", NOW + 1, r"created_at: must be at most now, .*, got 1750000001.0 in row 1"),
    ("created_at", NOW * 1000, "created_at: must be seconds since 1970, .*milliseconds.* in row 1"),
    ("created_at", -math.inf, "created_at: must be .*, got -inf in row 1"),
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("name", "value", "message"), BAD)
def test_raise_names_field_rule_value_and_row(
    form: str, name: str, value: object, message: str
) -> None:
    if form in ("lists", "dicts"):
        message = message.replace("4294967296", r"4294967296(\.0)?").replace(
            "-1 in", r"-1(\.0)? in"
        )
        message = message.replace("-inf", "(-inf)") if name != "created_at" else message
    if name == "created_at" and value == -math.inf and form in ("lists", "dicts"):
        message = "created_at: must be finite, got -inf in row 1"
    with pytest.raises(ValueError, match=message):
        rescore(forms_of(with_bad(name, value))[form], "ciar", NOW)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("name", "value", "message"), BAD)
def test_nan_leaves_the_row_without_a_score_and_no_other(
    form: str, name: str, value: object, message: str
) -> None:
    del message
    got = rescore(forms_of(with_bad(name, value))[form], "ciar", NOW, invalid="nan")
    scores = [row["score"] for row in got] if isinstance(got, list) else np.asarray(got["score"])
    want = np.array(rescore(GOOD, "ciar", NOW)["score"])
    want[1] = np.nan
    np.testing.assert_array_equal(np.array(scores), want)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("name", "value", "nearest"),
    [
        ("certainty", 1.5, 1.0),
        ("certainty", -0.1, 0.0),
        ("impact", math.inf, 1.0),
        ("access_count", -1, 0),
        ("access_count", 2**32, 2**32 - 1),
        ("created_at", NOW + 5, NOW),
    ],
)
def test_clamp_takes_the_nearest_valid_value(
    form: str, name: str, value: object, nearest: object
) -> None:
    got = rescore(forms_of(with_bad(name, value))[form], "ciar", NOW, invalid="clamp")
    scores = [row["score"] for row in got] if isinstance(got, list) else np.asarray(got["score"])
    want = rescore(with_bad(name, nearest), "ciar", NOW)["score"]
    np.testing.assert_array_equal(np.array(scores), want)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("certainty", math.nan),
        ("created_at", NOW * 1000),
        ("created_at", "soon"),
        ("access_count", "often"),
        ("access_count", 1.5),
        ("certainty", True),
    ],
)
def test_what_has_no_nearest_value_scores_nan(name: str, value: object) -> None:
    for invalid in ("clamp", "nan"):
        got = rescore(with_bad(name, value), "ciar", NOW, invalid=invalid)["score"]
        assert np.isnan(got).tolist() == [False, True, False]
    with pytest.raises(ValueError, match=f"^{name}: .*in row 1$"):
        rescore(with_bad(name, value), "ciar", NOW)


def test_the_first_bad_row_is_told_whatever_its_field() -> None:
    table = {**GOOD, "certainty": [1.0, 1.0, 7.0], "impact": [0.5, 7.0, 0.5]}
    with pytest.raises(ValueError, match=r"impact: .* in row 1$"):
        rescore(table, "ciar", NOW)


def test_a_null_is_no_bad_value() -> None:
    nulls = {name: [None, *values[1:]] for name, values in GOOD.items()}
    got = rescore(nulls, "ciar", NOW)["score"]
    want = rescore({**GOOD, "created_at": [math.nan, *GOOD["created_at"][1:]]}, "ciar", NOW)[
        "score"
    ]
    assert math.isnan(got[0])  # CIAR of an unknown creation is unknown
    np.testing.assert_array_equal(got, want)


def test_a_nan_of_pandas_is_missing() -> None:
    frame = pd.DataFrame({**GOOD, "access_count": [math.nan, 3.0, 7.0]})
    np.testing.assert_array_equal(
        rescore(frame, "ciar", NOW)["score"], rescore(GOOD, "ciar", NOW)["score"]
    )


def test_only_ciar_is_strict_about_the_future() -> None:
    table = {"created_at": [NOW + DAY], "last_accessed_at": [NOW + DAY], "certainty": [1.0]}
    now = {"created_at": [NOW], "last_accessed_at": [NOW], "certainty": [1.0]}
    with pytest.raises(ValueError, match="created_at: must be at most now"):
        rescore(table, "ciar", NOW)
    for profile in ("reverie", "ciar-shipped"):
        np.testing.assert_array_equal(
            rescore(table, profile, NOW)["score"], rescore(now, profile, NOW)["score"]
        )


def test_words_that_are_none_of_an_enumeration() -> None:
    for table in (
        {"category": ["semantic", "vague"]},
        pa.table({"category": ["semantic", "vague"]}),
    ):
        with pytest.raises(ValueError, match=r"category: must be one of episodic.*'vague'.* row 1"):
            rescore(table, "cognitive", NOW)
        got = rescore(table, "cognitive", NOW, invalid="clamp")["score"]
        assert np.isnan(np.asarray(got)).tolist() == [False, True]


def test_codes_may_stand_for_words_of_an_enumeration() -> None:
    words = rescore({"category": ["episodic", "procedural"]}, "cognitive", NOW)["score"]
    for codes in ([0, 2], np.array([0, 2], np.uint8), np.array([0.0, 2.0])):
        np.testing.assert_array_equal(
            rescore({"category": codes}, "cognitive", NOW)["score"], words
        )
    with pytest.raises(ValueError, match=r"category: must be one of .*, or its code, got 3"):
        rescore({"category": np.array([3])}, "cognitive", NOW)


def test_too_many_kinds_are_refused() -> None:
    coder = all_coders()["kind"]
    coder.of([f"kind {number}" for number in range(65_534)])
    assert len(coder.words) == 65_535
    with pytest.raises(ValueError, match="kind: at most 65535 distinct"):
        coder.of(["one more"])


def test_priorities_left_out_follow_the_kind() -> None:
    kinds = ["constraint", "decision", "session_summary", "code_chunk", "whatever"]
    derived = rescore({"kind": kinds}, "omega", NOW)["score"]
    told = rescore({"kind": kinds, "priority": [5, 4, 2, 1, 3]}, "omega", NOW)["score"]
    np.testing.assert_array_equal(derived, told)
    some = rescore({"kind": kinds, "priority": [None, 4, None, None, 3]}, "omega", NOW)["score"]
    np.testing.assert_array_equal(some, told)


@given(st.lists(st.floats(width=32), min_size=1, max_size=20))
def test_nan_marks_exactly_what_breaks_the_rule(certainty: list[float]) -> None:
    table = {"certainty": np.array(certainty, np.float32)}
    got = rescore(table, "ciar-shipped", NOW, invalid="nan")["score"]
    table["created_at"] = np.full(len(certainty), NOW)
    got = rescore(table, "ciar-shipped", NOW, invalid="nan")["score"]
    bad = [not 0.0 <= value <= 1.0 for value in certainty]
    assert np.isnan(got).tolist() == bad


def test_arguments_break_their_rules_in_words() -> None:
    table = {"certainty": [1.0]}
    with pytest.raises(ValueError, match="invalid: must be one of raise, nan, clamp, got 'drop'"):
        rescore(table, "ciar", NOW, invalid="drop")
    with pytest.raises(oneiros.UnknownProfile):
        rescore(table, "nobody", NOW)
    with pytest.raises(ValueError, match="now: must be aware"):
        rescore(table, "ciar", datetime(2025, 1, 1))
    with pytest.raises(ValueError, match="threads"):
        rescore(table, "ciar", NOW, threads=0)
    with pytest.raises(ValueError, match="threads: must be in 1 to 256"):
        rescore(table, "ciar", NOW, threads=257)
    with pytest.raises(TypeError, match="dtype: expected float32 or float64, got int8"):
        rescore(table, "ciar", NOW, dtype="int8")
    with pytest.raises(ValueError, match="profile: expected at least one"):
        rescore(table, [], NOW)
    with pytest.raises(ValueError, match="profile: expected at least one, each of another name"):
        rescore(table, ["ciar", "ciar"], NOW)
    with pytest.raises(TypeError, match="profile"):
        rescore(table, 3, NOW)  # type: ignore[arg-type]
    with pytest.raises(
        ValueError, match="lacks certainty, impact, created_at, access_count, which ciar"
    ):
        rescore({"sureness": [1.0]}, "ciar", NOW)


def test_now_may_be_said_in_every_way() -> None:
    table = {
        **GOOD,
        "created_at": [datetime.fromtimestamp(when, UTC) for when in GOOD["created_at"]],
    }
    want = rescore(GOOD, "ciar", NOW)["score"]
    for now in (NOW, int(NOW), datetime.fromtimestamp(NOW, UTC), "2025-06-15T15:06:40+00:00"):
        np.testing.assert_array_equal(rescore(table, "ciar", now)["score"], want)
    assert rescore({"certainty": [1.0], "created_at": [0.0]}, "ciar")["score"][0] < 1e-50
