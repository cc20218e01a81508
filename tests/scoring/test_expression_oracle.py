"""Random expressions, computed by the core and, node by node, by NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from oneiros import Expression, _core
from tests.oracles.expression import evaluate

Array = np.ndarray[Any, Any]
ROWS = 16
KINDS = ("", "note", "fact", "decision")
NAMES = ("strength", "access_count", "age_days", "importance", "relevance")

floats = st.one_of(st.floats(width=64), st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0]))
columns = hnp.arrays(np.float64, ROWS, elements=floats)
codes = hnp.arrays(np.int64, ROWS, elements=st.integers(0, len(KINDS) - 1))
numbers = st.one_of(
    st.sampled_from(["0", "1", "2", "0.5", "1e-3", "7", "1_000", ".25", "inf", "nan"]),
    st.floats(0, 1e6).map(repr),
)
words = st.sampled_from(
    ["kind == 'fact'", "kind != 'note'", "'decision' == kind", "kind in ('fact', 'none')"]
)
leaves = st.one_of(st.sampled_from(NAMES), numbers, words.map("({})".format))


def exact(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """What IEEE 754 defines to the last bit."""
    return st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from("+-*/"), inner),
        st.builds("({} {} {})".format, inner, st.sampled_from(["<", "<=", ">", "==", "!="]), inner),
        st.builds("({} < {} <= {})".format, inner, inner, inner),
        st.builds("({} {} {})".format, inner, st.sampled_from(["and", "or"]), inner),
        st.builds("({}{})".format, st.sampled_from(["-", "+", "not "]), inner),
        st.builds("({} if {} else {})".format, inner, inner, inner),
        st.builds("({} in ({}, {}))".format, inner, inner, inner),
        st.builds("where({}, {}, {})".format, inner, inner, inner),
        st.builds("clip({}, {}, {})".format, inner, inner, inner),
        st.builds("{}({})".format, st.sampled_from(["abs", "floor", "sqrt", "isnan"]), inner),
        st.builds("{}({}, {})".format, st.sampled_from(["min", "max"]), inner, inner),
        st.builds("({} ** 2)".format, inner),
    )


def every(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        exact(inner),
        st.builds("{}({})".format, st.sampled_from(["exp", "log", "log1p", "log2"]), inner),
        st.builds("({} ** {})".format, inner, inner),
    )


exact_texts = st.recursive(leaves, exact, max_leaves=12)
texts = st.recursive(leaves, every, max_leaves=12)
rows = st.fixed_dictionaries(dict.fromkeys(NAMES, columns))


def by_core(text: str, given_rows: dict[str, Array], kind: Array) -> Array:
    expression = Expression(text)
    known = given_rows | {"kind": kind.astype(np.float64)}
    if not expression.names:  # a constant: any column says how many rows there are
        expression = Expression(f"where(strength == strength, {text}, {text})")
    names = expression.names or ("strength",)
    return expression.values({name: known[name] for name in names}, KINDS)


def by_oracle(text: str, given_rows: dict[str, Array], kind: Array, **functions: Any) -> Array:
    return evaluate(text, given_rows | {"kind": np.array(KINDS)[kind]}, functions)


def assert_same_bits(got: Array, want: Array, text: str) -> None:
    same = (got.view(np.uint64) == want.view(np.uint64)) | (np.isnan(got) & np.isnan(want))
    assert same.all(), (text, got[~same], want[~same])


def kernel(name: str) -> Any:
    def call(*values: Array) -> Array:
        arrays = [np.ascontiguousarray(value) for value in np.broadcast_arrays(*values)]
        flat = [array.reshape(-1).astype(np.float64) for array in arrays]
        result = _core.evaluate(
            kernel=name, inputs=flat, parameters={}, dtype="float64", out=None, threads=1
        )
        return result.reshape(arrays[0].shape)

    return call


@given(exact_texts, rows, codes)
def test_ieee_operations_agree_to_the_last_bit(
    text: str, given_rows: dict[str, Array], kind: Array
) -> None:
    want = by_oracle(text, given_rows, kind)
    assert_same_bits(by_core(text, given_rows, kind), want, text)


@given(texts, rows, codes)
def test_parts_are_put_together_as_written(
    text: str, given_rows: dict[str, Array], kind: Array
) -> None:
    # The core's own exp, log and power in both: what differs is the way there.
    own = {name: kernel(name) for name in ("exp", "log", "log1p", "log2")}
    want = by_oracle(text, given_rows, kind, **own, pow=kernel("power"))
    assert_same_bits(by_core(text, given_rows, kind), want, text)


@pytest.mark.parametrize("function", ["exp", "log", "log1p", "log2"])
@given(exact_texts, rows, codes)
def test_functions_are_within_4_ulp_of_numpy(
    function: str, text: str, given_rows: dict[str, Array], kind: Array
) -> None:
    whole = f"{function}({text})"
    got, want = by_core(whole, given_rows, kind), by_oracle(whole, given_rows, kind)
    np.testing.assert_array_equal(np.isfinite(got), np.isfinite(want))
    finite = np.isfinite(want)
    np.testing.assert_array_max_ulp(got[finite], want[finite], maxulp=4)
