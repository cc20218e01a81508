"""What a caller says of a question besides its words."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from oneiros.field_checks import text as text_check
from oneiros.query.dates import TimeRange, given_range, range_in
from oneiros.query.understood import PLAIN, Understood, asks_times, understand

if TYPE_CHECKING:
    from oneiros.query.dates import Time
    from oneiros.ranking.profile import Profile
    from oneiros.scopes import Where

    TimePair = tuple[Time | None, Time | None]

__all__ = ["Asking"]

_check_hint = text_check("hint", low=1, high=64)


class Asking(NamedTuple):
    """What a search was given besides its words, checked."""

    where: Where | None
    hint: str | None
    time: TimeRange | None
    """In place of the time that the words name."""

    @classmethod
    def checked(cls, where: Where | None, hint: str | None, date_range: TimePair | None) -> Asking:
        """Take what a search was given.

        Raises:
            TypeError, ValueError: names the argument.
        """
        return cls(
            where,
            None if hint is None else _check_hint(hint),
            None if date_range is None else given_range(date_range),
        )

    def understood(self, query: str, profile: Profile, now: float) -> Understood:
        """Return what the profile makes of the words."""
        time = None
        if asks_times(profile):
            time = range_in(query, now) if self.time is None else self.time
        if time is None and profile.understanding is None:
            return PLAIN
        return understand(query, profile, self.hint, self.where, time)
