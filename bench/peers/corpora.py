"""The texts that engines index and their queries, of one kind each, cut from one source.

A source is a file of JSON lines, each with a "text", or words drawn by a law like Zipf's. Texts are
normalised once, to lower-case words of a-z and 0-9 with one space between, so that every engine
indexes the same words. All draws have fixed seeds, and a smaller corpus is the beginning of a larger.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from oneiros.benchmark.corpus import drawn_queries, shares_by_rank

__all__ = ["SEED", "SHAPES", "Corpus", "Shape", "corpus"]

SEED = 20_260_711
VERSION = 1
"""The version of the rules below: a corpus kept by another version is cut again."""

WORD = re.compile(r"[a-z0-9]+")
CHUNK = 10_000
HELD_OUT = 2_000
"""Texts that are in no index: what the queries are drawn from."""

QUERY_COUNT = 1_000
VOCABULARY = 400_000


@dataclass(frozen=True, slots=True)
class Shape:
    """The number of texts in a corpus and their lengths, which are log-normal."""

    count: int
    median: float
    sigma: float
    least: int
    most: int


SHAPES = {
    "short": Shape(count=830_000, median=10.2, sigma=0.4, least=3, most=40),  # 11 words on average
    "long": Shape(count=100_000, median=100.0, sigma=0.68, least=20, most=600),  # 126
}


@dataclass(frozen=True, slots=True)
class Corpus:
    """A folder with texts.txt and queries.txt, one a line."""

    name: str
    folder: Path

    def texts(self) -> list[str]:
        return self._lines("texts.txt")

    def queries(self) -> list[str]:
        return self._lines("queries.txt")

    def figures(self) -> dict[str, float]:
        """Return how large it is, and how common its queries' words are."""
        kept = self.folder / "figures.json"
        if not kept.exists():
            kept.write_text(json.dumps(_figures(self.texts(), self.queries())), encoding="utf-8")
        figures: dict[str, float] = json.loads(kept.read_text(encoding="utf-8"))
        return figures

    def _lines(self, name: str) -> list[str]:
        return (self.folder / name).read_text(encoding="ascii").splitlines()


def corpus(name: str, cache: Path, source: Path | None = None) -> Corpus:
    """Return a corpus by name: a shape's, or its first texts as in "short@100000".

    It is cut from the source the first time and kept in ``cache``.

    Raises:
        ValueError: no shape has this name, the number is none, or the source holds no text.
    """
    base, at, count = name.partition("@")
    if base not in SHAPES or (at and not (count.isdecimal() and int(count))):
        msg = f"corpus: must be one of {', '.join(SHAPES)}, or one with @COUNT, got {name!r}"
        raise ValueError(msg)
    shape = SHAPES[base]
    folder = cache / "corpora" / f"{name}-{_fingerprint(source)}"
    if not (folder / "queries.txt").exists():
        folder.mkdir(parents=True, exist_ok=True)
        texts = list(itertools.islice(_texts(shape, source), HELD_OUT + int(count or shape.count)))
        held_out, texts = texts[:HELD_OUT], texts[HELD_OUT:]
        if not texts:
            msg = f"source: must hold more than {HELD_OUT} texts of {shape.least} words: {source}"
            raise ValueError(msg)
        (folder / "texts.txt").write_text("\n".join(texts), encoding="ascii")
        (folder / "queries.txt").write_text(
            "\n".join(drawn_queries(held_out, QUERY_COUNT, SEED)[0]), encoding="ascii"
        )
    return Corpus(name, folder)


def _fingerprint(source: Path | None) -> str:
    state_text = f"{VERSION} {SEED} {SHAPES}"
    if source is not None:
        state = source.stat()
        state_text += f" {source.resolve()} {state.st_size} {state.st_mtime_ns}"
    return hashlib.blake2b(state_text.encode(), digest_size=4).hexdigest()


def _texts(shape: Shape, source: Path | None) -> Iterator[str]:
    """Yield texts of the shape's lengths, no two the same.

    Each is the beginning of a text of the source; where that is too short, those that follow it are
    appended to it.
    """
    words = _drawn_words() if source is None else _read_words(source)
    seen: set[str] = set()
    for length in _lengths(shape):
        piece: list[str] = []
        while len(piece) < length:
            following = next(words, None)
            if following is None:
                return
            piece += following
        text = " ".join(piece[:length])
        if text not in seen:
            seen.add(text)
            yield text


def _lengths(shape: Shape) -> Iterator[int]:
    rng = np.random.default_rng(SEED)
    while True:
        drawn = rng.lognormal(np.log(shape.median), shape.sigma, CHUNK)
        yield from np.clip(np.rint(drawn), shape.least, shape.most).astype(int).tolist()


def _read_words(source: Path) -> Iterator[list[str]]:
    with source.open(encoding="utf-8") as lines:
        for line in lines:
            yield WORD.findall(json.loads(line)["text"].lower())


def _drawn_words() -> Iterator[list[str]]:
    """Yield texts of 29 words on average, drawn by 1 / (rank + 2.7)."""
    rng = np.random.default_rng(SEED + 1)
    vocabulary = [f"w{rank:x}" for rank in range(VOCABULARY)]
    shares = shares_by_rank(VOCABULARY)
    while True:
        lengths = np.rint(rng.lognormal(np.log(24.0), 0.6, CHUNK)).astype(int)
        ranks: npt.NDArray[np.intp] = np.searchsorted(shares, rng.random(lengths.sum()))
        drawn = iter(ranks.tolist())
        for length in lengths.tolist():
            yield [vocabulary[rank] for rank in itertools.islice(drawn, length)]


def _figures(texts: list[str], queries: list[str]) -> dict[str, float]:
    holders: dict[str, int] = {}
    tokens = 0
    for text in texts:
        words = text.split()
        tokens += len(words)
        for word in set(words):
            holders[word] = holders.get(word, 0) + 1
    asked = [sum(holders.get(word, 0) for word in query.split()) for query in queries]
    p50, p99 = np.percentile(asked, [50, 99]).tolist()
    return {
        "texts": len(texts),
        "words_a_text": tokens / len(texts),
        "distinct_words": len(holders),
        "postings": sum(holders.values()),
        "postings_a_query_p50": p50,
        "postings_a_query_p99": p99,
    }
