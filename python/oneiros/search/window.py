"""The part of a ranking that a search returns: after an offset, from a least score on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from oneiros.runtime.dataclasses import NamedTuple
from oneiros.search.trace import StageTrace

__all__ = ["WHOLE", "Window"]


class Window(NamedTuple):
    """The part of a ranking that a search returns."""

    offset: int = 0
    """Number of the first results that are left out."""
    min_score: float | None = None
    """Least score of a result; None: any."""

    @property
    def is_whole(self) -> bool:
        """Whether every result lies in it."""
        return not self.offset and self.min_score is None

    def places(self, scores: Sequence[float]) -> list[int]:
        """Return the places of the scores that lie in the window, in order."""
        places = range(self.offset, len(scores))
        least = self.min_score
        return list(places) if least is None else [n for n in places if scores[n] >= least]

    def stage(self, entered: int, left: int) -> StageTrace:
        """Return the trace of the window, given the numbers of results before and in it."""
        parts = [f"offset {self.offset}"] if self.offset else []
        parts += [] if self.min_score is None else [f"min_score {self.min_score:g}"]
        return StageTrace("window", entered, left, 0.0, note=", ".join(parts))


WHOLE: Final = Window()
