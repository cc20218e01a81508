"""The exact answers: every score and every cosine computed, without an index."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from oneiros.benchmark.rivals.rival import DEPTH, K1, RRF_K, B

if TYPE_CHECKING:
    from oneiros.benchmark.corpus import Corpus
    from oneiros.benchmark.rivals import Entrant

__all__ = ["BEST", "Reference", "exact_answers", "share_found"]

BEST = 10
"""Results that are compared."""

SLACK = 1e-4
"""Relative: engines that score in float32 err by less."""

_SLACK_OF_COSINES = 1e-6


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

    def best(self) -> list[set[int]]:
        """Return, for each query, the texts whose scores reach the tenth best; fewer if fewer match."""
        return [_within_ten(self.scores(query)) for query in self._queries]

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


def exact_answers(corpus: Corpus, entrant: Entrant) -> list[set[int]]:
    """Return, for each question, the memories that belong to the best ten.

    More than ten where some tie at the end. Of reciprocal ranks, the lists within a project are
    exact, and a memory whose score in a list ties with others counts with the best of their ranks.
    """
    questions = corpus.questions()
    if entrant.task == "memories":
        by_words = Reference(corpus.texts(), [question.words for question in questions])
        projects = np.array(corpus.projects())
        rows = {name: np.flatnonzero(projects == name) for name in set(projects.tolist())}
        vectors = corpus.vectors()
        answers = []
        for question in questions:
            own = rows[question.project]
            cosines = vectors[own] @ question.vector
            scores = by_words.scores(question.words)[own]
            lists = (cosines,) if entrant.judged_by == "vectors" else (scores, cosines)
            answers.append({int(own[place]) for place in _best_places(lists)})
        return answers
    if entrant.task == "words":
        return Reference(corpus.texts(), [question.words for question in questions]).best()
    vectors = corpus.vectors()
    return [_within_ten(vectors @ question.vector, _SLACK_OF_COSINES) for question in questions]


def share_found(answers: Sequence[Sequence[int]], exact: Sequence[set[int]]) -> float | None:
    """Return the share of the best ten that was found, over the questions that have any."""
    shares = [
        min(1.0, len(best.intersection(found)) / min(len(best), BEST))
        for found, best in zip(answers, exact, strict=False)  # a slow engine answers fewer
        if best
    ]
    return float(np.mean(shares)) if shares else None


def _within_ten(scores: npt.NDArray[np.floating], slack: float = SLACK) -> set[int]:
    """Return the places of the ten highest, and of what ties with the tenth."""
    wanted = min(BEST, int(np.count_nonzero(scores)))
    if wanted == 0:
        return set()
    tenth = float(np.partition(scores, -wanted)[-wanted])
    return set(np.flatnonzero(scores >= tenth - abs(tenth) * slack).tolist())


def _best_places(lists: Sequence[npt.NDArray[np.floating]]) -> set[int]:
    """Return the places of the ten best by reciprocal ranks, each list cut to its depth."""
    if len(lists) == 1:
        return _within_ten(lists[0], _SLACK_OF_COSINES)
    strict: dict[int, float] = {}
    lenient: dict[int, float] = {}
    for scores in lists:
        order = np.argsort(-scores, kind="stable")[: 2 * DEPTH]
        order = order[scores[order] != 0]
        for rank, place in enumerate(order.tolist()):
            reached = scores[place] + abs(scores[place]) * SLACK
            tied = int(np.count_nonzero(scores[order[:rank]] <= reached))
            if rank < DEPTH:
                strict[place] = strict.get(place, 0.0) + 1 / (RRF_K + rank + 1)
            if rank - tied < DEPTH:
                lenient[place] = lenient.get(place, 0.0) + 1 / (RRF_K + rank - tied + 1)
    best = sorted(strict.values(), reverse=True)[:BEST]
    return {place for place, score in lenient.items() if score >= best[-1] - 1e-12}
