"""rank_bm25: every text scored in NumPy for every query."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import rank_bm25

from oneiros.benchmark.rivals.rival import K1, B, Ids, WordSearch

__all__ = ["RankBm25"]


class RankBm25(WordSearch):
    """Its Okapi form."""

    def build(self, texts: list[str], folder: Path) -> None:  # noqa: ARG002 - it has no files
        self.index = rank_bm25.BM25Okapi([text.split() for text in texts], k1=K1, b=B)

    def search(self, query: str, k: int) -> Ids:
        scores = self.index.get_scores(query.split())
        best = np.argpartition(-scores, min(k, len(scores)) - 1)[:k]
        ranked = best[np.argsort(-scores[best], kind="stable")]
        found: Ids = ranked[scores[ranked] > 0]
        return found
