"""What a dream cycle tells, one memory at a time: docs/systems/reverie.md R19."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction


def binned(values: Sequence[float], bounds: Sequence[float]) -> list[int]:
    """Return how many values lie from each bound up to the next, the last bin open."""
    counts = [0] * len(bounds)
    for value in values:
        place = max(number for number, bound in enumerate(bounds) if value >= bound)
        counts[place] += 1
    return counts


def gini(counts: Sequence[int]) -> float:
    """Return half the mean difference of any two, as a share of the mean: Gini's definition."""
    total, size = sum(counts), len(counts)
    if not total:
        return 0.0
    differences = sum(abs(one - other) for one in counts for other in counts)
    return float(Fraction(differences, 2 * size * total))


def half_life(lives: Sequence[tuple[float, bool]]) -> float | None:
    """Return the median of the Kaplan-Meier curve over (days lived, whether it was deleted then)."""
    alive = Fraction(1)
    for age in sorted({days for days, died in lives if died}):
        reached = sum(days >= age for days, _ in lives)
        died = sum(days == age and dead for days, dead in lives)
        alive *= 1 - Fraction(died, reached)
        if alive <= Fraction(1, 2):
            return age
    return None


def most_recalled(memories: Sequence[Mapping[str, object]], count: int) -> list[str]:
    """Return ids by accesses, then the last accessed, then insertion; only what was accessed."""
    used = [memory for memory in memories if memory["access_count"]]

    def last(memory: Mapping[str, object]) -> float:
        accessed = memory["last_accessed_at"]
        return float("-inf") if accessed is None else float(accessed)  # type: ignore[arg-type]

    used.sort(key=lambda memory: (-int(memory["access_count"]), -last(memory)))  # type: ignore[call-overload]
    return [str(memory["id"]) for memory in used[:count]]


def standing(
    memories: Sequence[tuple[float, float]], bounds: Sequence[float]
) -> list[tuple[float, float, int]]:
    """Return of (days, value) of memories the mean of both and their number, bin by bin of the days."""
    bins: dict[int, list[tuple[float, float]]] = {}
    for days, value in memories:
        place = max(number for number, bound in enumerate(bounds) if days >= bound)
        bins.setdefault(place, []).append((days, value))
    return [
        (sum(d for d, _ in held) / len(held), sum(v for _, v in held) / len(held), len(held))
        for _, held in sorted(bins.items())
    ]
