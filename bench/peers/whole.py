"""Whole searches of memories beside other engines: the run of `oneiros bench`, also over real texts."""

from __future__ import annotations

import runpy
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.peers.corpora import SEED, Corpus
from oneiros.benchmark import corpus as drawn
from oneiros.benchmark.comparison import QUESTIONS, EngineComparison
from oneiros.benchmark.rivals import ENTRANTS, Entrant

__all__ = ["memories"]


def memories(
    corpus: Corpus, rounds: int, embedding: Path | None, entrants: Sequence[Entrant] = ENTRANTS
) -> dict[str, Any]:
    """Return what `oneiros bench` measures, over the texts of a corpus.

    Args:
        corpus: the texts and queries.
        rounds: turns of each engine.
        embedding: the folder of static_embed.py, which makes their vectors; None: texts and vectors
            are drawn, as many as the corpus has.
        entrants: the engines.
    """
    texts = corpus.texts()
    with TemporaryDirectory(prefix="oneiros-peers-") as name:
        own = None
        if embedding is not None:
            embed = runpy.run_path(str(embedding / "static_embed.py"))["StaticEmbedder"]
            make = embed(str(embedding))
            own = drawn.Corpus(Path(name))
            questions = corpus.queries()[:QUESTIONS]
            vectors, asked = (_widened(make(given)) for given in (texts, questions))
            drawn.write(own.folder, texts, vectors, questions, asked, SEED)
        comparison = EngineComparison(
            size=len(texts), rounds=rounds, seed=SEED, entrants=entrants, corpus=own
        )
        comparison.run()
    return comparison.document()


def _widened(vectors: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """Return vectors of the usual width with the same inner products, of length 1."""
    given = np.array(vectors, np.float32)
    given[~given.any(axis=1), 0] = 1.0  # a text without a known word
    square = np.random.default_rng(SEED).standard_normal((drawn.DIMENSION, given.shape[1]))
    isometry = np.linalg.qr(square)[0].T.astype(np.float32)
    wide: npt.NDArray[np.float32] = given @ isometry
    wide /= np.linalg.norm(wide, axis=1, keepdims=True)
    return wide
