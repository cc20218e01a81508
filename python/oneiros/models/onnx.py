"""Sentence encoders and cross-encoders in ONNX, from a local folder. Install ``oneiros[onnx]``."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from oneiros._lazy import needed
from oneiros.model.validation import require_threads
from oneiros.models.embedders import check
from oneiros.models.rerankers import one_a_pair

__all__ = ["OnnxEmbedder", "OnnxModel", "OnnxReranker"]


Given = Sequence[str] | Sequence[tuple[str, str]]


class OnnxModel:
    """A model and its tokenizer.

    Args:
        folder: contains ``tokenizer.json`` and ``model.onnx``, whose inputs are ``input_ids``,
            ``attention_mask`` and, optionally, ``token_type_ids`` (int64, shape (n, tokens)).
        batch_size: inputs per forward pass, >= 1.
        max_tokens: longer inputs are cut to this length, >= 2.
        threads: threads of the runtime, 1 to 256.

    Raises:
        ImportError: onnxruntime or tokenizers is not installed.
        FileNotFoundError: a file is missing from the folder.
        ValueError: a number out of range.
    """

    def __init__(
        self, folder: str | os.PathLike[str], *, batch_size: int, max_tokens: int, threads: int
    ) -> None:
        for field, value, least in (
            ("batch_size", batch_size, 1),
            ("max_tokens", max_tokens, 2),
        ):
            if value < least:
                msg = f"{field}: must be >= {least}, got {value}"
                raise ValueError(msg)
        require_threads(threads)
        path = Path(folder)
        model, tokenizer = path / "model.onnx", path / "tokenizer.json"
        for file in (model, tokenizer):
            if not file.is_file():
                msg = f"folder: {file} is missing"
                raise FileNotFoundError(msg)
        runtime = needed("onnxruntime", "onnx")
        self.name = path.resolve().name
        self._batch_size = batch_size
        self._tokenizer = needed("tokenizers", "onnx").Tokenizer.from_file(str(tokenizer))
        self._tokenizer.enable_truncation(max_tokens)
        self._tokenizer.no_padding()  # run() pads each batch to its longest input
        options = runtime.SessionOptions()
        options.intra_op_num_threads = threads
        self._session = runtime.InferenceSession(
            str(model), options, providers=["CPUExecutionProvider"]
        )
        self._inputs = [entry.name for entry in self._session.get_inputs()]
        self._output = self._session.get_outputs()[0].name

    def batches(self, given: Given) -> Iterator[tuple[list[int], npt.NDArray[Any], Any]]:
        """Yield indices, the model's first output, and the mask of real tokens, batch by batch.

        Inputs of similar length share a batch, to reduce padding.

        Args:
            given: texts, or pairs of texts.
        """
        order = sorted(range(len(given)), key=lambda at: _length(given[at]))
        for start in range(0, len(order), self._batch_size):
            places = order[start : start + self._batch_size]
            yield (places, *self.run([given[at] for at in places]))

    def run(self, given: Sequence[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
        """Return the model's first output for one batch, and the mask of shape (n, tokens)."""
        encoded: list[Any] = self._tokenizer.encode_batch(list(given))
        longest = max(1, *(len(tokens.ids) for tokens in encoded))
        ids = np.zeros((len(encoded), longest), np.int64)
        mask = np.zeros_like(ids)
        kinds = np.zeros_like(ids)
        for at, tokens in enumerate(encoded):
            ids[at, : len(tokens.ids)] = tokens.ids
            mask[at, : len(tokens.ids)] = tokens.attention_mask
            kinds[at, : len(tokens.ids)] = tokens.type_ids
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": kinds}
        feed = {name: inputs[name] for name in self._inputs if name in inputs}
        (output,) = self._session.run([self._output], feed)
        return np.asarray(output), mask


def _length(given: str | tuple[str, str]) -> int:
    return len(given) if isinstance(given, str) else len(given[0]) + len(given[1])


class OnnxEmbedder:
    """An embedder that runs an ONNX encoder: mean over the tokens, then unit length.

    Args:
        folder: as for :class:`OnnxModel`; the model's first output has shape
            (n, tokens, dimension).
        name: recorded in the store; default: "onnx/" and the folder's name.
        batch_size: texts per forward pass, >= 1.
        max_tokens: longer texts are cut to this length, >= 2.
        threads: threads of the runtime, 1 to 256.

    Raises:
        ImportError: onnxruntime or tokenizers is not installed.
        FileNotFoundError: a file is missing from the folder.
        ValueError: a number out of range.
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
        """Return one unit vector per text, shape (len(texts), dimension).

        A text without tokens gets a zero vector, which counts as no vector.
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
    """Return the normalised mean of each text's real tokens; zero for a text without any.

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


class OnnxReranker:
    """A reranker that runs an ONNX cross-encoder; the score is its logit.

    Args:
        folder: as for :class:`OnnxModel`; the model's first output is one number per pair, of
            shape (n,) or (n, 1).
        batch_size: pairs per forward pass, >= 1.
        max_tokens: longer pairs are cut to this length, >= 2.
        threads: threads of the runtime, 1 to 256.

    Raises:
        ImportError: onnxruntime or tokenizers is not installed.
        FileNotFoundError: a file is missing from the folder.
        ValueError: a number out of range.
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
        """Return one score per text, shape (len(texts),).

        Raises:
            ValueError: the model returns more than one number per pair.
        """
        scores = np.empty(len(texts))
        for places, output, _ in self._model.batches([(query, text) for text in texts]):
            scores[places] = one_a_pair(output, len(places))
        return scores
