"""The exact best 10 texts: every score in float64, without an index."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from bench.peers.engines.engine import K1, B

__all__ = ["Reference"]

SLACK = 1e-4
"""Relative: engines that score in float32 err by less."""


class Reference:
    """BM25 as Lucene has it, with exact lengths, of the words that the queries hold.

    Engines whose idf or lengths differ a little (PISA's and FTS5's idf is Robertson's, tantivy keeps a
    length in one byte) cannot reach 1 by it; far below 0.9, they do other work.
    """

    def __init__(self, texts: Sequence[str], queries: Sequence[str]) -> None:
        postings: dict[str, tuple[list[int], list[int]]] = {
            word: ([], []) for query in queries for word in query.split()
        }
        lengths = np.empty(len(texts))
        for id, text in enumerate(texts):
            words = text.split()
            lengths[id] = len(words)
            held = [word for word in words if word in postings]
            for word, count in Counter(held).items():
                ids, counts = postings[word]
                ids.append(id)
                counts.append(count)
        norms = K1 * (1 - B + B * lengths / lengths.mean())
        self._count = len(texts)
        self._queries = queries
        self._weighed = {
            word: self._weigh(
                np.array(ids, dtype=np.intp), np.array(counts, dtype=np.float64), norms
            )
            for word, (ids, counts) in postings.items()
        }

    def agreement(self, answers: Mapping[str, Sequence[Sequence[int]]]) -> dict[str, float]:
        """Return, by engine, the share of the best 10 that it found.

        A text counts if its score reaches the 10th best; where fewer than 10 match, each that does.
        """
        shares: dict[str, list[float]] = {name: [] for name in answers}
        for place, query in enumerate(self._queries):
            scores = self.scores(query)
            wanted = min(10, int(np.count_nonzero(scores)))
            if wanted == 0:
                continue
            tenth = float(np.partition(scores, -wanted)[-wanted])
            least = tenth * (1 - SLACK)
            for name, found in answers.items():
                if place < len(found):
                    good = {id for id in found[place] if scores[id] >= least}
                    shares[name].append(min(len(good), wanted) / wanted)
        return {name: float(np.mean(found)) for name, found in shares.items() if found}

    def scores(self, query: str) -> npt.NDArray[np.float64]:
        """Return every text's score."""
        scores = np.zeros(self._count)
        for word in query.split():
            ids, values = self._weighed[word]
            scores[ids] += values
        return scores

    def _weigh(
        self,
        ids: npt.NDArray[np.intp],
        counts: npt.NDArray[np.float64],
        norms: npt.NDArray[np.float64],
    ) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float64]]:
        idf = math.log1p((self._count - len(ids) + 0.5) / (len(ids) + 0.5))
        return ids, idf * counts / (counts + norms[ids])
