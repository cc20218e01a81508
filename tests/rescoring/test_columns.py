"""Columns of odd types: converted, or refused in words; never read wrongly."""

from __future__ import annotations

import decimal
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oneiros
from oneiros.rescoring.columns import seconds_of_datetimes, seconds_of_ticks
from tests.rescoring.forms import NOW, rescore

WANT = rescore({"strength": np.array([0.25, 0.5, 1.0])}, "reverie", NOW)["score"]
STRENGTH = np.array([0.25, 0.5, 1.0])
TIMES = [datetime(2025, 1, 1, tzinfo=UTC), datetime(2024, 2, 29, 12, 30, 1, 250_001, tzinfo=UTC)]
SECONDS = [when.timestamp() for when in TIMES]
OF_TIMES = rescore({"updated_at": np.array(SECONDS)}, "reverie", NOW)["score"]


def scores(table: Any, **options: Any) -> np.ndarray:
    return np.asarray(rescore(table, "reverie", NOW, **options)["score"])


@pytest.mark.parametrize(
    "values",
    [
        STRENGTH.astype(">f8"),
        STRENGTH.astype(">f4"),
        STRENGTH.astype(np.float16),
        STRENGTH.astype(np.longdouble),
        np.repeat(STRENGTH, 2)[::2],
        STRENGTH[::-1][::-1],
        np.stack([STRENGTH, STRENGTH], axis=1)[:, 0],
        np.ma.masked_array(STRENGTH),
        STRENGTH.astype(object),
        tuple(STRENGTH),
        pd.Series(STRENGTH, dtype=object),
        pd.Series(STRENGTH).astype("category"),
        pd.Series(STRENGTH, dtype=pd.SparseDtype("float")),
        pa.array(STRENGTH).dictionary_encode(),
        pc.run_end_encode(pa.array(STRENGTH)),
        pa.array([decimal.Decimal("0.25"), decimal.Decimal("0.5"), decimal.Decimal(1)]),
        pa.array(STRENGTH, pa.float16()),
        pa.chunked_array([STRENGTH[:1], STRENGTH[1:1], STRENGTH[1:]]),
        pl.Series([decimal.Decimal("0.25"), decimal.Decimal("0.5"), decimal.Decimal(1)]),
    ],
    ids=repr,
)
def test_numbers_in_odd_dress(values: Any) -> None:
    np.testing.assert_array_equal(scores({"strength": values}, dtype="float64"), WANT)


@pytest.mark.parametrize(
    ("name", "values", "nulls"),
    [
        ("strength", STRENGTH, pa.array([STRENGTH[0], None, STRENGTH[2]])),
        ("strength", STRENGTH.astype(object), pa.array([STRENGTH[0], None, STRENGTH[2]])),
        ("depth", np.array([1, 3, 1]), pa.array([1, None, 1])),
        (
            "updated_at",
            np.array([0, int(NOW), 2], "datetime64[s]"),
            pa.array([0, None, 2], pa.timestamp("s", "UTC")),
        ),
        ("kind", np.array(["note", "constraint", "bug"]), pa.array(["note", None, "bug"])),
    ],
    ids=["floats", "objects", "integers", "times", "words"],
)
def test_masked_values_are_missing(name: str, values: Any, nulls: Any) -> None:
    profile = "omega" if name == "kind" else "reverie"
    masked = np.ma.masked_array(values, [False, True, False])
    rows = np.ma.zeros(3, dtype=[(name, values.dtype)])
    rows[name] = masked
    want = rescore({name: nulls}, profile, NOW, missing="default")["score"]
    for table in ({name: masked}, rows):
        got = rescore(table, profile, NOW, missing="default")["score"]
        np.testing.assert_array_equal(got, want)


def test_polars_integers_that_numpy_lacks() -> None:
    counts = pl.DataFrame({"depth": [1, None, 3]})
    wide = counts.with_columns(pl.col("depth").cast(pl.Int128))
    np.testing.assert_array_equal(scores(wide), scores(counts))


def test_float16_computes_in_float32_and_mixed_widths_in_the_widest() -> None:
    half, single = STRENGTH.astype(np.float16), STRENGTH.astype(np.float32)
    assert scores({"strength": half}).dtype == np.float32
    assert scores({"strength": single}).dtype == np.float32
    assert scores({"strength": single, "stability": STRENGTH + 1}).dtype == np.float64
    assert scores({"strength": single, "updated_at": STRENGTH}).dtype == np.float32
    assert scores({"depth": np.array([1, 2, 3])}).dtype == np.float64
    assert scores({"strength": single}, dtype=np.float64).dtype == np.float64


def test_datetimes_become_seconds_to_the_last_bit() -> None:
    numpy = np.array([when.replace(tzinfo=None) for when in TIMES], "datetime64[us]")
    series = pd.Series(TIMES)
    tables: list[Any] = [
        {"updated_at": TIMES},
        {"updated_at": np.array(TIMES, object)},
        {"updated_at": [when.isoformat() for when in TIMES]},
        {"updated_at": np.array([when.isoformat() for when in TIMES])},
        {"updated_at": [when.astimezone(timezone(timedelta(hours=5.5))) for when in TIMES]},
        {"updated_at": numpy},
        {"updated_at": numpy.astype("datetime64[ns]")},
        {"updated_at": numpy.astype(">M8[us]")},
        {"updated_at": pa.array(TIMES, pa.timestamp("us", "UTC"))},
        {"updated_at": pa.array(TIMES, pa.timestamp("ns", "Asia/Kolkata"))},
        {"updated_at": pa.array([when.isoformat() for when in TIMES])},
        pd.DataFrame({"updated_at": series}),
        pd.DataFrame({"updated_at": series.dt.as_unit("ns").dt.tz_convert("Asia/Kolkata")}),
        pd.DataFrame({"updated_at": series.astype(pd.ArrowDtype(pa.timestamp("us", "UTC")))}),
        pd.DataFrame({"updated_at": series.astype(object)}),
        pl.DataFrame({"updated_at": pl.Series(TIMES)}),
        pl.DataFrame({"updated_at": pl.Series(TIMES).dt.cast_time_unit("ns")}),
        pl.DataFrame({"updated_at": [when.isoformat() for when in TIMES]}),
    ]
    for table in tables:
        np.testing.assert_array_equal(scores(table), OF_TIMES)


def test_missing_times_of_every_type_are_unknown() -> None:
    want = scores({"updated_at": np.array([SECONDS[0], np.nan])})
    some = [TIMES[0], None]
    numpy = np.array([TIMES[0].replace(tzinfo=None), None], "datetime64[us]")
    for table in (
        {"updated_at": some},
        {"updated_at": numpy},
        {"updated_at": pa.array(some, pa.timestamp("us", "UTC"))},
        pd.DataFrame({"updated_at": pd.Series(some)}),
        pd.DataFrame({"updated_at": pd.Series([TIMES[0], pd.NaT], dtype=object)}),
        pl.DataFrame({"updated_at": some}),
    ):
        np.testing.assert_array_equal(scores(table), want)


def test_naive_times_are_refused() -> None:
    naive = [when.replace(tzinfo=None) for when in TIMES]
    for table in (
        {"updated_at": naive},
        {"updated_at": ["2025-01-01T00:00:00", "2025-01-01"]},
        {"updated_at": pa.array(naive)},
        pa.table({"updated_at": pa.array(naive, pa.timestamp("ns"))}),
        pd.DataFrame({"updated_at": naive}),
        pd.DataFrame({"updated_at": pd.Series(naive).astype(pd.ArrowDtype(pa.timestamp("us")))}),
        pl.DataFrame({"updated_at": naive}),
    ):
        with pytest.raises(ValueError, match=r"updated_at: must be aware \(it has no time zone\)"):
            scores(table)


def test_the_years_1_and_9999_are_times() -> None:
    ends = [datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)]
    want = scores({"updated_at": ends})
    np.testing.assert_array_equal(
        scores({"updated_at": pa.array(ends, pa.timestamp("us", "UTC"))}), want
    )
    np.testing.assert_array_equal(scores(pl.DataFrame({"updated_at": ends})), want)


@given(st.datetimes(datetime(1685, 1, 1), datetime(2255, 1, 1), timezones=st.just(UTC)))
def test_ticks_are_the_seconds_that_datetime_says(when: datetime) -> None:
    micros = np.array([(when - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)])
    assert seconds_of_ticks(micros, "us")[0] == when.timestamp()
    assert seconds_of_ticks(micros * 1000, "ns")[0] == when.timestamp()
    stamp = np.array([when.replace(tzinfo=None)], "datetime64[us]")
    assert seconds_of_datetimes(stamp)[0] == when.timestamp()


def test_units_that_numpy_knows_and_nobody_uses() -> None:
    far = ("Y", 300_000)  # its microseconds are no int64
    rest = (("D", 20_000), ("h", 480_000), ("m", 10**7), ("25s", 10**7), ("Y", 55))
    for unit, value in (*rest, far):
        stamps = np.array([value], f"datetime64[{unit}]")
        want = stamps.astype("datetime64[s]").astype(np.int64)
        np.testing.assert_array_equal(seconds_of_datetimes(stamps), want)


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("strength", np.array(["a"]), "strength: expected a column of numbers, got <U1"),
        ("strength", np.array([True]), "strength: expected a column of numbers, got bool"),
        ("strength", np.array([1j]), "strength: expected a column of numbers, got complex128"),
        ("strength", pa.array([[0.5]]), "strength: expected a column of numbers, got list<"),
        ("strength", pa.array([{"a": 1}]), "strength: expected a column of numbers, got struct<"),
        ("strength", pa.array(["a"]), "strength: expected a column of numbers, got string"),
        ("strength", pa.array([b"a"]), "strength: expected a column of numbers, got binary"),
        (
            "strength",
            pd.Series(["a"]),  # of dtype "object" before pandas 3
            "strength: (expected a column of numbers, got str|must be a number, got 'a' in row 0)",
        ),
        ("strength", pl.Series(["a"]), "strength: expected a column of numbers, got String"),
        ("strength", pl.Series([[1.0]]), r"strength: expected a column of numbers, got List\("),
        (
            "updated_at",
            np.array([1], "m8[s]"),
            "updated_at: expected a column of times, got timede",
        ),
        ("updated_at", np.array([True]), "updated_at: expected a column of times, got bool"),
        (
            "updated_at",
            pa.array([1], pa.date32()),
            "updated_at: expected a column of times, got date",
        ),
        ("updated_at", pa.array([1], pa.time64("us")), "updated_at: expected a column of times"),
        ("updated_at", pl.Series([datetime(2025, 1, 1).date()]), "of times, got Date"),
        ("updated_at", pd.Series(pd.period_range("2025", periods=1)), "of times, got period"),
        ("strength", np.ones((1, 1)), r"strength: expected shape \(n,\), got \(1, 1\)"),
    ],
    ids=str,
)
def test_what_cannot_be_the_field_is_refused(name: str, values: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        scores({name: values})


def test_kinds_are_words_of_every_type() -> None:
    kinds = ["decision", "error_pattern", "constraint", "decision"]

    def of(values: Any) -> np.ndarray:
        return np.asarray(rescore({"kind": values}, "omega", NOW)["score"])

    want = of(kinds)
    assert len(set(want.tolist())) > 1
    for values in (
        tuple(kinds),
        np.array(kinds),
        np.array(kinds, object),
        np.array(kinds, np.dtypes.StringDType()),
        pa.array(kinds),
        pa.array(kinds, pa.large_string()),
        pa.array(kinds, pa.string_view()),
        pa.array(kinds).dictionary_encode(),
        pa.chunked_array(
            [pa.array(kinds[:2]).dictionary_encode(), pa.array(kinds[2:]).dictionary_encode()]
        ),
        pc.run_end_encode(pa.array(kinds)),
        pd.Series(kinds),
        pd.Series(kinds, dtype=object),
        pd.Series(kinds, dtype="category"),
        pd.Categorical(kinds),
        pd.Series(kinds, dtype=pd.ArrowDtype(pa.string())),
        pl.Series(kinds),
        pl.Series(kinds, dtype=pl.Categorical),
        pl.Series(kinds, dtype=pl.Enum(sorted(set(kinds)))),
    ):
        np.testing.assert_array_equal(of(values), want)


def test_missing_kinds_of_every_type_are_the_default() -> None:
    some = ["decision", None]
    want = np.asarray(rescore({"kind": ["decision", "note"]}, "omega", NOW)["score"])
    for values in (
        some,
        np.array(some, object),
        pa.array(some),
        pa.array(some).dictionary_encode(),
        pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(some)),
        pd.Series(some),
        pd.Series(some, dtype="category"),
        pl.Series(some),
        pl.Series(some, dtype=pl.Categorical),
    ):
        np.testing.assert_array_equal(rescore({"kind": values}, "omega", NOW)["score"], want)
    nothing = rescore({"kind": pa.nulls(2)}, "omega", NOW)["score"]
    np.testing.assert_array_equal(nothing, want[[1, 1]])


@pytest.mark.parametrize(
    "values", [np.array([1, 2]), pa.array([1, 2]), pd.Series([1, 2]), pl.Series([1, 2])]
)
def test_kinds_have_no_codes_of_their_own(values: Any) -> None:
    with pytest.raises(TypeError, match="kind: expected a column of words, got"):
        rescore({"kind": values}, "omega", NOW)


def test_tables_that_are_none() -> None:
    for table in (3, "strength", b"x", None, object()):
        with pytest.raises(TypeError, match="table: expected a dict of arrays"):
            scores(table)
    with pytest.raises(TypeError, match="table: expected a structured array"):
        scores(np.ones(3))
    with pytest.raises(TypeError, match=r"collect\(\) it first"):
        scores(pl.DataFrame({"strength": [1.0]}).lazy())
    with pytest.raises(TypeError, match=r"table\[1\]: must be a dict or a Memory, got 3"):
        scores([{}, 3])
    with pytest.raises(TypeError, match="table: column names are str, got 3"):
        scores({3: [1.0]})
    with pytest.raises(TypeError, match="strength: expected an array, got float"):
        scores({"strength": 1.0})
    with pytest.raises(ValueError, match="one length, got strength 2, depth 1"):
        scores({"strength": [1.0, 1.0], "depth": [1]})
    with pytest.raises(TypeError, match="no table of Arrow"):
        scores(pa.array([1.0]))


def test_columns_that_stand_there_twice() -> None:
    twice = pa.table([pa.array([1.0])] * 2, names=["strength", "strength"])
    with pytest.raises(ValueError, match="two columns are named 'strength'"):
        scores(twice)
    frame = pd.DataFrame(np.ones((1, 2)), columns=["strength", "strength"])
    with pytest.raises(ValueError, match="two columns are named 'strength'"):
        scores(frame)
    levels = pd.DataFrame(np.ones((1, 1)), columns=pd.MultiIndex.from_tuples([("a", "b")]))
    with pytest.raises(TypeError, match="MultiIndex"):
        scores(levels)


@pytest.mark.parametrize(
    "table",
    [
        {"strength": np.zeros(0)},
        {},
        pa.table({"strength": pa.array([], pa.float32())}),
        pa.schema([("strength", pa.float32())]).empty_table(),
        pd.DataFrame({"strength": []}),
        pl.DataFrame({"strength": []}),
        np.empty(0, [("strength", "f4")]),
    ],
    ids=repr,
)
def test_no_rows_give_no_rows(table: Any) -> None:
    assert len(scores(table)) == 0


@pytest.mark.parametrize("name", [None, "kind", "status"])
def test_the_name_of_a_categorical_series_does_not_change_its_field(name: str | None) -> None:
    status = ["staged", "archived", "staged"]
    table = {"certainty": [0.9] * 3, "impact": [0.8] * 3, "created_at": [NOW] * 3}
    table |= {"access_count": [3] * 3, "status": pd.Series(status, dtype="category", name=name)}
    assert oneiros.promote(table, now=NOW)["promote"].tolist() == [True, False, True]
