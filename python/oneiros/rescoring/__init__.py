"""Scores, promotions and comparisons of profiles over whole tables, without a query.

A table is read as columns (:mod:`oneiros.rescoring.tables`), then checked and scored in blocks of
rows (:mod:`oneiros.rescoring.scorer`) by the same compiled profiles that searches run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros._lazy import door

if TYPE_CHECKING:
    from oneiros.rescoring import store as store
else:
    __getattr__ = door(__name__, ("store",))
