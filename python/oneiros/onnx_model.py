"""A transformer exported to ONNX, from a local folder: tokens in, the model's first output out."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from oneiros.optional import needed
from oneiros.ranking.threads import require_threads

__all__ = ["OnnxModel"]

Given = Sequence[str] | Sequence[tuple[str, str]]


class OnnxModel:
    """A model and its tokenizer.

    Args:
        folder: holds ``model.onnx``, taking ``input_ids``, ``attention_mask`` and, if it likes,
            ``token_type_ids`` (int64, shape (n, tokens)), and ``tokenizer.json``.
        batch_size: inputs a forward pass, >= 1.
        max_tokens: a longer input is cut here, >= 2.
        threads: of the runtime, 1 to 256.

    Raises:
        ImportError: onnxruntime or tokenizers is not installed.
        FileNotFoundError: a file is missing from the folder.
        ValueError: a number out of its range.
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
        self._tokenizer.no_padding()  # a batch is padded here, to its own longest input
        options = runtime.SessionOptions()
        options.intra_op_num_threads = threads
        self._session = runtime.InferenceSession(
            str(model), options, providers=["CPUExecutionProvider"]
        )
        self._inputs = [entry.name for entry in self._session.get_inputs()]
        self._output = self._session.get_outputs()[0].name

    def batches(self, given: Given) -> Iterator[tuple[list[int], npt.NDArray[Any], Any]]:
        """Yield places, the model's first output, and the mask of real tokens, batch by batch.

        Inputs of a length share a batch, so that little of it is padding.

        Args:
            given: texts, or pairs of two.
        """
        order = sorted(range(len(given)), key=lambda at: _length(given[at]))
        for start in range(0, len(order), self._batch_size):
            places = order[start : start + self._batch_size]
            yield (places, *self.run([given[at] for at in places]))

    def run(self, given: Sequence[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
        """Return the model's first output for one batch, and the mask of shape (n, tokens)."""
        encoded: list[Any] = self._tokenizer.encode_batch(list(given))
        longest = max(1, *(len(one.ids) for one in encoded))
        ids = np.zeros((len(encoded), longest), np.int64)
        mask = np.zeros_like(ids)
        kinds = np.zeros_like(ids)
        for at, one in enumerate(encoded):
            ids[at, : len(one.ids)] = one.ids
            mask[at, : len(one.ids)] = one.attention_mask
            kinds[at, : len(one.ids)] = one.type_ids
        held = {"input_ids": ids, "attention_mask": mask, "token_type_ids": kinds}
        feed = {name: held[name] for name in self._inputs if name in held}
        (output,) = self._session.run([self._output], feed)
        return np.asarray(output), mask


def _length(one: str | tuple[str, str]) -> int:
    return len(one) if isinstance(one, str) else len(one[0]) + len(one[1])
