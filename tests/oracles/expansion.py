"""What links bring to the results, one memory at a time: docs/systems/cognitive.md C9, C10, C14, omega.md O24."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.oracles.associations import Weights, expand

__all__ = ["Result", "associated", "in_graph", "merged"]


@dataclass(frozen=True)
class Result:
    row: int
    score: float
    path: tuple[int, ...] = ()
    """From a direct result to this row; empty for a direct result."""


def associated(
    direct: Sequence[Result],
    own_scores: Callable[[list[int]], dict[int, float]],
    weights: Weights,
    allowed: Sequence[bool],
    *,
    least: float = 0.3,
    least_score: float = 0.05,
) -> list[Result]:
    """Links of all direct results, two hops; score x product of the weights. C9, C10.

    ``own_scores`` has none for what the profile's rules leave out.
    """
    found = expand(
        weights,
        {one.row: 1.0 for one in direct},
        least_link=least,
        least=least,
        hop_decay=1.0,
        most_hops=2,
        allowed=allowed,
    )
    results = []
    own = own_scores([reached.row for reached in found])
    for reached in found:
        if reached.row not in own:
            continue
        score = own[reached.row] * reached.value
        if len(reached.path) == 1 or score >= least_score:
            results.append(Result(reached.row, score, (*reached.path, reached.row)))
    return results


def in_graph(
    direct: Sequence[Result],
    stays: Callable[[int], bool],
    weights: Weights,
    allowed: Sequence[bool],
    *,
    weight: float = 1.0,
) -> list[Result]:
    """Links of the first five, two hops, 0.4 a hop, links from 0.2 and scores from 0.1 on. O24."""
    found = expand(
        weights,
        {one.row: one.score * weight for one in direct[:5]},
        least_link=0.2,
        least=0.1,
        hop_decay=0.4,
        most_hops=2,
        allowed=allowed,
    )
    return [Result(one.row, one.value, (*one.path, one.row)) for one in found if stays(one.row)]


def merged(
    direct: Sequence[Result], linked: Sequence[Result], k: int, quota: float = 0.0
) -> list[Result]:
    """One each, the best score; the best k; ``quota`` of the places kept for the linked. C14."""
    best = {one.row: one for one in direct}
    for one in linked:
        if one.row not in best or one.score > best[one.row].score:
            best[one.row] = one
    ranked = sorted(best.values(), key=lambda one: (-one.score, one.row))
    kept_places = int(quota * k)
    while True:
        taken = ranked[:k]
        if sum(bool(one.path) for one in taken) >= kept_places:
            return taken
        if not any(one.path for one in ranked[k:]):
            return taken
        # The last direct result leaves its place to the best linked one that has none.
        ranked.remove([one for one in taken if not one.path][-1])
        first = next(one for one in ranked[k - 1 :] if one.path)
        ranked.remove(first)
        ranked.insert(k - 1, first)
        ranked[:k] = sorted(ranked[:k], key=lambda one: (-one.score, one.row))
