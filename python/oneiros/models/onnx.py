"""Encoders, cross-encoders and late interaction in ONNX, from a folder. Needs ``oneiros[onnx]``."""

from __future__ import annotations

import os
import string
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from oneiros._lazy import needed
from oneiros.model.validation import require_flag, require_int, require_threads
from oneiros.models.embedders import check
from oneiros.models.late_interaction import TokenCache, TokenVectors, max_sim
from oneiros.models.rerankers import one_a_pair
from oneiros.runtime.dataclasses import NamedTuple

__all__ = ["Batch", "OnnxEmbedder", "OnnxLateInteraction", "OnnxModel", "OnnxReranker"]


Given = Sequence[str] | Sequence[tuple[str, str]]

_INPUTS: Final = ("input_ids", "attention_mask", "token_type_ids")
_MOST: Final = 2**31 - 1
_MOST_BYTES: Final = 2**53


class Batch(NamedTuple):
    """The output for a batch, and its tokens."""

    output: npt.NDArray[Any]
    """The model's first output."""
    mask: npt.NDArray[np.int64]
    """Shape (n, tokens): 1 for a real token, 0 for padding."""
    ids: npt.NDArray[np.int64]
    """Shape (n, tokens): the tokens' numbers in the vocabulary."""


class OnnxModel:
    """A model and its tokenizer.

    Args:
        folder: contains ``tokenizer.json`` and the model, whose inputs are ``input_ids``,
            ``attention_mask`` and, optionally, ``token_type_ids`` (int64, shape (n, tokens)).
        file: the model's file in the folder, such as "onnx/model_quantized.onnx".
        batch_size: inputs per forward pass, >= 1.
        max_tokens: longer inputs are cut to this length, >= 2.
        threads: threads of the runtime, 1 to 256.

    Raises:
        ImportError: onnxruntime or tokenizers is not installed.
        FileNotFoundError: a file is missing from the folder.
        TypeError: a number that is no int.
        ValueError: a number out of range, or a model with other inputs.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        file: str = "model.onnx",
        batch_size: int,
        max_tokens: int,
        threads: int,
    ) -> None:
        for field, value, least in (
            ("batch_size", batch_size, 1),
            ("max_tokens", max_tokens, 2),
        ):
            require_int(field, value, low=-_MOST, high=_MOST)
            if value < least:
                msg = f"{field}: must be >= {least}, got {value}"
                raise ValueError(msg)
        require_threads(threads)
        path = Path(folder)
        model, tokenizer = path / file, path / "tokenizer.json"
        for needed_file in (model, tokenizer):
            if not needed_file.is_file():
                msg = f"folder: {needed_file} is missing"
                raise FileNotFoundError(msg)
        runtime = needed("onnxruntime", "onnx")
        self.name = path.resolve().name
        self._batch_size = batch_size
        self.tokenizer = needed("tokenizers", "onnx").Tokenizer.from_file(str(tokenizer))
        self.tokenizer.enable_truncation(max_tokens)
        self.tokenizer.no_padding()  # run() pads each batch to its longest input
        options = runtime.SessionOptions()
        options.intra_op_num_threads = threads
        self._session = runtime.InferenceSession(
            str(model), options, providers=["CPUExecutionProvider"]
        )
        self.file = file
        self._inputs = [entry.name for entry in self._session.get_inputs()]
        if "input_ids" not in self._inputs or not set(self._inputs) <= set(_INPUTS):
            msg = (
                f"{file}: expected inputs among {', '.join(_INPUTS)}, the first of them included, "
                f"got {', '.join(self._inputs) or 'none'}"
            )
            raise ValueError(msg)
        self._output = self._session.get_outputs()[0].name

    def batches(
        self, given: Given
    ) -> Iterator[tuple[list[int], npt.NDArray[Any], npt.NDArray[np.int64]]]:
        """Yield indices, the model's first output, and the mask of real tokens, batch by batch.

        Args:
            given: texts, or pairs of texts.
        """
        for places in self.groups(given):
            yield (places, *self.run([given[at] for at in places]))

    def groups(self, given: Given) -> Iterator[list[int]]:
        """Yield the indices of each batch. Similar lengths share one, to reduce padding."""
        order = sorted(range(len(given)), key=lambda at: _length(given[at]))
        for start in range(0, len(order), self._batch_size):
            yield order[start : start + self._batch_size]

    def run(self, given: Sequence[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
        """Return the model's first output for one batch, and the mask of shape (n, tokens)."""
        output, mask, _ = self.forward(given)
        return output, mask

    def forward(self, given: Sequence[Any], *, least_tokens: int = 1, filler: int = 0) -> Batch:
        """Return the output for one batch, and its tokens.

        Args:
            given: texts, or pairs of texts.
            least_tokens: the batch is padded to at least this length.
            filler: number of the token used for padding.
        """
        encoded: list[Any] = self.tokenizer.encode_batch(list(given))
        longest = max(least_tokens, *(len(tokens.ids) for tokens in encoded))
        ids = np.full((len(encoded), longest), filler, np.int64)
        mask = np.zeros_like(ids)
        kinds = np.zeros_like(ids)
        for at, tokens in enumerate(encoded):
            ids[at, : len(tokens.ids)] = tokens.ids
            mask[at, : len(tokens.ids)] = tokens.attention_mask
            kinds[at, : len(tokens.ids)] = tokens.type_ids
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": kinds}
        feed = {name: inputs[name] for name in self._inputs}
        (output,) = self._session.run([self._output], feed)
        return Batch(np.asarray(output), mask, ids)

    def require_token_vectors(self, output: npt.NDArray[Any], mask: npt.NDArray[np.int64]) -> None:
        """Raise ValueError unless the output has shape (n, tokens, dimension)."""
        if output.ndim != 3 or output.shape[:2] != mask.shape:
            msg = f"{self.file}: expected output of shape {(*mask.shape, 'd')}, got {output.shape}"
            raise ValueError(msg)


def _length(given: str | tuple[str, str]) -> int:
    return len(given) if isinstance(given, str) else len(given[0]) + len(given[1])


class OnnxEmbedder:
    """An embedder that runs an ONNX encoder: mean over the tokens, then unit length.

    Args:
        folder: as for :class:`OnnxModel`; the model's first output has shape
            (n, tokens, dimension).
        name: recorded in the store; default: "onnx/" and the folder's name.
        file: the model's file in the folder.
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
        file: str = "model.onnx",
        batch_size: int = 32,
        max_tokens: int = 256,
        threads: int = 1,
    ) -> None:
        self._model = OnnxModel(
            folder, file=file, batch_size=batch_size, max_tokens=max_tokens, threads=threads
        )
        self.name = name or f"onnx/{self._model.name}"

    def __call__(self, texts: list[str], /) -> npt.NDArray[np.float32]:
        """Return one unit vector per text, shape (len(texts), dimension).

        A text without tokens gets a zero vector, which counts as no vector.
        """
        if not texts:
            return np.empty((0, self._pooled(*self._model.run([""])).shape[1]), np.float32)
        found: npt.NDArray[np.float32] | None = None
        for places, tokens, mask in self._model.batches(texts):
            vectors = self._pooled(tokens, mask)
            if found is None:
                found = np.empty((len(texts), vectors.shape[1]), np.float32)
            found[places] = vectors
        assert found is not None
        return check(found, len(texts))

    def _pooled(
        self, tokens: npt.NDArray[Any], mask: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float32]:
        """Return the normalised mean of each text's real tokens; zero for a text without any.

        Args:
            tokens: shape (n, t, d).
            mask: shape (n, t), 1 for a real token and 0 for padding.
        """
        self._model.require_token_vectors(tokens, mask)
        weights = mask[:, :, None].astype(np.float64)
        # Not tokens * weights: 0 * NaN in the padding would be NaN.
        sums = np.where(weights > 0, tokens, 0.0).sum(axis=1, dtype=np.float64)
        norms = np.linalg.norm(sums, axis=1, keepdims=True)
        vectors: npt.NDArray[np.float32] = (sums / np.where(norms == 0, 1.0, norms)).astype(
            np.float32
        )
        return vectors


class OnnxReranker:
    """A reranker that runs an ONNX cross-encoder; the score is its logit.

    Args:
        folder: as for :class:`OnnxModel`; the model's first output is one number per pair, of
            shape (n,) or (n, 1).
        file: the model's file in the folder, such as "onnx/model_quantized.onnx".
        batch_size: pairs per forward pass, >= 1.
        max_tokens: longer pairs are cut to this length, >= 2, at the end of the longer text.
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
        file: str = "model.onnx",
        batch_size: int = 32,
        max_tokens: int = 512,
        threads: int = 1,
    ) -> None:
        self._model = OnnxModel(
            folder, file=file, batch_size=batch_size, max_tokens=max_tokens, threads=threads
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


class OnnxLateInteraction:
    """A reranker that compares the tokens of query and text, such as ColBERT, in ONNX.

    A text's token vectors do not depend on the query: they are computed once and cached by text,
    2 bytes a number. With 128 numbers a token that is 256 bytes, about 10 kB for a memory of 40
    tokens; with 384 numbers about 30 kB. The score is that of
    :func:`oneiros.models.late_interaction.max_sim`.

    Args:
        folder: as for :class:`OnnxModel`; the model's first output has shape
            (n, tokens, dimension).
        file: the model's file in the folder.
        query_marker: token put before each query, such as "[Q] " or "[unused0]"; None: nothing.
        text_marker: token put before each text, such as "[D] " or "[unused1]"; None: nothing.
        query_tokens: shorter queries are filled with "[MASK]" tokens to this length, to 512, as
            models of the ColBERT family are trained; None: they are not.
        skip_punctuation: whether the punctuation of texts is left out, as ColBERT does.
        cache_bytes: the most that cached vectors and texts may take, >= 0; the least recently used
            are dropped. 0 turns the cache off.
        batch_size: texts per forward pass, >= 1.
        max_tokens: longer queries and texts are cut to this length, >= 2.
        threads: threads of the runtime, 1 to 256.

    Raises:
        ImportError: onnxruntime or tokenizers is not installed.
        FileNotFoundError: a file is missing from the folder.
        TypeError: a number that is no int.
        ValueError: a number out of range, a marker that is no token of the model, or a model with
            other inputs.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        file: str = "model.onnx",
        query_marker: str | None = None,
        text_marker: str | None = None,
        query_tokens: int | None = None,
        skip_punctuation: bool = True,
        cache_bytes: int = 256 * 2**20,
        batch_size: int = 32,
        max_tokens: int = 256,
        threads: int = 1,
    ) -> None:
        require_flag("skip_punctuation", skip_punctuation)
        require_int("cache_bytes", cache_bytes, low=0, high=_MOST_BYTES)
        if query_tokens is not None:
            require_int("query_tokens", query_tokens, low=1, high=512)
        self._model = OnnxModel(
            folder, file=file, batch_size=batch_size, max_tokens=max_tokens, threads=threads
        )
        self._query_marker = self._marker("query_marker", query_marker)
        self._text_marker = self._marker("text_marker", text_marker)
        self._query_tokens = query_tokens
        self._mask = 0 if query_tokens is None else self._token("query_tokens", "[MASK]")
        self._skipped = np.array(
            [
                number
                for token, number in self._model.tokenizer.get_vocab().items()
                if skip_punctuation and _is_punctuation(token)
            ],
            np.int64,
        )
        self._cache = TokenCache(cache_bytes)

    @property
    def cached_texts(self) -> int:
        """Number of texts whose vectors are cached."""
        return len(self._cache)

    @property
    def cached_bytes(self) -> int:
        """Bytes that the cached vectors and texts take."""
        return self._cache.byte_count

    def precompute(self, texts: Iterable[str]) -> int:
        """Compute and cache the token vectors of texts; return how many were not cached.

        Give the texts as searches give them: title and text of a memory, joined by a space, or
        the text alone without a title.
        """
        new = [text for text in dict.fromkeys(texts) if self._cache.get(text) is None]
        self._computed(new)
        return len(new)

    def __call__(self, query: str, texts: list[str], /) -> npt.NDArray[np.float64]:
        """Return one score per text, shape (len(texts),); NaN for a text without tokens.

        Raises:
            ValueError: the model's output has another shape.
        """
        if not texts:
            return np.empty(0)
        output, mask, _ = self._model.forward(
            [self._query_marker + query],
            least_tokens=self._query_tokens or 1,
            filler=self._mask,
        )
        self._model.require_token_vectors(output, mask)
        # The fillers are part of the query: their vectors stand for words that it might have.
        of_query = _unit(output[0] if self._query_tokens else output[0][mask[0] > 0])
        known = {text: self._cache.get(text) for text in dict.fromkeys(texts)}
        found = self._computed([text for text, vectors in known.items() if vectors is None])
        return max_sim(
            of_query, [found[text] if (kept := known[text]) is None else kept for text in texts]
        )

    def _computed(self, texts: list[str]) -> dict[str, TokenVectors]:
        """Compute and cache the token vectors of different texts."""
        found: dict[str, TokenVectors] = {}
        for places in self._model.groups(texts):
            group = [texts[place] for place in places]
            output, mask, ids = self._model.forward([self._text_marker + text for text in group])
            self._model.require_token_vectors(output, mask)
            is_kept = (mask > 0) & ~np.isin(ids, self._skipped)
            for text, of_text, kept in zip(group, output, is_kept, strict=True):
                found[text] = vectors = _unit(of_text[kept])
                self._cache.put(text, vectors)
        return found

    def _marker(self, field: str, marker: str | None) -> str:
        """Return the characters to put before a text, which are then read as one token."""
        if marker is None:
            return ""
        self._token(field, marker)
        self._model.tokenizer.add_special_tokens([marker])  # a known token keeps its number
        return marker if marker.endswith(" ") else f"{marker} "

    def _token(self, field: str, token: str) -> int:
        number: int | None = self._model.tokenizer.token_to_id(token)
        if number is None:
            msg = f"{field}: must be among the tokens of tokenizer.json, got {token!r}"
            raise ValueError(msg)
        return number


def _is_punctuation(token: str) -> bool:
    """Return whether a token is punctuation only; "##" marks pieces inside of words."""
    return bool(token) and not token.removeprefix("##").strip(string.punctuation)


def _unit(vectors: npt.NDArray[Any]) -> TokenVectors:
    """Return vectors of unit length; a zero vector stays zero."""
    values = vectors.astype(np.float32)
    norms = np.linalg.norm(values, axis=1, keepdims=True)
    return (values / np.where(norms == 0, 1.0, norms)).astype(np.float16)
