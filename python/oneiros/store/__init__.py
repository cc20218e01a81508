"""The system of record: one SQLite file that holds every memory, durable when a write returns."""

from __future__ import annotations

from oneiros.store.database import Store
from oneiros.store.links import KINDS, StoredLink
from oneiros.store.reading import Reading
from oneiros.store.rows import StoredMemory
from oneiros.store.transaction import Transaction

__all__ = ["KINDS", "Reading", "Store", "StoredLink", "StoredMemory", "Transaction"]
