"""Whole tables at once: scores, promotions and comparisons of profiles without a query.

A table is read as columns (:mod:`oneiros.batch.tables`), judged and scored a block of rows at a
time (:mod:`oneiros.batch.scorer`) by the same compiled profiles that searches run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros._lazy import door

if TYPE_CHECKING:
    from oneiros.batch import of_store as of_store
    from oneiros.batch.factoring import factors as factors
    from oneiros.batch.promoting import promote as promote
    from oneiros.batch.rescoring import rescore as rescore
else:
    __getattr__ = door(
        __name__,
        ("of_store",),
        {"factors": "factoring", "promote": "promoting", "rescore": "rescoring"},
    )

__all__ = ["factors", "promote", "rescore"]
