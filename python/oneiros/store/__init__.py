"""The system of record: one SQLite file that holds every memory, durable when a write returns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros.store.database import Store
from oneiros.store.links import KINDS, StoredLink
from oneiros.store.reading import Reading
from oneiros.store.rows import StoredMemory

if TYPE_CHECKING:  # loaded by the first write
    from oneiros.store.transaction import Transaction as Transaction

__all__ = ["KINDS", "Reading", "Store", "StoredLink", "StoredMemory"]
