"""Models of a few words in ONNX, written by hand: a cross-encoder and token vectors."""

from __future__ import annotations

from pathlib import Path

import numpy as np

__all__ = ["VOCABULARY", "write_cross_encoder", "write_token_model"]

VOCABULARY = {
    token: number
    for number, token in enumerate(
        (
            *("[UNK]", "[CLS]", "[SEP]", "[MASK]", "[Q]", "[D] ", ".", "coffee", "black", "tea"),
            *("green", "milk", "deploy", "friday", "late", "strong"),
        )
    )
}


def write_cross_encoder(folder: Path, file: str = "model.onnx", outputs: int = 1) -> Path:
    """Write a model whose score is the number of tokens of the second text, black counting ten.

    Args:
        folder: made if need be.
        file: the model's name.
        outputs: numbers per pair; a cross-encoder for reranking has one.
    """
    import onnx  # noqa: PLC0415 (optional)
    from onnx import TensorProto, helper, numpy_helper  # noqa: PLC0415

    weights = np.ones((len(VOCABULARY), outputs), np.float32)
    weights[VOCABULARY["[SEP]"]] = 0.0
    weights[VOCABULARY["black"]] = 10.0
    ints = TensorProto.INT64
    names = ("input_ids", "attention_mask", "token_type_ids")
    graph = helper.make_graph(
        [
            helper.make_node("Gather", ["weights", "input_ids"], ["of_tokens"]),
            helper.make_node("Mul", ["token_type_ids", "attention_mask"], ["is_second"]),
            helper.make_node("Cast", ["is_second"], ["shares"], to=TensorProto.FLOAT),
            helper.make_node("Unsqueeze", ["shares", "last"], ["column"]),
            helper.make_node("Mul", ["of_tokens", "column"], ["counted"]),
            helper.make_node("ReduceSum", ["counted", "middle"], ["logits"], keepdims=0),
        ],
        "pairs",
        [helper.make_tensor_value_info(name, ints, ["n", "t"]) for name in names],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", outputs])],
        [
            numpy_helper.from_array(weights, "weights"),
            numpy_helper.from_array(np.array([2]), "last"),
            numpy_helper.from_array(np.array([1]), "middle"),
        ],
    )
    return _write(graph, folder, file, onnx)


def write_token_model(folder: Path, file: str = "model.onnx") -> Path:
    """Write a model that gives each word its own direction; coffee and tea are near each other."""
    import onnx  # noqa: PLC0415 (optional)
    from onnx import TensorProto, helper, numpy_helper  # noqa: PLC0415

    size = len(VOCABULARY)
    table = np.eye(size, dtype=np.float32) * 3.0
    table[VOCABULARY["tea"]] = 0.6 * table[VOCABULARY["coffee"]] + 0.8 * table[VOCABULARY["tea"]]
    names = ("input_ids", "attention_mask")
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "input_ids"], ["vectors"])],
        "tokens",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["n", "t"]) for name in names],
        [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["n", "t", size])],
        [numpy_helper.from_array(table, "table")],
    )
    return _write(graph, folder, file, onnx)


def _write(graph: object, folder: Path, file: str, onnx: object) -> Path:
    import tokenizers  # noqa: PLC0415 (optional)

    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    helper = onnx.helper  # type: ignore[attr-defined]
    opset = helper.make_opsetid("", 17)
    onnx.save(helper.make_model(graph, opset_imports=[opset], ir_version=8), path)  # type: ignore[attr-defined]
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(VOCABULARY, unk_token="[UNK]"))
    tokenizer.normalizer = tokenizers.normalizers.Lowercase()
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(token, VOCABULARY[token]) for token in ("[CLS]", "[SEP]")],
    )
    tokenizer.add_special_tokens(["[CLS]", "[SEP]", "[MASK]"])
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder
