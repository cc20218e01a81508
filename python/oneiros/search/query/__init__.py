"""Query understanding: intent, dates, subqueries, expansion and the caller's context."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros._lazy import door

if TYPE_CHECKING:
    from oneiros.search.query import expansion as expansion
    from oneiros.search.query import subqueries as subqueries
else:
    __getattr__ = door(__name__, ("expansion", "subqueries"))
