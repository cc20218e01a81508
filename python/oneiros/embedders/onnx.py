"""ONNX sentence encoders from a local folder. Install ``oneiros[onnx]``; nothing is downloaded."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from oneiros.embedders import check
from oneiros.optional import needed

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
        threads: of the runtime, >= 1.

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
        for field, value, least in (
            ("batch_size", batch_size, 1),
            ("max_tokens", max_tokens, 2),
            ("threads", threads, 1),
        ):
            if value < least:
                msg = f"{field}: must be >= {least}, got {value}"
                raise ValueError(msg)
        path = Path(folder)
        model, tokenizer = path / "model.onnx", path / "tokenizer.json"
        for file in (model, tokenizer):
            if not file.is_file():
                msg = f"folder: {file} is missing"
                raise FileNotFoundError(msg)
        runtime = needed("onnxruntime", "onnx")
        self.name = name or f"onnx/{path.resolve().name}"
        self._batch_size = batch_size
        self._tokenizer = needed("tokenizers", "onnx").Tokenizer.from_file(str(tokenizer))
        self._tokenizer.enable_truncation(max_tokens)
        self._tokenizer.no_padding()  # a batch is padded here, to its own longest text
        options = runtime.SessionOptions()
        options.intra_op_num_threads = threads
        self._session = runtime.InferenceSession(
            str(model), options, providers=["CPUExecutionProvider"]
        )
        self._inputs = [entry.name for entry in self._session.get_inputs()]
        self._output = self._session.get_outputs()[0].name

    def __call__(self, texts: list[str], /) -> npt.NDArray[np.float32]:
        """Return one unit vector a text, shape (len(texts), dimension).

        A text without any token has a zero vector, which counts as none.
        """
        if not texts:
            return np.empty((0, self._embed([""]).shape[1]), np.float32)
        # Texts of a length share a batch, so that little of it is padding.
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        parts = [
            self._embed([texts[at] for at in order[start : start + self._batch_size]])
            for start in range(0, len(order), self._batch_size)
        ]
        vectors = np.concatenate(parts)
        found = np.empty_like(vectors)
        found[order] = vectors
        return check(found, len(texts))

    def _embed(self, texts: list[str]) -> npt.NDArray[np.float32]:
        encoded: list[Any] = self._tokenizer.encode_batch(texts)
        longest = max(1, *(len(one.ids) for one in encoded))
        ids = np.zeros((len(texts), longest), np.int64)
        mask = np.zeros_like(ids)
        kinds = np.zeros_like(ids)
        for at, one in enumerate(encoded):
            ids[at, : len(one.ids)] = one.ids
            mask[at, : len(one.ids)] = one.attention_mask
            kinds[at, : len(one.ids)] = one.type_ids
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": kinds}
        feed = {name: given[name] for name in self._inputs if name in given}
        (tokens,) = self._session.run([self._output], feed)
        return _pooled(np.asarray(tokens), mask)


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
