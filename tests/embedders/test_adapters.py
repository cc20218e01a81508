"""The adapters of optional packages, with stand-ins for those: what they ask and what they give."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import numpy as np
import pytest

from oneiros.embedders import Embedder
from oneiros.embedders.model2vec import Model2VecEmbedder
from oneiros.embedders.onnx import OnnxEmbedder
from oneiros.embedders.sentence_transformers import SentenceTransformerEmbedder


def stand_in(monkeypatch: pytest.MonkeyPatch, name: str, **members: object) -> None:
    module = types.ModuleType(name)
    vars(module).update(members)
    monkeypatch.setitem(sys.modules, name, module)


class FakeSentenceTransformer:
    def __init__(self, path: str, device: str | None) -> None:
        self.made_with = path, device

    def get_sentence_embedding_dimension(self) -> int:
        return 2

    def encode(self, texts: list[str], **options: object) -> np.ndarray:
        self.options = options
        return np.array([[len(text), 1.0] for text in texts], np.float64)


def test_sentence_transformers(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(monkeypatch, "sentence_transformers", SentenceTransformer=FakeSentenceTransformer)
    embedder = SentenceTransformerEmbedder("org/mini", batch_size=8, device="cpu")
    assert isinstance(embedder, Embedder)
    assert embedder.name == "sentence-transformers/mini"
    assert embedder._model.made_with == ("org/mini", "cpu")
    vectors = embedder(["a", "bbb"])
    np.testing.assert_array_equal(vectors, np.array([[1, 1], [3, 1]], np.float32))
    assert vectors.dtype == np.float32
    assert embedder._model.options == {
        "batch_size": 8,
        "convert_to_numpy": True,
        "normalize_embeddings": True,
        "show_progress_bar": False,
    }
    assert embedder([]).shape == (0, 2)
    assert SentenceTransformerEmbedder("org/mini", name="own").name == "own"
    with pytest.raises(ValueError, match="batch_size: must be >= 1, got 0"):
        SentenceTransformerEmbedder("org/mini", batch_size=0)


class FakeStaticModel:
    dim = 3

    @classmethod
    def from_pretrained(cls, path: str) -> FakeStaticModel:
        made = cls()
        made.path = path  # type: ignore[attr-defined]
        return made

    def encode(self, texts: list[str]) -> np.ndarray:
        return np.full((len(texts), 3), 2.0, np.float32)


def test_model2vec(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stand_in(monkeypatch, "model2vec", StaticModel=FakeStaticModel)
    embedder = Model2VecEmbedder(tmp_path / "potion")
    assert isinstance(embedder, Embedder)
    assert embedder.name == "model2vec/potion"
    np.testing.assert_array_equal(embedder(["a", "b"]), np.full((2, 3), 2.0, np.float32))
    assert embedder([]).shape == (0, 3)


def onnx_folder(folder: Path) -> Path:
    for file in ("model.onnx", "tokenizer.json"):
        (folder / file).write_bytes(b"")
    return folder


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda _: SentenceTransformerEmbedder("m"), r"oneiros\[sentence-transformers\]"),
        (lambda _: Model2VecEmbedder("m"), r"oneiros\[model2vec\]"),
        (OnnxEmbedder, r"onnxruntime is not installed; run: pip install 'oneiros\[onnx\]'"),
    ],
    ids=["sentence-transformers", "model2vec", "onnx"],
)
def test_a_missing_package_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, make: object, message: str
) -> None:
    class Blocker:
        @staticmethod
        def find_spec(name: str, *_: object) -> None:
            if name in {"sentence_transformers", "model2vec", "onnxruntime", "tokenizers"}:
                msg = f"No module named {name!r}"
                raise ModuleNotFoundError(msg, name=name)

    for name in ("sentence_transformers", "model2vec", "onnxruntime", "tokenizers"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(sys, "meta_path", [Blocker, *sys.meta_path])
    with pytest.raises(ImportError, match=message):
        make(onnx_folder(tmp_path))  # type: ignore[operator]


def test_a_broken_package_keeps_its_own_message(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "model2vec.py").write_text("import a_package_nobody_has\n", encoding="utf-8")
    monkeypatch.delitem(sys.modules, "model2vec", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModuleNotFoundError, match="a_package_nobody_has"):
        Model2VecEmbedder("m")


class FakeEncoding:
    def __init__(self, ids: list[int]) -> None:
        self.ids = ids
        self.attention_mask = [1] * len(ids)
        self.type_ids = [0] * len(ids)


class FakeTokenizer:
    """One token a character; what it was asked is kept."""

    limit = 0

    @classmethod
    def from_file(cls, path: str) -> FakeTokenizer:
        assert path.endswith("tokenizer.json")
        return cls()

    def enable_truncation(self, limit: int) -> None:
        self.limit = limit

    def no_padding(self) -> None:
        self.is_padded = False

    def encode_batch(self, texts: list[str]) -> list[FakeEncoding]:
        return [FakeEncoding([ord(c) for c in text][: self.limit]) for text in texts]


class FakeSession:
    """Token vectors (id, 1); NaN on padding, which must not matter."""

    shapes: list[tuple[int, ...]] = []  # noqa: RUF012 (a record for the test)

    def __init__(self, path: str, options: object, providers: list[str]) -> None:
        self.made_with = path, options, providers

    def get_inputs(self) -> list[object]:
        return [types.SimpleNamespace(name=n) for n in ("input_ids", "attention_mask")]

    def get_outputs(self) -> list[object]:
        return [types.SimpleNamespace(name="last_hidden_state")]

    def run(self, outputs: list[str], feed: dict[str, np.ndarray]) -> list[np.ndarray]:
        assert outputs == ["last_hidden_state"]
        assert set(feed) == {"input_ids", "attention_mask"}
        ids = feed["input_ids"]
        assert ids.dtype == np.int64
        self.shapes.append(ids.shape)
        tokens = np.stack([ids, np.ones_like(ids)], axis=-1).astype(np.float32)
        tokens[feed["attention_mask"] == 0] = np.nan
        return [tokens]


@pytest.fixture
def onnx(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    stand_in(
        monkeypatch,
        "onnxruntime",
        InferenceSession=FakeSession,
        SessionOptions=types.SimpleNamespace,
    )
    stand_in(monkeypatch, "tokenizers", Tokenizer=FakeTokenizer)
    monkeypatch.setattr(FakeSession, "shapes", [])
    return onnx_folder(tmp_path)


def test_onnx_pools_and_normalises_in_the_callers_order(onnx: Path) -> None:
    embedder = OnnxEmbedder(onnx, batch_size=2, max_tokens=4)
    assert isinstance(embedder, Embedder)
    assert embedder.name == f"onnx/{onnx.name}"
    texts = ["abcdefgh", "a", "", "ab"]
    want = np.array([[np.mean([97, 98, 99, 100]), 1], [97, 1], [0, 0], [97.5, 1]])
    want[[0, 1, 3]] /= np.linalg.norm(want[[0, 1, 3]], axis=1, keepdims=True)
    vectors = embedder(texts)
    np.testing.assert_allclose(vectors, want, rtol=1e-6)
    assert vectors.dtype == np.float32
    assert FakeSession.shapes == [(2, 1), (2, 4)]  # by length, each batch to its own longest
    assert embedder([]).shape == (0, 2)


def test_onnx_refuses_a_model_without_token_vectors(
    onnx: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakeSession, "run", lambda *_: [np.ones((1, 2), np.float32)])
    with pytest.raises(ValueError, match=r"model.onnx: expected output of shape \(1, 1, 'd'\)"):
        OnnxEmbedder(onnx)(["a"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch_size": 0}, "batch_size: must be >= 1, got 0"),
        ({"max_tokens": 1}, "max_tokens: must be >= 2, got 1"),
        ({"threads": 0}, "threads: must be in 1 to 256, got 0"),
    ],
)
def test_onnx_refuses_numbers_out_of_range(
    onnx: Path, options: dict[str, int], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        OnnxEmbedder(onnx, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_onnx_names_a_missing_file(onnx: Path, missing: str) -> None:
    (onnx / missing).unlink()
    with pytest.raises(FileNotFoundError, match=missing):
        OnnxEmbedder(onnx)
