"""What scoring a whole store gives back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from oneiros.dataclasses_on_use import dataclass

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["PromotedMemory", "PromotionReport", "Rescored"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rescored:
    """Scores by memory, as columns. Iterating gives pairs of id and score."""

    ids: Sequence[str]
    """In order of insertion."""
    scores: npt.NDArray[np.float64]
    """Shape (n,), in the order of ``ids``."""
    profile: str
    profile_hash: str
    now: float
    """Seconds since the epoch."""
    future_count: int
    """Memories with times after ``now``, which were taken as age 0."""

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[tuple[str, float]]:
        return zip(self.ids, self.scores.tolist(), strict=True)

    def to_arrow(self) -> Any:
        """Return a pyarrow table of ``id`` and ``score``; the scores are not copied.

        Raises:
            ImportError: pyarrow (the extra ``oneiros[arrow]``) is missing.
        """
        import pyarrow as pa  # noqa: PLC0415 - an extra

        return pa.table({"id": pa.array(self.ids, pa.string()), "score": self.scores})

    def to_pandas(self) -> Any:
        """Return a pandas frame of ``id`` and ``score``.

        Raises:
            ImportError: pandas is missing.
        """
        import pandas as pd  # noqa: PLC0415 - optional

        return pd.DataFrame({"id": list(self.ids), "score": self.scores})

    def __repr__(self) -> str:
        return f"<Rescored by {self.profile!r}: {len(self)} memories>"


@dataclass(frozen=True, slots=True, kw_only=True)
class PromotedMemory:
    """One memory that was promoted, and why."""

    id: str
    score: float
    factors: dict[str, float]
    """The profile's factors by name; over a relevance of 1 they make the score."""

    def __str__(self) -> str:
        made_of = ", ".join(f"{name} {value:.3f}" for name, value in self.factors.items())
        return f"{self.id}: {self.score:.3f} ({made_of})"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PromotionReport:
    """What a promotion did, or would do. Source: docs/systems/ciar.md A4."""

    promoted: tuple[PromotedMemory, ...]
    """From staged to consolidated, in order of insertion."""
    considered: int
    """Staged memories that were judged."""
    profile: str
    profile_hash: str
    threshold: float
    now: float
    """Seconds since the epoch."""
    is_dry_run: bool
    future_count: int
    """Memories judged with times after ``now``, which were taken as age 0."""

    @property
    def ids(self) -> list[str]:
        """The ids of the promoted."""
        return [one.id for one in self.promoted]

    def _headline(self) -> str:
        verb = "would be promoted" if self.is_dry_run else "promoted"
        rule = f"{self.profile} >= {self.threshold:g}"
        return f"{len(self.promoted)} of {self.considered} staged {verb} ({rule})"

    def __repr__(self) -> str:
        return f"<PromotionReport: {self._headline()}>"  # all of it is a line a memory

    def __str__(self) -> str:
        return "\n".join((self._headline(), *map(str, self.promoted)))
