"""Which channels a profile asks, and how deep.

A channel says of itself what the rest of the package asks of any channel: what of a question it needs,
what the core's plan and a new store take from it, and how it is relaxed. :class:`Channel` is what those
have in common that are silent on a point.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar, Literal

from oneiros.model.validation import require_int, require_number, settle, settle_numbers
from oneiros.runtime.dataclasses import dataclass, replace

if TYPE_CHECKING:
    from typing import Self, TypeAlias

    CoreChannel: TypeAlias = tuple[str, int, int, float | None, tuple[float, float] | None]
    """Name, depth, candidates a result or 0, least score, share of words and floor of BM25."""

__all__ = ["CHANNELS", "ChannelDeclaration", "LexicalChannel", "TemporalChannel", "VectorChannel"]

_DEEPEST = 100_000


class _Channel:
    """What a channel is, unless it says otherwise."""

    __slots__ = ()

    name: ClassVar[str]
    needs: ClassVar[Literal["words", "vector", "time"]]
    """What of a question it searches by; absent from a search whose question has none."""

    depth: int

    @property
    def reads_texts(self) -> bool:
        """Whether it looks into the texts of what it finds."""
        return False

    @property
    def bm25(self) -> tuple[float, float] | None:
        """``k1`` and ``b`` of the index of a store that is made with this channel; None: no matter."""
        return None

    @property
    def least(self) -> float | None:
        """The least score that is found; None: any."""
        return None

    def with_least(self, least: float) -> Self:
        """Return the channel with another least score, where it has one."""
        del least
        return self

    def depth_for(self, k: int) -> int:
        """Return how many candidates a search for ``k`` results asks for."""
        del k
        return self.depth

    def for_core(self) -> CoreChannel:
        """Return the channel as a plan of the core takes it."""
        return self.name, self.depth, 0, self.least, None


@dataclass(frozen=True, slots=True, kw_only=True)
class LexicalChannel(_Channel):
    """BM25 over text; its variant belongs to the index.

    Source: docs/systems/reverie.md R1; published depth 100, k1 1.2, b 0.75.
    """

    name: ClassVar[str] = "lexical"
    needs: ClassVar[Literal["words"]] = "words"

    depth: int = 100
    """Candidates asked for, 1 to 100,000."""

    k1: float = 1.2
    """BM25's term saturation, >= 0: of the index of a store that is made with this profile."""

    b: float = 0.75
    """BM25's length normalisation, 0 to 1: of the index of a store that is made with this profile."""

    word_share: float | None = None
    """Of the share of words found in a relevance that takes the place of BM25, 0 to 1; the rest is
    BM25 from ``floor`` to 1. None: BM25 is the score. Source: docs/systems/omega.md O3."""

    floor: float | None = None
    """What the worst BM25 counts in that relevance, 0 to 1; given where ``word_share`` is."""

    def __post_init__(self) -> None:
        require_int("depth", self.depth, low=1, high=_DEEPEST)
        settle_numbers(self, k1=(0.0, math.inf, False), b=(0.0, 1.0, False))
        if (self.word_share is None) != (self.floor is None):
            msg = (
                f"floor: must be given where word_share is, got {self.floor} and {self.word_share}"
            )
            raise ValueError(msg)
        for name in ("word_share", "floor"):
            value = getattr(self, name)
            if value is not None:
                settle(self, name, require_number(name, value, low=0.0, high=1.0))

    @property
    def reads_texts(self) -> bool:
        """Whether it looks into the texts of what it finds."""
        return self.word_share is not None

    @property
    def bm25(self) -> tuple[float, float]:
        """``k1`` and ``b`` of the index of a store that is made with this channel."""
        return self.k1, self.b

    def for_core(self) -> CoreChannel:
        """Return the channel as a plan of the core takes it."""
        words = None
        if self.word_share is not None and self.floor is not None:
            words = (self.word_share, self.floor)
        return self.name, self.depth, 0, None, words


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorChannel(_Channel):
    """Cosine over embeddings; absent where the engine has no embedder.

    Source: docs/systems/reverie.md R2, published depth 100; docs/systems/cognitive.md C4, 3 a
    result.
    """

    name: ClassVar[str] = "vector"
    needs: ClassVar[Literal["vector"]] = "vector"

    depth: int = 100
    """Candidates asked for, 1 to 100,000; ``per_result`` takes its place."""

    per_result: int | None = None
    """Candidates asked for a result, 1 to 1,000; None: ``depth`` in all."""

    minimum: float | None = None
    """The least cosine that is found, -1 to 1; None: any. Source: docs/systems/omega.md O2."""

    def __post_init__(self) -> None:
        require_int("depth", self.depth, low=1, high=_DEEPEST)
        if self.per_result is not None:
            require_int("per_result", self.per_result, low=1, high=1_000)
        if self.minimum is not None:
            minimum = require_number("minimum", self.minimum, low=-1.0, high=1.0)
            settle(self, "minimum", minimum)

    def depth_for(self, k: int) -> int:
        """Return how many candidates a search for ``k`` results asks for."""
        if self.per_result is None:
            return self.depth
        return min(max(self.per_result * k, 1), _DEEPEST)

    @property
    def least(self) -> float | None:
        """The least cosine that is found; None: any."""
        return self.minimum

    def with_least(self, least: float) -> VectorChannel:
        """Return the channel with another least cosine."""
        return replace(self, minimum=least)

    def for_core(self) -> CoreChannel:
        """Return the channel as a plan of the core takes it."""
        return self.name, self.depth, self.per_result or 0, self.minimum, None


@dataclass(frozen=True, slots=True, kw_only=True)
class TemporalChannel(_Channel):
    """Nearness to the time that a question names; absent where it names none.

    A memory's time is that of its event, else of its creation.

    Source: docs/systems/omega.md O4; docs/systems/house.md H1.
    """

    name: ClassVar[str] = "temporal"
    needs: ClassVar[Literal["time"]] = "time"

    depth: int = 100
    """Candidates asked for, 1 to 100,000."""

    def __post_init__(self) -> None:
        require_int("depth", self.depth, low=1, high=_DEEPEST)


ChannelDeclaration = LexicalChannel | VectorChannel | TemporalChannel
"""Any channel a profile can name."""

CHANNELS: tuple[type[ChannelDeclaration], ...] = (LexicalChannel, VectorChannel, TemporalChannel)
