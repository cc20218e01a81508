"""What a caller says of a question besides its words."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from oneiros.field_checks import text as text_check
from oneiros.query.understood import PLAIN, Understood, understand

if TYPE_CHECKING:
    from oneiros.ranking.profile import Profile
    from oneiros.scopes import Where

__all__ = ["Asking"]

_check_hint = text_check("hint", low=1, high=64)


class Asking(NamedTuple):
    """What a search was given besides its words, as it was given."""

    where: Where | None = None
    hint: str | None = None

    def require(self) -> None:
        """Refuse what is none of its kind.

        Raises:
            TypeError, ValueError: names the argument.
        """
        if self.hint is not None:
            _check_hint(self.hint)

    def understood(self, query: str, profile: Profile) -> Understood:
        """Return what the profile makes of the words. REQUIRES: :meth:`require` passed."""
        if profile.understanding is None:
            return PLAIN
        return understand(query, profile, self.hint, self.where)
