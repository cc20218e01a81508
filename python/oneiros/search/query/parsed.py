"""Query understanding by a profile: intent, hint, weights, time and context."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from oneiros.runtime.dataclasses import NamedTuple
from oneiros.scoring.reweighting import weighed
from oneiros.scoring.understanding import Weights
from oneiros.search.query.intent import holds_any, intent_of, spaced

if TYPE_CHECKING:
    from oneiros.filters import Where
    from oneiros.scoring.profile import Profile
    from oneiros.scoring.understanding import Situation
    from oneiros.search.query.context import Surroundings
    from oneiros.search.query.dates import TimeRange

__all__ = ["PLAIN", "Understood", "asks_times", "kind_asked_for", "ranked_by", "understand"]

KEYWORD_LIKE: Final = "skipped: the query is keyword-like"


class Understood(NamedTuple):
    """Everything that a profile reads in a query."""

    intent: str | None = None
    hint: str | None = None
    """Row of the profile's hints that sets the weights; None: "_default"."""
    weights: Weights = Weights()
    """Weights of hint and intent together."""
    asks_preference: bool = False
    """Whether the query has a word of preference."""
    skips_vectors: str = ""
    """Why the vector channel is skipped; empty if it is not."""
    time: TimeRange | None = None
    """The time that the query names, if the profile reads times."""
    leaves_time: bool = False
    """Whether the query names a time that a retry leaves out."""
    surroundings: Surroundings | None = None
    """The caller's context, if the profile reads it."""
    situation: Situation | None = None
    """Weights and thresholds of the caller's situation."""
    unused: tuple[str, ...] = ()
    """Notes on arguments that the profile does not use."""

    @property
    def note(self) -> str:
        """The line in the trace; empty if nothing was read."""
        parts = [] if self.intent is None else [f"intent {self.intent}"]
        parts += [] if self.hint is None else [f"hint {self.hint}"]
        parts += [] if self.time is None else [str(self.time)]
        return ", ".join((*parts, *self.unused))


NEUTRAL: Final = Weights()
PLAIN: Final = Understood()
"""For a profile that reads nothing in the query."""


@lru_cache(maxsize=256)
def asks_times(profile: Profile) -> bool:
    """Return whether a time named by the query makes a difference to the profile."""
    parts = (*profile.channels, *profile.factors)
    return profile.named_time is not None or any(part.name == "temporal" for part in parts)


def understand(
    query: str, profile: Profile, hint: str | None, where: Where | None, time: TimeRange | None
) -> Understood:
    """Read a query by the tables and lists of a profile.

    Args:
        query: its text without the signs of a syntax.
        profile: the profile.
        hint: row of the profile's hints that sets the weights; None: the row of the one kind that
            ``where`` lets through.
        where: the filter of the search.
        time: the time that the query names.
    """
    reader = profile.understanding
    if reader is None:
        return PLAIN if time is None else Understood(time=time)
    words = spaced(query)
    intent = intent_of(query, reader, words)
    chosen = kind_asked_for(where) if hint is None else hint
    skips = reader.skips_vectors and intent == "navigational"
    return Understood(
        intent=intent,
        hint=chosen if chosen in reader.hints else None,
        weights=_weights(profile, chosen, intent),
        asks_preference=holds_any(words, reader.preference),
        skips_vectors=KEYWORD_LIKE if skips else "",
        time=time,
    )


@lru_cache(maxsize=512)
def _weights(profile: Profile, hint: str | None, intent: str | None) -> Weights:
    reader = profile.understanding
    return Weights() if reader is None else reader.weights_of(hint, intent)


def kind_asked_for(where: Where | None) -> str | None:
    """Return the kind if a filter lets only one kind through, as ``where(kind=...)``; else None."""
    if where is None:
        return None
    from oneiros.filters.conditions import And, AnyOf  # noqa: PLC0415 - only for filters

    parts: Any = where.parts if isinstance(where, And) else (where,)
    for part in parts:
        if isinstance(part, AnyOf) and part.name == "kind" and len(part.values) == 1:
            kind: str = part.values[0]
            return kind
        if isinstance(part, And):
            found = kind_asked_for(part)
            if found is not None:
                return found
    return None


def ranked_by(profile: Profile, understood: Understood) -> Profile:
    """Return the profile with the weights of the query and the caller's situation."""
    situation = understood.situation
    if understood.weights == NEUTRAL and situation is None:
        return profile

    minimum = None if situation is None else situation.min_vec
    return weighed(profile, understood.weights, minimum)
