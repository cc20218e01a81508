"""What a search answers, and whatever recalls: tests/oracles/whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tests.oracles.whole.asking import Question
from tests.oracles.whole.world import World

__all__ = ["MISSES", "Answer", "Found", "Recalling"]

MISSES = 3  # omega.md O27


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One result."""

    id: str
    score: float
    path: tuple[str, ...] = ()
    """From a direct result to this memory; empty for a direct result."""
    is_bridge: bool = False
    via_deep_recall: bool = False
    brought_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a search returns."""

    results: tuple[Found, ...]
    direct: tuple[str, ...] | None
    """Before the merge; None where links are followed before the cut (OMEGA)."""
    misses: tuple[str, ...] | None = ()
    """The nearest where it abstains; None where the page leaves open which those are."""
    abstains: bool = False
    duplicates: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What was left out, and all the better ones it is like. O26."""


class Recalling(Protocol):
    """A profile's whole search."""

    @property
    def judged(self) -> int:
        """How many a reranker judges; 0 where the oracle leaves it out."""

    def world(self) -> World:
        """Return an empty store."""

    def answer(self, world: World, question: Question) -> Answer:
        """Search, and let the world learn from what is returned."""
