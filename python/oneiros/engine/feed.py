"""The feed of changes: which memories the commits after a revision changed or erased."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, SupportsIndex, TypeAlias, get_args, overload

from oneiros.display.counts import count_of
from oneiros.model.validation import index_of, within
from oneiros.runtime.dataclasses import NamedTuple, dataclass
from oneiros.store.erased import digest_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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
    """The memory's id. Of an erased memory, a digest of it: see :meth:`ChangeFeed.erased_among`."""
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
    lists_erased: bool = True
    """Whether every memory erased since then is listed. The store lists the last 10,000, and a scope none;
    if False, drop what ``get_many`` no longer returns."""
    _salt: str = ""

    def erased_among(self, ids: Iterable[str]) -> list[str]:
        """Return those of some ids whose memories this feed says were erased, in the same order.

        The store keeps no id of an erased memory, only digests. A follower passes the ids it has.

        Args:
            ids: the ids that the follower has.

        >>> import oneiros
        >>> engine = oneiros.Engine(":memory:")
        >>> since = (engine.add("tea", id="tea"), engine.changes().revision)[1]
        >>> receipt = engine.forget("tea")
        >>> engine.changes(since).erased_among(["milk", "tea"])
        ['tea']
        """
        erased = {change.id for change in self.entries if change.kind == "erased"}
        return [id for id in ids if digest_of(id, self._salt) in erased] if erased else []

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[MemoryChange]:
        return iter(self.entries)

    @overload
    def __getitem__(self, place: SupportsIndex) -> MemoryChange: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[MemoryChange, ...]: ...
    def __getitem__(self, place: SupportsIndex | slice) -> MemoryChange | tuple[MemoryChange, ...]:
        return self.entries[place]

    def __repr__(self) -> str:
        more = ", has more" if self.has_more else ""
        memories = count_of(len(self), "memory")
        return f"<ChangeFeed of {memories} up to revision {self.revision}{more}>"


def changes(scope: Scope, since: int, limit: int) -> ChangeFeed:
    """Return the changes after a revision; see :meth:`oneiros.Engine.changes`."""
    since = within("since", index_of("since", since), 0, _MOST)
    most = within("limit", index_of("limit", limit), 1, _MOST)
    found: list[MemoryChange] = []
    has_more = False
    with scope.services.store.read() as reading:
        last, salt, lists_erased = since, "", not since
        if not scope.bounds:
            last = reading.last_revision()
            if since > last:
                msg = f"since: must be a revision of this store, at most {last}, got {since}"
                raise ValueError(msg)
            salt = reading.erased_salt()
            lists_erased = lists_erased or reading.lists_erased(since)
        for memory in reading.changes_by_revision(since, scope.bounds):
            if len(found) >= most and memory.revision != found[-1].revision:
                has_more = True
                break
            found.append(MemoryChange(memory.id, memory.kind, memory.revision))
    # A scope does not show how far the store's revisions went outside of it.
    reached = found[-1].revision if found and (has_more or scope.bounds) else last
    return ChangeFeed(tuple(found), reached, has_more, lists_erased, salt)
