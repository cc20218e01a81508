"""Memories marked: one superseded by another, one pinned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros.argument_checks import require_flag, require_utf8
from oneiros.bounded import Bounded

if TYPE_CHECKING:
    from oneiros.bounded import Time

__all__ = ["Marking"]


class Marking(Bounded):
    """Memories that can be marked; marking is neither a revision of a memory nor a use of it."""

    def supersede(self, old: str, new: str, reason: str = "", *, now: Time | None = None) -> None:
        """Let one memory take the place of another, which searches then hide.

        The older keeps all it holds, its links too, and can still be had by its id. Its
        ``superseded_by`` is the newer, its ``metadata`` gets "superseded_at", in seconds, and
        "superseded_reason" where a reason is given. Superseded again, it says what was said last;
        ``update(old, superseded_by=None)`` lets it be found again, and so does ``forget(new)``, unless
        ``new`` has a successor. Its tier stays what it is until
        the dream cycle looks (docs/systems/cognitive.md C19).

        Args:
            old: the id of the one that no longer holds.
            new: the id of the one that does; it may itself be superseded, but not by ``old``.
            reason: why, for people; empty: none is kept.
            now: when, as in :meth:`add`.

        Raises:
            UnknownMemory: no live memory has the id.
            ValueError: both are the same, or ``old`` supersedes ``new`` already, be it through
                others; with the reason ``metadata`` would be too long.
            TypeError: an id or the reason is no text.

        Source: docs/systems/fields.md; docs/systems/cognitive.md C4; docs/systems/omega.md O23.
        """
        require_utf8("old", old)
        require_utf8("new", new)
        require_utf8("reason", reason)
        if old == new:
            msg = f"new: must be another memory than old, got {new!r} twice"
            raise ValueError(msg)
        self._parts.remember.supersede(old, new, reason, now=self._now(now), seen=self._seen)

    def pin(self, id: str, pinned: bool = True) -> None:
        """Pin a memory, or let it go again.

        A pinned memory does not age under the profile ``oneiros``: its recency is 1; the others
        rank it as any. ``oneiros.where(pinned=True)`` finds what is pinned.

        Args:
            id: of the memory.
            pinned: whether it is to be.

        Raises:
            UnknownMemory: no live memory has this id.
            TypeError: ``pinned`` is neither True nor False.

        Source: docs/systems/fields.md; docs/systems/house.md H6.
        """
        require_utf8("id", id)
        is_pinned = require_flag("pinned", pinned)
        self._parts.remember.pin(id, pinned=is_pinned, seen=self._seen)
