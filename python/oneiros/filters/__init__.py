"""Filters: typed conditions, and the attribute bitmaps they are compiled against."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros._lazy import door
from oneiros.model.validation import require_instance

if TYPE_CHECKING:
    from oneiros.filters import conditions as conditions
    from oneiros.filters import metadata as metadata
    from oneiros.filters import metadata_times as metadata_times
    from oneiros.filters.attributes import AttributeIndex
    from oneiros.filters.conditions import Where, where
    from oneiros.filters.fields import Attributed
    from oneiros.filters.metadata import meta
    from oneiros.filters.row_bitmaps import Bits, Rows, allowed_bits, rows_where, set_of
else:
    __getattr__ = door(
        __name__,
        ("conditions", "metadata", "metadata_times"),
        {
            "AttributeIndex": "attributes",
            "Attributed": "fields",
            "Where": "conditions",
            "meta": "metadata",
            "where": "conditions",
            **dict.fromkeys(
                ("Bits", "Rows", "allowed_bits", "rows_where", "set_of"), "row_bitmaps"
            ),
        },
    )

__all__ = [
    "AttributeIndex",
    "Attributed",
    "Bits",
    "Rows",
    "Where",
    "allowed_bits",
    "meta",
    "require_where",
    "rows_where",
    "set_of",
    "where",
]


def require_where(condition: object) -> None:
    """Raise TypeError unless ``condition`` is a filter or None."""
    if condition is not None:
        from oneiros.filters.conditions import Where  # noqa: PLC0415 - loaded with the first filter

        require_instance("where", condition, (Where, type(None)), "oneiros.where(...)")
