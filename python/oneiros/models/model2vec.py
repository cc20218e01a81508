"""Model2Vec static models: no network to run, thousands of texts a second. ``oneiros[model2vec]``."""

from __future__ import annotations

import os

import numpy as np
import numpy.typing as npt

from oneiros._lazy import needed
from oneiros.models.embedders import check

__all__ = ["Model2VecEmbedder"]


class Model2VecEmbedder:
    """Embeds with a Model2Vec model, loaded when this object is made.

    Args:
        model: a folder, or a name that Model2Vec resolves (it may download it).
        name: recorded in the store; "model2vec/" and the model's last part if not given.

    Raises:
        ImportError: the package is not installed.
    """

    def __init__(self, model: str | os.PathLike[str], *, name: str | None = None) -> None:
        library = needed("model2vec", "model2vec")
        path = os.fspath(model)
        self.name = name or f"model2vec/{os.path.basename(os.path.normpath(path))}"  # noqa: PTH119 (a model's name, often no path)
        self._model = library.StaticModel.from_pretrained(path)

    def __call__(self, texts: list[str], /) -> npt.NDArray[np.float32]:
        """Return one vector a text, shape (len(texts), dimension)."""
        if not texts:
            return np.empty((0, int(self._model.dim)), np.float32)
        return check(self._model.encode(texts), len(texts))
