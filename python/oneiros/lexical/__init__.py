"""A standalone BM25 index that stores no texts: it returns ids and scores."""

from __future__ import annotations
