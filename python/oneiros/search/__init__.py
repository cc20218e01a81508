"""Searches from query to response. The core runs the stages; this package wraps them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros._lazy import door

if TYPE_CHECKING:
    from oneiros.search import near_duplicates as near_duplicates
    from oneiros.search import records as records
else:
    __getattr__ = door(__name__, ("near_duplicates", "records"))
