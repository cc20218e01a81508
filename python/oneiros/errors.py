"""The exceptions of Oneiros, all subclasses of :class:`OneirosError`, and its warnings.

Invalid arguments raise a plain ``ValueError`` or ``TypeError`` that names field, value and rule.
The classes here are for conditions that a caller may want to catch by name.

    >>> import oneiros
    >>> try:
    ...     oneiros.Engine(":memory:").get("m1")
    ... except oneiros.UnknownMemory as error:
    ...     print(error)
    id: no memory 'm1'
"""

from __future__ import annotations

__all__ = [
    "DamagedMemoriesWarning",
    "DreamBusy",
    "DuplicateId",
    "EmbedderMismatch",
    "EngineClosed",
    "EngineReadOnly",
    "HistoryUnavailable",
    "MissingEmbedderWarning",
    "OneirosError",
    "QueryTooLarge",
    "SnapshotDamaged",
    "StoreBusy",
    "StoreCorrupt",
    "StoreFull",
    "StoreIOError",
    "StorePoisoned",
    "StoreVersionError",
    "TextEncodingError",
    "UnknownMemory",
    "UnknownProfile",
]


class OneirosError(Exception):
    """Base class of all exceptions of Oneiros."""


class DuplicateId(OneirosError, ValueError):
    """An added memory has an id that exists already, or a batch repeats an id."""


class UnknownMemory(OneirosError, KeyError):
    """No live memory has this id, or it is outside the scope."""

    def __str__(self) -> str:  # KeyError would print the repr of the message
        return str(self.args[0]) if self.args else ""


class UnknownProfile(OneirosError, ValueError):
    """No profile has this name."""


class TextEncodingError(OneirosError, ValueError):
    """A text contains lone surrogates or is not valid UTF-8."""


class QueryTooLarge(OneirosError, ValueError):
    """A query is over the limit in bytes, terms or depth."""


class EmbedderMismatch(OneirosError, ValueError):
    """The store's vectors come from another embedder, or another one replaced them during the call."""


class EngineClosed(OneirosError, RuntimeError):
    """The engine was used after ``close``."""


class EngineReadOnly(OneirosError, RuntimeError):
    """A method that writes was called on an engine opened with ``read_only=True``."""


class HistoryUnavailable(OneirosError, ValueError):
    """The history of a store does not reach back to the time of ``as_of``, or lacks what it needs."""

    since: float | None = None
    """The time from which the store can answer, in seconds UTC; None: it cannot yet."""


class DreamBusy(OneirosError, TimeoutError):
    """Another dream cycle runs on this store, in this process or another."""


class SnapshotDamaged(OneirosError):
    """A snapshot of an index is damaged, or was made with other settings or another version."""


class StoreBusy(OneirosError, TimeoutError):
    """Another process kept the write lock past the timeout, or kept changing the same text."""


class StoreCorrupt(OneirosError):
    """The store's file is damaged, or is not a store of Oneiros."""

    memory_id: str | None = None
    """The id of the damaged memory; None if the damage is not in a single memory."""
    sequence: int = 0
    """The sequence number of that memory in the store."""
    reason: str = ""
    """A description of the damage to that memory."""


class StoreIOError(OneirosError, OSError):
    """The operating system refused to open or read the store's file.

    Also raised where another file has its place, or none, since it was opened.
    """


class StoreFull(StoreIOError):
    """The disk is full. The write was rolled back; try again once there is space.

    Where ``forget`` or ``purge`` met it after the commit, a note says that the memories are erased.
    """


class StorePoisoned(OneirosError):
    """A write or sync failed, or the file was removed or replaced while it was open.

    Reads still work; reopen the store to write again.
    """


class StoreVersionError(OneirosError):
    """The store was written by a newer version of Oneiros.

    Also raised for an older version's store that an engine with ``read_only=True`` cannot migrate.
    """


class MissingEmbedderWarning(UserWarning):
    """An engine without an embedder opened a store with an embedder's vectors, or dropped a vector.

    Changing a text drops its vector unless a new one is given with the text.
    """


class DamagedMemoriesWarning(UserWarning):
    """An export, or an erasure by a filter, skipped damaged memories."""
