"""The exceptions of Oneiros: one tree under :class:`OneirosError`; and its warnings.

Input that breaks a field's rule is a plain ``ValueError`` or ``TypeError`` naming field, value and
rule; what stands here is for the conditions a caller may want to catch by name.
"""

from __future__ import annotations

__all__ = [
    "DamagedMemoriesWarning",
    "DreamBusy",
    "DuplicateId",
    "EmbedderMismatch",
    "EngineClosed",
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
    """Root of every exception that is Oneiros's own."""


class DuplicateId(OneirosError, ValueError):
    """An ``add`` named an id that exists (or a batch named one twice)."""


class UnknownMemory(OneirosError, KeyError):
    """No live memory has this id, or the scope cannot see it."""

    def __str__(self) -> str:  # KeyError would print the repr of the message
        return str(self.args[0]) if self.args else ""


class UnknownProfile(OneirosError, ValueError):
    """No profile has this name."""


class TextEncodingError(OneirosError, ValueError):
    """A text holds lone surrogates or is not valid UTF-8."""


class QueryTooLarge(OneirosError, ValueError):
    """A query is over the limit in bytes, terms or depth."""


class EmbedderMismatch(OneirosError, ValueError):
    """The store's vectors come from another embedder, or have another width."""


class EngineClosed(OneirosError, RuntimeError):
    """The engine was used after ``close``."""


class DreamBusy(OneirosError, TimeoutError):
    """Another dream cycle runs on this store, in this process or another."""


class SnapshotDamaged(OneirosError):
    """A snapshot of an index is damaged, or was made with other settings or another version."""


class StoreBusy(OneirosError, TimeoutError):
    """Another process held the write lock longer than the timeout, or kept changing the same text."""


class StoreCorrupt(OneirosError):
    """The store's file is damaged, or is not a store of Oneiros."""

    memory_id: str | None = None
    """The id of the memory that is damaged; None: the damage is not in one memory."""
    sequence: int = 0
    """The number of that memory in the store."""
    reason: str = ""
    """What is wrong with that memory."""


class StoreIOError(OneirosError, OSError):
    """The system refused to open or read the store's file."""


class StoreFull(StoreIOError):
    """The disk is full; the write was taken back whole, and more can be tried once there is room."""


class StorePoisoned(OneirosError):
    """A write or sync failed; reopen to go on writing. Reading still works."""


class StoreVersionError(OneirosError):
    """The store was written by a newer version of Oneiros."""


class MissingEmbedderWarning(UserWarning):
    """An engine without an embedder opened a store whose vectors were made by one, or dropped a vector.

    The vector of a text that was changed is dropped unless another is given with the new text.
    """


class DamagedMemoriesWarning(UserWarning):
    """An export left out memories that are damaged."""
