"""The system of record: one SQLite file that holds every memory, durable when a write returns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros._lazy import door

if TYPE_CHECKING:
    from oneiros.store import files as files
    from oneiros.store import history as history
    from oneiros.store import read_only as read_only
    from oneiros.store import rewinding as rewinding
    from oneiros.store.database import Store as Store
    from oneiros.store.links import KINDS as KINDS
    from oneiros.store.links import StoredLink as StoredLink
    from oneiros.store.reading import Reading as Reading
    from oneiros.store.rows import StoredMemory as StoredMemory
    from oneiros.store.transaction import Transaction as Transaction
else:
    __getattr__ = door(
        __name__,
        ("files", "history", "read_only", "rewinding"),
        {
            "KINDS": "links",
            "Reading": "reading",
            "Store": "database",
            "StoredLink": "links",
            "StoredMemory": "rows",
            "Transaction": "transaction",
        },
    )

__all__ = ["KINDS", "Reading", "Store", "StoredLink", "StoredMemory"]
