"""Make, remove and list links between memories."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from oneiros.errors import UnknownMemory
from oneiros.filters import require_where
from oneiros.model.validation import (
    count,
    is_scalar_array,
    require_choice,
    require_number,
    require_utf8,
)
from oneiros.store import KINDS, StoredLink
from oneiros.write import unknown

if TYPE_CHECKING:
    from oneiros.clock import Time
    from oneiros.engine.scope import Scope
    from oneiros.filters import Where
    from oneiros.graph import Link

__all__ = ["link", "link_many", "links", "neighbours", "unlink"]


def link(
    scope: Scope,
    a: str,
    b: str,
    weight: float = 0.5,
    *,
    kind: str = "explicit",
    now: Time | None = None,
) -> None:
    """Link two memories; see :meth:`oneiros.Engine.link`."""
    checked = _checked_link(scope.now(now), a, b, weight, kind)
    scope.services.remember.link([checked], seen=scope.contains)
    scope.publish("link", "link", (a, b), now)


def link_many(
    scope: Scope,
    links: Iterable[Any],
    *,
    now: Time | None = None,
) -> int:
    """Link many pairs in one transaction; see :meth:`oneiros.Engine.link_many`."""
    when = scope.now(now)
    given: object = links  # callers may ignore the annotation
    if isinstance(given, str) or not isinstance(given, Iterable) or is_scalar_array(given):
        msg = f"links: expected tuples of a, b, weight and kind, got {type(links).__name__}"
        raise TypeError(msg)
    checked: dict[tuple[str, str], StoredLink] = {}
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
        checked[pair] = link
    if checked:
        scope.services.remember.link(list(checked.values()), seen=scope.contains)
        scope.publish("link", "link_many", [id for pair in checked for id in pair], now)
    return len(checked)


def links(
    scope: Scope, where: Where | None = None, *, now: Time | None = None
) -> list[tuple[str, Link]]:
    """Return the links between live memories; see :meth:`oneiros.Engine.links`."""
    require_where(where)
    when = scope.now(now)
    scope.follow_others()
    scope = scope.at_once()
    associations = scope.services.sync.associations(scope.read_model)
    return associations.all(visible=scope.matching(where), now=when)


def unlink(scope: Scope, a: str, b: str) -> bool:
    """Remove a link; see :meth:`oneiros.Engine.unlink`."""
    _require_two(a, b)
    is_removed = scope.services.remember.unlink(a, b, seen=scope.contains)
    scope.publish("link", "unlink", (a, b) if is_removed else ())
    return is_removed


def neighbours(scope: Scope, id: str, *, limit: int = 100, now: Time | None = None) -> list[Link]:
    """Return the links of one memory; see :meth:`oneiros.Engine.neighbours`."""
    require_utf8("id", id)
    most = count("limit", limit)
    when = scope.now(now)
    scope.follow_others()
    scope = scope.at_once()
    associations = scope.services.sync.associations(scope.read_model)
    visible = scope.matching(None)
    row = scope.read_model.lifecycle.row_of.get(id)
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
