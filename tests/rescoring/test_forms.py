"""The same table in every form gives the same bits, and the answer has the form of the question."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings

import oneiros
from oneiros import profiles
from oneiros.scoring import row_scores
from tests.rescoring import forms
from tests.rescoring.forms import NOW, rescore

PROFILES = profiles.names()


def bits(result: Any) -> bytes:
    return forms.scores_of(result).tobytes()


@pytest.mark.parametrize("profile", PROFILES)
@given(columns=forms.tables())
@settings(max_examples=15, deadline=None)
def test_typed_forms_agree_bitwise(profile: str, columns: forms.Columns) -> None:
    want = rescore(forms.arrays(columns), profile, NOW)["score"]
    if profile in ("reverie", "ciar"):
        assert want.dtype == np.float32  # of the columns; times do not count
    for name, form in forms.TYPED.items():
        got = rescore(form(columns), profile, NOW)
        assert forms.scores_of(got).dtype == want.dtype, name
        assert bits(got) == want.tobytes(), name
        assert forms.ids_of(got) == columns["id"], name


@pytest.mark.parametrize("profile", PROFILES)
@given(columns=forms.tables(nulls=True))
@settings(max_examples=15, deadline=None)
def test_forms_agree_on_what_is_missing(profile: str, columns: forms.Columns) -> None:
    want = bits(rescore(columns, profile, NOW, dtype="float64"))
    for name in forms.NULLABLE:
        got = rescore(forms.TYPED[name](columns), profile, NOW, dtype="float64")
        assert bits(got) == want, name


@pytest.mark.parametrize("profile", PROFILES)
@given(columns=forms.tables(nulls=True))
@settings(max_examples=10, deadline=None)
def test_what_a_record_leaves_out_is_as_add_would_fill_it_in(
    profile: str, columns: forms.Columns
) -> None:
    created = [NOW if when is None else when for when in columns["created_at"]]
    updated = columns.get("updated_at", [None] * len(created))
    filled = {
        **columns,
        "created_at": created,
        "updated_at": [
            first if when is None else when for when, first in zip(updated, created, strict=True)
        ],
    }
    want = bits(rescore(filled, profile, NOW, dtype="float64"))
    assert bits(rescore(forms.records(columns), profile, NOW)) == want


def test_a_table_without_times_is_of_now() -> None:
    table = {name: np.array([1.0]) for name in ("certainty", "strength", "importance")}
    table |= {"feedback": np.array([1])}
    times = {"created_at": np.array([NOW]), "updated_at": np.array([NOW])}
    for profile in PROFILES:
        assert bits(rescore(table, profile, NOW)) == bits(rescore(table | times, profile, NOW))
    assert rescore(table, "ciar", NOW)["score"].tolist() == [0.5]
    unknown = {"certainty": [1.0], "created_at": [None]}
    assert np.isnan(rescore(unknown, "ciar", NOW)["score"]).all()


@given(columns=forms.tables())
@settings(max_examples=15, deadline=None)
def test_dicts_and_memories_agree_with_columns(columns: forms.Columns) -> None:
    want = bits(rescore(forms.arrays(columns), "reverie", NOW, dtype="float64"))
    assert bits(rescore(forms.records(columns), "reverie", NOW)) == want
    assert bits(rescore(forms.memories(columns), "reverie", NOW)) == want


@given(columns=forms.tables())
@settings(max_examples=10, deadline=None)
def test_a_field_left_out_counts_as_its_default(columns: forms.Columns) -> None:
    table = forms.arrays(columns)
    want = rescore(table, "reverie", NOW)["score"]
    held = {**table, "depth": np.full(len(columns["id"]), 2), "strength": table["strength"]}
    if "depth" not in table:
        np.testing.assert_array_equal(rescore(held, "reverie", NOW)["score"], want)


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_blocks_and_threads_change_no_bit(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = np.random.default_rng(5)
    columns: forms.Columns = {
        "id": [f"m{row}" for row in range(1000)],
        "updated_at": drawn.uniform(0, NOW, 1000).tolist(),
        "strength": drawn.random(1000).astype(np.float32).tolist(),
        "depth": drawn.integers(1, 4, 1000).tolist(),
        "kind": drawn.choice(forms.KINDS, 1000).tolist(),
    }
    want = {
        name: bits(rescore(form(columns), "reverie", NOW)) for name, form in forms.TYPED.items()
    }
    monkeypatch.setattr(row_scores, "BLOCK", 7)
    for name, form in forms.TYPED.items():
        assert bits(rescore(form(columns), "reverie", NOW, threads=threads)) == want[name], name


def test_a_dict_gives_a_dict_with_the_very_ids() -> None:
    id = np.array(["a", "b"])
    got = rescore({"id": id, "strength": np.array([0.5, 1.0], np.float32)}, "reverie", NOW)
    assert list(got) == ["id", "score"]
    assert got["id"] is id
    assert list(rescore({"strength": [0.5]}, "reverie", NOW)) == ["score"]


def test_a_structured_array_gives_one() -> None:
    table = np.array([("a", 0.5)], [("id", "U3"), ("strength", ">f4")])
    got = rescore(table, "reverie", NOW)
    assert got.dtype.names == ("id", "score")
    assert got["id"].tolist() == ["a"]
    assert got.dtype["score"] == np.float32


def test_dicts_give_dicts_and_memories_too() -> None:
    rows: list[Any] = [{"id": "a", "strength": 0.5}, oneiros.Memory(id="b", text=""), {}]
    got = rescore(rows, "reverie", NOW)
    assert got == [{"id": "a", "score": 0.65}, {"id": "b", "score": 1.3}, {"score": 1.3}]
    assert rescore(iter(rows), "reverie", NOW) == got
    assert rescore([], "reverie", NOW) == []


def test_arrow_gives_arrow() -> None:
    table = pa.table({"id": [7, 8], "strength": pa.array([0.5, 1.0], pa.float32())})
    got = rescore(table, "reverie", NOW)
    assert isinstance(got, pa.Table)
    assert got.schema == pa.schema({"id": pa.int64(), "score": pa.float32()})
    assert isinstance(rescore(table.to_batches()[0], "reverie", NOW), pa.RecordBatch)
    assert isinstance(rescore(forms.Stranger(table), "reverie", NOW), pa.Table)
    assert isinstance(rescore(table.to_reader(), "reverie", NOW), pa.Table)


def test_pandas_keeps_its_index_and_polars_is_polars() -> None:
    frame = pd.DataFrame({"id": ["a", "b"], "strength": [0.5, 1.0]}, index=[3, 1])
    got = rescore(frame, "reverie", NOW)
    assert isinstance(got, pd.DataFrame)
    assert got.index.tolist() == [3, 1]
    assert got.columns.tolist() == ["id", "score"]
    other = rescore(pl.DataFrame({"id": ["a"], "strength": [0.5]}), "reverie", NOW)
    assert isinstance(other, pl.DataFrame)
    assert other.columns == ["id", "score"]


def test_several_profiles_make_a_column_each() -> None:
    table = {"strength": np.array([0.5], np.float32)}
    got = rescore(table, ["reverie", "reverie-capped"], NOW)
    assert list(got) == ["reverie", "reverie-capped"]
    assert list(rescore(table, ["reverie"], NOW)) == ["reverie"]
    assert list(rescore(table, profiles.get("reverie"), NOW)) == ["score"]


def test_what_can_be_read_in_place_is_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}

    def spy(_compiled: Any, _registers: Any, columns: Any, *_: Any, **_rest: Any) -> Any:
        seen.update(columns)
        return 0, True

    monkeypatch.setattr("oneiros.rescoring.scorer.judged_values", spy)
    strength = np.ones(9, np.float32)
    depth = np.full(9, 2, np.uint8)
    spread = pa.array(np.ones(9, np.uint32))
    given = {"strength": strength, "depth": depth, "session_spread": spread}
    rescore(given, "reverie", NOW)
    assert np.shares_memory(seen["strength"], strength)
    assert np.shares_memory(seen["depth"], depth)
    address = spread.buffers()[1].address
    assert seen["session_spread"].__array_interface__["data"][0] == address
    frame = pl.DataFrame({"strength": strength, "stability": strength})
    rescore(frame, "reverie", NOW)
    held = frame["stability"].to_numpy(allow_copy=False)
    assert np.shares_memory(seen["stability"], held)
    series = pd.Series(strength)
    rescore(pd.DataFrame({"strength": series}, copy=False), "reverie", NOW)
    assert np.shares_memory(seen["strength"], series.to_numpy())


def test_only_what_the_profile_reads_is_touched() -> None:
    table = pa.table(
        {
            "id": ["a"],
            "strength": [0.5],
            "text": pa.nulls(1),
            "certainty": pa.array([[1, 2]]),  # not what it should be, and not reverie's
        }
    )
    assert rescore(table, "reverie", NOW)["score"].to_pylist() == [0.65]


def test_importing_it_brings_no_library_of_frames() -> None:
    import subprocess  # noqa: PLC0415

    code = (
        "import sys, numpy, oneiros; oneiros.rescore({'strength': numpy.ones(2)}, 'reverie', 1.0, missing='default')\n"
        "print(sorted({'pandas', 'polars', 'pyarrow'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"
