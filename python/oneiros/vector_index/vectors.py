"""Checks of vectors and rows from callers: unit length, float32, contiguous."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from oneiros.vector_index import Bits, Rows

__all__ = ["read_allowed", "read_k", "read_query", "read_rows", "read_vectors", "refuse_repeats"]

# Rounding to float32 moves a norm of 1 by at most this much: such a vector keeps its bits.
UNIT_TOLERANCE = 2.0**-22

BLOCK = 4_096  # vectors converted at a time


def read_vectors(name: str, value: npt.ArrayLike, dimension: int) -> npt.NDArray[np.float32]:
    """Return vectors of unit length; a zero vector stays zero.

    Args:
        name: name of the argument, for messages.
        value: shape (n, dimension), any real dtype, layout and byte order.
        dimension: the index's width.

    Returns:
        Shape (n, dimension), float32, contiguous. May be ``value`` itself.

    Raises:
        TypeError: not numbers.
        ValueError: another shape, or NaN, infinity or an infinite norm, naming the position.
    """
    given = np.asarray(value)
    if given.dtype.kind not in "fiu":
        msg = f"{name}: expected real numbers, got dtype {given.dtype}"
        raise TypeError(msg)
    if given.ndim != 2 or given.shape[1] != dimension:
        msg = f"{name}: expected shape (n, {dimension}), got {given.shape}"
        raise ValueError(msg)
    norms = np.empty(len(given), np.float64)
    for part in _parts(len(given)):
        # NaN and infinity carry over to the norm: one pass finds all.
        norms[part] = np.sqrt(np.einsum("ij,ij->i", *[_wide(given[part])] * 2, dtype=np.float64))
    if not np.isfinite(norms).all():
        raise ValueError(_first_bad(name, given, norms))
    is_unit = np.abs(norms - 1.0) <= UNIT_TOLERANCE
    if is_unit.all() and given.dtype == np.float32:
        return np.ascontiguousarray(given, np.float32)  # in this machine's byte order too
    divisors = np.where(is_unit | (norms == 0), 1.0, norms)
    vectors = np.empty(given.shape, np.float32)
    for part in _parts(len(given)):
        vectors[part] = _wide(given[part]) / divisors[part, None]
    return vectors


def _parts(count: int) -> Iterator[slice]:
    """Yield slices that cover all vectors, so that copies in float64 stay small."""
    for start in range(0, count, BLOCK):
        yield slice(start, start + BLOCK)


def _wide(part: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return float32 unchanged (its squares are summed in float64), other dtypes as float64."""
    return part if part.dtype == np.float32 else part.astype(np.float64)


def _first_bad(name: str, vectors: npt.NDArray[np.floating], norms: npt.NDArray[np.float64]) -> str:
    at = int(np.flatnonzero(~np.isfinite(norms))[0])
    bad = np.flatnonzero(~np.isfinite(vectors[at]))
    if len(bad):
        return f"{name}[{at}]: must be finite, got {vectors[at][bad[0]]} at component {bad[0]}"
    return f"{name}[{at}]: its norm must be finite, got {norms[at]}"


def read_query(value: npt.ArrayLike, dimension: int) -> npt.NDArray[np.float32]:
    """Return one query vector of unit length, shape (dimension,); rules of read_vectors."""
    given = np.asarray(value)
    if given.shape != (dimension,):
        msg = f"vector: expected shape ({dimension},), got {given.shape}"
        raise ValueError(msg)
    if given.dtype == np.float32:  # the common case, three times as fast as the general one
        squared = float(given.astype(np.float64) @ given)
        if abs(squared - 1.0) <= UNIT_TOLERANCE:
            return np.ascontiguousarray(given)
    query: npt.NDArray[np.float32] = read_vectors("vector", given[None], dimension)[0]
    return query


def read_rows(value: npt.ArrayLike) -> Rows:
    """Return row numbers, shape (n,), contiguous.

    Raises:
        TypeError: not integers.
        ValueError: not one-dimensional, or outside 0 to 2^32 - 1.
    """
    given = np.asarray(value)
    if given.dtype == np.uint32 and given.ndim == 1:  # the common case: always valid
        return np.ascontiguousarray(given)
    if given.size == 0:
        return np.empty(0, np.uint32)
    if given.dtype.kind not in "iu":
        msg = f"rows: expected integers, got dtype {given.dtype}"
        raise TypeError(msg)
    if given.ndim != 1:
        msg = f"rows: expected shape (n,), got {given.shape}"
        raise ValueError(msg)
    low, high = int(given.min()), int(given.max())
    if low < 0 or high > 0xFFFFFFFF:
        msg = f"rows: must lie in 0 to 4294967295, got {low if low < 0 else high}"
        raise ValueError(msg)
    return given.astype(np.uint32)


def refuse_repeats(rows: Rows) -> None:
    """Raise ValueError if a row is given twice; the message names the first."""
    if (rows[1:] > rows[:-1]).all():
        return
    unique, counts = np.unique(rows, return_counts=True)
    if len(unique) != len(rows):
        msg = f"rows: each at most once, got {unique[counts > 1][0]} twice"
        raise ValueError(msg)


def read_allowed(value: Bits | None) -> Bits | None:
    """Return the packed bits, contiguous.

    Raises:
        TypeError: neither None, bytes nor a NumPy array of uint8.
        ValueError: not one-dimensional.
    """
    if value is None or isinstance(value, bytes):
        return value
    given: object = value  # callers may ignore the annotation
    if not (isinstance(given, np.ndarray) and given.dtype == np.uint8):
        got = getattr(given, "dtype", type(given).__name__)
        msg = f"allowed: expected None or a uint8 array of packed bits, got {got}"
        raise TypeError(msg)
    if value.ndim != 1:
        msg = f"allowed: expected shape (n,), got {value.shape}"
        raise ValueError(msg)
    return np.ascontiguousarray(value)


def read_k(value: int) -> int:
    """Return ``k`` as an int.

    Raises:
        TypeError: not an integer.
        ValueError: negative.
    """
    k = operator.index(value)
    if k < 0:
        msg = f"k: must be >= 0, got {k}"
        raise ValueError(msg)
    return k
