"""The effect of use: questions to a dated collection while its memories arrive.

Each group of a collection is a life. Its memories are added at their own times. Half of the
answerable questions are asked meanwhile, some of them again. The other half is new at the end.
The same moments are lived in each of three modes (:data:`MODES`), which differ in use alone.
"""

from __future__ import annotations

import random
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from oneiros.engine import Engine
from oneiros.evaluation.metrics import Gain, mean, ndcg_at, paired_gain, recall_at
from oneiros.evaluation.tasks import JudgedQuery, engine_in_memory, is_as_of, ranked, task_of
from oneiros.model.validation import count, require_choice
from oneiros.runtime.dataclasses import dataclass, replace

if TYPE_CHECKING:
    from oneiros.evaluation.collection import Collection
    from oneiros.scoring.profile import Profile

__all__ = [
    "DEPTH",
    "MODES",
    "QUESTION_KINDS",
    "Arrival",
    "Life",
    "Mode",
    "QuestionKind",
    "Search",
    "UseFigures",
    "live",
    "lives_of",
    "measure_use",
    "measured_questions",
    "use",
]

Mode = Literal["unasked", "silent", "feedback"]
MODES: Final[tuple[Mode, ...]] = get_args(Mode)
"""Three lives of the same moments.

- "unasked": no question is asked before it is measured, and nothing reinforces memories
- "silent": questions are asked during the life, and the searches reinforce what they return
- "feedback": the same, and each returned memory that answers also gets the verdict "helpful"
"""

QuestionKind = Literal["new", "repeated"]
QUESTION_KINDS: Final[tuple[QuestionKind, ...]] = get_args(QuestionKind)
"""New: asked for the first time when measured. Repeated: asked during the life, too."""

DEPTH: Final = 10
"""Results per search, and the depth of the figures."""

_DAY: Final = 86_400.0
_MINUTE: Final = 60.0
_REPEATS: Final = (0, 0, 0, 1, 2)
"""Two of five questions are asked again, once or twice."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Arrival:
    """Memories that are added between two searches."""

    at: float
    """Creation time of the last one, in seconds since 1970."""
    records: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Search:
    """One search for a question."""

    at: float
    """Time of the search, in seconds since 1970."""
    question: JudgedQuery
    measured_as: QuestionKind | None
    """None: the search reinforces memories and is not measured, and the unasked life omits it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """One group's memories and questions in the order in which they come."""

    name: str
    """The group; "" for a collection without groups."""
    events: tuple[Arrival | Search, ...]
    """By time. A search comes before a memory of the same second."""
    analyzer: str = "english"
    """Name of the analyzer of its texts and questions."""

    def __repr__(self) -> str:
        return f"<Life {self.name!r}: {len(self.events)} events>"


@dataclass(frozen=True, slots=True, kw_only=True)
class UseFigures:
    """The effect of use on one kind of question; figures are means over the questions."""

    count: int
    """Number of questions."""
    ndcg: float
    """nDCG@10 in the unasked life."""
    recall: float
    """Recall@10 in the unasked life."""
    ndcg_gains: Mapping[Mode, Gain]
    """Gain in nDCG@10 over the unasked life, of "silent" and of "feedback"."""
    recall_gains: Mapping[Mode, Gain]
    """Gain in recall@10 over the unasked life, of "silent" and of "feedback"."""


def lives_of(collection: Collection, seed: int = 0, analyzer: str = "english") -> tuple[Life, ...]:
    """Return a life for each group of a collection that has answerable questions.

    Every other question of a shuffled group is asked during the life: at a random moment after its
    last relevant document, at least a minute later; with ``asof``, at its own time. Two of five of
    these are asked once or twice more before the end. All of them are measured a day after the end.
    The other questions are measured at that time, too; with ``asof``, at their own. A question with
    ``asof`` sees only documents older than its timestamp at every time.

    Args:
        collection: every document has a timestamp, and so has every query with ``asof``.
        seed: of the halves and the moments, >= 0.
        analyzer: name of the analyzer of its texts.

    Raises:
        ValueError: a document without a timestamp, no group with two answerable questions, an id of
            two of them, or as :func:`oneiros.evaluation.tasks.task_of`.
    """
    count("seed", seed)
    undated = sum(document.timestamp is None for document in collection.documents)
    if undated or not collection.documents:
        dated = len(collection.documents) - undated
        msg = (
            f"{collection.name}: every document needs a timestamp to measure use,"
            f" got {dated} of {len(collection.documents)} with one"
        )
        raise ValueError(msg)
    task = task_of(collection, analyzer)
    records: dict[str | None, list[Mapping[str, Any]]] = {}
    for record in task.records:
        records.setdefault(record.get("project"), []).append(record)
    questions: dict[str | None, list[tuple[JudgedQuery, bool]]] = {}
    for question, query in zip(task.questions, collection.queries, strict=True):
        if any(grade > 0 for grade in question.answers.values()):
            questions.setdefault(question.group, []).append((question, is_as_of(query)))
    ids = Counter(question.id for asked in questions.values() for question, _ in asked)
    if twice := [id for id, times in ids.items() if times > 1]:
        msg = f"{collection.name}: ids of queries must be unique, got {twice[0]!r} twice"
        raise ValueError(msg)
    lives = tuple(
        replace(_life(group or "", _seen(records, group), asked, seed), analyzer=analyzer)
        for group, asked in questions.items()
    )
    most = max((_measured_count(life) for life in lives), default=0)
    if most < len(QUESTION_KINDS):
        msg = f"{collection.name}: a group needs at least 2 answerable questions, got {most}"
        raise ValueError(msg)
    return lives


def _measured_count(life: Life) -> int:
    return sum(len(measured_questions([life], kind)) for kind in QUESTION_KINDS)


def live(
    engine: Engine, life: Life, mode: Mode, advance: Callable[[int], None] | None = None
) -> dict[str, list[str]]:
    """Add a life's memories and search for its questions.

    Args:
        engine: holds no memory of the life.
        life: the events.
        mode: see :data:`MODES`.
        advance: called with 1 after each measured search.

    Returns:
        Question id -> ids of the results of its measured search, best first.
    """
    require_choice("mode", mode, MODES)
    rankings: dict[str, list[str]] = {}
    for event in life.events:
        if isinstance(event, Arrival):
            engine.add_many(event.records, now=event.at)
        elif event.measured_as is not None:
            rankings[event.question.id] = ranked(engine, event.question, k=DEPTH, now=event.at)
            if advance is not None:
                advance(1)
        elif mode != "unasked":
            use(engine, event, gives_feedback=mode == "feedback")
    return rankings


def measure_use(
    lives: Sequence[Life],
    profile: Profile,
    *,
    seed: int = 0,
    advance: Callable[[int], None] | None = None,
) -> dict[QuestionKind, UseFigures]:
    """Live every life in each mode under one profile, each time in a new engine in memory.

    Args:
        lives: of one collection.
        profile: determines ranking and reinforcement.
        seed: of the bootstrap.
        advance: called with 1 after each measured search.

    Returns:
        The figures of new and of repeated questions.

    Raises:
        ValueError: the lives have no new or no repeated question.
    """
    for kind in QUESTION_KINDS:
        if not measured_questions(lives, kind):
            msg = f"lives: must have questions of both kinds, got no {kind} one"
            raise ValueError(msg)
    rankings: dict[Mode, dict[str, list[str]]] = {mode: {} for mode in MODES}
    for life in lives:
        for mode, found in rankings.items():
            with engine_in_memory(profile, life.analyzer) as engine:
                found.update(live(engine, life, mode, advance))
    return {kind: _figures(lives, rankings, kind, seed) for kind in QUESTION_KINDS}


def measured_questions(lives: Sequence[Life], kind: QuestionKind) -> list[JudgedQuery]:
    """Return the questions of lives that are measured as of one kind."""
    return [
        event.question
        for life in lives
        for event in life.events
        if isinstance(event, Search) and event.measured_as == kind
    ]


def _seen(
    records: Mapping[str | None, list[Mapping[str, Any]]], group: str | None
) -> list[Mapping[str, Any]]:
    """Return the records that the questions of a group search."""
    if group is None:
        return [record for each in records.values() for record in each]
    return records.get(group, [])


def _life(
    name: str,
    records: Sequence[Mapping[str, Any]],
    asked: Sequence[tuple[JudgedQuery, bool]],
    seed: int,
) -> Life:
    generator = random.Random(f"{seed}-{name}")
    times = {record["id"]: float(record["created_at"]) for record in records}
    own_times = (float(question.now) for question, as_of in asked if as_of)
    end = max([*times.values(), *own_times], default=0.0)
    order = [one for one in asked if any(id in times for id in _answers(one[0]))]
    generator.shuffle(order)
    searches: list[Search] = []
    for place, (question, as_of) in enumerate(order):
        own = float(question.now) if as_of else None
        if place % 2 == 0:
            evidence = max(times[id] for id in _answers(question) if id in times)
            moments = _moments(generator, own, evidence + _MINUTE, end)
            searches += [Search(at=at, question=question, measured_as=None) for at in moments]
            searches.append(Search(at=end + _DAY, question=question, measured_as="repeated"))
        else:
            at = end + _DAY if own is None else own
            searches.append(Search(at=at, question=question, measured_as="new"))
    return Life(name=name, events=tuple(_merged(records, searches)))


def _moments(
    generator: random.Random, own: float | None, evidence: float, end: float
) -> Iterator[float]:
    """Yield the times of a question's searches during the life, the first one first."""
    first = generator.uniform(evidence, max(evidence, end)) if own is None else own
    yield first
    for _ in range(generator.choice(_REPEATS)):
        yield generator.uniform(first, max(first, end))


def _merged(
    records: Sequence[Mapping[str, Any]], searches: Sequence[Search]
) -> Iterator[Arrival | Search]:
    """Yield searches by time, the measured ones of a moment first, each after its older records."""
    waiting = deque(sorted(records, key=_created_at))
    for search in sorted(searches, key=lambda each: (each.at, each.measured_as is None)):
        arrived = []
        while waiting and _created_at(waiting[0]) < search.at:
            arrived.append(waiting.popleft())
        if arrived:
            yield Arrival(at=_created_at(arrived[-1]), records=tuple(arrived))
        yield search


def _created_at(record: Mapping[str, Any]) -> float:
    return float(record["created_at"])


def _answers(question: JudgedQuery) -> list[str]:
    """Return the ids of the relevant memories."""
    return [id for id, grade in question.answers.items() if grade > 0]


def use(engine: Engine, search: Search, *, gives_feedback: bool) -> None:
    """Search as a caller who uses the results, on a session of the search's day.

    Args:
        engine: reinforces what it returns.
        search: during the life.
        gives_feedback: whether each returned memory that answers gets the verdict "helpful".
    """
    session = f"day {search.at // _DAY:.0f}"
    found = ranked(engine, search.question, k=DEPTH, now=search.at, session=session, reinforce=True)
    if gives_feedback:
        relevant = set(_answers(search.question))
        for id in found:
            if id in relevant:
                question = search.question
                engine.feedback(
                    id,
                    "helpful",
                    query=question.text,
                    embedding=question.embedding,
                    now=search.at,
                )


def _figures(
    lives: Sequence[Life],
    rankings: Mapping[Mode, Mapping[str, Sequence[str]]],
    kind: QuestionKind,
    seed: int,
) -> UseFigures:
    questions = measured_questions(lives, kind)

    def each(
        metric: Callable[[Sequence[str], Mapping[str, float], int], float],
    ) -> dict[Mode, list[float]]:
        return {
            mode: [metric(found[question.id], question.answers, DEPTH) for question in questions]
            for mode, found in rankings.items()
        }

    def gains(figures: Mapping[Mode, list[float]]) -> dict[Mode, Gain]:
        return {
            mode: paired_gain(figures["unasked"], figures[mode], seed=seed) for mode in MODES[1:]
        }

    ndcg, recall = each(ndcg_at), each(recall_at)
    return UseFigures(
        count=len(questions),
        ndcg=mean(ndcg["unasked"]),
        recall=mean(recall["unasked"]),
        ndcg_gains=gains(ndcg),
        recall_gains=gains(recall),
    )
