"""The factors of OMEGA that depend on the query. Source: docs/systems/omega.md.

They read signals that a search computes per candidate. Without its signal a factor is exactly 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from oneiros.model.validation import LARGEST_WEIGHT, require_numbers, settle, settle_numbers
from oneiros.runtime.dataclasses import dataclass
from oneiros.scoring.factor import KernelFactor
from oneiros.scoring.program import Parameter, ProgramBuilder
from oneiros.scoring.tables import SHARE, WEIGHT, Range, require_words

__all__ = ["Cluster", "ContextMatch", "Overlap", "Preference", "Rerank", "TemporalConstraint"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap(KernelFactor):
    """Boost memories that share words and tags with the query, both in canonical form (O26).

    ``factor = 1 + gain * word_ratio * weight``, the gain multiplied by ``disliked`` if the feedback
    is below 0. Signals: ``word_ratio``, and ``overlap_weight`` to replace ``weight``.

    Source: docs/systems/omega.md O18, O8, sections 12 and 3 of the source's inventory.
    """

    name: ClassVar[str] = "overlap"
    is_lifecycle: ClassVar[bool] = False
    reads_texts: ClassVar[bool] = True
    kernel: ClassVar[str] = "overlap_boost"
    ranges: ClassVar[Mapping[str, Range]] = dict.fromkeys(("gain", "disliked", "weight"), WEIGHT)
    others: ClassVar[tuple[str, ...]] = ("weight", "suffixes")

    gain: float = 0.5
    """Gain if all words are shared, 0 to 1e6."""

    disliked: float = 0.5
    """Factor on the gain if the feedback is below 0, 0 to 1e6."""

    weight: float = 1.0
    """Default weight of shared words, 0 to 1e6."""

    suffixes: tuple[str, ...] = (
        *("ation", "tion", "ment", "ing", "ness", "ity", "ous", "ive", "able"),
        *("ed", "er", "es", "ly", "al", "s"),
    )
    """Suffixes to try, in order, on a query word that is not found unchanged. The first one that
    matches and leaves three characters is removed, once."""

    def __post_init__(self) -> None:
        KernelFactor.__post_init__(self)
        settle(self, "suffixes", require_words("suffixes", self.suffixes))

    def operands(self, program: ProgramBuilder) -> tuple[int, ...]:
        return (
            program.signal("word_ratio", 0.0),
            program.column("feedback"),
            program.signal("overlap_weight", self.weight),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Preference:
    """Boost preferences if the query is about preferences.

    Signal: ``preference``, 1 if the query contains a preference word.

    Source: docs/systems/omega.md O19, section 13 of the source's inventory.
    """

    name: ClassVar[str] = "preference"
    is_lifecycle: ClassVar[bool] = False

    kinds: tuple[str, ...] = ("user_preference",)
    """Kinds that count as a preference."""

    boost: float = 1.5
    """The factor of a preference, 0 to 1e6."""

    def __post_init__(self) -> None:
        settle(self, "kinds", require_words("kinds", self.kinds))
        settle_numbers(self, boost=WEIGHT)

    def emit(self, program: ProgramBuilder) -> int:
        boost = program.by_kind(dict.fromkeys(self.kinds, self.boost), 1.0)
        is_wanted = program.signal("preference", 0.0)
        return program.call("select", is_wanted, boost, program.constant(1.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextMatch(KernelFactor):
    """Boost memories that match the caller's context.

    ``factor = 1 + (tag * tag_overlap + project * project_match + content * min(content_match,
    most_content)) * weight``. The signals compare the words of the caller's file and tags with the
    memory: ``tag_overlap`` is the number that are among its tags, ``project_match`` is 1 if one is
    part of its project, else 0, and ``content_match`` is the number that are part of its text.
    ``context_weight`` replaces ``weight``.

    Source: docs/systems/omega.md O20, O8, sections 16 and 3 of the source's inventory.
    """

    name: ClassVar[str] = "context"
    is_lifecycle: ClassVar[bool] = False
    reads_texts: ClassVar[bool] = True
    kernel: ClassVar[str] = "context_boost"
    ranges: ClassVar[Mapping[str, Range]] = dict.fromkeys(
        ("weight", "tag", "project", "content", "most_content"), WEIGHT
    )

    tag: float = 0.10
    """Gain per word that is a tag, 0 to 1e6."""

    project: float = 0.15
    """Gain for a matching project, 0 to 1e6."""

    content: float = 0.05
    """Gain per word in the text, 0 to 1e6."""

    most_content: float = 3.0
    """Largest number of words in the text that counts, 0 to 1e6."""

    weight: float = 1.0
    """Default weight of context, 0 to 1e6."""

    def parameters(self) -> dict[str, Parameter]:
        return {
            "tag": self.tag,
            "project": self.project,
            "content": self.content,
            "most_content": self.most_content,
        }

    def operands(self, program: ProgramBuilder) -> tuple[int, ...]:
        return (
            program.signal("tag_overlap", 0.0),
            program.signal("project_match", 0.0),
            program.signal("content_match", 0.0),
            program.signal("context_weight", self.weight),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster(KernelFactor):
    """Boost memories near the centre of the best results.

    ``factor = 1 + min(gain * (cosine - least), most)`` above a cosine of ``least``, else 1. Signal:
    ``cluster_cosine``, the cosine to that centre.

    Source: docs/systems/omega.md O21.
    """

    name: ClassVar[str] = "cluster"
    is_lifecycle: ClassVar[bool] = False
    kernel: ClassVar[str] = "cluster_boost"
    ranges: ClassVar[Mapping[str, Range]] = {"least": SHARE, "gain": WEIGHT, "most": WEIGHT}

    least: float = 0.5
    """The cosine above which there is a gain, 0 to 1."""

    gain: float = 0.33
    """Gain per unit of cosine, 0 to 1e6."""

    most: float = 0.15
    """Upper bound of the gain, 0 to 1e6."""

    def operands(self, program: ProgramBuilder) -> tuple[int, ...]:
        return (program.signal("cluster_cosine", 0.0),)


@dataclass(frozen=True, slots=True, kw_only=True)
class TemporalConstraint(KernelFactor):
    """Multiply by a weight for whether a memory is in the query's time range.

    Signal ``temporal_case``: 0 no range, 1 inside, 2 outside a soft range, 3 outside a hard range
    by the memory's ``event_at``, 4 outside a hard range by its ``created_at``.

    Source: docs/systems/omega.md O22, section 22 of the source's inventory.
    """

    name: ClassVar[str] = "temporal"
    is_lifecycle: ClassVar[bool] = False
    kernel: ClassVar[str] = "lookup"
    ranges: ClassVar[Mapping[str, Range]] = dict.fromkeys(
        ("in_range", "soft", "explicit", "inferred"), WEIGHT
    )

    in_range: float = 1.3
    """Weight inside the range, 0 to 1e6, like the others."""

    soft: float = 0.85
    """Weight outside a range that was parsed from the query or given as soft."""

    explicit: float = 0.15
    """Weight outside a hard range if the memory's ``event_at`` is set."""

    inferred: float = 0.70
    """Weight outside a hard range if only the memory's ``created_at`` is known."""

    def parameters(self) -> dict[str, Parameter]:
        table = [1.0, self.in_range, self.soft, self.explicit, self.inferred]
        return {"table": table, "otherwise": 1.0}

    def operands(self, program: ProgramBuilder) -> tuple[int, ...]:
        return (program.signal("temporal_case", 0.0),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerank:
    """Boost memories by a cross-encoder's score, less for those already ranked high.

    ``factor = 1 + weight * rerank_score``, the weight by rank before reranking. Signals:
    ``rerank_score`` in [0, 1], ``rerank_place`` from 1.

    Source: docs/systems/omega.md O25, section 14 of the source's inventory.
    """

    name: ClassVar[str] = "rerank"
    is_lifecycle: ClassVar[bool] = False

    ends: tuple[float, float] = (3.0, 10.0)
    """Last ranks of the first and the second weight, >= 1."""

    weights: tuple[float, float, float] = (0.15, 0.30, 0.50)
    """Weights up to the first end, up to the second, and beyond; each 0 to 1e6."""

    def __post_init__(self) -> None:
        settle(self, "ends", require_numbers("ends", self.ends, low=1.0, count=2))
        weights = require_numbers("weights", self.weights, low=0.0, high=LARGEST_WEIGHT, count=3)
        settle(self, "weights", weights)

    def emit(self, program: ProgramBuilder) -> int:
        place = program.signal("rerank_place", 1.0)
        first, second, third = map(program.constant, self.weights)
        for_first, for_second = (
            program.call("less_equal", place, program.constant(end)) for end in self.ends
        )
        later = program.call("select", for_second, second, third)
        weight = program.call("select", for_first, first, later)
        gain = program.call("multiply", weight, program.signal("rerank_score", 0.0))
        return program.call("add", program.constant(1.0), gain)
