"""ONNX sentence encoders from a local folder. Install ``oneiros[onnx]``; nothing is downloaded."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

from oneiros.embedders import check
from oneiros.onnx_model import OnnxModel

__all__ = ["OnnxEmbedder"]


class OnnxEmbedder:
    """Embeds with an encoder exported to ONNX: mean over the tokens, then unit length.

    Args:
        folder: holds ``model.onnx``, taking ``input_ids``, ``attention_mask`` and, if it likes,
            ``token_type_ids`` (int64, shape (n, tokens)) and giving token vectors of shape
            (n, tokens, dimension) first; and ``tokenizer.json``.
        name: recorded in the store; "onnx/" and the folder's name if not given.
        batch_size: texts a forward pass, >= 1.
        max_tokens: a longer text is cut here, >= 2.
        threads: of the runtime, 1 to 256.

    Raises:
        ImportError: onnxruntime or tokenizers is not installed.
        FileNotFoundError: a file is missing from the folder.
        ValueError: a number out of its range.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        name: str | None = None,
        batch_size: int = 32,
        max_tokens: int = 256,
        threads: int = 1,
    ) -> None:
        self._model = OnnxModel(
            folder, batch_size=batch_size, max_tokens=max_tokens, threads=threads
        )
        self.name = name or f"onnx/{self._model.name}"

    def __call__(self, texts: list[str], /) -> npt.NDArray[np.float32]:
        """Return one unit vector a text, shape (len(texts), dimension).

        A text without any token has a zero vector, which counts as none.
        """
        if not texts:
            return np.empty((0, _pooled(*self._model.run([""])).shape[1]), np.float32)
        found: npt.NDArray[np.float32] | None = None
        for places, tokens, mask in self._model.batches(texts):
            vectors = _pooled(tokens, mask)
            if found is None:
                found = np.empty((len(texts), vectors.shape[1]), np.float32)
            found[places] = vectors
        assert found is not None
        return check(found, len(texts))


def _pooled(tokens: npt.NDArray[Any], mask: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    """Return the mean of each text's real tokens at unit length; zero for a text without any.

    Args:
        tokens: shape (n, t, d).
        mask: shape (n, t), 1 for a real token and 0 for padding.
    """
    if tokens.ndim != 3 or tokens.shape[:2] != mask.shape:
        msg = f"model.onnx: expected output of shape {(*mask.shape, 'd')}, got {tokens.shape}"
        raise ValueError(msg)
    weights = mask[:, :, None].astype(np.float64)
    # Not tokens * weights: 0 * NaN in the padding would be NaN.
    sums = np.where(weights > 0, tokens, 0.0).sum(axis=1, dtype=np.float64)
    norms = np.linalg.norm(sums, axis=1, keepdims=True)
    vectors: npt.NDArray[np.float32] = (sums / np.where(norms == 0, 1.0, norms)).astype(np.float32)
    return vectors
