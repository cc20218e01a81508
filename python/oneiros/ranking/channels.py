"""Which channels a profile asks, and how deep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from oneiros.ranking.declaration import require_int

__all__ = ["CHANNELS", "ChannelDeclaration", "LexicalChannel", "VectorChannel"]

_DEEPEST = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LexicalChannel:
    """BM25 over text; the variant belongs to the index, a profile reads ranks.

    Source: docs/systems/reverie.md R1; published depth 100.
    """

    name: ClassVar[str] = "lexical"

    depth: int = 100
    """Candidates asked for, 1 to 100,000."""

    def __post_init__(self) -> None:
        require_int("depth", self.depth, low=1, high=_DEEPEST)


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorChannel:
    """Cosine over embeddings; absent where the engine has no embedder.

    Source: docs/systems/reverie.md R2; published depth 100.
    """

    name: ClassVar[str] = "vector"

    depth: int = 100
    """Candidates asked for, 1 to 100,000."""

    def __post_init__(self) -> None:
        require_int("depth", self.depth, low=1, high=_DEEPEST)


ChannelDeclaration = LexicalChannel | VectorChannel
"""Any channel a profile can name."""

CHANNELS: tuple[type[ChannelDeclaration], ...] = (LexicalChannel, VectorChannel)
