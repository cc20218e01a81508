"""ONNX cross-encoders from a local folder. Install ``oneiros[onnx]``; nothing is downloaded."""

from __future__ import annotations

import os

import numpy as np
import numpy.typing as npt

from oneiros.onnx_model import OnnxModel
from oneiros.rerank.scores import one_a_pair

__all__ = ["OnnxReranker"]


class OnnxReranker:
    """Scores with a cross-encoder exported to ONNX; its logit is the score.

    Args:
        folder: holds ``model.onnx``, taking ``input_ids``, ``attention_mask`` and, if it likes,
            ``token_type_ids`` (int64, shape (n, tokens)) and giving one number a pair, of shape
            (n,) or (n, 1), first; and ``tokenizer.json``.
        batch_size: pairs a forward pass, >= 1.
        max_tokens: a longer pair is cut here, >= 2.
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
        batch_size: int = 32,
        max_tokens: int = 512,
        threads: int = 1,
    ) -> None:
        self._model = OnnxModel(
            folder, batch_size=batch_size, max_tokens=max_tokens, threads=threads
        )

    def __call__(self, query: str, texts: list[str], /) -> npt.NDArray[np.float64]:
        """Return one score a text, shape (len(texts),).

        Raises:
            ValueError: the model gives more than one number a pair.
        """
        scores = np.empty(len(texts))
        for places, output, _ in self._model.batches([(query, text) for text in texts]):
            scores[places] = one_a_pair(output, len(places))
        return scores
