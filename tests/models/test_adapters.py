"""The adapters of optional packages, with stand-ins for those: what they ask and what they give."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import oneiros
from oneiros.models.onnx import OnnxLateInteraction, OnnxReranker
from oneiros.models.rerankers import judge, require_reranker
from oneiros.models.sentence_transformers import (
    CrossEncoderReranker,
    SentenceTransformerEmbedder,
)

LONG = 30.0


def stand_in(monkeypatch: pytest.MonkeyPatch, name: str, **members: object) -> None:
    module = types.ModuleType(name)
    vars(module).update(members)
    monkeypatch.setitem(sys.modules, name, module)


class FakeCrossEncoder:
    shape: tuple[int, ...] = ()

    def __init__(self, path: str, device: str | None) -> None:
        self.made_with = path, device

    def predict(self, pairs: list[tuple[str, str]], **options: object) -> np.ndarray:
        self.options = options
        scores = [len(set(query) & set(text)) for query, text in pairs]
        return np.array(scores, np.float32).reshape(len(pairs), *self.shape)


@pytest.fixture
def reranker(monkeypatch: pytest.MonkeyPatch) -> CrossEncoderReranker:
    stand_in(monkeypatch, "sentence_transformers", CrossEncoder=FakeCrossEncoder)
    return CrossEncoderReranker(Path("org/mini"), batch_size=8, device="cpu")


def test_a_cross_encoder_of_sentence_transformers(
    reranker: CrossEncoderReranker, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_reranker("reranker", reranker)
    assert reranker._model.made_with == ("org/mini", "cpu")
    assert reranker("abc", ["xa", "cab", ""]).tolist() == [1.0, 3.0, 0.0]
    assert reranker._model.options == {
        "batch_size": 8,
        "convert_to_numpy": True,
        "show_progress_bar": False,
    }
    assert reranker("abc", []).shape == (0,)
    monkeypatch.setattr(FakeCrossEncoder, "shape", (1,))
    assert reranker("abc", ["xa", "cab"]).tolist() == [1.0, 3.0]
    told = judge(reranker._model, "abc", ["xa", "cab"], LONG)  # the library's own object, too
    assert told.reason.startswith("ValueError: expected 2 scores")
    with pytest.raises(ValueError, match="batch_size: must be >= 1, got 0"):
        CrossEncoderReranker("org/mini", batch_size=0)


class Borrowed:
    """Refuses a second thread, as the tokenizers of these models do."""

    def __init__(self, *_: object, **options: object) -> None:
        self.options = options
        self._taken = threading.Lock()

    def encode(self, texts: list[str], **options: object) -> np.ndarray:
        self.options = options
        if not self._taken.acquire(blocking=False):
            msg = "Already borrowed"
            raise RuntimeError(msg)
        time.sleep(0.002)
        self._taken.release()
        return np.ones((len(texts), 2), np.float32)

    def predict(self, pairs: list[tuple[str, str]], **options: object) -> np.ndarray:
        return self.encode([text for _, text in pairs], **options)[:, 0]


def test_threads_share_the_models_of_sentence_transformers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stand_in(
        monkeypatch, "sentence_transformers", CrossEncoder=Borrowed, SentenceTransformer=Borrowed
    )
    embedder, reranker = SentenceTransformerEmbedder("org/mini"), CrossEncoderReranker("org/mini")
    with oneiros.Engine(":memory:", embedder=embedder, reranker=reranker) as engine:

        def use(number: int) -> str:
            engine.add(f"tea {number}")
            return str(engine.search("tea").trace.stages[-1].note)

        with ThreadPoolExecutor(8) as threads:
            outcomes = list(threads.map(use, range(40)))
    assert not any("Already borrowed" in text for text in outcomes)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_does_not_wait_for_a_model_that_its_parent_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stand_in(monkeypatch, "sentence_transformers", CrossEncoder=FakeCrossEncoder)
    reranker = CrossEncoderReranker("org/mini")
    entered, ended = threading.Event(), threading.Event()

    def slow(pairs: list[tuple[str, str]], **_: object) -> np.ndarray:
        if threading.current_thread() is not threading.main_thread():
            entered.set()
            assert ended.wait(60)
        return np.ones(len(pairs))

    reranker._model.predict = slow
    thread = threading.Thread(target=reranker, args=("q", ["a"]))
    thread.start()
    assert entered.wait(30)
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(20)  # ends a child that waits for ever
            reranker("q", ["a"])
        finally:
            os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    ended.set()
    thread.join()
    assert code == 0


def test_a_classifier_of_several_labels_is_refused(reranker: CrossEncoderReranker) -> None:
    reranker._model.predict = lambda pairs, **_: np.zeros((len(pairs), 3))
    with pytest.raises(ValueError, match=r"model: expected one score a pair, shape \(2,\)"):
        reranker("q", ["a", "b"])


class FakeEncoding:
    def __init__(self, query: str, text: str, limit: int) -> None:
        self.ids = [ord(c) for c in query + text][:limit]
        self.attention_mask = [1] * len(self.ids)
        self.type_ids = ([0] * len(query) + [1] * len(text))[:limit]


class FakeTokenizer:
    limit = 0

    @classmethod
    def from_file(cls, path: str) -> FakeTokenizer:
        assert path.endswith("tokenizer.json")
        return cls()

    def enable_truncation(self, limit: int) -> None:
        self.limit = limit

    def no_padding(self) -> None:
        self.is_padded = False

    def encode_batch(self, pairs: list[tuple[str, str]]) -> list[FakeEncoding]:
        return [FakeEncoding(query, text, self.limit) for query, text in pairs]


class FakeSession:
    """Scores a pair by the tokens of its text, padding left out."""

    shapes: list[tuple[int, ...]] = []  # noqa: RUF012 (a record for the test)

    def __init__(self, path: str, options: Any, providers: list[str]) -> None:
        assert path.endswith("model.onnx")
        assert providers == ["CPUExecutionProvider"]
        assert options.intra_op_num_threads == 2

    def get_inputs(self) -> list[object]:
        names = "input_ids", "attention_mask", "token_type_ids"
        return [types.SimpleNamespace(name=name) for name in names]

    def get_outputs(self) -> list[object]:
        return [types.SimpleNamespace(name="logits")]

    def run(self, outputs: list[str], feed: dict[str, np.ndarray]) -> list[np.ndarray]:
        assert outputs == ["logits"]
        self.shapes.append(feed["input_ids"].shape)
        return [(feed["token_type_ids"] * feed["attention_mask"]).sum(axis=1, keepdims=True) / 4]


def test_an_onnx_cross_encoder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stand_in(
        monkeypatch,
        "onnxruntime",
        InferenceSession=FakeSession,
        SessionOptions=types.SimpleNamespace,
    )
    stand_in(monkeypatch, "tokenizers", Tokenizer=FakeTokenizer)
    monkeypatch.setattr(FakeSession, "shapes", [])
    for file in ("model.onnx", "tokenizer.json"):
        (tmp_path / file).write_bytes(b"")
    reranker = OnnxReranker(tmp_path, batch_size=2, max_tokens=6, threads=2)
    assert reranker("qq", ["long text", "a", "bcd"]).tolist() == [1.0, 0.25, 0.75]
    assert FakeSession.shapes == [(2, 5), (1, 6)]  # by length, each batch to its own longest
    assert reranker("qq", []).shape == (0,)
    with pytest.raises(ValueError, match="threads: must be in 1 to 256, got 0"):
        OnnxReranker(tmp_path, threads=0)
    (tmp_path / "tokenizer.json").unlink()
    with pytest.raises(FileNotFoundError, match=r"tokenizer\.json"):
        OnnxReranker(tmp_path)


class FakeVocabulary:
    """A tokenizer of letters, each with its place in the alphabet as its number."""

    @classmethod
    def from_file(cls, _: str) -> FakeVocabulary:
        return cls()

    def enable_truncation(self, limit: int) -> None:
        self.limit = limit

    def no_padding(self) -> None:
        pass

    def get_vocab(self) -> dict[str, int]:
        return {chr(number): number for number in (33, *range(97, 123))}

    def encode_batch(self, texts: list[str]) -> list[Any]:
        return [
            types.SimpleNamespace(
                ids=(ids := [ord(letter) for letter in text[: self.limit]]),
                attention_mask=[1] * len(ids),
                type_ids=[0] * len(ids),
            )
            for text in texts
        ]


class FakeLetters(FakeSession):
    """Gives each letter its own direction."""

    def run(self, outputs: list[str], feed: dict[str, np.ndarray]) -> list[np.ndarray]:
        assert outputs == ["logits"]
        self.shapes.append(feed["input_ids"].shape)
        return [2.0 * np.eye(128)[feed["input_ids"]]]


def test_late_interaction_in_onnx(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stand_in(
        monkeypatch,
        "onnxruntime",
        InferenceSession=FakeLetters,
        SessionOptions=types.SimpleNamespace,
    )
    stand_in(monkeypatch, "tokenizers", Tokenizer=FakeVocabulary)
    monkeypatch.setattr(FakeSession, "shapes", [])
    for file in ("model.onnx", "tokenizer.json"):
        (tmp_path / file).write_bytes(b"")
    late = OnnxLateInteraction(tmp_path, batch_size=2, max_tokens=4, threads=2)
    texts = ["cab!", "xa", "", "abcdefg"]
    scores = late("ab!", texts)  # the query's own punctuation counts
    np.testing.assert_array_equal(scores, [2.0, 1.0, np.nan, 2.0])
    assert FakeSession.shapes == [(1, 3), (2, 2), (2, 4)]  # by length, and cut
    np.testing.assert_array_equal(late("ab!", texts), scores)
    assert FakeSession.shapes[3:] == [(1, 3)]
    assert late.cached_texts == 4
    judgement = judge(late, "", texts, LONG)  # a query without tokens
    assert (judgement.scores, judgement.reason) == (None, "no score is a finite number")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda _: CrossEncoderReranker("m"), r"pip install 'oneiros\[sentence-transformers\]'"),
        (OnnxReranker, r"onnxruntime is not installed; run: pip install 'oneiros\[onnx\]'"),
    ],
    ids=["sentence-transformers", "onnx"],
)
def test_a_missing_package_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, make: Any, message: str
) -> None:
    for file in ("model.onnx", "tokenizer.json"):
        (tmp_path / file).write_bytes(b"")
    names = ("sentence_transformers", "onnxruntime", "tokenizers")

    class Blocker:
        @staticmethod
        def find_spec(name: str, *_: object) -> None:
            if name in names:
                msg = f"No module named {name!r}"
                raise ModuleNotFoundError(msg, name=name)

    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(sys, "meta_path", [Blocker, *sys.meta_path])
    with pytest.raises(ImportError, match=message):
        make(tmp_path)
