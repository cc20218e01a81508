"""The feed of changes: which memories the commits after a revision changed or erased."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from oneiros.model.validation import index_of, within
from oneiros.runtime.dataclasses import NamedTuple, dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oneiros.engine.scope import Scope

__all__ = ["CHANGE_KINDS", "ChangeFeed", "ChangeKind", "MemoryChange", "changes"]

ChangeKind: TypeAlias = Literal["changed", "deleted", "erased"]
CHANGE_KINDS: Final[tuple[str, ...]] = get_args(ChangeKind)
"""Every kind of change."""

_MOST: Final = 2**62  # revisions


class MemoryChange(NamedTuple):
    """One memory of a :class:`ChangeFeed`, at its last change.

    >>> import oneiros
    >>> engine = oneiros.Engine(":memory:")
    >>> id = engine.add("tea", id="tea")
    >>> engine.changes()[0].kind
    'changed'
    """

    id: str
    """The memory's id."""
    kind: ChangeKind
    """"changed" for a live memory, new ones included; "deleted" for a soft-deleted one; "erased"."""
    revision: int
    """The last commit that changed or erased it."""


@dataclass(frozen=True, slots=True, repr=False)
class ChangeFeed:
    """The changes after a revision, in order of revision. A sequence of :class:`MemoryChange`.

    >>> import oneiros
    >>> engine = oneiros.Engine(":memory:")
    >>> id = engine.add("tea", id="tea")
    >>> feed = engine.changes()
    >>> feed.entries[0].id, len(feed), len(engine.changes(feed.revision))
    ('tea', 1, 0)
    """

    entries: tuple[MemoryChange, ...]
    """Each memory once, at its last revision. Within a revision, erased ones come first."""
    revision: int
    """The revision to pass as ``since`` the next time."""
    has_more: bool
    """Whether ``limit`` left out later changes."""

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[MemoryChange]:
        return iter(self.entries)

    def __getitem__(self, place: int) -> MemoryChange:
        return self.entries[place]

    def __repr__(self) -> str:
        more = ", has more" if self.has_more else ""
        return f"<ChangeFeed of {len(self)} memories up to revision {self.revision}{more}>"


def changes(scope: Scope, since: int, limit: int) -> ChangeFeed:
    """Return the changes after a revision; see :meth:`oneiros.Engine.changes`."""
    since = within("since", index_of("since", since), 0, _MOST)
    most = within("limit", index_of("limit", limit), 1, _MOST)
    found: list[MemoryChange] = []
    has_more = False
    with scope.services.store.read() as reading:
        last = since
        if not scope.bounds:
            last = reading.last_revision()
            if since > last:
                msg = f"since: must be a revision of this store, at most {last}, got {since}"
                raise ValueError(msg)
        for memory in reading.changes_by_revision(since, scope.bounds):
            if len(found) >= most and memory.revision != found[-1].revision:
                has_more = True
                break
            found.append(MemoryChange(memory.id, memory.kind, memory.revision))
    # A scope does not show how far the store's revisions went outside of it.
    reached = found[-1].revision if found and (has_more or scope.bounds) else last
    return ChangeFeed(tuple(found), reached, has_more)
