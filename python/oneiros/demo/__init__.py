"""Data of the demo: a year in the life of a software team's assistant.

Written for Oneiros, under its licence. Files in this folder:

- ``memories.jsonl``: one record per line, with fields of :class:`oneiros.Memory`
- ``questions.jsonl``: one judged question per line, see :class:`DemoQuestion`
- ``memories.f16.npy``, ``questions.f16.npy``: their vectors (all-MiniLM-L6-v2, 384 wide, unit
  length, float16), row i for line i of the file of that name
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any

from oneiros.evaluation.collection import read_vectors
from oneiros.runtime.dataclasses import dataclass

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    import numpy as np
    import numpy.typing as npt

__all__ = ["ASKED_IN", "QUESTION_TYPES", "DemoData", "DemoQuestion", "load"]

QUESTION_TYPES = (
    "exact_term",
    "paraphrase",
    "time_bound",
    "superseded",
    "unanswerable",
    "multilingual",
    "preference",
    "multi_hop",
)

SHOWN = ("q025", "q005", "q109", "q057", "q129", "q124")
ASKED_IN = {"q124": "Undertow"}
"""Shown question -> the project to search."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoQuestion:
    """A question with judged answers; fits :func:`oneiros.evaluation.run.evaluate`."""

    id: str
    text: str
    type: str
    """One of :data:`QUESTION_TYPES`."""
    answers: Mapping[str, float]
    """Memory id -> grade, 2 for the answer itself, 1 for a helpful one; empty if unanswerable."""
    now: str
    """Time of the search: ISO 8601 with offset."""
    where: Mapping[str, Any] | None
    """Filter in the JSON form of :func:`oneiros.where`, None for all memories."""
    note: str
    """Reason for the judgements."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoData:
    """All data of the demo, in the order of the files."""

    memories: Sequence[dict[str, Any]]
    """Records for :meth:`oneiros.Engine.add_many`, without vectors."""
    questions: Sequence[DemoQuestion]
    memory_vectors: npt.NDArray[np.float32]
    """Shape (memories, 384); unit length up to float16."""
    question_vectors: npt.NDArray[np.float32]
    """Shape (questions, 384); unit length up to float16."""

    def shown(self) -> list[DemoQuestion]:
        """Return a few questions of different types; the last has no answer."""
        by_id = {question.id: question for question in self.questions}
        return [by_id[id] for id in SHOWN]

    def vector_of(self, question: DemoQuestion) -> npt.NDArray[np.float32]:
        """Return a question's vector, shape (384,)."""
        vector: npt.NDArray[np.float32] = self.question_vectors[self.questions.index(question)]
        return vector

    def records(self) -> list[dict[str, Any]]:
        """Return the memories, with vectors under ``embedding``."""
        pairs = zip(self.memories, self.memory_vectors, strict=True)
        return [{**record, "embedding": vector} for record, vector in pairs]


def load() -> DemoData:
    """Read the data shipped with the package.

    Raises:
        FileNotFoundError: the package was installed without its data.
        ValueError: a file does not have the layout in the module's docstring.
    """
    home = resources.files(__name__)
    memories = [json.loads(line) for line in _lines(home / "memories.jsonl")]
    questions = [_question(json.loads(line)) for line in _lines(home / "questions.jsonl")]
    return DemoData(
        memories=memories,
        questions=questions,
        memory_vectors=_vectors(home / "memories.f16.npy", len(memories)),
        question_vectors=_vectors(home / "questions.f16.npy", len(questions)),
    )


def _lines(file: Traversable) -> list[str]:
    # Not splitlines(): that would also cut at U+2028 and other separators inside a JSON string.
    return [line for line in file.read_text(encoding="utf-8").split("\n") if line.strip()]


def _question(line: Mapping[str, Any]) -> DemoQuestion:
    return DemoQuestion(
        id=line["id"],
        text=line["text"],
        type=line["type"],
        answers={id: float(grade) for id, grade in line["answers"].items()},
        now=line["now"],
        where=line.get("where") or None,
        note=line.get("note") or "",
    )


def _vectors(file: Traversable, rows: int) -> npt.NDArray[np.float32]:
    with resources.as_file(file) as path:
        return read_vectors(path, rows=rows)
