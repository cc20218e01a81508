"""One question read by its profile, before anything is searched."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from oneiros.runtime.dataclasses import NamedTuple
from oneiros.scoring.understanding import Weights

if TYPE_CHECKING:
    from oneiros.filters import Where
    from oneiros.scoring.profile import Profile
    from oneiros.scoring.understanding import Situation
    from oneiros.search.query.context import Surroundings
    from oneiros.search.query.dates import TimeRange

__all__ = ["PLAIN", "Understood", "asks_times", "kind_asked_for", "ranked_by", "understand"]

KEYWORD_LIKE: Final = "skipped: the query is keyword-like"


class Understood(NamedTuple):
    """What a profile makes of a question's words."""

    intent: str | None = None
    hint: str | None = None
    """Which row of the profile's hints weighs; None: "_default"."""
    weights: Weights = Weights()
    """Of hint and intent together."""
    asks_preference: bool = False
    """Whether a word of preference stands in it."""
    skips_vectors: str = ""
    """Why the vector channel is not asked; empty where it is."""
    time: TimeRange | None = None
    """Which time it names, where the profile asks for one."""
    leaves_time: bool = False
    """Whether it names one that is left out, since the question is asked once more."""
    surroundings: Surroundings | None = None
    """What belongs to what the caller is doing, where the profile asks for it."""
    situation: Situation | None = None
    """What holds while the caller does it."""
    unused: tuple[str, ...] = ()
    """In words, what the profile has no use for."""

    @property
    def note(self) -> str:
        """Its line in the trace; empty where it changes nothing."""
        parts = [] if self.intent is None else [f"intent {self.intent}"]
        parts += [] if self.hint is None else [f"hint {self.hint}"]
        parts += [] if self.time is None else [str(self.time)]
        return ", ".join((*parts, *self.unused))


NEUTRAL: Final = Weights()
PLAIN: Final = Understood()
"""Of a profile that reads nothing in the words."""


@lru_cache(maxsize=256)
def asks_times(profile: Profile) -> bool:
    """Tell whether a time that a question names makes a difference to the profile."""
    parts = (*profile.channels, *profile.factors)
    return profile.named_time is not None or any(part.name == "temporal" for part in parts)


def understand(
    query: str, profile: Profile, hint: str | None, where: Where | None, time: TimeRange | None
) -> Understood:
    """Read a question.

    Args:
        query: its words, without the signs of a syntax.
        profile: whose tables and lists are read.
        time: which time it names.
        hint: which row of the profile's hints weighs; None: that of the single kind that ``where``
            asks for.
        where: the search's filter.
    """
    reader = profile.understanding
    if reader is None:
        return PLAIN if time is None else Understood(time=time)
    from oneiros.search.query.intent import (  # noqa: PLC0415
        holds_any,
        intent_of,
        spaced,
    )

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
    """Return the one kind that a filter lets through, as ``where(kind=...)`` says it; else None."""
    if where is None:
        return None
    from oneiros.filters.conditions import And, AnyOf  # noqa: PLC0415 - filters load them

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
    """Return the profile with the weights that the question asks for."""
    situation = understood.situation
    if understood.weights == NEUTRAL and situation is None:
        return profile
    from oneiros.scoring.reweighting import weighed  # noqa: PLC0415 - few profiles read questions

    minimum = None if situation is None else situation.min_vec
    return weighed(profile, understood.weights, minimum)
