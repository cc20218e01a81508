"""What memories have to do with each other: links made, taken away and looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros.argument_checks import count, require_choice, require_utf8
from oneiros.bounded import Bounded
from oneiros.errors import UnknownMemory
from oneiros.ranking.declaration import require_number
from oneiros.remember import unknown
from oneiros.store import KINDS, StoredLink

if TYPE_CHECKING:
    from oneiros.association import Link
    from oneiros.bounded import Time

__all__ = ["Linking"]


class Linking(Bounded):
    """Memories that can be linked."""

    def link(
        self,
        a: str,
        b: str,
        weight: float = 0.5,
        *,
        kind: str = "explicit",
        now: Time | None = None,
    ) -> None:
        """Link two memories; one that is there is replaced, but keeps when it was made.

        Args:
            a: the id of one.
            b: the id of the other; which is which makes no difference.
            weight: in (0, 1]. It fades from when the two are first found together.
            kind: "co_retrieval", "ingest", "explicit", "summary" or "relation".
            now: as in :meth:`add`.

        Raises:
            UnknownMemory: no live memory has the id.
            ValueError, TypeError: both are the same, the weight is out of range, another kind.

        Source: docs/systems/cognitive.md C16, C17.
        """
        _require_two(a, b)
        weight = require_number("weight", weight, low=0.0, high=1.0, above_low=True)
        require_choice("kind", kind, KINDS)
        made = StoredLink(a, b, KINDS.index(kind), weight, self._now(now), None)
        self._parts.remember.link(made, seen=self._seen)

    def unlink(self, a: str, b: str) -> bool:
        """Take the link of two memories away.

        Returns:
            Whether there was one.

        Raises:
            UnknownMemory: no live memory has the id.
            ValueError, TypeError: both are the same, or no text.
        """
        _require_two(a, b)
        return self._parts.remember.unlink(a, b, seen=self._seen)

    def neighbours(self, id: str, *, limit: int = 100, now: Time | None = None) -> list[Link]:
        """Return the links of a memory to others that are live and within the scope.

        Args:
            id: of the memory.
            limit: at most so many, >= 0.
            now: for what is left of the weights, as in :meth:`add`.

        Returns:
            The heaviest first, then in order of insertion.

        Raises:
            UnknownMemory: no live memory has the id.

        Source: docs/systems/cognitive.md C16.
        """
        require_utf8("id", id)
        most = count("limit", limit)
        when = self._now(now)
        self._follow_others()
        parts = self._parts
        associations = parts.remember.associations()
        visible = self._matching(None)
        row = parts.projections.lifecycle.row_of.get(id)
        if row is None or row not in visible:
            raise UnknownMemory(unknown(id))
        return associations.neighbours(row, visible=visible, now=when, limit=most)


def _require_two(a: str, b: str) -> None:
    require_utf8("a", a)
    require_utf8("b", b)
    if a == b:
        msg = f"b: must be another memory than a, got {b!r} twice"
        raise ValueError(msg)
