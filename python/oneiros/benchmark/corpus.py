"""Memories and questions drawn from a seed, kept in a folder that every process reads.

Words follow a law like Zipf's. Each memory has a topic, which shares some of its words and the
neighbourhood of its vector, so that words and vectors agree as far as they do in real collections.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from oneiros.benchmark.rivals.rival import Question
from oneiros.runtime.dataclasses import dataclass

if TYPE_CHECKING:
    from oneiros.benchmark.rivals.rival import Vectors

__all__ = [
    "DIMENSION",
    "NOW",
    "PROJECTS",
    "Corpus",
    "draw",
    "drawn_queries",
    "shares_by_rank",
    "write",
]

DIMENSION: Final = 384
"""Components of a vector, as the common small models have."""

PROJECTS: Final = 10
"""The number of projects; the share of project n is proportional to 1 / n."""

NOW: Final = 1_770_000_000.0
"""The clock of a run, in seconds since the epoch."""

_SPAN_SECONDS = 400 * 86_400.0
_VOCABULARY = 100_000
_COMMON = 100  # words that no topic owns
_OF_TOPIC = 0.4  # the share of a memory's words that its topic chooses
_MEMORIES_A_TOPIC = 100
_NOISE = 1.0  # length of the noise beside a topic's center of length 1
_MEDIAN_LENGTH, _SPREAD, _SHORTEST, _LONGEST = 10.2, 0.4, 3, 40  # words: 11 on average
_QUERY_LENGTHS = (2, 3, 3, 4, 4, 5, 6)


@dataclass(frozen=True, slots=True)
class Corpus:
    """A folder of memories and questions; vectors are mapped, so that processes share them."""

    folder: Path

    def texts(self) -> list[str]:
        """Return the texts: lower-case words with one space between."""
        return (self.folder / "texts.txt").read_text(encoding="utf-8").splitlines()

    def vectors(self) -> Vectors:
        """Return the vectors, shape (memories, width), of length 1."""
        found: Vectors = np.load(self.folder / "vectors.npy", mmap_mode="r")
        return found

    def projects(self) -> list[str]:
        """Return the project of each memory."""
        return [f"p{number}" for number in np.load(self.folder / "projects.npy").tolist()]

    def questions(self) -> list[Question]:
        """Return the questions."""
        words = json.loads((self.folder / "questions.json").read_text(encoding="utf-8"))
        vectors = np.load(self.folder / "question_vectors.npy")
        return [
            Question(one, vector, f"p{number % PROJECTS}")
            for number, (one, vector) in enumerate(zip(words, vectors, strict=True))
        ]

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield the memories as an engine takes them, created over 400 days."""
        texts = self.texts()
        ages = np.sort(np.random.default_rng(len(texts)).random(len(texts)))[::-1]
        created = (NOW - ages * _SPAN_SECONDS).tolist()
        rows = zip(texts, self.vectors(), self.projects(), created, strict=True)
        for id, (text, vector, project, created_at) in enumerate(rows):
            yield {
                "id": str(id),
                "text": text,
                "embedding": vector,
                "project": project,
                "created_at": created_at,
            }


def draw(folder: Path, *, size: int, questions: int, seed: int) -> Corpus:
    """Draw memories and questions, and write them into a folder.

    Args:
        folder: an empty one.
        size: the number of memories, at least 1.
        questions: the number of questions, at least 1. Each has 2 to 6 words, and the vector, of a
            text that is not among the memories.
        seed: the same seed gives the same files.
    """
    rng = np.random.default_rng(seed)
    count = size + 4 * questions  # texts that no engine holds: the questions are made of them
    topics = rng.integers(0, max(1, size // _MEMORIES_A_TOPIC), count)
    centers = rng.standard_normal((int(topics.max()) + 1, DIMENSION), np.float32)
    centers /= np.linalg.norm(centers, axis=1, keepdims=True)
    vectors = rng.standard_normal((count, DIMENSION), np.float32)
    vectors *= _NOISE / np.sqrt(DIMENSION)
    vectors += centers[topics]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    texts = list(_texts(rng, topics))
    words, sources = drawn_queries(texts[size:], questions, seed)
    asked = vectors[[size + source for source in sources]]
    write(folder, texts[:size], vectors[:size], words, asked, seed)
    return Corpus(folder)


def write(
    folder: Path,
    texts: Sequence[str],
    vectors: Vectors,
    questions: Sequence[str],
    question_vectors: Vectors,
    seed: int,
) -> None:
    """Write memories and questions of any origin into a folder; their projects are drawn."""
    share = 1.0 / np.arange(1, PROJECTS + 1)
    rng = np.random.default_rng(seed + 1)
    projects = rng.choice(PROJECTS, len(texts), p=share / share.sum())
    projects[:PROJECTS] = np.arange(PROJECTS)[: len(texts)]  # no project is empty
    (folder / "texts.txt").write_text("\n".join(texts), encoding="utf-8")
    (folder / "questions.json").write_text(json.dumps(list(questions)), encoding="utf-8")
    np.save(folder / "vectors.npy", np.ascontiguousarray(vectors, np.float32))
    np.save(folder / "question_vectors.npy", np.ascontiguousarray(question_vectors, np.float32))
    np.save(folder / "projects.npy", projects)


def shares_by_rank(count: int) -> npt.NDArray[np.float64]:
    """Return the cumulated shares of words by rank, of a law like Zipf's: 1 / (rank + 2.7)."""
    shares = np.cumsum(1.0 / (np.arange(count) + 2.7))
    shares /= shares[-1]
    return shares


def drawn_queries(texts: Sequence[str], count: int, seed: int) -> tuple[list[str], list[int]]:
    """Draw words of one text each, so that common and rare ones meet as they do in texts.

    Returns:
        The queries, of 2 to 6 different words, and the number of the text that each is from.

    Raises:
        ValueError: no text has two different words.
    """
    chance = random.Random(seed)
    candidates = [
        (number, words)
        for number, text in enumerate(texts)
        if len(words := list(dict.fromkeys(text.split()))) > 1
    ]
    if not candidates:
        msg = "texts: at least one must have two different words"
        raise ValueError(msg)
    queries: list[str] = []
    sources: list[int] = []
    while len(queries) < count:
        (number, words), length = chance.choice(candidates), chance.choice(_QUERY_LENGTHS)
        if len(words) >= length:
            queries.append(" ".join(chance.sample(words, length)))
            sources.append(number)
    return queries, sources


def _texts(rng: np.random.Generator, topics: npt.NDArray[np.int64]) -> Iterator[str]:
    lengths = rng.lognormal(np.log(_MEDIAN_LENGTH), _SPREAD, len(topics))
    counts = np.clip(np.rint(lengths), _SHORTEST, _LONGEST).astype(int)
    total = int(counts.sum())
    ranks = np.searchsorted(shares_by_rank(_VOCABULARY), rng.random(total))
    # A topic's words follow the same law, from a place of its own among the words.
    own = (np.repeat(topics, counts) * 2_503 + ranks) % (_VOCABULARY - _COMMON) + _COMMON
    drawn = np.where(rng.random(total) < _OF_TOPIC, own, ranks)
    words = iter([f"w{rank:x}" for rank in drawn.tolist()])
    for count in counts.tolist():
        yield " ".join(itertools.islice(words, count))
