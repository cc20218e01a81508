"""Embeddings as bytes: what was written is read, and damage is found."""

from __future__ import annotations

import struct
import tracemalloc
from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oneiros import _core

MATRICES = hnp.arrays(
    np.float32,
    st.tuples(st.integers(0, 5), st.integers(1, 9)),
    elements=st.floats(allow_nan=False, allow_infinity=False, width=32),
)
GOOD = _core.encode_embeddings(matrix=np.array([[0.6, -0.8, 0.0]], np.float32))[0]


def decode(*blobs: bytes, dimension: int = 3) -> np.ndarray[Any, Any]:
    return _core.decode_embeddings(blobs=list(blobs), dimension=dimension)


@given(MATRICES)
def test_what_was_written_is_read_bit_for_bit(matrix: np.ndarray[Any, Any]) -> None:
    blobs = _core.encode_embeddings(matrix=matrix)
    read = _core.decode_embeddings(blobs=blobs, dimension=matrix.shape[1])
    assert read.tobytes() == matrix.tobytes()
    assert read.shape == matrix.shape


def test_the_layout_is_the_documented_one() -> None:
    header = b"ONEV" + struct.pack("<HHI", 1, 0, 3)
    assert GOOD[:-4] == header + struct.pack("<3f", 0.6, -0.8, 0.0)
    assert len(GOOD) == 12 + 12 + 4


def test_every_flipped_bit_is_found() -> None:
    for bit in range(8 * len(GOOD)):
        bad = bytearray(GOOD)
        bad[bit // 8] ^= 1 << bit % 8
        with pytest.raises(ValueError, match="blobs: blob 1: "):
            decode(GOOD, bytes(bad))


def test_every_truncation_is_found() -> None:
    for size in range(len(GOOD)):
        with pytest.raises(ValueError, match=f"blobs: blob 1: expected 28 bytes, found {size}"):
            decode(GOOD, GOOD[:size])


@given(MATRICES)
def test_one_is_read_as_many_are(matrix: np.ndarray[Any, Any]) -> None:
    for row, blob in zip(matrix, _core.encode_embeddings(matrix=matrix), strict=True):
        read = _core.decode_embedding(blob=blob)
        assert read.tobytes() == row.tobytes()
        assert read.shape == row.shape


def test_damage_to_one_is_found() -> None:
    for bit in range(8 * len(GOOD)):
        bad = bytearray(GOOD)
        bad[bit // 8] ^= 1 << bit % 8
        with pytest.raises(ValueError, match=r"\w"):
            _core.decode_embedding(blob=bytes(bad))
    for size in range(len(GOOD)):
        with pytest.raises(ValueError, match=r"\w"):
            _core.decode_embedding(blob=GOOD[:size])


@given(st.binary(max_size=64), st.integers(1, 20))
def test_no_bytes_crash_it(blob: bytes, dimension: int) -> None:
    with pytest.raises(ValueError, match="blobs: blob 0: "):
        decode(blob, dimension=dimension)


def test_a_huge_dimension_costs_no_memory() -> None:
    tracemalloc.start()
    with pytest.raises(ValueError, match="blobs: blob 0: expected 262160 bytes, found 28"):
        decode(*[GOOD] * 1000, dimension=65_536)
    assert tracemalloc.get_traced_memory()[1] < 1_000_000
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("matrix", "error", "message"),
    [
        (np.zeros((1, 3)), TypeError, "matrix: expected float32, got float64"),
        (np.zeros(3, np.float32), ValueError, r"matrix: expected shape \(n, d\), got \(3,\)"),
        (np.zeros((2, 6), np.float32)[:, ::2], ValueError, "matrix: must be contiguous"),
        (np.zeros((2, 0), np.float32), ValueError, "dimension: must be in 1 to 65536, got 0"),
        (
            np.array([[0, 1], [np.inf, 0]], np.float32),
            ValueError,
            "matrix: row 1: component 0 is not finite",
        ),
    ],
)
def test_what_cannot_be_stored_is_refused(
    matrix: np.ndarray[Any, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        _core.encode_embeddings(matrix=matrix)


def test_no_blobs_are_an_empty_matrix() -> None:
    assert decode().shape == (0, 3)
    with pytest.raises(ValueError, match="dimension: must be in 1 to 65536, got 0"):
        decode(dimension=0)
