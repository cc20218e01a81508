"""``rescore(out=...)``: the same bits, in the caller's memory; what cannot hold them is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings

from oneiros.scoring.row_scores import BLOCK
from tests.rescoring import forms
from tests.rescoring.forms import NOW, rescore

ROWS = 5


def table(rows: int = ROWS) -> dict[str, np.ndarray]:
    shares = np.linspace(0, 1, rows, dtype=np.float32)
    return {
        "certainty": shares,
        "impact": shares[::-1].copy(),
        "created_at": np.linspace(NOW - 1e7, NOW, rows),
        "access_count": np.arange(rows) % 50,
    }


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(columns=forms.tables())
@settings(max_examples=10, deadline=None)
def test_every_form_writes_the_same_bits(dtype: Any, columns: forms.Columns) -> None:
    want = forms.arrays(columns)
    want = rescore(want, "ciar", NOW, dtype=dtype)["score"]
    for name, form in forms.TYPED.items():
        out = np.full(len(want), -1, dtype)
        got = rescore(form(columns), "ciar", NOW, out=out)
        assert out.tobytes() == want.tobytes(), name
        assert forms.scores_of(got).tobytes() == want.tobytes(), name


def test_what_is_returned_is_what_was_given() -> None:
    out = np.empty(ROWS, np.float32)
    assert rescore(table(), "ciar", NOW, out=out)["score"] is out
    both = [np.empty(ROWS), np.empty(ROWS)]
    got = rescore(table(), ["ciar", "ciar-shipped"], NOW, out=both)
    assert got["ciar"] is both[0]
    assert got["ciar-shipped"] is both[1]
    assert (
        both[1].tolist() == rescore(table(), "ciar-shipped", NOW, dtype="float64")["score"].tolist()
    )


def test_rows_that_break_a_rule() -> None:
    held = table(BLOCK + 3)
    held["impact"][BLOCK + 1] = 2
    out = np.empty(BLOCK + 3)
    want = rescore(held, "ciar", NOW, invalid="nan", dtype="float64")["score"]
    rescore(held, "ciar", NOW, invalid="nan", out=out)
    assert np.array_equal(out, want, equal_nan=True)
    assert np.flatnonzero(np.isnan(out)).tolist() == [BLOCK + 1]
    out[:] = -1
    with pytest.raises(ValueError, match=f"impact: .* in row {BLOCK + 1}"):
        rescore(held, "ciar", NOW, out=out)
    assert out[:BLOCK].tobytes() == want[:BLOCK].tobytes()  # as the docstring says


@pytest.mark.parametrize(
    ("out", "error", "words"),
    [
        (np.empty(ROWS + 1), ValueError, r"out: expected shape \(5,\)"),
        (np.empty((ROWS, 1)), ValueError, r"out: expected shape \(5,\)"),
        (np.empty(2 * ROWS)[::2], ValueError, "contiguous"),
        (np.empty(ROWS, np.float16), TypeError, "out: expected float32 or float64, got float16"),
        (np.empty(ROWS, np.int32), TypeError, "out: expected float32 or float64, got int32"),
        ([0.0] * ROWS, ValueError, "out: expected one array a profile, 1, got 5"),
        ([[0.0]], TypeError, "out: expected an array"),
        ("scores", TypeError, "out: expected an array"),
        ([np.empty(ROWS), np.empty(ROWS)], ValueError, "one array a profile, 1, got 2"),
    ],
)
def test_what_cannot_hold_the_scores_is_refused(out: Any, error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        rescore(table(), "ciar", NOW, out=out)


def test_a_read_only_array_is_refused() -> None:
    out = np.empty(ROWS)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="writeable"):
        rescore(table(), "ciar", NOW, out=out)


def test_two_dtypes_are_refused() -> None:
    with pytest.raises(TypeError, match="out: expected float32, got float64"):
        rescore(table(), "ciar", NOW, dtype="float32", out=np.empty(ROWS))
    mixed = [np.empty(ROWS), np.empty(ROWS, np.float32)]
    with pytest.raises(TypeError, match="one dtype"):
        rescore(table(), ["ciar", "reverie"], NOW, out=mixed)


def test_memory_of_the_table_is_refused() -> None:
    held = table()
    with pytest.raises(ValueError, match="out: must share no memory with the table, got that of"):
        rescore(held, "ciar", NOW, out=held["created_at"])
    rows = np.zeros((ROWS, 2))
    held["impact"] = rows[:, 1]  # read from a copy
    with pytest.raises(ValueError, match="out: must share no memory"):
        rescore(held, "ciar", NOW, out=rows.reshape(-1)[:ROWS])
    values = np.zeros(ROWS)
    with pytest.raises(ValueError, match="out: must share no memory with the table"):
        rescore(pa.table({"impact": pa.array(values)}), "ciar", NOW, out=values)
    apart = np.zeros(ROWS)
    with pytest.raises(ValueError, match=r"out\[2\]: must share no memory"):
        rescore(table(), ["ciar", "reverie", "omega"], NOW, out=[values, apart, values])
