"""Embeddings on entry: float32 of length 1, or a clear refusal."""

from __future__ import annotations

import math

import numpy as np
import pytest

from oneiros.model.memory import Memory, validate_changes

NOW = 1_780_000_000.0


def make(**fields: object) -> Memory:
    return Memory.from_record({"text": "x", **fields}, now=NOW)


def test_embeddings_are_normalised_in_float64() -> None:
    got = make(embedding=[3, 4]).embedding
    assert got is not None
    assert got.dtype == np.float32
    np.testing.assert_array_equal(got, np.array([0.6, 0.8], np.float32))
    huge = make(embedding=np.array([3e38, 3e38], np.float32)).embedding
    np.testing.assert_allclose(huge, [math.sqrt(0.5)] * 2, rtol=1e-7)
    tiny = make(embedding=np.array([1e-45, 0], np.float32)).embedding
    np.testing.assert_array_equal(tiny, [1.0, 0.0])
    big_endian = make(embedding=np.array([0, 2], ">f8")).embedding
    np.testing.assert_array_equal(big_endian, [0.0, 1.0])
    strided = make(embedding=np.array([0, 9, 2, 9], np.float32)[::2]).embedding
    np.testing.assert_array_equal(strided, [0.0, 1.0])


def test_a_zero_vector_is_no_embedding() -> None:
    assert make(embedding=np.zeros(4)).embedding is None
    assert validate_changes({"embedding": [0.0]}) == {"embedding": None}


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        ([1.0, math.nan], ValueError, r"embedding\[1\]: must be finite, got nan"),
        (np.array([1, 2, -np.inf], np.float32), ValueError, r"embedding\[2\]: must be finite"),
        ([1e300, 1e300], ValueError, "embedding: must be of finite length"),
        ([], ValueError, r"embedding: must be of shape \(n,\) with n >= 1, not \(0,\)"),
        (np.zeros((2, 2)), ValueError, r"embedding: must be of shape \(n,\) .*not \(2, 2\)"),
        (["a"], TypeError, "embedding: must be an array of real numbers"),
        ([1j], TypeError, "embedding: must be an array of real numbers, not complex128"),
        ([True], TypeError, "embedding: must be an array of real numbers, not bool"),
    ],
)
def test_bad_embeddings_are_refused(value: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make(embedding=value)
