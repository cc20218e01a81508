"""The interfaces of a rival: a search over memories, an index of words, an index of vectors.

A memory is known by its number: the text of memory i is the i-th one. Words are lower-case with one
space between; a query joins its words by OR. Vectors have length 1 and are compared by their cosine.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy.typing as npt

if TYPE_CHECKING:
    import numpy as np

    from oneiros.benchmark.corpus import Corpus

__all__ = [
    "DEPTH",
    "GRAPH_DEPTH",
    "GRAPH_LINKS",
    "K1",
    "RRF_K",
    "B",
    "Ids",
    "MemorySearch",
    "Question",
    "Rival",
    "VectorSearch",
    "Vectors",
    "WordSearch",
    "fused",
]

K1, B = 1.2, 0.75
"""Numbers of BM25, for every rival that lets them be set."""

RRF_K, DEPTH = 60, 100
"""The constant of reciprocal rank fusion, and the length of each list in it."""

GRAPH_LINKS, GRAPH_DEPTH = 16, 128
"""Links of a node of an HNSW graph, and the nodes that a search keeps in sight."""

Ids: TypeAlias = Sequence[Any] | npt.NDArray[Any]
"""Numbers of memories, in the form that the rival gives them."""

Vectors: TypeAlias = "npt.NDArray[np.float32]"


class Question(NamedTuple):
    """A question with its vector, asked of one project."""

    words: str
    vector: Vectors
    project: str


class Rival:
    """An engine under measurement."""

    def rest(self) -> None:
        """Finish work left for later, so that none of it falls into another engine's turn."""

    def close(self) -> None:
        """Close files."""


class MemorySearch(Rival, ABC):
    """The whole search of an application: words, vector, one project, texts."""

    @abstractmethod
    def build(self, corpus: Corpus, folder: Path) -> None:
        """Store the memories until they can be searched; files go into the folder."""

    @abstractmethod
    def search(self, question: Question, k: int) -> list[tuple[int, str]]:
        """Return number and text of the best k of the question's project, best first."""


class WordSearch(Rival, ABC):
    """An index of texts, ranked by BM25."""

    @abstractmethod
    def build(self, texts: list[str], folder: Path) -> None:
        """Index texts until they can be searched; files go into the folder, which is empty."""

    @abstractmethod
    def search(self, query: str, k: int) -> Ids:
        """Return the numbers of the best k, best first."""


class VectorSearch(Rival, ABC):
    """An index of vectors."""

    @abstractmethod
    def build(self, vectors: Vectors) -> None:
        """Index vectors until they can be searched."""

    @abstractmethod
    def search(self, vector: Vectors, k: int) -> Ids:
        """Return the numbers of the nearest k, nearest first."""


def fused(lists: Iterable[Iterable[int]], k: int) -> list[int]:
    """Return the best k by reciprocal ranks, in plain Python, as applications do it."""
    scores: dict[int, float] = {}
    for ranked in lists:
        for rank, id in enumerate(ranked, 1):
            scores[id] = scores.get(id, 0.0) + 1.0 / (RRF_K + rank)
    return sorted(scores, key=scores.__getitem__, reverse=True)[:k]
