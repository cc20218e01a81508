"""The embedder in the box: what is similar, the same bits everywhere, and its name in a store."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import threading
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oneiros
from oneiros.models import HashingEmbedder, hashing
from oneiros.models.embedders import Embedder, check, name_of

TEXTS = [
    "Ada likes her coffee black",
    "src/net/pool.py: ERR_CONN-42, seen on 2025-06-01!",
    "Crème brûlée in ein Straßencafé, Œuvre Ⅷ ﬁn",
    "東京都の天気 Москва שלום",
    "the the the of",
    "",
    "…",
    "a" * 200,
]
DIGEST = "1be329980195693e2739dc8078d45bd0814a6a266a8c2a5015c1eb5b19e58063"
"""Of the bytes of the vectors of TEXTS, with every version of Python, on every machine."""


def cosine(one: str, other: str) -> float:
    first, second = HashingEmbedder()([one, other])
    return float(first @ second)


def test_vectors_have_the_bits_that_every_machine_gives() -> None:
    vectors = HashingEmbedder()(TEXTS)
    assert vectors.shape == (len(TEXTS), 512)
    assert vectors.dtype == np.float32
    assert hashlib.sha256(vectors.astype("<f4").tobytes()).hexdigest() == DIGEST


def test_another_process_with_other_string_hashes_gives_the_same() -> None:
    code = (
        "import sys, json; from oneiros.models import HashingEmbedder; "
        "sys.stdout.buffer.write(HashingEmbedder()(json.load(sys.stdin)).tobytes())"
    )
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            input=json.dumps(TEXTS).encode(),
            capture_output=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
        )
        assert done.stdout == HashingEmbedder()(TEXTS).tobytes()


@pytest.mark.parametrize(
    ("one", "near", "far"),
    [
        ("restaurant", "resturant", "bicycle"),  # a letter is missing
        ("recieve the parcel", "receive the parcel", "send the letter"),  # two changed places
        ("Donaudampfschiff", "Dampfschifffahrt", "Fahrrad"),  # a compound
        ("organisation", "organizational", "magazine"),  # spelled by another custom
        ("connection pool", "ConnectionPool", "thread safety"),  # an identifier
        ("CAFÉ", "cafe", "carpet"),  # letters folded
        ("cafe\u0301", "café", "carpet"),  # an accent apart from its letter
        ("京都の天気", "東京都の天気予報", "大阪城公園"),  # no spaces
    ],
)
def test_texts_that_share_parts_of_words_are_near(one: str, near: str, far: str) -> None:
    assert cosine(one, near) > 0.3 > cosine(one, far)


def test_function_words_count_little() -> None:
    assert cosine("where is the invoice", "where is the bicycle") < 0.3
    assert cosine("where is the invoice", "invoice") > 0.9
    assert np.linalg.norm(HashingEmbedder()(["where is the"])) == pytest.approx(1.0)


def test_unrelated_texts_share_one_component() -> None:
    assert cosine("zebra", "quilt") == pytest.approx(1 / 11, abs=0.1)
    assert HashingEmbedder()(["zebra", "quilt"])[:, -1] == pytest.approx([(1 / 11) ** 0.5] * 2)
    assert not HashingEmbedder()(["…"]).any()


def test_a_word_counts_by_its_frequency() -> None:
    rare, often = cosine("tea", "tea coffee"), cosine("tea", "tea tea tea tea coffee")
    assert rare < often < 1.0


@given(st.lists(st.text(max_size=40), max_size=6), st.sampled_from([16, 100, 512]))
def test_each_text_has_a_unit_vector_whatever_stands_beside_it(
    texts: list[str], dimensions: int
) -> None:
    embedder = HashingEmbedder(dimensions)
    vectors = check(embedder(texts), len(texts), dimensions) if texts else embedder(texts)
    assert vectors.shape == (len(texts), dimensions)
    for text, vector in zip(texts, vectors, strict=True):
        np.testing.assert_array_equal(HashingEmbedder(dimensions)([text])[0], vector)
        has_word = any(
            c.isalnum() for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)
        )
        if has_word:
            # Of collisions with opposite signs, a zero vector could come; none is this unlucky.
            assert np.linalg.norm(vector) == pytest.approx(1.0, rel=1e-6)


def test_a_full_cache_changes_no_vector(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashing, "_MOST_CACHED", 8)
    embedder = HashingEmbedder()
    words = [f"word{number} word{number // 2}" for number in range(40)]
    for text in words:
        np.testing.assert_array_equal(embedder([text]), HashingEmbedder()([text]))
        assert len(embedder._known) <= 8
    np.testing.assert_array_equal(embedder(words), HashingEmbedder()(words))


def test_threads_share_an_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashing, "_MOST_CACHED", 64)
    embedder = HashingEmbedder()
    texts = [f"alpha{number} beta{number % 7} gamma" for number in range(300)]
    want = HashingEmbedder()(texts)
    made = np.zeros_like(want)

    def run(first: int) -> None:
        for number in range(first, len(texts), 4):
            made[number] = embedder([texts[number]])[0]

    threads = [threading.Thread(target=run, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(made, want)


@pytest.mark.parametrize(
    ("dimensions", "error", "message"),
    [
        (15, ValueError, "dimensions: must be "),
        (8193, ValueError, "dimensions: must be "),
        (512.0, TypeError, "dimensions: "),
        (True, TypeError, "dimensions: "),
    ],
)
def test_another_number_of_dimensions_is_refused(
    dimensions: object, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        HashingEmbedder(dimensions)  # type: ignore[arg-type]


def test_a_store_remembers_the_name(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    assert isinstance(HashingEmbedder(), Embedder)
    assert name_of(HashingEmbedder(256)) == "oneiros/hashing-1-256"
    with oneiros.Engine(path, embedder="hashing") as engine:
        engine.add("The restaurant opens at nine", id="open")
        engine.add("Bicycles are repaired on Mondays", id="bike")
        response = engine.search("resturant", k=1, explain=True)
        assert response.ids == ["open"]
        assert {c.name: c.rank for c in response.results[0].explanation.channels}["vector"] == 1
        assert engine.stats()["embedder"] == "oneiros/hashing-1-512"
    with oneiros.Engine(path, embedder=HashingEmbedder(512)) as engine:
        assert engine.search("resturant", k=1).ids == ["open"]

    def other(texts: list[str]) -> np.ndarray:
        return np.ones((len(texts), 512))

    with pytest.raises(oneiros.EmbedderMismatch, match="were made by 'oneiros/hashing-1-512'"):
        oneiros.Engine(path, embedder=other)
    with pytest.raises(oneiros.EmbedderMismatch, match="hashing-1-1024"):
        oneiros.Engine(path, embedder="hashing:1024")
    with pytest.warns(oneiros.MissingEmbedderWarning, match="hashing-1-512"):
        oneiros.Engine(path).close()


def test_reembed_takes_a_name() -> None:
    with oneiros.Engine(":memory:") as engine:
        engine.add("The restaurant opens at nine", id="open")
        assert engine.reembed("hashing:128") == 1
        assert engine.stats()["embedder"] == "oneiros/hashing-1-128"
        assert engine.search("resturant", k=1).ids == ["open"]
        with pytest.raises(ValueError, match="embedder: must be a callable"):
            engine.reembed("nothing")
