"""Embedders and cross-encoders from Sentence Transformers, which threads can share.

Install ``oneiros[sentence-transformers]``.
"""

from __future__ import annotations

import os
import threading
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from oneiros._lazy import needed
from oneiros.models.embedders import check, default_name
from oneiros.models.rerankers import one_a_pair

__all__ = ["CrossEncoderReranker", "SentenceTransformerEmbedder"]


# A model is run by one thread at a time: its tokenizer sets its padding for each call, and refuses to
# while another thread is in it ("Already borrowed"). Not attributes, since locks cannot be pickled.
_TURNS: WeakKeyDictionary[object, threading.RLock] = WeakKeyDictionary()
os.register_at_fork(after_in_child=_TURNS.clear)  # the threads that hold them are the parent's


def _turn(adapter: object) -> threading.RLock:
    """Return the lock of an adapter; reentrant, as a signal handler may search, too."""
    return _TURNS.setdefault(adapter, threading.RLock())


def _require_batch(batch_size: int) -> None:
    if batch_size < 1:
        msg = f"batch_size: must be >= 1, got {batch_size}"
        raise ValueError(msg)


class SentenceTransformerEmbedder:
    """An embedder that loads a Sentence Transformers model on construction.

    Args:
        model: a folder, or a name that Sentence Transformers resolves (and may download).
        name: recorded in the store; default: "sentence-transformers/" and the last part of
            ``model``.
        batch_size: texts per forward pass, >= 1.
        device: "cpu", "cuda", ...; None leaves the choice to the library.

    Raises:
        ImportError: the package is not installed.
        ValueError: ``batch_size`` below 1.
    """

    def __init__(
        self,
        model: str | os.PathLike[str],
        *,
        name: str | None = None,
        batch_size: int = 32,
        device: str | None = None,
    ) -> None:
        _require_batch(batch_size)
        library = needed("sentence_transformers", "sentence-transformers")
        path = os.fspath(model)
        self.name = name or default_name("sentence-transformers", path)
        self._batch_size = batch_size
        self._model = library.SentenceTransformer(path, device=device)

    def __call__(self, texts: list[str], /) -> npt.NDArray[np.float32]:
        """Return one vector per text, shape (len(texts), dimension)."""
        if not texts:
            return np.empty((0, int(self._model.get_sentence_embedding_dimension())), np.float32)
        with _turn(self):
            output = self._model.encode(
                texts,
                batch_size=self._batch_size,
                convert_to_numpy=True,
                normalize_embeddings=True,
                show_progress_bar=False,
            )
        return check(output, len(texts))


class CrossEncoderReranker:
    """A reranker that loads a cross-encoder on construction.

    Args:
        model: a folder, or a name that Sentence Transformers resolves (and may download).
        batch_size: pairs per forward pass, >= 1.
        device: "cpu", "cuda", ...; None leaves the choice to the library.

    Raises:
        ImportError: the package is not installed.
        ValueError: ``batch_size`` below 1.
    """

    def __init__(
        self,
        model: str | os.PathLike[str],
        *,
        batch_size: int = 32,
        device: str | None = None,
    ) -> None:
        _require_batch(batch_size)
        library = needed("sentence_transformers", "sentence-transformers")
        self._batch_size = batch_size
        self._model = library.CrossEncoder(os.fspath(model), device=device)

    def __call__(self, query: str, texts: list[str], /) -> npt.NDArray[np.float64]:
        """Return one score per text, shape (len(texts),).

        Raises:
            ValueError: the model returns more than one number per pair.
        """
        if not texts:
            return np.empty(0)
        with _turn(self):
            output = self._model.predict(
                [(query, text) for text in texts],
                batch_size=self._batch_size,
                convert_to_numpy=True,
                show_progress_bar=False,
            )
        return one_a_pair(output, len(texts))
