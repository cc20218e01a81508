"""Embedders and cross-encoders of Sentence Transformers. Install ``oneiros[sentence-transformers]``."""

from __future__ import annotations

import os

import numpy as np
import numpy.typing as npt

from oneiros._lazy import needed
from oneiros.models.embedders import check
from oneiros.models.rerankers import one_a_pair

__all__ = ["CrossEncoderReranker", "SentenceTransformerEmbedder"]


class SentenceTransformerEmbedder:
    """Embeds with a Sentence Transformers model, loaded when this object is made.

    Args:
        model: a folder, or a name that Sentence Transformers resolves (it may download it).
        name: recorded in the store; "sentence-transformers/" and the model's last part if not given.
        batch_size: texts a forward pass, >= 1.
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
        if batch_size < 1:
            msg = f"batch_size: must be >= 1, got {batch_size}"
            raise ValueError(msg)
        library = needed("sentence_transformers", "sentence-transformers")
        path = os.fspath(model)
        self.name = name or f"sentence-transformers/{os.path.basename(os.path.normpath(path))}"  # noqa: PTH119 (a model's name, often no path)
        self._batch_size = batch_size
        self._model = library.SentenceTransformer(path, device=device)

    def __call__(self, texts: list[str], /) -> npt.NDArray[np.float32]:
        """Return one vector a text, shape (len(texts), dimension)."""
        if not texts:
            return np.empty((0, int(self._model.get_sentence_embedding_dimension())), np.float32)
        output = self._model.encode(
            texts,
            batch_size=self._batch_size,
            convert_to_numpy=True,
            normalize_embeddings=True,
            show_progress_bar=False,
        )
        return check(output, len(texts))


class CrossEncoderReranker:
    """Scores with a cross-encoder, loaded when this object is made.

    Args:
        model: a folder, or a name that Sentence Transformers resolves (it may download it).
        batch_size: pairs a forward pass, >= 1.
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
        if batch_size < 1:
            msg = f"batch_size: must be >= 1, got {batch_size}"
            raise ValueError(msg)
        library = needed("sentence_transformers", "sentence-transformers")
        self._batch_size = batch_size
        self._model = library.CrossEncoder(os.fspath(model), device=device)

    def __call__(self, query: str, texts: list[str], /) -> npt.NDArray[np.float64]:
        """Return one score a text, shape (len(texts),).

        Raises:
            ValueError: the model gives more than one number a pair.
        """
        if not texts:
            return np.empty(0)
        output = self._model.predict(
            [(query, text) for text in texts],
            batch_size=self._batch_size,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        return one_a_pair(output, len(texts))
