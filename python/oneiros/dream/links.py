"""The links that a cycle changes, kept as arrays: one rule may change millions."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Final, NamedTuple

from oneiros.dream.changes import LinkChange
from oneiros.numpy_on_use import np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

__all__ = ["ChangedLinks", "LinksOfRule"]

_NUMBER: Final = "q"  # int64: a number below 0 is a memory that is added


class LinksOfRule(NamedTuple):
    """Links that one rule changes in one way; what the fields say is told of :class:`LinkChange`."""

    phase: str
    rule: str
    gain: float
    weight: float | None
    kind: str
    ones: array[int]
    others: array[int]
    """One for each of ``ones``."""


class ChangedLinks:
    """All links that a cycle changes, in the order in which rules change them.

    Iterating makes a :class:`LinkChange` of each, and keeps none.
    """

    def __init__(self) -> None:
        self._parts: list[LinksOfRule] = []

    @property
    def parts(self) -> Sequence[LinksOfRule]:
        """The same, those together that one rule changes in one way, one after the other."""
        return self._parts

    def add(
        self,
        phase: str,
        rule: str,
        ones: npt.ArrayLike,
        others: npt.ArrayLike,
        *,
        gain: float,
        weight: float | None,
        kind: str,
    ) -> None:
        """Add links of pairs: numbers of one shape, a number each or (n,) each."""
        pairs = np.asarray(ones, np.int64), np.asarray(others, np.int64)
        if not pairs[0].size:
            return
        way = (phase, rule, gain, weight, kind)
        if not self._parts or self._parts[-1][: len(way)] != way:
            self._parts.append(LinksOfRule(*way, array(_NUMBER), array(_NUMBER)))
        part = self._parts[-1]
        part.ones.frombytes(pairs[0].tobytes())
        part.others.frombytes(pairs[1].tobytes())

    def without(self, rule: str) -> ChangedLinks:
        """Return the same without those that a rule changes."""
        rest = ChangedLinks()
        rest._parts = [part for part in self._parts if part.rule != rule]
        return rest

    def __len__(self) -> int:
        """Return how many links are changed, each as often as it is."""
        return sum(len(part.ones) for part in self._parts)

    def __iter__(self) -> Iterator[LinkChange]:
        """Yield them one by one."""
        for phase, rule, gain, weight, kind, ones, others in self._parts:
            for one, other in zip(ones, others, strict=True):
                yield LinkChange(phase, rule, one, other, gain, weight, kind)
