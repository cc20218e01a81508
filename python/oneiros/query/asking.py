"""What a caller says of a question besides its words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from oneiros.argument_checks import count, is_scalar_array, require_flag, require_instance
from oneiros.field_checks import text as text_check
from oneiros.fields import FIELDS
from oneiros.query.dates import TimeRange, given_range, range_in
from oneiros.query.understood import PLAIN, Understood, asks_times, understand
from oneiros.ranking.declaration import require_number

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.projections.row_sets import RowSets
    from oneiros.query.context import Context
    from oneiros.query.dates import Time
    from oneiros.ranking.profile import Profile
    from oneiros.rerank import Reranker
    from oneiros.scopes import Where

    TimePair = tuple[Time | None, Time | None]

__all__ = ["Asking", "one_each", "require_asking", "require_reinforcement"]

_check_hint = text_check("hint", low=1, high=64)


class Asking(NamedTuple):
    """What a search was given besides its words, checked."""

    where: Where | None
    hint: str | None
    time: TimeRange | None
    """In place of the time that the words name."""
    context: Context | None
    reranker: Reranker | None = None
    """In place of the engine's."""
    until: float | None = None
    """By ``time.monotonic``, when a reranker is waited for no longer."""

    @classmethod
    def checked(
        cls,
        where: Where | None,
        hint: str | None,
        date_range: TimePair | None,
        context: Context | None,
        reranker: Reranker | None = None,
        deadline: float | None = None,
        *,
        soft_range: bool = False,
    ) -> Asking:
        """Take what a search was given, whose time begins now.

        Raises:
            TypeError, ValueError: names the argument.
        """
        return cls(
            where,
            None if hint is None else _check_hint(hint),
            given_range(date_range, soft_range),
            None if context is None else _require_context(context),
            None if reranker is None else _require_reranker(reranker),
            None if deadline is None else monotonic() + _require_deadline(deadline),
        )

    def understood(self, query: str, profile: Profile, now: float, row_sets: RowSets) -> Understood:
        """Return what the profile makes of the words, and of what the caller does.

        Raises:
            ValueError: a situation that the profile does not know.
        """
        time = None
        if asks_times(profile):
            time = range_in(query, now) if self.time is None else self.time
            if time is not None and time.words and profile.named_time is None:
                time = time._replace(certainty="soft")  # O22; H10 alone reads the wording
        if time is None and profile.understanding is None:
            found = PLAIN
        else:
            found = understand(query, profile, self.hint, self.where, time)
        if self.hint is not None and found.hint is None:
            found = found._replace(unused=("hint not listed by the profile",))
        if self.context is None:
            return found
        reader, situation = profile.understanding, None
        if reader is not None and self.context.situation is not None:
            situation = reader.situation_of(self.context.situation)
        is_asked = any(one.name == "context" for one in profile.factors)
        surroundings = self.context.surroundings(row_sets) if is_asked else None
        return found._replace(surroundings=surroundings, situation=situation)

    def require_read(self, profile: Profile) -> None:
        """Refuse arguments that the profile does not read.

        Raises:
            ValueError: names the argument, the profile and the profiles that read it.
        """
        given = {
            "hint": self.hint is not None,
            "date_range": self.time is not None,
            "soft_range": self.time is not None and self.time.certainty == "soft",
            "context": self.context is not None,
        }
        for name, is_given in given.items():
            if is_given and not _READERS[name](profile):
                raise _unread(name, profile)


def _reads_hints(profile: Profile) -> bool:
    return profile.understanding is not None and bool(profile.understanding.hints)


def _reads_softness(profile: Profile) -> bool:
    return profile.named_time is not None or _has_factor(profile, "temporal")


def _reads_contexts(profile: Profile) -> bool:
    reader = profile.understanding
    return (reader is not None and bool(reader.situations)) or _has_factor(profile, "context")


def _has_factor(profile: Profile, name: str) -> bool:
    return any(factor.name == name for factor in profile.factors)


_READERS: Final[Mapping[str, Callable[[Profile], bool]]] = {
    "hint": _reads_hints,
    "date_range": asks_times,
    "soft_range": _reads_softness,
    "context": _reads_contexts,
}
"""Whether a profile reads an argument."""


def _unread(name: str, profile: Profile) -> ValueError:
    from oneiros.profiles import get, names  # noqa: PLC0415 - only for the message

    readers = [known for known in names() if _READERS[name](get(known))]
    msg = (
        f"{name}: must be left out, since the profile {profile.name!r} does not read it; "
        f"{', '.join(readers)} do"
    )
    return ValueError(msg)


def _require_context(value: Context) -> Context:
    from oneiros.query.context import Context  # noqa: PLC0415 - few searches give one

    require_instance("context", value, (Context,), "an oneiros.Context")
    return value


def _require_reranker(value: Reranker) -> Reranker:
    from oneiros.rerank import require_reranker  # noqa: PLC0415 - few searches give one

    require_reranker("reranker", value)
    return value


def _require_deadline(value: float) -> float:
    return require_number("deadline", value, low=0.0, above_low=True, finite=False)


def require_asking(session: str | None, reinforce: bool | None, k: int, explain: bool) -> None:
    """Refuse who asks, whether it counts, or how much is told, before anybody else is asked."""
    count("k", k)
    require_flag("explain", explain)
    if session is not None:
        FIELDS["session"].check(session)
    if reinforce is not None:
        require_flag("reinforce", reinforce)


def require_reinforcement(profile: Profile, reinforce: bool | None) -> None:
    """Refuse ``reinforce=True`` under a profile that reinforces nothing.

    REQUIRES: ``reinforce`` was checked by :func:`require_asking`.
    """
    if reinforce and profile.reinforcement is None:
        msg = (
            f"reinforce: must not be True, since the profile {profile.name!r} has no reinforcement"
        )
        raise ValueError(msg)


def one_each(embeddings: Any, count: int) -> list[npt.ArrayLike | None]:
    """Return the vectors of a batch, one a query, each perhaps None.

    Raises:
        TypeError, ValueError: what is no such batch.
    """
    if embeddings is None:
        return [None] * count
    if is_scalar_array(embeddings) or not isinstance(embeddings, Iterable):
        msg = f"embeddings: expected {count}, one a query, got {type(embeddings).__name__}"
        raise TypeError(msg)
    vectors = list(embeddings)
    if len(vectors) != count:
        msg = f"embeddings: expected {count}, one a query, got {len(vectors)}"
        raise ValueError(msg)
    return vectors
