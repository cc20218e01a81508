"""A standalone BM25 index that stores no texts: it returns ids and scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros._lazy import door

if TYPE_CHECKING:
    from oneiros.lexical import statistics as statistics
else:  # loaded with the first statistics that are given
    __getattr__ = door(__name__, ("statistics",), {})
