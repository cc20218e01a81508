"""Embedder for Model2Vec static models, which run no network. Install ``oneiros[model2vec]``."""

from __future__ import annotations

import os

import numpy as np
import numpy.typing as npt

from oneiros._lazy import needed
from oneiros.models.embedders import check, default_name

__all__ = ["Model2VecEmbedder"]


class Model2VecEmbedder:
    """An embedder that loads a Model2Vec model on construction.

    Args:
        model: a folder, or a name that Model2Vec resolves (and may download).
        name: recorded in the store; default: "model2vec/" and the last part of ``model``.

    Raises:
        ImportError: the package is not installed.
    """

    def __init__(self, model: str | os.PathLike[str], *, name: str | None = None) -> None:
        library = needed("model2vec", "model2vec")
        path = os.fspath(model)
        self.name = name or default_name("model2vec", path)
        self._model = library.StaticModel.from_pretrained(path)

    def __call__(self, texts: list[str], /) -> npt.NDArray[np.float32]:
        """Return one vector per text, shape (len(texts), dimension)."""
        if not texts:
            return np.empty((0, int(self._model.dim)), np.float32)
        return check(self._model.encode(texts), len(texts))
