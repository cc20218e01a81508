"""The recipe for rerankers end to end: real runtime, models of a few words written by hand."""

from __future__ import annotations

import re
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import oneiros
from oneiros import profiles
from oneiros.models.late_interaction import max_sim
from oneiros.models.onnx import OnnxEmbedder, OnnxLateInteraction, OnnxReranker
from oneiros.scoring.stages import Reranking
from tests.models.tiny_onnx import VOCABULARY, write_cross_encoder, write_token_model

REASON = "needs onnx, onnxruntime and tokenizers: pip install 'oneiros[onnx]' onnx"
pytest.importorskip("onnx", reason=REASON)
pytest.importorskip("onnxruntime", reason=REASON)
pytest.importorskip("tokenizers", reason=REASON)

TEXTS = ["coffee", "tea green", "black coffee with milk", "deploy friday", "strong coffee ."]
PAGE = Path(__file__).parents[2] / "docs" / "guide" / "reranking.md"


@pytest.fixture
def engine() -> oneiros.Engine:
    engine = oneiros.Engine(":memory:", clock=lambda: 1_750_000_000.0)
    for place, text in enumerate(TEXTS):
        engine.add(text, id=f"m{place}")
    return engine


def score(text: str) -> float:
    """Return the cross-encoder's score of a text, by its rule."""
    return float(sum(10 if word == "black" else 1 for word in text.split()))


def test_results_are_reordered_as_the_cross_encoder_says(
    engine: oneiros.Engine, tmp_path: Path
) -> None:
    reranker = OnnxReranker(write_cross_encoder(tmp_path), batch_size=2)
    scores = reranker("coffee", TEXTS)
    assert scores.tolist() == [score(text) for text in TEXTS]
    plain = engine.search("coffee", reinforce=False)
    ranked = engine.search("coffee", reinforce=False, reranker=reranker)
    want = sorted(plain.ids, key=lambda id: -score(TEXTS[int(id[1:])]))
    assert ranked.ids == want != plain.ids
    assert ranked.ids[0] == "m2"


def test_late_interaction_scores_are_those_of_its_formula(tmp_path: Path) -> None:
    late = OnnxLateInteraction(write_token_model(tmp_path), batch_size=2)
    table = np.eye(len(VOCABULARY))
    table[VOCABULARY["tea"]] = 0.6 * table[VOCABULARY["coffee"]] + 0.8 * table[VOCABULARY["tea"]]

    def vectors(text: str, skipped: str = "") -> np.ndarray:
        words = ["[CLS]", *(word for word in text.split() if word not in skipped), "[SEP]"]
        return table[[VOCABULARY.get(word, 0) for word in words]]

    want = max_sim(vectors("black coffee ."), [vectors(text, ".") for text in TEXTS])
    np.testing.assert_allclose(late("black coffee .", TEXTS), want, atol=1e-3)
    assert late("coffee", []).shape == (0,)


def test_results_are_reordered_by_late_interaction(engine: oneiros.Engine, tmp_path: Path) -> None:
    late = OnnxLateInteraction(write_token_model(tmp_path))
    response = engine.search("strong coffee", reinforce=False, reranker=late)
    scores = late("strong coffee", [result.memory.text for result in response])
    assert scores.tolist() == sorted(scores.tolist(), reverse=True)
    assert response.ids[0] == "m4"


def test_token_vectors_are_computed_once_a_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = OnnxLateInteraction(write_token_model(tmp_path))
    ran: list[int] = []
    run = late._model.forward

    def counted(given: list[str], **options: Any) -> Any:
        ran.append(len(given))
        return run(given, **options)

    monkeypatch.setattr(late._model, "forward", counted)
    first = late("coffee", [*TEXTS, TEXTS[0]])
    assert ran == [1, len(TEXTS)]
    assert late("coffee", [*TEXTS, TEXTS[0]]).tolist() == first.tolist()
    assert ran == [1, len(TEXTS), 1]  # only the query again
    assert late.precompute(["late", "late", *TEXTS]) == 1
    assert late.cached_texts == len(TEXTS) + 1
    tokens = sum(len([word for word in text.split() if word != "."]) + 2 for text in TEXTS) + 3
    size = 2 * len(VOCABULARY) * tokens + len("".join([*TEXTS, "late"]))
    assert late.cached_bytes == size
    uncached = OnnxLateInteraction(tmp_path, cache_bytes=0)
    assert uncached("coffee", [*TEXTS, TEXTS[0]]).tolist() == first.tolist()
    assert uncached.cached_bytes == 0


def test_queries_are_marked_and_filled(tmp_path: Path) -> None:
    folder = write_token_model(tmp_path)
    late = OnnxLateInteraction(folder, query_marker="[Q]", text_marker="[D] ", query_tokens=8)
    ids = []
    run = late._model.forward

    def noted(given: list[str], **options: Any) -> Any:
        batch = run(given, **options)
        ids.append(batch.ids[0].tolist())
        return batch

    late._model.forward = noted  # type: ignore[method-assign]
    (scored,) = late("Tea", ["green tea"]).tolist()
    names = list(VOCABULARY)
    assert [names[number] for number in ids[0]] == [
        *("[CLS]", "[Q]", "tea", "[SEP]"),
        *["[MASK]"] * 4,
    ]
    assert [names[number] for number in ids[1]] == ["[CLS]", "[D] ", "green", "tea", "[SEP]"]
    assert scored == pytest.approx(3.0, abs=1e-3)  # [CLS], tea and [SEP]; the rest has no match


def test_a_model_may_have_another_name(tmp_path: Path) -> None:
    write_cross_encoder(tmp_path, "onnx/model_quantized.onnx")
    assert OnnxReranker(tmp_path, file="onnx/model_quantized.onnx")("q", ["tea"]).tolist() == [1.0]
    with pytest.raises(FileNotFoundError, match=r"folder: .*model\.onnx is missing"):
        OnnxReranker(tmp_path)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"query_marker": "[X]"}, ValueError, r"query_marker: must be among .*, got '\[X\]'"),
        ({"text_marker": "[X]"}, ValueError, r"text_marker: must be among .*, got '\[X\]'"),
        ({"query_tokens": 0}, ValueError, r"query_tokens: must be in 1 to 512, got 0"),
        ({"cache_bytes": -1}, ValueError, r"cache_bytes: must be in 0 to \d+, got -1"),
        ({"cache_bytes": 1.5}, TypeError, r"cache_bytes: "),
        ({"skip_punctuation": 1}, TypeError, r"skip_punctuation: must be True or False, got 1"),
        ({"batch_size": 0}, ValueError, r"batch_size: must be >= 1, got 0"),
        ({"batch_size": "8"}, TypeError, r"batch_size: "),
        ({"max_tokens": 1}, ValueError, r"max_tokens: must be >= 2, got 1"),
    ],
)
def test_wrong_options_are_named(
    tmp_path: Path, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        OnnxLateInteraction(write_token_model(tmp_path), **options)


def test_models_of_another_form_are_named(engine: oneiros.Engine, tmp_path: Path) -> None:
    labels = OnnxReranker(write_cross_encoder(tmp_path / "labels", outputs=3))
    with pytest.raises(ValueError, match=r"expected one score a pair, shape \(1,\), got \(1, 3\)"):
        labels("q", ["tea"])
    late = OnnxLateInteraction(tmp_path / "labels")
    with pytest.raises(ValueError, match=r"model\.onnx: expected output of shape \(1, 3, 'd'\)"):
        late("tea", ["tea"])
    plain = engine.search("coffee", reinforce=False)
    failed = engine.search("coffee", reinforce=False, reranker=labels)
    assert failed.ids == plain.ids
    assert failed.trace is not None
    assert "expected one score a pair" in failed.trace.stages[-1].note


def test_other_inputs_are_named(tmp_path: Path) -> None:
    import onnx  # noqa: PLC0415 (optional)

    folder = write_token_model(tmp_path)
    model = onnx.load(folder / "model.onnx")
    model.graph.input[1].name = "mask"
    onnx.save(model, folder / "model.onnx")
    with pytest.raises(
        ValueError, match=r"model\.onnx: expected inputs among .*got input_ids, mask"
    ):
        OnnxEmbedder(folder)


def test_a_late_model_leaves_the_order_as_it_was(engine: oneiros.Engine, tmp_path: Path) -> None:
    model = OnnxReranker(write_cross_encoder(tmp_path))

    def slow(query: str, texts: list[str]) -> np.ndarray:
        has_response.wait(60)
        return model(query, texts)

    has_response = threading.Event()
    plain = engine.search("coffee", reinforce=False)
    late = engine.search("coffee", reinforce=False, reranker=slow, deadline=0.02)
    has_response.set()
    assert late.ids == plain.ids
    assert late.trace is not None
    assert "no answer within" in late.trace.stages[-1].note


def test_depth_is_the_profiles(engine: oneiros.Engine, tmp_path: Path) -> None:
    model = OnnxReranker(write_cross_encoder(tmp_path))
    seen: list[int] = []

    def counted(query: str, texts: list[str]) -> np.ndarray:
        seen.append(len(texts))
        return model(query, texts)

    for top in (1, 2):
        profile = profiles.get("oneiros").replace(name="deep", rerank=Reranking(top=top))
        engine.search("coffee", reinforce=False, reranker=counted, profile=profile)
    assert seen == [1, 2]


def test_the_code_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_cross_encoder(Path("models/cross-encoder"))
    write_token_model(Path("models/late"))
    blocks = re.findall(
        r"^```py\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    assert len(blocks) >= 3
    namespace: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), namespace)  # noqa: S102 - our own page
    assert isinstance(namespace["cross"], OnnxReranker)
    assert isinstance(namespace["late"], OnnxLateInteraction)
    assert namespace["late"].cached_texts > 0
