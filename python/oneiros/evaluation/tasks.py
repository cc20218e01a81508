"""Measurement of profiles through the engine: add a task's memories, then search its queries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from oneiros.demo import load
from oneiros.display.counts import count_of
from oneiros.engine import Engine
from oneiros.evaluation.run import Report, evaluate
from oneiros.filters import Where, where
from oneiros.runtime.dataclasses import dataclass
from oneiros.scoring import profiles
from oneiros.scoring.channels import LexicalChannel, VectorChannel
from oneiros.scoring.fusion import ReciprocalRankFusion
from oneiros.scoring.profile import Profile
from oneiros.scoring.profiles import plain

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from oneiros.evaluation.collection import Collection, Document, Query
    from oneiros.models.embedders import Embedder

__all__ = [
    "BASELINES",
    "DEPTH",
    "RECALL_DEPTHS",
    "JudgedQuery",
    "Task",
    "demo_task",
    "engine_in_memory",
    "is_as_of",
    "measure",
    "ranked",
    "system_names",
    "task_of",
]


_WORDS: Final = LexicalChannel(k1=1.2, b=0.75)
_RANKS: Final = ReciprocalRankFusion(k=60.0)

BASELINES: Final = {
    "bm25": Profile(name="bm25", channels=(_WORDS,), fusion=_RANKS),
    "dense": Profile(name="dense", channels=(VectorChannel(),), fusion=_RANKS),
    "rrf": Profile(name="rrf", channels=(_WORDS, VectorChannel()), fusion=_RANKS),
}
"""By name. Each is channels and fusion only; a single channel keeps its order."""


def system_names() -> list[str]:
    """Return the names of the profiles compared with the baselines: all but the plain ones."""
    plain_names = {profile.name for profile in plain.PROFILES}
    return [name for name in profiles.names() if name not in plain_names]


DEPTH: Final = 20
"""Number of results per search: the depth of the MRR."""

RECALL_DEPTHS: Final = (5, 10, 20)

STANDSTILL: Final = 1_700_000_000.0
"""Clock of a collection without timestamps: every memory and query has this time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedQuery:
    """A question as passed to the engine, with its judgements."""

    id: str
    type: str
    text: str
    answers: Mapping[str, float]
    """Memory id -> grade; above 0 is relevant."""
    embedding: npt.NDArray[np.float32] | None
    now: float | str
    """Time of the search."""
    where: Where | None
    """Memories to search; None: all."""
    group: str | None = None
    """Project whose scope is searched, with that scope's own statistics; None: the whole store."""
    exclude: tuple[str, ...] = ()
    """Ids of memories that are never returned."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Task:
    """Memories, and questions about them."""

    name: str
    records: Sequence[Mapping[str, Any]]
    """Records for :meth:`oneiros.Engine.add_many`."""
    questions: Sequence[JudgedQuery]
    analyzer: str = "english"
    """Name of the analyzer of its texts and questions (:data:`oneiros.analyzers.NAMES`)."""
    embedder: Embedder | None = None
    """Made the vectors, where that is known."""

    def __repr__(self) -> str:
        records = count_of(len(self.records), "record")
        return f"<Task {self.name!r}: {records}, {count_of(len(self.questions), 'question')}>"


def engine_in_memory(profile: Profile, analyzer: str, embedder: Embedder | None = None) -> Engine:
    """Return an empty engine whose vector searches are exact."""
    return Engine(
        ":memory:", profile=profile, analyzer=analyzer, embedder=embedder, vector_index="flat"
    )


def measure(task: Task, profile: Profile, advance: Callable[[int], None] | None = None) -> Report:
    """Search for every question of a task under one profile, in a new engine in memory.

    Searches do not reinforce memories, so the order of questions does not matter.

    Args:
        task: memories and questions.
        profile: determines the ranking; the index uses its k1 and b.
        advance: called with 1 after each question.

    Returns:
        nDCG@10, recall@5, @10 and @20, and MRR@20, overall and by type of question.
    """
    with engine_in_memory(profile, task.analyzer, task.embedder) as engine:
        engine.add_many(task.records)

        def search(question: JudgedQuery) -> list[str]:
            ids = ranked(engine, question)
            if advance is not None:
                advance(1)
            return ids

        return evaluate(search, task.questions, recall_depths=RECALL_DEPTHS)


def ranked(
    engine: Engine,
    question: JudgedQuery,
    profile: Profile | None = None,
    *,
    k: int = DEPTH,
    now: float | None = None,
    session: str | None = None,
    reinforce: bool = False,
) -> list[str]:
    """Return the ids of the first ``k`` results for a question.

    Args:
        engine: holds the task's memories.
        question: of the task.
        profile: determines the ranking; None: the engine's.
        k: most results, >= 0.
        now: time of the search; None: the question's.
        session: the caller's session.
        reinforce: whether the results count as accessed.
    """
    memories = engine if question.group is None else engine.scope(project=question.group)
    return memories.search(
        question.text,
        k,
        now=question.now if now is None else now,
        where=question.where,
        embedding=question.embedding,
        profile=profile,
        session=session,
        reinforce=reinforce,
        exclude=question.exclude,
    ).ids


def demo_task() -> Task:
    """Return the demo's memories and questions."""
    data = load()
    pairs = zip(data.questions, data.question_vectors, strict=True)
    questions = [
        JudgedQuery(
            id=question.id,
            type=question.type,
            text=question.text,
            answers=question.answers,
            embedding=vector,
            now=question.now,
            where=None if question.where is None else Where.from_json(question.where),
        )
        for question, vector in pairs
    ]
    return Task(name="demo", records=data.records(), questions=questions)


def task_of(collection: Collection, analyzer: str = "english") -> Task:
    """Convert a judged collection to memories and questions.

    A document's ``timestamp`` becomes its creation time, its metadata's ``group`` the project, and
    ``session`` (within the group) the session. A query with a ``group`` searches the scope of that
    project, at its ``timestamp``; where its metadata has ``asof`` true, only documents older than
    that; word statistics are still those of the whole group. A query that is itself a document
    (same id and text) never finds that document. Without timestamps every document and query has
    the same time.

    Args:
        collection: documents, queries and grades.
        analyzer: name of the analyzer of its texts.

    Raises:
        ValueError: a timestamp is not ISO 8601, ``asof`` is not a bool, or a query with ``asof``
            true or one of the documents has no timestamp.
    """
    texts = {document.id: document.text for document in collection.documents}
    is_dated = all(document.timestamp is not None for document in collection.documents)
    documents = zip(collection.documents, _rows(collection.document_vectors), strict=False)
    queries = zip(collection.queries, _rows(collection.query_vectors), strict=False)
    questions = [
        JudgedQuery(
            id=query.id,
            type=query.type,
            text=query.text,
            answers=query.answers,
            embedding=vector,
            now=_seconds(query.timestamp),
            where=_older_documents(query, is_dated=is_dated) if is_as_of(query) else None,
            group=_group(query.metadata),
            # Numbered collections give queries and documents the same ids by chance.
            exclude=(query.id,) if texts.get(query.id) == query.text else (),
        )
        for query, vector in queries
    ]
    records = [_record(document, vector) for document, vector in documents]
    return Task(name=collection.name, records=records, questions=questions, analyzer=analyzer)


def is_as_of(query: Query) -> bool:
    """Whether a query searches only documents older than its timestamp: its metadata's ``asof``.

    Raises:
        ValueError: ``asof`` is not a bool.
    """
    value = query.metadata.get("asof", False)
    if value is not True and value is not False:
        msg = f"query {query.id}: metadata.asof: expected true or false, got {value!r:.40}"
        raise ValueError(msg)
    return value is True


def _older_documents(query: Query, *, is_dated: bool) -> Where:
    """Return a filter on the documents older than a query; its end is not in the range."""
    if query.timestamp is None or not is_dated:
        missing = "it" if query.timestamp is None else "every document"
        msg = f"query {query.id}: metadata.asof is true, so {missing} needs a timestamp"
        raise ValueError(msg)
    return where(created_at=(None, _seconds(query.timestamp)))


def _record(document: Document, vector: object) -> dict[str, Any]:
    record: dict[str, Any] = {
        "id": document.id,
        "title": document.title,
        "text": document.text,
        "embedding": vector,
        "created_at": _seconds(document.timestamp),
    }
    group = _group(document.metadata)
    if group is not None:
        record["project"] = group
    if "session" in document.metadata:
        session = document.metadata["session"]
        record["session"] = f"{session}" if group is None else f"{group}/{session}"
    return record


def _group(metadata: Mapping[str, Any]) -> str | None:
    group = metadata.get("group")
    return None if group is None else f"{group}"


def _rows(
    vectors: npt.NDArray[np.float32] | None,
) -> Iterator[npt.NDArray[np.float32] | None]:
    if vectors is not None:
        yield from vectors
    while vectors is None:
        yield None


def _seconds(written: str | None) -> float:
    if written is None:
        return STANDSTILL
    try:
        moment = datetime.fromisoformat(written)
    except ValueError as error:
        msg = f"timestamp: expected ISO 8601, got {written!r:.40}"
        raise ValueError(msg) from error
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
