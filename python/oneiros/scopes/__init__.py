"""Filters: typed conditions, and the bitmaps of attributes they are compiled against."""

from __future__ import annotations

from oneiros.scopes.attributed import Attributed
from oneiros.scopes.attributes import AttributeIndex
from oneiros.scopes.conditions import Where, where
from oneiros.scopes.row_sets import Bits, Rows, allowed_bits, rows_where, set_of

__all__ = [
    "AttributeIndex",
    "Attributed",
    "Bits",
    "Rows",
    "Where",
    "allowed_bits",
    "rows_where",
    "set_of",
    "where",
]
