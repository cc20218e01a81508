"""Calls that read while another thread writes, at the moments at which a write could show."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyroaring import BitMap

import oneiros
from oneiros import CallableFactor
from oneiros.conflicts import finding
from oneiros.explain.why_not import WhyNotSearch
from oneiros.filters.row_bitmaps import RowsByValue
from oneiros.graph import Associations
from oneiros.index.columns import Lifecycle
from oneiros.index.questions import VerdictQuestions
from oneiros.index.row_sets import RowSets
from oneiros.index.texts import MemoryTexts
from oneiros.scoring.factors import Thompson
from oneiros.search import call as search_call
from oneiros.search import near_duplicates
from oneiros.search.call import SearchCall

NOW = 1_750_000_000.0
WORDS = ("apple", "pear", "plum")


def once(patch: pytest.MonkeyPatch, owner: Any, name: str, action: Callable[[], object]) -> None:
    """Run an action after the first call of a method."""
    method = getattr(owner, name)
    left = [action]

    @functools.wraps(method)
    def called(*args: Any, **kwargs: Any) -> Any:
        returned = method(*args, **kwargs)
        if left:
            left.pop()()
        return returned

    patch.setattr(owner, name, called)


def rebuild(engine: oneiros.Engine) -> None:
    """Rebuild the read model, as a purge may do."""
    services = engine._scope.services

    def work() -> None:
        services.read_model = services.sync.rebuild()

    services.sync.writer.run(work)


@contextmanager
def of_one_project(**options: Any) -> Iterator[oneiros.Engine]:
    """An engine that hides nothing, and whose memories are all of one project."""
    with oneiros.Engine(":memory:", clock=lambda: NOW, **options) as engine:
        engine.add_many(
            [
                {"id": f"m{n}", "text": f"{WORDS[n % 3]} pie", "project": "p", "session": "s"}
                for n in range(6)
            ]
        )
        engine.link_many([("m0", "m1", 0.9), ("m1", "m2", 0.9)])
        yield engine


SEARCHES: dict[str, Callable[[Any], object]] = {
    "search": lambda of: _pairs(of.search("apple pie", reinforce=False)),
    "search by cognitive": lambda of: _pairs(
        of.search("apple pie", profile="cognitive", reinforce=False)
    ),
    "search by omega": lambda of: _pairs(of.search("apple pie", profile="omega", reinforce=False)),
    "search of two parts": lambda of: _pairs(
        of.search("what is apple pie and what is plum pie?", profile="omega", reinforce=False)
    ),
    "deep": lambda of: _pairs(
        of.search("apple pie", profile="cognitive", deep_recall=True, reinforce=False)
    ),
    "exclude": lambda of: _pairs(of.search("apple pie", exclude=["m0"], reinforce=False)),
    "search_many": lambda of: [
        _pairs(found) for found in of.search_many(["apple", "plum pie"], reinforce=False, threads=2)
    ],
    "why_not": lambda of: str(of.why_not("apple pie", "m5", k=3)),
}


def _pairs(response: Any) -> list[tuple[str, float]]:
    return list(zip(response.ids, response.scores, strict=True))


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize(
    "other",
    [
        {"project": "q"},
        {"project": "p", "status": "archived"},
        {"project": "p", "status": "quarantined"},
        {"project": "p", "superseded_by": "m1"},
    ],
)
def test_a_search_lets_in_nothing_that_came_since(
    monkeypatch: pytest.MonkeyPatch, name: str, other: dict[str, str]
) -> None:
    """Even where it looks at every row, a memory of another scope or a hidden one is not found."""
    ask = SEARCHES[name]
    with of_one_project() as engine:
        scope = engine.scope(project="p")
        wanted = ask(scope)

        def add() -> None:
            record = {"id": "other", "text": "apple pie", "session": "s", **other}
            engine.add_many([record], links=False)
            engine.link("other", "m0", 0.9)

        once(monkeypatch, SearchCall, "visible", add)
        found = ask(scope)
        assert "'other'" not in str(found) or (name == "deep" and "superseded_by" in other)
        if other["project"] != "p":  # else the words weigh something else
            assert found == wanted


def test_why_not_names_no_memory_that_was_forgotten_since(monkeypatch: pytest.MonkeyPatch) -> None:
    with of_one_project() as engine:
        kth = engine.search("apple pie", k=3, reinforce=False).ids[-1]
        assert engine.why_not("apple pie", "m5", k=3).kth_id == kth
        once(monkeypatch, WhyNotSearch, "__init__", lambda: engine.forget(kth))
        assert engine.why_not("apple pie", "m5", k=3).kth_id is None


def test_statistics_of_a_scope_count_nothing_that_came_since(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with of_one_project() as engine:
        scope = engine.scope(project="p")
        wanted = scope.statistics("apple pie")

        def add() -> None:
            engine.add_many([{"id": "other", "text": "apple pie", "project": "q"}])

        once(monkeypatch, RowSets, "in_bounds", add)
        assert scope.statistics("apple pie") == wanted
        assert engine.statistics("apple pie") != wanted


@pytest.mark.parametrize(
    ("options", "other"),
    [
        ({}, {"status": "archived"}),
        ({}, {"status": "quarantined"}),
        ({}, {"superseded_by": "m1"}),
        ({}, {"valid_until": NOW - 1.0}),
        ({}, {"valid_from": NOW + 1.0}),
        ({"least_trust": 0.5}, {"trust": 0.1}),
        ({"profile": "cognitive"}, {"tier": "cold"}),
        ({"profile": "omega"}, {"kind": "session_summary"}),
        ({"where": oneiros.where(project="p")}, {"project": "q"}),
        ({"exclude": ["m0"]}, {"status": "archived"}),
    ],
)
def test_a_search_of_the_store_lets_in_nothing_hidden_that_came_since(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], other: dict[str, Any]
) -> None:
    with of_one_project() as engine:
        record = {"id": "other", "text": "apple pie", "session": "s", **other}

        def add() -> None:
            engine.add_many([record], links=False)
            engine.refresh()  # it is in the indexes

        once(monkeypatch, SearchCall, "visible", add)
        found = engine.search("apple pie", reinforce=False, **options)
        assert "other" not in found.ids
        assert "other" not in engine.search("apple pie", reinforce=False, **options).ids


def test_a_search_of_the_store_runs_once_as_memories_come_that_none_hides(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with of_one_project() as engine:

        def add() -> None:
            engine.add_many([{"id": "other", "text": "apple pie"}])
            engine.refresh()

        chosen = []
        visible = SearchCall.visible

        def noted(call: SearchCall, *, is_exact: bool = False) -> Any:
            chosen.append(is_exact)
            return visible(call, is_exact=is_exact)

        monkeypatch.setattr(SearchCall, "visible", noted)
        once(monkeypatch, SearchCall, "visible", add)
        found = engine.search("apple pie", reinforce=False)
        assert chosen == [False]
        assert "other" in found.ids  # it came before the search ran
        assert found.texts[found.ids.index("other")] == "apple pie"


def test_no_search_of_the_store_finds_less_than_an_earlier_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also while a memory is in some index, but not live yet."""
    is_indexed, may_go_on = threading.Event(), threading.Event()
    with of_one_project() as engine, ThreadPoolExecutor() as pool:
        adding: list[Future[object]] = []

        apply = MemoryTexts.apply

        def wait_after(*args: Any) -> None:
            apply(*args)
            is_indexed.set()
            assert may_go_on.wait(60.0)

        def add() -> None:
            monkeypatch.setattr(MemoryTexts, "apply", wait_after)
            adding.append(pool.submit(engine.add_many, [{"id": "other", "text": "apple pie"}]))
            assert is_indexed.wait(60.0)

        once(monkeypatch, SearchCall, "visible", add)
        try:
            found = engine.search("apple pie", reinforce=False)
            later = engine.search("apple pie", reinforce=False)
        finally:
            may_go_on.set()
        adding[0].result(60.0)
        assert "other" in found.ids
        assert later.ids == found.ids
        assert engine.search("apple pie", reinforce=False).ids == found.ids


@pytest.mark.parametrize("kind", ["reranker", "reranker of the engine", "factor"])
@pytest.mark.parametrize("method", ["search", "search_many"])
def test_code_of_the_user_runs_once_whatever_comes_meanwhile(kind: str, method: str) -> None:
    """It may take seconds, and cost money: a search does not run again for it."""
    calls: list[int] = []

    def rerank(_query: str, texts: Sequence[str]) -> list[float]:
        calls.append(len(texts))
        engine.add("apple pie", id=f"other {len(calls)}", project="p")
        engine.refresh()  # it is in the indexes
        return [1.0] * len(texts)

    def factor(importance: np.ndarray) -> list[float]:
        return rerank("", [""] * len(importance))

    profile = oneiros.profiles.get("cognitive")
    own = CallableFactor(factor, name="own", columns=("importance",))
    options: dict[str, Any] = {
        "reranker": {"options": {"reranker": rerank}},
        "reranker of the engine": {"engine": {"reranker": rerank}},
        "factor": {"engine": {"profile": profile.replace(factors=(*profile.factors, own))}},
    }[kind]
    with of_one_project(**{"profile": profile, **options.get("engine", {})}) as engine:
        asked = options.get("options", {})
        if method == "search":
            found = engine.search("apple pie", reinforce=False, **asked)
        else:
            (found,) = engine.search_many(["apple pie"], reinforce=False, **asked)
        assert len(calls) == 1
        assert found.ids
        assert "other 1" not in found.ids


def test_rows_chosen_as_others_came_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every later search would run twice."""
    with of_one_project() as engine:
        choose, ask_again = RowSets._searched, RowSets.lets_in_others
        left, asked = ["other"], []

        def choose_late(row_sets: RowSets, *arguments: Any) -> Any:
            if left:
                engine.add("apple pie", id=left.pop(), project="p")
                engine.refresh()
            return choose(row_sets, *arguments)

        def noted(row_sets: RowSets, visible: Any) -> bool:
            asked.append(ask_again(row_sets, visible))
            return asked[-1]

        monkeypatch.setattr(RowSets, "_searched", choose_late)
        monkeypatch.setattr(RowSets, "lets_in_others", noted)
        found = [engine.search("apple pie", k=9, reinforce=False).ids for _ in range(3)]
        assert asked == [False, False, False]
        assert "other" in found[1]
        assert found[1] == found[2]


def test_a_restored_memory_is_not_let_in(monkeypatch: pytest.MonkeyPatch) -> None:
    with of_one_project() as engine:
        engine.add("apple pie", id="other", project="q")
        engine.delete("other")
        scope = engine.scope(project="p")
        wanted = scope.search("apple pie", reinforce=False).ids
        once(monkeypatch, SearchCall, "visible", lambda: engine.restore("other"))
        assert scope.search("apple pie", reinforce=False).ids == wanted


def test_rows_that_are_named_one_by_one_give_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    with of_one_project() as engine:
        scopes = [engine, engine.scope(project="p")]
        wanted = [ask(scope) for scope in scopes for ask in SEARCHES.values()]
        exactly = functools.partialmethod(SearchCall.visible, is_exact=True)
        monkeypatch.setattr(SearchCall, "visible", exactly)
        assert [ask(scope) for scope in scopes for ask in SEARCHES.values()] == wanted


@pytest.mark.parametrize("is_known", [True, False])
def test_a_filter_sees_no_row_between_its_conditions(
    monkeypatch: pytest.MonkeyPatch, is_known: bool
) -> None:
    """A memory that comes, or goes and comes back, while a filter is read is not taken for another."""
    where = oneiros.where
    condition = ~(where(importance=(2, None)) | where(tags="red") | where(certainty=(2, None)))
    red = {"id": "red", "text": "red", "tags": ["red"]}
    with oneiros.Engine(":memory:") as engine:
        engine.add("plain", id="plain")
        actions: dict[str, Callable[[], object]] = {"certainty": lambda: engine.add_many([red])}
        if is_known:
            engine.add_many([red])
            actions["importance"] = lambda: engine.delete("red")
            actions["certainty"] = lambda: engine.restore("red")
        column = Lifecycle.column

        def read(lifecycle: Lifecycle, name: str) -> Any:
            if (action := actions.pop(name, None)) is not None:
                action()
            return column(lifecycle, name)

        monkeypatch.setattr(Lifecycle, "column", read)
        assert [memory.id for memory in engine.list(condition)] == ["plain"]
        assert not actions


def test_a_response_of_a_replaced_read_model_is_not_cached_as_current(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with of_one_project(profile="omega") as engine:

        def meanwhile() -> None:
            rebuild(engine)
            engine.add("apple pie of another kind", id="new")
            engine.search("plum")

        once(monkeypatch, SearchCall, "key", meanwhile)
        assert "new" not in engine.search("apple pie").ids
        assert "new" in engine.search("apple pie").ids


def test_searches_go_on_while_the_read_model_is_rebuilt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They know the store's revision, too."""
    events: list[oneiros.Event] = []
    seen: list[object] = []
    path = tmp_path / "memories.db"
    with oneiros.Engine(path, observers=[events.append], clock=lambda: NOW) as engine:
        engine.add_many([{"id": "m0", "text": "apple"}, {"id": "m1", "text": "pear"}])
        engine.search("apple")  # reads texts and links, for which the writer thread is needed
        engine.flush()
        events.clear()
        revision = engine.stats()["revision"]
        assert revision

        def search() -> None:
            seen.append(engine.search("apple").ids)  # leaves its use to the writer thread
            seen.append(engine.search("apple").ids)
            seen.append(engine.stats()["revision"])

        def meanwhile() -> None:
            thread = threading.Thread(target=search, daemon=True)
            thread.start()
            thread.join(20)
            seen.append(thread.is_alive())

        with monkeypatch.context() as patch:
            once(patch, VerdictQuestions, "follow", meanwhile)
            rebuild(engine)
        assert seen == [["m0"], ["m0"], revision, False]
        assert [event.revision for event in events if event.kind == "search"] == [revision] * 2
        engine.flush()
        assert engine.get("m0").access_count == 3


def test_verdicts_are_counted_again_after_a_rebuild(monkeypatch: pytest.MonkeyPatch) -> None:
    profile = oneiros.profiles.get("omega").replace(factors=(Thompson(least=1),))
    with of_one_project() as engine:
        counts: list[object] = []
        for verdict in ("helpful", "unhelpful"):
            engine.feedback("m0", verdict)
            with monkeypatch.context() as patch:
                once(
                    patch,
                    VerdictQuestions,
                    "follow",
                    lambda: counts.append(engine._scope.verdicts(profile)),
                )
                rebuild(engine)
        assert counts == [{"note": (1, 0)}, {"note": (1, 1)}]


# -- other vectors ---------------------------------------------------------------------------------


class Turned:
    """An embedder whose vectors depend on its number as much as on the text."""

    def __init__(self, number: int, width: int) -> None:
        self.name = f"turned-{number}-{width}"
        self._number = number
        self._width = width

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        return np.array(
            [
                np.random.default_rng([self._number, *text.encode()]).normal(size=self._width)
                for text in texts
            ],
            np.float32,
        )


@contextmanager
def embedded(embedder: Turned) -> Iterator[oneiros.Engine]:
    with oneiros.Engine(":memory:", embedder=embedder, clock=lambda: NOW) as engine:
        engine.add_many([{"id": f"m{n}", "text": f"{WORDS[n % 3]} {n}"} for n in range(9)])
        yield engine


VECTOR_CALLS: dict[str, Callable[[Any], object]] = {
    "search": lambda of: _pairs(of.search("apple 1", reinforce=False)),
    "search by omega": lambda of: _pairs(
        of.search("what is apple 1 and what is plum 2?", profile="omega", reinforce=False)
    ),
    "search_many": lambda of: [
        _pairs(found) for found in of.search_many(["apple 1", "plum"], reinforce=False)
    ],
    "why_not": lambda of: str(of.why_not("apple 1", "m5")),
    "similar to a text": lambda of: of.similar("apple 1", 5),
    "similar": lambda of: of.similar("m1", 5),
    "near_duplicates": lambda of: of.near_duplicates(["m0", "m3"]),
}


@pytest.mark.parametrize("name", VECTOR_CALLS)
@pytest.mark.parametrize("width", [8, 16])
def test_a_query_is_compared_with_vectors_of_its_own_embedder(
    monkeypatch: pytest.MonkeyPatch, name: str, width: int
) -> None:
    """Another thread replaces all vectors while the query is embedded."""
    ask, other = VECTOR_CALLS[name], Turned(2, width)
    for owner, method in (
        (Turned, "__call__"),
        (search_call, "query_vector"),
        (near_duplicates, "query_vector"),
        (near_duplicates, "_texts_of"),
        (SearchCall, "visible"),
        (SearchCall, "_embedded"),
    ):
        with embedded(Turned(1, 8)) as engine, monkeypatch.context() as patch:
            before = ask(engine)
            with monkeypatch.context() as inner:
                once(inner, owner, method, lambda of=engine: of.reembed(other))
                found = ask(engine)
            patch.undo()
            if engine.embedder_name != other.name:  # the call does not come there
                engine.reembed(other)
            assert found in (before, ask(engine)), method


def test_a_rebuilt_read_model_is_of_the_same_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that has the read model of before is not left with its vectors."""
    other = Turned(2, 8)

    def replace(engine: oneiros.Engine) -> None:
        rebuild(engine)
        engine.reembed(other)

    with embedded(Turned(1, 8)) as engine:
        with monkeypatch.context() as patch:
            once(patch, search_call, "query_vector", lambda: replace(engine))
            found = _pairs(engine.search("apple 1", reinforce=False))
        assert found == _pairs(engine.search("apple 1", reinforce=False))


# -- others ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("action", ["update", "forget"])
def test_conflicts_beside_a_change(monkeypatch: pytest.MonkeyPatch, action: str) -> None:
    with oneiros.Engine(":memory:", clock=lambda: NOW) as engine:
        texts = {"old": "I work at Siemens as a nurse", "new": "I now work at Bosch as a nurse"}
        for n, (id, text) in enumerate(texts.items()):
            engine.add(text, id=id, created_at=NOW - 10 + n)
        assert [found.newer for found in engine.conflicts(least_confidence=0.1)] == ["new"]
        change = {
            "update": lambda: engine.update("new", text=""),
            "forget": lambda: engine.forget("new"),
        }[action]
        once(monkeypatch, finding, "conflicting", change)
        assert engine.conflicts(least_confidence=0.1) == []


def test_values_are_counted_while_others_come() -> None:
    sets = RowsByValue()
    sets.add("red", 1)
    sets.add("blue", 2)

    class Rows(BitMap):
        """A set of rows that another thread uses the time of, too."""

        def __contains__(self, row: int) -> bool:
            sets.add(f"other{row}", row)
            return bool(super().__contains__(row))

    assert sorted(sets.counts(Rows([1, 2]))) == [("blue", 1), ("red", 1)]


def test_links_are_listed_while_they_are_dropped() -> None:
    class Dropped(Associations):
        """Links that another thread drops after the first look at them."""

        @property
        def graph(self) -> Any:
            return self.__dict__.pop("first", None)

        @graph.setter
        def graph(self, graph: Any) -> None:
            self.__dict__["first"] = graph

    with of_one_project() as engine:
        lifecycle = engine._scope.read_model.lifecycle
        links = Dropped(lifecycle)
        links.graph = engine._scope.services.sync.associations(engine._scope.read_model).graph
        found = links.all(visible=engine._scope.matching(None), now=NOW)
        assert [(id, link.id) for id, link in found] == [("m0", "m1"), ("m1", "m2")]
