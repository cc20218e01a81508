"""Embedders by name: what each name makes, and what is said of one that cannot be made."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import numpy as np
import pytest

import oneiros
from oneiros.models import HashingEmbedder, named
from oneiros.models.embedders import name_of


@pytest.mark.parametrize(("name", "dimensions"), [("hashing", 512), ("hashing:64", 64)])
def test_the_box_needs_no_model(name: str, dimensions: int) -> None:
    embedder = named.make(name)
    assert isinstance(embedder, HashingEmbedder)
    assert embedder.dimensions == dimensions
    assert named.make(named.is_of_the_box(name_of(embedder)) or "").name == embedder.name  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "recorded",
    [None, "", "model2vec/x", "oneiros/hashing-0-512", "oneiros/hashing-1-x", "oneiros/hashing-"],
)
def test_other_recorded_names_are_not_of_the_box(recorded: str | None) -> None:
    assert named.is_of_the_box(recorded) is None


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "embedder: must be a callable .* or one of 'hashing', .*, got ''"),
        ("minilm", "got 'minilm'"),
        ("hashing:", "got 'hashing:'"),
        ("onnx:", "got 'onnx:'"),
        ("onnx", "got 'onnx'"),
        ("hashing:many", "'hashing:' needs a number of dimensions, got 'many'"),
        ("hashing:3", "embedder: 'hashing:3': dimensions: must be "),
    ],
)
def test_a_name_that_is_none_is_refused(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        named.make(name)
    with pytest.raises(ValueError, match=message):
        oneiros.Engine(":memory:", embedder=name)


class StaticModel:
    dim = 3

    def __init__(self, path: str) -> None:
        self.path = path

    @classmethod
    def from_pretrained(cls, path: str) -> StaticModel:
        return cls(path)

    def encode(self, texts: list[str]) -> np.ndarray:
        return np.array([[len(text), 1, 0] for text in texts], np.float32)


def test_static_takes_the_model_at_hand(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    module = types.ModuleType("model2vec")
    vars(module)["StaticModel"] = StaticModel
    monkeypatch.setitem(sys.modules, "model2vec", module)
    folder = tmp_path / "potion"
    monkeypatch.delenv(named.STATIC_MODEL, raising=False)
    with pytest.raises(
        ValueError, match=r"'static' needs .*'static:FOLDER', or set ONEIROS_STATIC"
    ):
        named.make("static")
    monkeypatch.setenv(named.STATIC_MODEL, str(folder))
    for name in ("static", f"static:{folder}", f"model2vec:{folder}"):
        embedder = named.make(name)
        assert name_of(embedder) == "model2vec/potion"
        assert np.shape(embedder(["ab", "c"])) == (2, 3)
    with oneiros.Engine(":memory:", embedder="static") as engine:
        engine.add("ab")
        assert engine.stats()["embedder"] == "model2vec/potion"


def test_static_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "model2vec", None)
    with pytest.raises(ImportError, match=r"pip install 'oneiros\[model2vec\]'"):
        named.make("static:somewhere")
    with pytest.raises(ImportError, match=r"pip install 'oneiros\[model2vec\]'"):
        oneiros.Engine(":memory:", embedder="static:somewhere")
