"""What memories have to do with each other: links made, taken away and looked at."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from oneiros.argument_checks import count, require_choice, require_utf8
from oneiros.bounded import Bounded, require_where
from oneiros.errors import UnknownMemory
from oneiros.ranking.declaration import require_number
from oneiros.remember import unknown
from oneiros.store import KINDS, StoredLink

if TYPE_CHECKING:
    from oneiros.association import Link
    from oneiros.bounded import Time
    from oneiros.scopes import Where

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
        made = _checked_link(self._now(now), a, b, weight, kind)
        self._parts.remember.link([made], seen=self._seen)

    def link_many(
        self,
        links: Iterable[Any],
        *,
        now: Time | None = None,
    ) -> int:
        """Link many pairs of memories in one transaction: all of them or none.

        Args:
            links: (a, b), (a, b, weight) or (a, b, weight, kind) each, as :meth:`link` takes them;
                of a pair given twice the last counts.
            now: as in :meth:`add`.

        Returns:
            How many pairs.

        Raises:
            As :meth:`link`; the message names the place.
        """
        when = self._now(now)
        if isinstance(links, str) or not isinstance(links, Iterable):
            msg = f"links: expected tuples of a, b, weight and kind, got {type(links).__name__}"
            raise TypeError(msg)
        made: dict[tuple[str, str], StoredLink] = {}
        for place, given in enumerate(links):
            if not isinstance(given, tuple) or not 2 <= len(given) <= 4:
                msg = f"links[{place}]: expected a tuple of a, b, weight and kind, got {given!r}"
                raise TypeError(msg)
            try:
                link = _checked_link(when, *given)
            except (TypeError, ValueError) as error:
                msg = f"links[{place}]: {error}"
                raise type(error)(msg) from error
            pair = min(link.one, link.other), max(link.one, link.other)
            made[pair] = link
        if made:
            self._parts.remember.link(list(made.values()), seen=self._seen)
        return len(made)

    def links(
        self, where: Where | None = None, *, now: Time | None = None
    ) -> list[tuple[str, Link]]:
        """Return all links whose two memories are live, within the scope and match.

        Args:
            where: a filter that both memories pass; default: all.
            now: for what is left of the weights, as in :meth:`add`.

        Returns:
            The id of one memory, the earlier added, and the link to the other: in order of
            insertion of the first, then of the second.

        Source: docs/systems/cognitive.md C16.
        """
        require_where(where)
        when = self._now(now)
        self._follow_others()
        associations = self._parts.remember.associations()
        return associations.all(visible=self._matching(where), now=when)

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


def _checked_link(
    now: float, a: str, b: str, weight: float = 0.5, kind: str = "explicit"
) -> StoredLink:
    _require_two(a, b)
    weight = require_number("weight", weight, low=0.0, high=1.0, above_low=True)
    require_choice("kind", kind, KINDS)
    return StoredLink(a, b, KINDS.index(kind), weight, now, None)


def _require_two(a: str, b: str) -> None:
    require_utf8("a", a)
    require_utf8("b", b)
    if a == b:
        msg = f"b: must be another memory than a, got {b!r} twice"
        raise ValueError(msg)
