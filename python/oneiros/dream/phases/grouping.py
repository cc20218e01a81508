"""Grouping of similar memories, and calls of user functions that write or judge texts.

Source: docs/systems/cognitive.md C21.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from oneiros._lazy import np
from oneiros.model.validation import require_utf8

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from oneiros.scoring.phases.cognitive import Summarising

    Matrix = npt.NDArray[np.float32]
    Places = npt.NDArray[np.intp]

__all__ = ["answer_of", "groups_of", "rounded"]

_SEEDS_AT_ONCE: Final = 64
_STEPS: Final = 1e5
"""Cosines are rounded to five decimals, so that equal vectors have equal cosines: the rounding of a
matrix product depends on a vector's position."""


def answer_of(name: str, function: Callable[..., str], *args: object) -> str:
    """Call a user function and return its text.

    Args:
        name: the name of the argument that holds it, for error messages.
        function: the callable.
        *args: its arguments.

    Raises:
        TypeError: it returned something other than a str.
        TextEncodingError: it returned lone surrogates.
        Exception: any error that it raised, with a note that names it.
    """
    try:
        answer = function(*args)
    except Exception as error:
        error.add_note(f"raised by {name}, which the dream cycle asked")
        raise
    require_utf8(name, answer)
    return answer


def rounded(cosines: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Return cosines as whole multiples of 1e-5."""
    return np.rint(np.asarray(cosines, np.float64) * _STEPS).astype(np.int64)


def groups_of(vectors: Matrix, sections: npt.NDArray[Any], phase: Summarising) -> list[Places]:
    """Return groups of ``phase.group_size`` vectors, all near the seed of their group.

    Each ungrouped vector in turn is a seed: it takes the first ungrouped vectors of its section,
    earlier ones too, that are near enough. With too few, it forms no group and may join a later one.

    Args:
        vectors: unit vectors, shape (n, d).
        sections: the section of each vector; a group holds vectors of one section.
        phase: sets the minimum cosine and the size of a group.

    Returns:
        The indexes of each group, ascending; the groups in the order of their seeds.
    """
    order = np.argsort(sections, kind="stable")
    bounds = np.flatnonzero(np.diff(sections[order])) + 1
    found = []
    for section in np.split(order, bounds):
        if len(section) >= phase.group_size:
            found += [section[group] for group in _groups(vectors[section], phase)]
    return [np.sort(group) for group in sorted(found, key=lambda group: int(group[0]))]


def _groups(vectors: Matrix, phase: Summarising) -> list[Places]:
    """Return the groups of one section, each with its seed first."""
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
