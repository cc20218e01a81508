"""Declarations of the retrieval channels of a profile, and their depths.

A channel declares the part of a query it searches by, its entry in the core's plan, the BM25
parameters of a new store and how it is relaxed. :class:`_Channel` has the defaults.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from oneiros.lexical.options import FIELD_WEIGHTS
from oneiros.model.validation import (
    require_int,
    require_number,
    settle,
    settle_numbers,
    settle_optional_flags,
)
from oneiros.runtime.dataclasses import dataclass, replace
from oneiros.scoring.tables import NOT_NEGATIVE, SHARE, WEIGHT

if TYPE_CHECKING:
    from typing import Self, TypeAlias

    CoreChannel: TypeAlias = tuple[
        str,
        int,
        int,
        bool,
        float | None,
        tuple[float, float] | None,
        tuple[float, int, float] | None,
    ]
    """Name, depth, candidates per result or 0, whether it reaches k, least score, word share and
    floor of BM25; share of function words, length of a query whose words have their whole weight,
    or 0, and share of words one slip away, or 0."""

__all__ = ["CHANNELS", "ChannelDeclaration", "LexicalChannel", "TemporalChannel", "VectorChannel"]

_DEEPEST = 100_000


class _Channel:
    """Defaults of all channels."""

    __slots__ = ()

    name: ClassVar[str]
    needs: ClassVar[Literal["words", "vector", "time"]]
    """The part of a query that the channel searches by; it is skipped if a query has none."""

    depth: int

    @property
    def reads_texts(self) -> bool:
        """Whether the channel reads the texts of its hits."""
        return False

    @property
    def bm25(self) -> dict[str, Any] | None:
        """BM25's numbers of a store created with this channel, by name; None: not set by it."""
        return None

    @property
    def least(self) -> float | None:
        """The least score of a hit; None: any."""
        return None

    def with_least(self, least: float) -> Self:
        """Return the channel with another least score, if it has one."""
        del least
        return self

    @property
    def reaches_k(self) -> bool | None:
        """Whether a search for more results than ``depth`` has as many candidates."""
        return None

    def depth_for(self, k: int) -> int:
        """Return the number of candidates of a search for ``k`` results."""
        return max(self.depth, k) if self.reaches_k else self.depth

    def for_core(self) -> CoreChannel:
        """Return the channel's entry in the core's plan."""
        return self.name, self.depth, 0, bool(self.reaches_k), self.least, None, None


def _settle_title(channel: LexicalChannel) -> None:
    """Check the numbers of a title, and store defaults as None, which a record leaves out."""
    given = {"title_weight": channel.title_weight, "title_length": channel.title_length}
    used = dict(FIELD_WEIGHTS)
    for name, low, high in (("title_weight", 0.25, 8.0), ("title_length", 0.0, 1.0)):
        if given[name] is not None:
            used[name] = require_number(name, given[name], low=low, high=high)
            settle(channel, name, None if used[name] == FIELD_WEIGHTS[name] else used[name])
    if not (4.0 * used["title_weight"]).is_integer():
        msg = f"title_weight: must be a multiple of 0.25, got {channel.title_weight!r}"
        raise ValueError(msg)
    if not (4.0 * used["title_weight"] * used["title_length"]).is_integer():
        msg = (
            "title_length: must be, times title_weight, a multiple of 0.25,"
            f" got {channel.title_length!r} for {used['title_weight']!r}"
        )
        raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class LexicalChannel(_Channel):
    """BM25 over text; the index sets the BM25 variant.

    Source: docs/systems/reverie.md R1; published depth 100, k1 1.2, b 0.75.
    """

    name: ClassVar[str] = "lexical"
    needs: ClassVar[Literal["words"]] = "words"

    depth: int = 100
    """Number of candidates, 1 to 100,000."""

    k1: float = 1.2
    """BM25's term saturation, >= 0, of stores created with this profile."""

    b: float = 0.75
    """BM25's length normalisation, 0 to 1, of stores created with this profile; the number for all
    lengths only where ``half_length`` is None or 0."""

    half_length: float | None = None
    """Average length in words that halves ``b``, 0 to 1e6, of stores created with this profile; see
    :class:`oneiros.LexicalIndex`. None or 0: ``b`` as it is. Source: docs/systems/house.md H5."""

    word_share: float | None = None
    """Weight of the share of query words found, 0 to 1, in a relevance that replaces BM25; the
    rest is BM25 scaled to ``floor`` to 1. None: BM25 is the score. Source: docs/systems/omega.md
    O3."""

    floor: float | None = None
    """Value of the worst BM25 in that relevance, 0 to 1; set together with ``word_share``."""

    reaches_k: bool | None = None
    """True: ``depth`` or ``k`` candidates, whichever is more. None: ``depth``."""

    function_words: float | None = None
    """Share of their weight that function words have in a query ("what", "did", "her"), 0.001 to 1,
    where the analyzer is of a language with a list of them
    (:data:`oneiros.analyzers.FUNCTION_WORDS`: English). For queries in plain syntax. None: 1.
    Source: docs/systems/house.md H17."""

    whole_query: int | None = None
    """Length in words, stop words counted, up to which the words of a query have their whole weight,
    1 to 1e6. A word that first stands at a later place has ``sqrt(whole_query / place)`` of it. For
    queries in plain syntax. None: no limit. Source: docs/systems/house.md H18."""

    typos: float | None = None
    """Share of its weight, 0 to 1, that a word has which is searched in place of one that no text
    has, as the latter may have a typing error: the word in most texts that one slip makes of it, a
    letter left out, put in, swapped with the next or replaced by one that is easily typed for it.
    For queries in plain syntax. None: 0, no such words. Source: docs/systems/house.md H20."""

    title_weight: float | None = None
    """Weight of a word in the title relative to one in the text, of stores created with this
    profile: a multiple of 0.25 from 0.25 to 8. None: 2. Source: docs/systems/house.md H5."""

    title_length: float | None = None
    """Share of ``title_weight`` that a word in the title adds to the length of its text, 0 to 1, of
    stores created with this profile; times ``title_weight``, it is a multiple of 0.25. None: 1.
    Source: docs/systems/house.md H5."""

    def __post_init__(self) -> None:
        settle_optional_flags(self, "reaches_k")
        require_int("depth", self.depth, low=1, high=_DEEPEST)
        settle_numbers(self, k1=NOT_NEGATIVE, b=SHARE)
        if self.function_words is not None:
            share = require_number("function_words", self.function_words, low=0.001, high=1.0)
            settle(self, "function_words", None if share == 1.0 else share)
        if self.whole_query is not None:
            require_int("whole_query", self.whole_query, low=1, high=1_000_000)
        if self.typos is not None:
            settle(self, "typos", require_number("typos", self.typos, low=0.0, high=1.0) or None)
        if self.half_length is not None:
            settle_numbers(self, half_length=WEIGHT)
        _settle_title(self)
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
        return self.word_share is not None

    @property
    def bm25(self) -> dict[str, Any]:
        numbers: dict[str, Any] = {
            "k1": self.k1,
            "b": self.b,
            "half_length": self.half_length or 0.0,
        }
        for name in ("title_weight", "title_length"):
            value = getattr(self, name)
            if value is not None:
                numbers[name] = value
        return numbers

    def for_core(self) -> CoreChannel:
        words = None
        if self.word_share is not None and self.floor is not None:
            words = (self.word_share, self.floor)
        shares = None
        if any(one is not None for one in (self.function_words, self.whole_query, self.typos)):
            full = 1.0 if self.function_words is None else self.function_words
            shares = (full, self.whole_query or 0, self.typos or 0.0)
        return self.name, self.depth, 0, bool(self.reaches_k), None, words, shares


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorChannel(_Channel):
    """Cosine over embeddings; skipped if the query has no vector.

    Source: docs/systems/reverie.md R2, published depth 100; docs/systems/cognitive.md C4, 3 per
    result.
    """

    name: ClassVar[str] = "vector"
    needs: ClassVar[Literal["vector"]] = "vector"

    depth: int = 100
    """Number of candidates, 1 to 100,000, if ``per_result`` is None."""

    per_result: int | None = None
    """Number of candidates per result, 1 to 1,000; None: ``depth`` in all."""

    minimum: float | None = None
    """Least cosine of a hit, -1 to 1; None: any. Source: docs/systems/omega.md O2."""

    reaches_k: bool | None = None
    """True: ``depth`` or ``k`` candidates, whichever is more. None: ``depth``."""

    def __post_init__(self) -> None:
        settle_optional_flags(self, "reaches_k")
        require_int("depth", self.depth, low=1, high=_DEEPEST)
        if self.per_result is not None:
            require_int("per_result", self.per_result, low=1, high=1_000)
        if self.minimum is not None:
            minimum = require_number("minimum", self.minimum, low=-1.0, high=1.0)
            settle(self, "minimum", minimum)

    def depth_for(self, k: int) -> int:
        depth = self.depth
        if self.per_result is not None:
            depth = min(max(self.per_result * k, 1), _DEEPEST)
        return max(depth, k) if self.reaches_k else depth

    @property
    def least(self) -> float | None:
        return self.minimum

    def with_least(self, least: float) -> Self:
        return replace(self, minimum=least)

    def for_core(self) -> CoreChannel:
        reaches_k = bool(self.reaches_k)
        return self.name, self.depth, self.per_result or 0, reaches_k, self.minimum, None, None


@dataclass(frozen=True, slots=True, kw_only=True)
class TemporalChannel(_Channel):
    """Nearness to the time that a query names; skipped if it names none.

    A memory's time is ``event_at``, else ``created_at``.

    Source: docs/systems/omega.md O4; docs/systems/house.md H1.
    """

    name: ClassVar[str] = "temporal"
    needs: ClassVar[Literal["time"]] = "time"

    depth: int = 100
    """Number of candidates, 1 to 100,000."""

    def __post_init__(self) -> None:
        require_int("depth", self.depth, low=1, high=_DEEPEST)


ChannelDeclaration = LexicalChannel | VectorChannel | TemporalChannel
"""Any channel that a profile can name."""

CHANNELS: tuple[type[ChannelDeclaration], ...] = (LexicalChannel, VectorChannel, TemporalChannel)
