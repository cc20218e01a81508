"""The ONNX adapter with the real runtime and a model of three words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from oneiros.models.onnx import OnnxEmbedder

REASON = "needs onnx, onnxruntime and tokenizers: pip install 'oneiros[onnx]' onnx"
onnx = pytest.importorskip("onnx", reason=REASON)
pytest.importorskip("onnxruntime", reason=REASON)
tokenizers = pytest.importorskip("tokenizers", reason=REASON)

VOCABULARY = {"[UNK]": 0, "coffee": 1, "black": 2}
TABLE = np.array([[0, 0, 1], [3, 0, 0], [0, 4, 0]], np.float32)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model that looks each token up in a table."""
    from onnx import TensorProto, helper, numpy_helper  # noqa: PLC0415 (optional)

    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])],
        "lookup",
        [
            helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["n", "t"]),
            helper.make_tensor_value_info("attention_mask", TensorProto.INT64, ["n", "t"]),
        ],
        [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["n", "t", 3])],
        [numpy_helper.from_array(TABLE, "table")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, tmp_path / "model.onnx")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(VOCABULARY, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    return tmp_path


def test_a_real_model_gives_mean_and_unit_vectors(folder: Path) -> None:
    embedder = OnnxEmbedder(folder)
    vectors = embedder(["coffee", "black coffee", "tea", ""])
    want = [[1, 0, 0], [0.6, 0.8, 0], [0, 0, 1], [0, 0, 0]]
    np.testing.assert_allclose(vectors, want, atol=1e-6)
    np.testing.assert_array_equal(embedder(["coffee"]), vectors[:1])
