"""The factors of OMEGA that depend on the query. Source: docs/systems/omega.md.

They read signals that a search computes per candidate. Without its signal a factor is exactly 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from oneiros.model.validation import LARGEST_WEIGHT, require_numbers, settle, settle_numbers
from oneiros.runtime.dataclasses import dataclass
from oneiros.scoring.program import Parameter, ProgramBuilder
from oneiros.scoring.strict import Real, numbers_of, strict_values
from oneiros.scoring.tables import require_words

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["Cluster", "ContextMatch", "Overlap", "Preference", "Rerank", "TemporalConstraint"]

_WEIGHT = (0.0, LARGEST_WEIGHT, False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """Boost memories that share words and tags with the query, both in canonical form (O26).

    ``factor = 1 + gain * word_ratio * weight``, the gain multiplied by ``disliked`` if the feedback
    is below 0. Signals: ``word_ratio``, and ``overlap_weight`` to replace ``weight``.

    Source: docs/systems/omega.md O18, O8, sections 12 and 3 of the source's inventory.
    """

    name: ClassVar[str] = "overlap"
    is_lifecycle: ClassVar[bool] = False
    reads_texts: ClassVar[bool] = True

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
        settle_numbers(self, gain=_WEIGHT, disliked=_WEIGHT, weight=_WEIGHT)
        settle(self, "suffixes", require_words("suffixes", self.suffixes))

    def parameters(self) -> dict[str, Parameter]:
        """Return the parameters of the kernel."""
        return {"gain": self.gain, "disliked": self.disliked}

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the factor."""
        return program.call(
            "overlap_boost",
            program.signal("word_ratio", 0.0),
            program.column("feedback"),
            program.signal("overlap_weight", self.weight),
            **self.parameters(),
        )

    def values(
        self,
        word_ratio: npt.NDArray[Real],
        feedback: npt.NDArray[Real],
        weight: npt.NDArray[Real],
    ) -> npt.NDArray[Real]:
        """Return the factor of each memory.

        Args:
            word_ratio: share of the query's words in content and tags, shape (n,), contiguous.
            feedback: sum of verdicts, the same shape and dtype, as is ``weight``.
            weight: weight of shared words for this query.

        Returns:
            Shape (n,), the dtype of ``word_ratio``; NaN where an argument is NaN.

        Raises:
            TypeError: the dtype is neither float32 nor float64, or the dtypes differ.
            ValueError: not of shape (n,), or not contiguous.
        """
        return strict_values(
            "overlap_boost",
            self.parameters(),
            word_ratio=word_ratio,
            feedback=feedback,
            weight=weight,
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
        settle_numbers(self, boost=_WEIGHT)

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the factor."""
        boost = program.by_kind(dict.fromkeys(self.kinds, self.boost), 1.0)
        is_wanted = program.signal("preference", 0.0)
        return program.call("select", is_wanted, boost, program.constant(1.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextMatch:
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

    def __post_init__(self) -> None:
        settle_numbers(self, weight=_WEIGHT, **dict.fromkeys(self.parameters(), _WEIGHT))

    def parameters(self) -> dict[str, Parameter]:
        """Return the parameters of the kernel."""
        return {
            "tag": self.tag,
            "project": self.project,
            "content": self.content,
            "most_content": self.most_content,
        }

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the factor."""
        return program.call(
            "context_boost",
            program.signal("tag_overlap", 0.0),
            program.signal("project_match", 0.0),
            program.signal("content_match", 0.0),
            program.signal("context_weight", self.weight),
            **self.parameters(),
        )

    def values(
        self,
        tag_overlap: npt.NDArray[Real],
        project_match: npt.NDArray[Real],
        content_match: npt.NDArray[Real],
        weight: npt.NDArray[Real],
    ) -> npt.NDArray[Real]:
        """Return the factor of each memory from its signals, as :meth:`Overlap.values`."""
        return strict_values(
            "context_boost",
            self.parameters(),
            tag_overlap=tag_overlap,
            project_match=project_match,
            content_match=content_match,
            weight=weight,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Boost memories near the centre of the best results.

    ``factor = 1 + min(gain * (cosine - least), most)`` above a cosine of ``least``, else 1. Signal:
    ``cluster_cosine``, the cosine to that centre.

    Source: docs/systems/omega.md O21.
    """

    name: ClassVar[str] = "cluster"
    is_lifecycle: ClassVar[bool] = False

    least: float = 0.5
    """The cosine above which there is a gain, 0 to 1."""

    gain: float = 0.33
    """Gain per unit of cosine, 0 to 1e6."""

    most: float = 0.15
    """Upper bound of the gain, 0 to 1e6."""

    def __post_init__(self) -> None:
        settle_numbers(self, least=(0.0, 1.0, False), gain=_WEIGHT, most=_WEIGHT)

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the factor."""
        cosine = program.signal("cluster_cosine", 0.0)
        return program.call("cluster_boost", cosine, **numbers_of(self))

    def values(self, cosine: npt.NDArray[Real]) -> npt.NDArray[Real]:
        """Return the factor of each memory, as :meth:`Overlap.values`."""
        return strict_values("cluster_boost", numbers_of(self), cosine=cosine)


@dataclass(frozen=True, slots=True, kw_only=True)
class TemporalConstraint:
    """Multiply by a weight for whether a memory is in the query's time range.

    Signal ``temporal_case``: 0 no range, 1 inside, 2 outside a soft range, 3 outside a hard range
    by the memory's ``event_at``, 4 outside a hard range by its ``created_at``.

    Source: docs/systems/omega.md O22, section 22 of the source's inventory.
    """

    name: ClassVar[str] = "temporal"
    is_lifecycle: ClassVar[bool] = False

    in_range: float = 1.3
    """Weight inside the range, 0 to 1e6, like the others."""

    soft: float = 0.85
    """Weight outside a range that was parsed from the query or given as soft."""

    explicit: float = 0.15
    """Weight outside a hard range if the memory's ``event_at`` is set."""

    inferred: float = 0.70
    """Weight outside a hard range if only the memory's ``created_at`` is known."""

    def __post_init__(self) -> None:
        settle_numbers(self, in_range=_WEIGHT, soft=_WEIGHT, explicit=_WEIGHT, inferred=_WEIGHT)

    def emit(self, program: ProgramBuilder) -> int:
        """Return the register of the factor."""
        table = [1.0, self.in_range, self.soft, self.explicit, self.inferred]
        return program.call(
            "lookup", program.signal("temporal_case", 0.0), table=table, otherwise=1.0
        )


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
        """Return the register of the factor."""
        place = program.signal("rerank_place", 1.0)
        first, second, third = map(program.constant, self.weights)
        for_first, for_second = (
            program.call("less_equal", place, program.constant(end)) for end in self.ends
        )
        later = program.call("select", for_second, second, third)
        weight = program.call("select", for_first, first, later)
        gain = program.call("multiply", weight, program.signal("rerank_score", 0.0))
        return program.call("add", program.constant(1.0), gain)
