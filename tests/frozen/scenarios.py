"""The recorded searches: one function for each scenario."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

import oneiros
from oneiros import demo, profiles
from oneiros.filters import Where
from oneiros.models.rerankers import Judged
from oneiros.scoring.relevance_adjustments import HotSet, NamedTime, Neighbours, Statements
from oneiros.scoring.selection import RelevanceGate
from oneiros.scoring.stages import (
    AdaptiveRetry,
    ByBest,
    Duplicates,
    FastPath,
    Reranking,
    Surfacing,
    WeakBest,
)
from oneiros.search.query.expansion import Rephrased
from tests.frozen import questions
from tests.frozen.corpus import DAY, NOW, demo_engine, made_up, opened
from tests.frozen.vectors import along_axes, axis_of, exact, meaning_of

__all__ = ["SCENARIOS", "SEQUENCES", "WORLDS", "Answer", "Ask", "World", "in_other_words"]

Answer: TypeAlias = "oneiros.SearchResponse | oneiros.WhyNot"
Ask: TypeAlias = Callable[[], Answer]
Scenario: TypeAlias = "Callable[[World], Iterator[Ask]]"

SCENARIOS: dict[str, Scenario] = {}
SEQUENCES: set[str] = set()
"""Scenarios whose searches change the store, so that each answer depends on those before it."""

where = oneiros.where


@dataclass
class World:
    """A profile and its stores, which are opened on first use."""

    name: str
    profile: oneiros.Profile
    axes: bool = False
    """Whether vectors of memories have a single component; see ``tests/frozen/vectors.py``."""

    @cached_property
    def mind(self) -> oneiros.Engine:
        """The whole synthetic store. Searches of it must not change it."""
        return opened(self.profile, axes=self.axes)

    @cached_property
    def demo(self) -> oneiros.Engine:
        """The packaged demo. Searches must not change it either."""
        return demo_engine(self.profile, axes=self.axes)

    def small(self, count: int = 300, **options: Any) -> oneiros.Engine:
        """Open a small store for one scenario."""
        return opened(self.profile, count=count, axes=self.axes, **options)

    def vector(self, text: str) -> npt.NDArray[np.float32]:
        """Return the vector of a query."""
        return along_axes(text) if self.axes else meaning_of(text)

    def stored(self, text: str) -> npt.NDArray[np.float32]:
        """Return the vector of a memory with this text."""
        return axis_of(text) if self.axes else meaning_of(text)

    def ask(self, query: str, k: int = 10, **options: Any) -> Ask:
        """Return a search of the whole store, without reinforcement and cache."""
        return partial(self.mind.search, query, k, **{"now": NOW, "reinforce": False} | options)

    def read(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return options without those that the profile refuses, since it does not read them."""
        reader = self.profile.understanding
        factors = {factor.name for factor in self.profile.factors}
        channels = {channel.name for channel in self.profile.channels}
        is_timed = self.profile.named_time is not None or "temporal" in factors
        is_read = {
            "hint": reader is not None and bool(reader.hints),
            "context": "context" in factors or (reader is not None and bool(reader.situations)),
            "date_range": is_timed or "temporal" in channels,
            "soft_range": is_timed,
        }
        return {name: value for name, value in options.items() if is_read.get(name, True)}

    def some(self, queries: Sequence[Any], *, is_read: bool) -> Sequence[Any]:
        """Return all queries if the profile reads what they have in common, else every fourth."""
        return queries if is_read else queries[::4]

    @property
    def reads_words(self) -> bool:
        """Whether the profile reads the intent of a query."""
        return self.profile.understanding is not None

    @property
    def reads_times(self) -> bool:
        """Whether the profile reads the time that a query names."""
        return any(one.name == "temporal" for one in self.profile.channels)

    def close(self) -> None:
        """Close the open stores."""
        for name in ("mind", "demo"):
            if name in self.__dict__:
                self.__dict__.pop(name).close()


PLAIN = ("bm25", "cosine", "rrf")


def _worlds() -> dict[str, World]:
    # Plain profiles have no scoring of their own to freeze: tests/search/test_plain_profiles.py.
    found = {
        name: World(name, profiles.get(name)) for name in profiles.names() if name not in PLAIN
    }
    # OMEGA compares memories with the centre of the best (O21). Inner products with that centre are
    # exact only for vectors along axes. The other vectors are searched without this factor.
    found["omega"] = World("omega", profiles.get("omega"), axes=True)
    whole = profiles.get("omega", cluster=False)
    found["omega without cluster"] = World("omega without cluster", whole)
    return found


WORLDS: dict[str, World] = _worlds()


def scenario(asks: Scenario) -> Scenario:
    SCENARIOS[asks.__name__] = asks
    return asks


def sequence(asks: Scenario) -> Scenario:
    SEQUENCES.add(asks.__name__)
    return scenario(asks)


# -- words and meaning -----------------------------------------------------------------------------


@scenario
def plain(world: World) -> Iterator[Ask]:
    queries = (questions.PLAIN, questions.CONCEPTUAL, questions.NAVIGATIONAL, questions.ALIKE)
    for group in (*queries, questions.FOREIGN, questions.STRANGE):
        yield from map(world.ask, group)


@scenario
def explained(world: World) -> Iterator[Ask]:
    for query in (*questions.PLAIN[::4], *questions.CONCEPTUAL[::3], *questions.NAVIGATIONAL[::5]):
        yield world.ask(query, explain=True)
    for query in (*questions.ALIKE, *questions.FOREIGN[::4], *questions.STRANGE[::4]):
        yield world.ask(query, 5, explain=True)


@scenario
def counts(world: World) -> Iterator[Ask]:
    for k in (0, 1, 3, 50, 200):
        for query in (*questions.BARE[::3], questions.COMPOUND[0], questions.ALIKE[0]):
            yield world.ask(query, k, explain=k == 3)


@scenario
def vectors(world: World) -> Iterator[Ask]:
    other, nothing = world.vector("the violin and the chess opening"), world.vector("") * 0
    far = np.zeros_like(other)
    far[-1] = 1.0
    for query in (*questions.BARE[::3], questions.ALIKE[1], "ERR_POOL-12 zorgle"):
        yield world.ask(query, embedding=other)
        yield world.ask(query, embedding=nothing)
        yield world.ask(query, embedding=far, explain=True)
        yield world.ask(query, embedding=(4 * other.astype(np.float64)).tolist())
    without = opened(world.profile, count=300, axes=world.axes, embedder=None)
    for query in questions.BARE:
        yield partial(without.search, query, now=NOW, reinforce=False)


@scenario
def bare(world: World) -> Iterator[Ask]:
    """Two stores without hidden memories; none of the first was ever recalled."""
    records = [
        {"id": record["id"], "text": record["text"], "created_at": record["created_at"]}
        | {"embedding": world.stored(record["text"]), "access_count": number // 200 * (number % 9)}
        for number, record in enumerate(made_up(400))
        if record["text"]
    ]
    fresh, whole = (
        oneiros.Engine(":memory:", profile=world.profile, clock=lambda: NOW) for _ in range(2)
    )
    fresh.add_many(records[:30])
    whole.add_many(records)
    whole.delete(where=where(access_count=(5, None)))
    for query in questions.BARE:
        options = {"now": NOW, "reinforce": False, "embedding": world.vector(query)}
        yield partial(fresh.search, query, **options)
        yield partial(whole.search, query, **options)


# -- filters and states ----------------------------------------------------------------------------

_EVERYTHING = where()
_FILTERS: tuple[Where, ...] = (
    where(project="atlas"),
    where(id=[f"s{number:04}" for number in range(0, 3_000, 11)]),  # those without vectors
    where(project=["src/net", "harbour"], kind=["fact", "lesson", "note"]),
    where(kind="decision"),
    where(kind="user_preference", project="home"),
    where(kind="code_chunk"),
    where(kind="never heard of"),
    where(tags=["errors", "urgent"]),
    where(tags_all=["errors", "net"]),
    where(importance=(0.8, 1.0)),
    where(importance=(None, 0.3), strength=(0.2, None)),
    where(depth=3, priority=(4, 5)),
    where(pinned=True),
    where(core=True),
    where(created_at=(NOW - 60 * DAY, NOW - 20 * DAY)),
    where(occurred_at=("2025-03-01T00:00:00Z", None), category="episodic"),
    where(last_accessed_at=(None, NOW - 300 * DAY)),
    where(metadata={"source": "chat", "page": 3}),
    where(metadata={"source": None}),
    where(id=[f"s{number:04}" for number in range(0, 3_000, 7)]),
    where(id="s0042"),
    where(tier="cold"),
    where(status="consolidated"),
    where(veracity="stated", canonical_layer="semantic"),
    where(topic="incidents") | where(tags="travel"),
    ~where(project=["atlas", "home"]),
    ~(where(kind="note") & where(importance=(0.5, None))) & where(access_count=(3, None)),
    where(session="session 3"),
    where(feedback=(1, None)),
    _EVERYTHING,
    ~_EVERYTHING,
)


@scenario
def filters(world: World) -> Iterator[Ask]:
    queries = (*questions.BARE[1::3], "pool last month", questions.NAVIGATIONAL[0])
    for number, condition in enumerate(_FILTERS):
        yield world.ask(queries[number % len(queries)], where=condition, explain=number % 7 == 0)
        yield world.ask(queries[(number + 1) % len(queries)], 30, where=condition)


@scenario
def scopes(world: World) -> Iterator[Ask]:
    mind = world.mind
    seen = (
        mind.scope(project="atlas"),
        mind.scope(project="home").scope(topic="family"),
        mind.scope(session="session 12"),
        mind.scope(topic="planning"),
        mind.scope(project="nowhere"),
    )
    for number, scope in enumerate(seen):
        for query in (*questions.BARE[number::4], questions.COMPOUND[number]):
            yield partial(scope.search, query, now=NOW, reinforce=False, explain=number == 1)
        yield partial(
            scope.search,
            "pool",
            where=where(kind="fact"),
            now=NOW,
            reinforce=False,
            status="staged",
        )


@scenario
def lifecycle(world: World) -> Iterator[Ask]:
    ways: tuple[dict[str, Any], ...] = (
        {"include_expired": True},
        {"deep_recall": True},
        {"deep_recall": True, "include_expired_in_deep_recall": True},
        {"deep_recall": True, "include_expired_in_deep_recall": True, "include_expired": True},
        {"valid_at": NOW - 30 * DAY},
        {"valid_at": "2026-01-01T00:00:00Z", "deep_recall": True},
        {"status": "archived"},
        {"status": ["staged", "consolidated"], "include_expired": True},
        {"status": []},
        {"now": NOW - 400 * DAY},
        {"now": NOW + 4_000 * DAY, "deep_recall": True},
    )
    for number, way in enumerate(ways):
        for query in (*questions.BARE[number % 4 :: 4], questions.ALIKE[0]):
            yield world.ask(query, 25, **way, explain=number % 3 == 1)


@scenario
def syntax(world: World) -> Iterator[Ask]:
    for number, query in enumerate(questions.MARKED):
        yield world.ask(query, syntax="query", explain=number % 3 == 0)
    for query in questions.MARKED[::3]:
        yield world.ask(query, 40, syntax="query", where=where(importance=(0.4, None)))
        yield world.ask(query, syntax="query", deep_recall=True, embedding=world.vector("tea"))


# -- queries ---------------------------------------------------------------------------------------


@scenario
def times(world: World) -> Iterator[Ask]:
    for number, query in enumerate(world.some(questions.TIMED, is_read=world.reads_times)):
        yield world.ask(query, explain=number % 5 == 0)
    for query in world.some(questions.UNTIMED, is_read=world.reads_times):
        yield world.ask(query)


@scenario
def ranges(world: World) -> Iterator[Ask]:
    given: tuple[tuple[Any, Any], ...] = (
        (NOW - 7 * DAY, NOW),
        ("2025-03-01T00:00:00Z", "2025-04-01T00:00:00+02:00"),
        (None, NOW - 500 * DAY),
        (NOW - 2 * DAY, None),
        (NOW - 40 * DAY, NOW - 40 * DAY),
        (NOW - 9_000 * DAY, NOW - 8_999 * DAY),
    )
    for number, period in enumerate(given):
        for query in ("pool failures", "what did Ada like last week", "", "ERR_SOCK-0"):
            yield world.ask(query, date_range=period, explain=number == 0)
            yield world.ask(query, date_range=period, soft_range=True)
    yield world.ask("tea", 200, date_range=given[2], where=where(project="atlas"))
    for query, now in (
        ("next year", "9999-12-31T12:00:00Z"),
        ("last year", "0001-01-02T00:00:00Z"),
    ):
        yield world.ask(query, now=now)


@scenario
def hints(world: World) -> Iterator[Ask]:
    for hint in ("error_pattern", "decision", "multi-session", "temporal-reasoning", "unheard of"):
        for query in world.some(questions.BARE[::3], is_read=world.reads_words):
            yield world.ask(query, hint=hint)
    for kind in ("user_preference", "lesson_learned", "error_pattern"):
        yield world.ask("what about the deploy", where=where(kind=kind) & where(depth=(1, 3)))


_CONTEXTS = (
    oneiros.Context(file="src/net/pool.py", tags=["errors"]),
    oneiros.Context(file="C:\\work\\Zoë\\plan.txt", project="atlas", situation="file_edit"),
    oneiros.Context(project="Kitchen Table", situation="planning"),
    oneiros.Context(tags=["müde", "review", "ＤＯＣＳ"], situation="error_debug"),  # noqa: RUF001
    oneiros.Context(file=".gitignore", situation="session_start"),
    oneiros.Context(file="./a.b/.."),
    oneiros.Context(),
)


@scenario
def contexts(world: World) -> Iterator[Ask]:
    for number, context in enumerate(_CONTEXTS):
        for query in world.some(questions.BARE[number % 3 :: 3], is_read=world.reads_words):
            yield world.ask(query, context=context, explain=number == 1)
    yield world.ask("zorgle fribbet", context=_CONTEXTS[3], explain=True)


@scenario
def compound(world: World) -> Iterator[Ask]:
    for number, query in enumerate(world.some(questions.COMPOUND, is_read=world.reads_words)):
        yield world.ask(query)
        yield world.ask(query, 4, explain=True)
        yield world.ask(
            query, 25, deep_recall=True, embedding=world.vector("pool") if number % 2 else None
        )
    yield world.ask(questions.COMPOUND[0], where=~_EVERYTHING)


# -- callables and custom profiles -----------------------------------------------------------------


def _longest(_query: str, texts: list[str]) -> list[float]:
    return [float(len(text)) for text in texts]


def _words_in_common(query: str, texts: list[str]) -> Judged:
    words = set(query.lower().split())
    scores = [len(words & set(text.lower().split())) / 8 for text in texts]
    return Judged(scores, prompt_tokens=12, completion_tokens=3)


def _gaps(_query: str, texts: list[str]) -> list[float | None]:
    return [None if len(text) % 3 == 0 else len(text) % 7 - 3.0 for text in texts]


def _equals(_query: str, texts: list[str]) -> list[float]:
    return [0.5] * len(texts)


def _no_number(_query: str, texts: list[str]) -> list[float]:
    return [float("nan")] * len(texts)


def _too_few(_query: str, _texts: list[str]) -> list[float]:
    return [1.0]


def _raises(_query: str, _texts: list[str]) -> list[float]:
    msg = "no model here"
    raise OSError(msg)


@scenario
def rerankers(world: World) -> Iterator[Ask]:
    rankers = (_longest, _words_in_common, _gaps, _equals, _no_number, _too_few, _raises)
    for number, reranker in enumerate(rankers):
        for query in (*questions.BARE[number % 5 :: 5], questions.COMPOUND[1]):
            yield world.ask(query, reranker=reranker, deadline=float("inf"), explain=number == 1)
        yield world.ask("the piano keys", 3, reranker=reranker, deadline=600.0, explain=True)
    yield world.ask("the piano keys", reranker=_longest, deadline=1e-9)
    early = world.profile.replace(rerank=Reranking(top=4, after_links=False))
    for query in questions.BARE[::4]:
        yield world.ask(query, reranker=_longest, deadline=float("inf"), profile=early)


def in_other_words(query: str) -> Sequence[str] | Rephrased:
    """Rephrase a query, or fail in one of the ways in which expanders do."""
    if "slow" in query:
        return []
    if "architecture" in query:
        msg = "no model here"
        raise RuntimeError(msg)
    if "deploy" in query:
        return Rephrased(
            [
                "rollout of a release",
                "zorgle",
                query,
                "",
                "x" * 501,
                "the timetable",
                "a",
                "b",
                "c",
            ],
            prompt_tokens=40,
            completion_tokens=9,
        )
    if "cache" in query:
        return "one text"
    if "meeting" in query:
        return [5]  # type: ignore[list-item]
    return ["sockets run dry", "ERR_SOCK-3 in the pool", "sockets run dry"]


@scenario
def expanders(world: World) -> Iterator[Ask]:
    mind = world.small(query_expander=in_other_words)
    queries = (
        *questions.CONCEPTUAL,
        *questions.COMPOUND[:3],
        questions.COMPOUND[9],
        "pool",
        "",
        "ERR_POOL-12",
    )
    for number, query in enumerate(world.some(queries, is_read=world.reads_words)):
        yield partial(mind.search, query, now=NOW, reinforce=False, explain=number % 2 == 0)
    plainly = world.profile
    if world.profile.name == "omega":
        fusion = world.profile.fusion
        plainly = world.profile.replace(fusion=type(fusion)(k=20.0, weights=None))
    for query in questions.CONCEPTUAL[::3]:
        yield partial(
            mind.search,
            query,
            6,
            now=NOW,
            reinforce=False,
            profile=plainly,
            embedding=world.vector("the deploy of the cache"),
            where=where(importance=(0.1, None)),
            date_range=(NOW - 90 * DAY, NOW),
        )
    yield partial(mind.search, "how does the pool work", now=NOW, where=~_EVERYTHING)
    for query in questions.CONCEPTUAL[1::4]:
        yield partial(mind.search, query, now=NOW, reinforce=False, deadline=1e-9)
        yield partial(mind.search, f"{query} -zoë", now=NOW, reinforce=False, syntax="query")
    queries = (*questions.CONCEPTUAL[::5], "the pool", "how do we meet at the meeting")
    batch = _Batch(world, queries, {"now": NOW, "reinforce": False}, mind)
    yield from (partial(batch.answer, place) for place in range(len(queries)))


def _page_of(importance: npt.NDArray[np.float64], kind: npt.NDArray[np.str_]) -> Any:
    return np.where(kind == "decision", 1.5, 0.5 + importance / 4)


def _weekend(created_at: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.where((created_at // DAY + 4) % 7 >= 5, 0.125, 0.0)


@lru_cache(maxsize=64)
def _varied(profile: oneiros.Profile) -> dict[str, oneiros.Profile]:
    """Return variants of the profile with one part added, changed or removed."""
    changes: dict[str, dict[str, Any]] = {
        "function": {
            "factors": (
                *profile.factors,
                oneiros.CallableFactor(_page_of, name="page", columns=("importance", "kind")),
                oneiros.CallableFactor(_weekend, "weekend", ("created_at",), "add"),
            )
        },
        "expression": {
            "factors": (
                *profile.factors,
                oneiros.Expression("1 + importance * exp(-age_days / 30)", name="mine"),
            )
        },
        "gate": {"keep": (RelevanceGate(),)},
        "hot set": {"hot_set": HotSet(size=20, least_overlap=0.2, weight=0.5)},
        "neighbours": {"neighbours": Neighbours(share=0.4, reach=3)},
        "statements": {"statements": Statements(damping=1.0)},
        "named time": {"named_time": NamedTime()},
        "duplicates": {"duplicates": Duplicates(characters=40, cosine=0.8)},
        "surfacing": {
            "abstention": Surfacing(least_cosine=0.6, least_overlap=0.5, least_score=0.2, misses=3)
        },
        "weak best": {"abstention": WeakBest(cosine=1.0, words=1.0)},
        "retry": {"retry": AdaptiveRetry(least_confidence=0.9), "abstention": Surfacing()},
        "by best": {"normalisation": ByBest()},
        "fast path": {"fast_path": FastPath(similarity=0.3)},
        "no links": {"expansion": None},
        "no factors": {"factors": ()},
        "no vectors": {"channels": tuple(one for one in profile.channels if one.name != "vector")},
    }
    found = {}
    for name, change in changes.items():
        try:
            found[name] = profile.replace(**change)
        except ValueError:  # refused by another part of the profile
            continue
    return found


@scenario
def parts(world: World) -> Iterator[Ask]:
    for number, varied in enumerate(_varied(world.profile).values()):
        for query in (*questions.BARE[number % 8 :: 8], questions.ALIKE[0], "tea last month"):
            yield world.ask(query, profile=varied, explain=True)
        yield world.ask(questions.COMPOUND[10], profile=varied)
    if len(world.profile.channels) == 3 and world.profile.expansion is not None:
        for query in questions.BARE[::2]:
            yield world.ask(
                query, 20, profile=world.profile.replace(retry=AdaptiveRetry(), cache=None)
            )


# -- search_many, why_not, the demo ----------------------------------------------------------------


@scenario
def batches(world: World) -> Iterator[Ask]:
    queries = [
        *questions.BARE,
        *questions.COMPOUND[::4],
        *questions.TIMED[9:60:20],
        *questions.ALIKE[:1],
    ]
    ways: tuple[dict[str, Any], ...] = (
        {"explain": True},
        {"k": 30, "where": where(importance=(0.3, None)), "deep_recall": True},
        {"syntax": "query", "hint": "decision"},
        {"reranker": _longest, "deadline": float("inf"), "context": _CONTEXTS[0], "k": 3},
        {"where": ~_EVERYTHING},
    )
    for number, way in enumerate(ways):
        some = queries if number == 0 else queries[number::4]
        batch = _Batch(world, some, {"now": NOW, "reinforce": False} | way)
        yield from (partial(batch.answer, place) for place in range(len(some)))


class _Batch:
    """A batch on one thread and on two, run when its first answer is needed."""

    def __init__(
        self,
        world: World,
        queries: Sequence[str],
        options: dict[str, Any],
        mind: oneiros.Engine | None = None,
    ) -> None:
        self._world = world
        self._mind = world.mind if mind is None else mind
        self._queries = queries
        self._options = world.read(options)

    @cached_property
    def _answers(self) -> list[list[oneiros.SearchResponse]]:
        vectors = [
            self._world.vector(query) if number % 3 == 0 else None
            for number, query in enumerate(self._queries)
        ]
        many = partial(self._mind.search_many, self._queries, embeddings=vectors)
        return [many(threads=threads, **self._options) for threads in (1, 2)]

    def answer(self, place: int) -> oneiros.SearchResponse:
        first, second = (answers[place] for answers in self._answers)
        alone = self._mind.search(
            self._queries[place],
            embedding=self._world.vector(self._queries[place]) if place % 3 == 0 else None,
            **self._options,
        )
        for other in (second, alone):
            if [(each.id, each.score) for each in first] != [
                (each.id, each.score) for each in other
            ]:
                msg = f"search_many differs from search: {self._queries[place]!r}"
                raise AssertionError(msg)
        return first


@scenario
def why_not(world: World) -> Iterator[Ask]:
    ways: tuple[dict[str, Any], ...] = (
        {},
        {"k": 3, "where": where(project="atlas", kind=["fact", "note"], importance=(0.2, 0.9))},
        {"status": "staged", "valid_at": NOW - 90 * DAY},
        {"deep_recall": True, "k": 30},
        {"syntax": "query", "where": where(tags_all=["net"]) & where(metadata={"page": 2})},
        {"reranker": _longest, "deadline": float("inf"), "k": 5},
        {"date_range": (NOW - 20 * DAY, NOW), "context": _CONTEXTS[0]},
        {"embedding": np.zeros_like(world.vector("a")), "k": 0},
        {"where": ~where(depth=2) & where(occurred_at=("2025-06-01T00:00:00Z", None))},
    )
    queries = (
        "how does the connection pool work",
        "coffee -tea",
        "ERR_SOCK-3",
        *questions.ALIKE[:1],
        "",
    )
    for number in range(75):
        id = f"s{number * 61 % 3_000:04}" if number % 12 else "never stored"
        query = queries[number % len(queries)]
        if number % 4 == 1:
            query = made_up()[number * 61 % 3_000]["text"][:80]
        way = {"now": NOW, "reinforce": False} | ways[number % len(ways)]
        yield partial(world.mind.why_not, query, id, **way)
    for place, query in enumerate((*questions.PLAIN[:8], *questions.ALIKE[:2])):
        yield partial(_why_not_of_found, world, query, place)
    for query in questions.PLAIN[::8]:
        yield partial(_why_not_of_linked, world, query)
    hidden = (where(tier="cold"), where(pinned=True), where(kind="code_chunk"), where(tags="food"))
    for condition in hidden:
        for memory in world.mind.list(condition, limit=3):
            yield partial(world.mind.why_not, memory.text[:60], memory.id, now=NOW)


def _why_not_of_found(world: World, query: str, place: int) -> Answer:
    """Return why_not for a result beyond the fourth place, or near it."""
    ids = world.mind.search(query, 40, now=NOW, reinforce=False).ids
    id = ids[min(4 * place, len(ids) - 1)] if ids else "s0001"
    return world.mind.why_not(query, id, k=4, now=NOW)


def _why_not_of_linked(world: World, query: str) -> Answer:
    """Return why_not for the first associative result, if there is one."""
    found = world.mind.search(query, 20, now=NOW, reinforce=False)
    linked = [one.id for one in found if one.is_associative]
    return world.mind.why_not(query, linked[0] if linked else "s0002", k=20, now=NOW)


@scenario
def demo_questions(world: World) -> Iterator[Ask]:
    data = demo.load()
    for number in range(len(world.name) % 2, len(data.questions), 2):
        question = data.questions[number]
        vector = None if world.axes else exact(data.question_vectors[number].tolist())
        yield partial(
            world.demo.search,
            question.text,
            now=question.now,
            where=None if question.where is None else Where.from_json(question.where),
            embedding=vector,
            reinforce=False,
            explain=number % 4 == 0,
        )


# -- stores that change ----------------------------------------------------------------------------


@sequence
def used(world: World) -> Iterator[Ask]:
    """Searches that reinforce their results, under a moving clock; some come from the cache."""
    clock = [NOW]
    mind = world.small(clock=lambda: clock[0])
    reinforces = None if world.profile.reinforcement is None else True
    queries = (
        *questions.PLAIN[::9],
        *questions.CONCEPTUAL[::9],
        "ERR_SOCK-3",
        questions.COMPOUND[0],
    )
    for number in range(60):
        clock[0] += (20.0, 70.0, 3_600.0, DAY, 9 * DAY)[number % 5]
        query = queries[number % 4 if number < 24 else number % len(queries)]
        options: dict[str, Any] = {"session": f"caller {number % 6}"}
        if number % 3 == 0:
            options["reinforce"] = reinforces
        if number % 8 == 7:
            options["explain"] = True
        yield partial(mind.search, query, (5, 10)[number % 2], **options)
    mind.flush()
    for query in queries:
        yield partial(mind.search, query, 20, explain=True)
    mind.close()


@sequence
def cached(world: World) -> Iterator[Ask]:
    """Repeated queries within and beyond the time that the cache keeps them."""
    clock = [NOW]
    mind = world.small(150, clock=lambda: clock[0])
    vector = world.vector("coffee")
    ways: tuple[dict[str, Any], ...] = (
        {},
        {"k": 4},
        {"where": where(depth=(1, 3))},
        {"embedding": vector},
        {"embedding": vector * 0},
        {"status": ["staged", "consolidated"]},
        {"hint": "decision"},
        {"reranker": _longest, "deadline": float("inf")},
    )
    for seconds in (0.0, 10.0, 20.0, 100.0, 30.0):  # some memories expire with the first ten
        clock[0] += seconds
        for way in ways:
            yield partial(mind.search, "the coffee and the tea", reinforce=False, **way)
    text = "Grace likes the coffee and the tea"
    mind.add(text, id="new", kind="preference", embedding=world.stored(text))
    yield partial(mind.search, "the coffee and the tea")
    clock[0] -= 900.0
    yield partial(mind.search, "the coffee and the tea")
    mind.close()


@sequence
def changed(world: World) -> Iterator[Ask]:
    """Searches between updates, deletes and adds."""
    mind = world.small(200)
    queries = ("the connection pool failed", "coffee and tea", "who likes the piano", "東京の会議")

    stored = world.stored
    changes: tuple[Callable[[], object], ...] = (
        lambda: mind.add(
            "The connection pool failed on the ferry",
            id="a",
            session="session 1",
            embedding=stored("pool"),
        ),
        lambda: mind.add("東京の会議は水曜日です", id="b", tags=["net"], embedding=stored("b")),
        lambda: mind.update(
            "a", text="Coffee and tea on the ferry", title="Drinks", embedding=stored("coffee")
        ),
        lambda: mind.update("a", importance=1.0, kind="decision", tags=["food"], now=NOW + DAY),
        lambda: mind.update("b", embedding=None, event_at=NOW - 3 * DAY),
        lambda: mind.delete("a"),
        lambda: mind.delete(where=where(tags="errors")),
        lambda: mind.restore("a", now=NOW + 2 * DAY),
        lambda: mind.supersede("a", "b", "said again"),
        lambda: mind.forget("b"),
        lambda: mind.add_many(
            [
                {"id": f"n{n}", "text": f"Wen likes the piano {n}", "session": "new"}
                | {"embedding": stored(f"piano {n}")}
                for n in range(9)
            ],
            now=NOW + DAY,
        ),
        lambda: mind.link("n1", "s0003", 0.9),
        lambda: [mind.feedback(id, "unhelpful") for id in ("n2", "n2", "n2", "n3")],
        lambda: mind.add(
            "Wen likes the piano", id="n4", on_conflict="update", priority=5, embedding=stored("n4")
        ),
        lambda: mind.pin("n5"),
        lambda: mind.unlink("n1", "s0003"),
    )
    for number, change in enumerate(changes):
        change()
        yield partial(mind.search, queries[number % 4], now=NOW + 3 * DAY, explain=number % 3 == 0)
        yield partial(mind.search, queries[(number + 1) % 4], now=NOW + 3 * DAY, reinforce=False)
        if number % 4 == 3:
            yield partial(mind.why_not, queries[0], "a", now=NOW + 3 * DAY)
            yield partial(mind.search, "last week pool", 30, deep_recall=True, now=NOW + 4 * DAY)
    mind.close()
