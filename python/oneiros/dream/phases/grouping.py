"""Groups of similar memories, and calls of the functions that write or judge texts. Source: docs/systems/cognitive.md C21."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from oneiros._lazy import np
from oneiros.model.validation import require_utf8

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from oneiros.scoring.phases.cognitive import Summarising

__all__ = ["answer_of", "groups_of", "rounded"]


def answer_of(name: str, function: Callable[..., str], *asked: object) -> str:
    """Return what a callable says.

    Args:
        name: the argument that it was given as, for the errors.
        function: the callable.
        *asked: its arguments.

    Raises:
        TypeError: it gave something that is no str.
        TextEncodingError: it gave lone surrogates.
        Exception: whatever it raised, with a note that names it.
    """
    try:
        answer = function(*asked)
    except Exception as error:
        error.add_note(f"raised by {name}, which the dream cycle asked")
        raise
    require_utf8(name, answer)
    return answer


if TYPE_CHECKING:
    Matrix = npt.NDArray[np.float32]
    Places = npt.NDArray[np.intp]


_SEEDS_AT_ONCE: Final = 64
_STEPS: Final = 1e5
"""Cosines count to five decimals: a matrix product rounds by where a vector stands in it, and equal
vectors must have equal cosines."""


def rounded(cosines: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Return cosines as whole numbers of hundred-thousandths."""
    return np.rint(np.asarray(cosines, np.float64) * _STEPS).astype(np.int64)


def groups_of(vectors: Matrix, sections: npt.NDArray[Any], phase: Summarising) -> list[Places]:
    """Return groups of ``phase.group_size`` places whose vectors are near that of one of them.

    In their order, each place that is in no group takes the first others of its section, earlier ones
    too, that are in none and near enough to it. With too few it makes no group and may join a later
    one.

    Args:
        vectors: unit vectors, shape (n, d).
        sections: one a vector; groups hold vectors of one.
        phase: how near and how many.

    Returns:
        Each rising; in the order of the places that they began with.
    """
    order = np.argsort(sections, kind="stable")
    bounds = np.flatnonzero(np.diff(sections[order])) + 1
    found = []
    for section in np.split(order, bounds):
        if len(section) >= phase.group_size:
            found += [section[group] for group in _groups(vectors[section], phase)]
    return [np.sort(group) for group in sorted(found, key=lambda group: int(group[0]))]


def _groups(vectors: Matrix, phase: Summarising) -> list[Places]:
    """Return groups of one section, the place that each began with first."""
    free = np.ones(len(vectors), np.bool_)
    least = rounded(phase.least_cosine)
    found = []
    for start in range(0, len(vectors), _SEEDS_AT_ONCE):
        seeds = start + np.flatnonzero(free[start : start + _SEEDS_AT_ONCE])
        for seed, cosines in zip(seeds, vectors[seeds] @ vectors.T, strict=True):
            if not free[seed]:
                continue
            free[seed] = False
            near = np.flatnonzero(free & (cosines > phase.least_cosine - 1 / _STEPS))
            first = near[rounded(cosines[near]) >= least][: phase.group_size - 1]
            free[seed] = len(first) + 1 < phase.group_size
            if not free[seed]:
                free[first] = False
                found.append(np.concatenate([[seed], first]))
    return found
