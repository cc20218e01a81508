"""Late interaction: scores of texts from the vectors of their tokens, and a cache of these."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from oneiros.runtime.locks import fork_safe_lock

__all__ = ["TokenCache", "TokenVectors", "max_sim"]

TokenVectors: TypeAlias = npt.NDArray[np.float16]
"""Shape (tokens, dimension), of unit length."""


def max_sim(
    query: npt.NDArray[np.floating], texts: Sequence[npt.NDArray[np.floating]]
) -> npt.NDArray[np.float64]:
    """Return one score per text: the sum, over the query's tokens, of the best cosine with a token.

    ``score = sum_i max_j query_i . text_j``

    Source: Khattab and Zaharia, "ColBERT", SIGIR 2020, equation 3.

    Args:
        query: shape (tokens, dimension), of unit length.
        texts: as many arrays, each of shape (tokens, dimension), of unit length.

    Returns:
        Shape (len(texts),); NaN for a text without tokens, and for all texts if the query has none.

    Raises:
        ValueError: arrays of other dimensions.

    Example:
        >>> import numpy as np
        >>> query = np.eye(3)[:2]
        >>> max_sim(query, [np.eye(3), np.eye(3)[:1], np.zeros((0, 3))]).tolist()
        [2.0, 1.0, nan]
    """
    for place, text in enumerate(texts):
        if text.ndim != 2 or query.ndim != 2 or text.shape[1] != query.shape[1]:
            msg = (
                f"texts: expected shape (tokens, dimension) with the query's dimension, whose "
                f"shape is {query.shape}, got {text.shape} at {place}"
            )
            raise ValueError(msg)
    scores = np.full(len(texts), np.nan)
    counts = np.array([len(text) for text in texts], np.intp)
    filled = np.flatnonzero(counts)
    if not len(query) or not len(filled):
        return scores
    tokens = np.concatenate([texts[place] for place in filled.tolist()]).astype(np.float32)
    starts = np.cumsum(counts[filled]) - counts[filled]
    best = np.maximum.reduceat(tokens @ query.astype(np.float32).T, starts, axis=0)
    scores[filled] = best.sum(axis=1, dtype=np.float64)
    return scores


class TokenCache:
    """Token vectors by text, up to a number of bytes; the least recently used are dropped.

    Safe to use from several threads.

    Args:
        most_bytes: the limit, >= 0, counting vectors and texts; 0 keeps nothing.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._vectors: OrderedDict[str, TokenVectors] = OrderedDict()
        self._lock = fork_safe_lock()
        self._byte_count = 0

    def __len__(self) -> int:
        return len(self._vectors)

    @property
    def byte_count(self) -> int:
        """Bytes of the vectors and texts."""
        return self._byte_count

    def get(self, text: str) -> TokenVectors | None:
        """Return a text's vectors, which then count as used; None if they are not kept."""
        with self._lock:
            vectors = self._vectors.get(text)
            if vectors is not None:
                self._vectors.move_to_end(text)
            return vectors

    def put(self, text: str, vectors: TokenVectors) -> None:
        """Keep a text's vectors."""
        size = _size(text, vectors)
        with self._lock:
            if size > self._most_bytes or text in self._vectors:
                return
            self._vectors[text] = vectors
            self._byte_count += size
            while self._byte_count > self._most_bytes:
                self._byte_count -= _size(*self._vectors.popitem(last=False))


def _size(text: str, vectors: TokenVectors) -> int:
    return vectors.nbytes + len(text)
