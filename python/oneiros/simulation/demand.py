"""What is asked about: what many ask for, and what was told lately."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    import numpy.typing as npt

    from oneiros.simulation.workload import Workload

__all__ = ["INTEREST_DAYS", "Demand"]

INTEREST_DAYS: Final = {
    "session": 7.0,
    "note": 14.0,
    "bug": 14.0,
    "config": 45.0,
    "decision": 90.0,
}
"""Days in which the interest in what is new halves, by kind; that in any other kind stays."""

_FAINTEST: Final = 1e-300
"""Added to each weight, so that some fact is asked about however long ago all were told."""


class Demand:
    """Chooses the facts that are asked about.

    With ``workload.recent`` a fact told lately, its weight 2^(-age / ``workload.recent_days``); else
    a popular one, its weight rank^(-``workload.zipf``) x 2^(-age / :data:`INTEREST_DAYS`), its rank
    drawn at random. The age is that of the last time the fact was told, in days.

    Args:
        kinds: of each fact.
        workload: the shares and exponents.
        random: what chance decides.
    """

    def __init__(self, kinds: Sequence[str], workload: Workload, random: Random) -> None:
        self._workload = workload
        self._random = random
        ranks = list(range(1, len(kinds) + 1))
        random.shuffle(ranks)
        self.ranks = np.array(ranks, np.float64)
        """Shape (facts,); 1 is the most popular."""
        fades = INTEREST_DAYS if workload.fading else {}
        self._fade_days = np.array([fades.get(kind, math.inf) for kind in kinds], np.float64)
        self._told_at = np.full(len(kinds), math.inf)

    def tell(self, fact: int, at: float) -> None:
        """Note that a fact was told at this time, in days."""
        self._told_at[fact] = at

    def ask(self, at: float, count: int) -> list[int]:
        """Return the facts of so many questions at this time, in days; none where none was told."""
        age = at - self._told_at
        told = age >= 0.0
        if not count or not told.any():
            return []
        age = np.where(told, age, 0.0)
        recent = 2.0 ** (-age / self._workload.recent_days)
        popular = self.ranks**-self._workload.zipf * 2.0 ** (-age / self._fade_days)
        sums = [np.cumsum(np.where(told, one + _FAINTEST, 0.0)) for one in (popular, recent)]
        return [
            self._drawn(sums[self._random.random() < self._workload.recent]) for _ in range(count)
        ]

    def _drawn(self, sums: npt.NDArray[np.float64]) -> int:
        """Return a place, each with a chance in proportion to what it adds to the sums."""
        return int(np.searchsorted(sums, self._random.random() * sums[-1], side="right"))
