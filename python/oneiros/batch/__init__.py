"""Whole tables at once: scores, promotions and comparisons of profiles without a query.

A table is read as columns (:mod:`oneiros.batch.tables`), judged and scored a block of rows at a
time (:mod:`oneiros.batch.scorer`) by the same compiled profiles that searches run.
"""

from __future__ import annotations

from oneiros.batch.factoring import factors
from oneiros.batch.promoting import promote
from oneiros.batch.rescoring import rescore

__all__ = ["factors", "promote", "rescore"]
