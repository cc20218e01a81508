"""The standalone BM25 index: texts in, ids and scores out."""

from __future__ import annotations
