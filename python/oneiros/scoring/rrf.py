"""Reciprocal rank fusion of any ranked lists: ``oneiros.rrf``."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, overload

from oneiros import _core
from oneiros._lazy import np
from oneiros.model.validation import (
    LARGEST_K,
    LARGEST_WEIGHT,
    is_scalar_array,
    require_int,
    require_number,
    require_numbers,
    require_text,
)

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["rrf"]

Id = TypeVar("Id", bound=Hashable)
Ids: TypeAlias = "npt.NDArray[np.int64]"
Scores: TypeAlias = "npt.NDArray[np.float64]"
Normalise = Literal["none", "channel"]


_MOST_RESULTS = 2**32 - 1


@overload
def rrf(
    rankings: Sequence[npt.NDArray[np.integer]],
    k: float = ...,
    weights: Sequence[float] | npt.NDArray[Any] | None = ...,
    normalise: Normalise = ...,
    top: int | None = ...,
) -> tuple[Ids, Scores]: ...
@overload
def rrf(
    rankings: Sequence[npt.NDArray[np.object_] | npt.NDArray[np.str_]],
    k: float = ...,
    weights: Sequence[float] | npt.NDArray[Any] | None = ...,
    normalise: Normalise = ...,
    top: int | None = ...,
) -> list[tuple[Any, float]]: ...
@overload
def rrf(
    rankings: Sequence[Sequence[Id]],
    k: float = ...,
    weights: Sequence[float] | npt.NDArray[Any] | None = ...,
    normalise: Normalise = ...,
    top: int | None = ...,
) -> list[tuple[Id, float]]: ...
def rrf(
    rankings: Sequence[npt.NDArray[Any]] | Sequence[Sequence[Id]],
    k: float = 60.0,
    weights: Sequence[float] | npt.NDArray[Any] | None = None,
    normalise: Normalise = "none",
    top: int | None = None,
) -> tuple[Ids, Scores] | list[tuple[Any, float]]:
    """Fuse ranked lists by reciprocal rank.

    ``score = sum over lists of weight / (k + rank)``, ranks from 1. An id repeated within a list
    keeps its best rank; an id that is not in a list gets nothing from it.

    >>> import oneiros
    >>> [id for id, score in oneiros.rrf([["a", "b", "c"], ["b", "d"]])]
    ['b', 'a', 'd', 'c']

    Args:
        rankings: lists or arrays of ids (any hashable), best first. Empty ones are ignored.
        k: rank offset, 0 to 1e9; the larger, the closer the values of the first ranks.
        weights: one per list, each 0 to 1e6; None: all 1.
        normalise: ``"none"``, or ``"channel"``: each list's contributions are divided by its best
            and the sums by the best sum, so that the first result scores 1.
        top: number of results, >= 0; None: all.

    Returns:
        (id, score) pairs or, if all rankings are arrays of integers, the ids as int64 and the
        scores as float64, ordered by descending score, then by first appearance, list by list.

    Raises:
        TypeError: an argument of another type, an id that is not hashable, an array that is neither
            of integers nor of texts or objects.
        ValueError: a number out of its range, not one weight per list, an array of another shape
            than (n,), an integer that does not fit into int64.

    Source: docs/systems/reverie.md R3; ``"channel"``: docs/systems/omega.md O7.
    """
    require_text("normalise", normalise)
    if top is not None and not (type(top) is int and 0 <= top <= _MOST_RESULTS):
        require_int("top", top, low=0, high=_MOST_RESULTS)
    if not (type(k) is float and 0.0 <= k <= LARGEST_K):
        k = require_number("k", k, low=0.0, high=LARGEST_K)
    if type(rankings) is list and weights is None:  # the core may read such lists by itself
        fused = _core.rrf(rankings, k, None, normalise, top)
        if fused is not None:
            return fused
    lists = _lists_of(rankings)
    if lists and all(map(_is_numeric, lists)):
        return _fuse([_as_int64(ranking) for ranking in lists], k, weights, normalise, top)
    numbers: dict[Any, int] = {}
    arrays = [_numbered(ranking, numbers) for ranking in lists]
    ids, scores = _fuse(arrays, k, weights, normalise, top)
    names = list(numbers)
    return [(names[i], score) for i, score in zip(ids.tolist(), scores.tolist(), strict=True)]


def _lists_of(rankings: object) -> list[Any]:
    is_scalar = isinstance(rankings, str | bytes) or is_scalar_array(rankings)
    if is_scalar or not isinstance(rankings, Iterable):
        msg = f"rankings: expected a list of lists of ids, got {type(rankings).__name__}"
        raise TypeError(msg)
    return list(rankings)


def _fuse(
    arrays: list[Ids],
    k: float,
    weights: Sequence[float] | npt.NDArray[Any] | None,
    normalise: str,
    top: int | None,
) -> tuple[Ids, Scores]:
    checked: Scores | None = None
    if weights is not None:
        numbers = require_numbers(
            "weights", weights, low=0.0, high=LARGEST_WEIGHT, count=len(arrays)
        )
        checked = np.array(numbers, np.float64)
    fused = _core.rrf(arrays, k, checked, normalise, top)
    return (np.empty(0, np.int64), np.empty(0)) if fused is None else fused


@cache
def _int64() -> np.dtype[np.int64]:
    """Return the dtype object that NumPy's own arrays share."""
    return np.dtype(np.int64)


def _is_numeric(ranking: object) -> bool:
    """Return whether a ranking is an array of anything but texts and objects."""
    return isinstance(ranking, np.ndarray) and ranking.dtype.kind not in "OUT"


def _as_int64(ranking: object) -> Ids:
    array = np.asarray(ranking)
    if array.dtype is _int64() and array.flags.c_contiguous:
        return array
    if array.dtype.kind not in "iu" and array.size:  # np.array([]) is of float64
        msg = f"rankings: expected arrays of integers, got {array.dtype}"
        raise TypeError(msg)
    if array.dtype == np.uint64 and array.size and int(array.max()) > np.iinfo(np.int64).max:
        msg = f"rankings: int64 cannot hold {int(array.max())}"
        raise ValueError(msg)
    return np.ascontiguousarray(array, np.int64)


def _numbered(ranking: object, numbers: dict[Any, int]) -> Ids:
    """Return the ids as numbers, assigned in order of first appearance over all lists."""
    is_scalar = isinstance(ranking, str | bytes) or is_scalar_array(ranking)
    if is_scalar or not isinstance(ranking, Iterable):
        msg = f"rankings: expected lists of ids, got {type(ranking).__name__} {ranking!r}"
        raise TypeError(msg)
    names = ranking.tolist() if isinstance(ranking, np.ndarray) else ranking
    try:
        numbered = [numbers.setdefault(name, len(numbers)) for name in names]
    except TypeError as error:
        msg = f"rankings: every id must be hashable: {error}"
        raise TypeError(msg) from error
    return np.array(numbered, np.int64)
