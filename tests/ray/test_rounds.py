"""A search over shards equals that of one engine with all memories, to the bit. Without Ray."""

from __future__ import annotations

import gc
import os
import pickle
import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import oneiros
from oneiros import profiles
from oneiros.errors import DuplicateId, EmbedderMismatch
from oneiros.index import Visible, snapshot
from oneiros.ray import candidates, rounds
from oneiros.ray.candidates import Around, CandidateSource
from oneiros.ray.failures import MixedShards
from oneiros.ray.ranking import Client
from oneiros.runtime.dataclasses import replace
from oneiros.search.call import SearchRequest
from oneiros.search.pipeline import Walk, walk_graph
from tests.frozen.answers import plain_values
from tests.frozen.corpus import AXES, NOW, WHOLE, opened
from tests.frozen.scenarios import SCENARIOS, SEQUENCES, WORLDS, World, in_other_words
from tests.ray.local_shards import LocalShards, by_id, loosen, one_by_one, split

LONG = bool(os.environ.get("ONEIROS_LONG"))
EVERY = 1 if LONG else 61
COUNT = 400 if LONG else 150
SHARDS = {None: (1, 2, 3, 7), 8: (1, 2, 3, 7)} if LONG else {None: (1, 3), 8: (2, 7)}
"""Numbers of shards by depth of the channels; None: that of the profile."""
REPHRASED = {"expanders"}
"""Searches of an engine with a query expander."""
LEFT_OUT = {"why_not", "batches", *SEQUENCES}
"""Other methods, and searches that change the store."""
if not LONG:
    LEFT_OUT |= {"bare", "vectors"}  # which make stores of their own


def clock() -> float:
    return NOW


def client_of(profile: oneiros.Profile | str = "oneiros", **parts: Any) -> Client:
    return Client.of({"profile": profile, "clock": clock, **parts})


class Rephrasing(World):
    """A world whose store has a query expander."""

    def small(self, count: int = 0, **options: Any) -> oneiros.Engine:  # noqa: ARG002
        return self.mind


def asks_of(world: World, place: int) -> Iterator[tuple[str, partial[Any]]]:
    """Yield searches of the whole store, each n-th of all scenarios."""
    number = place
    for name, scenario in SCENARIOS.items():
        if name in LEFT_OUT or (name in REPHRASED) != isinstance(world, Rephrasing):
            continue
        for ask in scenario(world):
            if not isinstance(ask, partial) or ask.func.__name__ != "search":
                continue
            services = ask.func.__self__._scope.shared
            if services is not world.mind._scope.shared:
                continue
            number += 1
            if number % EVERY == 0:
                yield name, ask


def outcome(search: Any, *args: Any, **keywords: Any) -> Any:
    try:
        return plain_values(search(*args, **keywords))
    except (ValueError, TypeError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("depth", SHARDS)
@pytest.mark.parametrize("name", WORLDS)
def test_the_answers_of_shards_are_those_of_one_engine(
    name: str, depth: int | None, tmp_path: Path
) -> None:
    """Shards by id: sessions span them. Results, traces, reasons and explanations are compared."""
    known = WORLDS[name]
    profile = known.profile
    if depth is not None:
        channels = tuple(replace(channel, depth=depth) for channel in profile.channels)
        profile = profile.replace(channels=channels)
    options = {"profile": profile, "embedder": AXES if known.axes else WHOLE, "clock": clock}
    rephrasing = {**options, "query_expander": in_other_words}
    made = opened(profile, count=COUNT, axes=known.axes)
    for place, count in enumerate(SHARDS[depth]):
        folder = tmp_path / str(count)
        folder.mkdir()
        mind = one_by_one(made, folder / "whole.db", **options)
        shard_of = by_id(mind, count)
        loosen(mind, shard_of)
        mind.backup(folder / "rephrasing.db")
        parts = split(mind, shard_of, folder, **options)
        gc.freeze()  # else the collector traverses the stores again and again
        for kind, given, whole in (
            (World, options, mind),
            (Rephrasing, rephrasing, oneiros.Engine(folder / "rephrasing.db", **rephrasing)),
        ):
            world = kind(name, profile, axes=known.axes)
            world.__dict__["mind"] = whole
            shards = LocalShards(parts, Client.of(given))
            for scenario, ask in asks_of(world, place * EVERY // 2):
                keywords = world.read(ask.keywords)
                bounds = ask.func.__self__._scope.bounds
                found = outcome(shards.search, *ask.args, bounds=bounds, **keywords)
                expected = outcome(ask.func, *ask.args, **keywords)
                assert found == expected, (scenario, count, ask.args, keywords)
            whole.close()
        shards.close()
        gc.unfreeze()
    made.close()


# -- made by hand ------------------------------------------------------------------------------------


def engines_of(
    records: Sequence[dict[str, Any]], count: int, **options: Any
) -> tuple[oneiros.Engine, list[oneiros.Engine]]:
    """Return an engine with all records, and engines that have every n-th, added in that order."""
    given = {"clock": clock, "embedder": "hashing", **options}
    whole = oneiros.Engine(":memory:", **given)
    parts = [oneiros.Engine(":memory:", **given) for _ in range(count)]
    for number, record in enumerate(records):
        for engine in (whole, parts[number % count]):
            engine.add_many([record], now=NOW - 10_000 + number)
    return whole, parts


RECORDS = [
    {
        "id": f"r{number}",
        "text": f"note {number} on {('tea', 'milk', 'honey', 'rum')[number % 4]}, {number % 7}",
        "session": f"talk {number // 12}",
        "project": ("kitchen", "garage", None)[number % 3],
        "event_at": NOW - 1_000 * (number // 5),
    }
    for number in range(90)
]


def test_uses_count_in_the_shards_at_once() -> None:
    """Also those that are not written yet: the next search sees them."""
    whole, parts = engines_of(RECORDS, 3)
    shards = LocalShards(parts, client_of(embedder="hashing"))
    for number, query in enumerate(("tea 3", "honey", "note on rum", "tea and milk")):
        for search in (whole.search, shards.search):
            search(query, session=f"mine {number}", now=NOW + number * 86_400)
    for part in parts:
        for memory in part.list(limit=100):
            same = whole.get(memory.id)
            assert memory.access_count == same.access_count
            assert memory.stability == same.stability
            assert memory.sessions == same.sessions
    # Only links between results of one shard were made.
    one, other = parts[0].links(), parts[1].links()
    assert one
    assert other
    assert {link.id for _, link in one} <= {memory.id for memory in parts[0].list(limit=100)}


@pytest.mark.parametrize("embedder", ["hashing", None])
def test_verdicts_with_a_question_count_as_in_one_engine(embedder: str | None) -> None:
    whole, parts = engines_of(RECORDS, 3, embedder=embedder)
    shards = LocalShards(parts, client_of(embedder=embedder))
    before = whole.search("note on tea", reinforce=False)
    for place, verdict in ((1, "unhelpful"), (7, "helpful"), (8, "helpful"), (8, "outdated")):
        id = before.ids[place]
        for engine in (whole, parts[int(id[1:]) % 3]):
            engine.feedback(id, verdict, query="note on tea")
    for query in ("note on tea", "note on rum", "honey"):
        found = shards.search(query, reinforce=False, explain=True)
        expected = whole.search(query, reinforce=False, explain=True)
        assert plain_values(found) == plain_values(expected)
    assert whole.search("note on tea", reinforce=False).ids != before.ids


def test_results_carry_the_memories_of_the_shards() -> None:
    whole, parts = engines_of(RECORDS, 2)
    shards = LocalShards(parts, client_of(embedder="hashing"))
    response = shards.search("tea 5", reinforce=False)
    for engine in (*parts, whole):
        engine.close()
    expected = {record["id"]: record for record in RECORDS}
    assert len(response) == 10
    for result in pickle.loads(pickle.dumps(response)):
        assert result.memory.text == expected[result.id]["text"]
        assert result.memory.session == expected[result.id]["session"]
        assert result.memory.embedding is not None


def test_a_scope_weighs_words_by_its_own_statistics() -> None:
    whole, parts = engines_of(RECORDS, 3)
    shards = LocalShards(parts, client_of(embedder="hashing"))
    for bounds in ({"project": "kitchen"}, {"session": "talk 3"}, {"project": "nowhere"}):
        for statistics in ("scope", "store"):
            options: dict[str, Any] = {"statistics": statistics, "reinforce": False}
            found = shards.search("note on tea", bounds=bounds, **options)
            expected = whole.scope(**bounds).search("note on tea", **options)
            assert plain_values(found) == plain_values(expected)
    given = whole.statistics("note on tea")
    found = shards.search("note on tea", statistics=given, reinforce=False)
    assert plain_values(found) == plain_values(whole.search("note on tea", reinforce=False))


def test_words_that_no_candidate_has_weigh_as_in_the_whole() -> None:
    """The lexical part of a score is a share of what the query allows."""
    records = [*RECORDS, {"id": "old", "text": "quasar voltage", "status": "archived"}]
    whole, parts = engines_of(records, 2)
    shards = LocalShards(parts, client_of(embedder="hashing"))
    for query in ("tea quasar", "quasar voltage", "tea -voltage"):
        syntax = "query" if "-" in query else "plain"
        options: dict[str, Any] = {"syntax": syntax, "reinforce": False, "explain": True}
        found = shards.search(query, **options)
        assert plain_values(found) == plain_values(whole.search(query, **options))


def test_shards_opened_from_snapshots_and_read_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot, "FEWEST_ROWS", 1)
    whole, parts = engines_of(RECORDS, 2)
    paths = [tmp_path / f"{number}.db" for number in range(2)]
    for part, path in zip(parts, paths, strict=True):
        part.backup(path)
        oneiros.Engine(path, embedder="hashing").close()
        assert Path(f"{path}-snapshot").exists()
    for options in ({}, {"read_only": True}):
        given = {"embedder": "hashing", "clock": clock, **options}
        engines = [oneiros.Engine(path, **given) for path in paths]
        shards = LocalShards(engines, Client.of(given))
        for query in ("tea 5", "note on rum"):
            found = shards.search(query, reinforce=None if options else False)
            assert plain_values(found) == plain_values(whole.search(query, reinforce=False))
        assert "use" not in shards.calls
        shards.close()


def test_times_without_a_zone_are_in_that_of_the_engines() -> None:
    whole, parts = engines_of(RECORDS, 2, timezone="Europe/Berlin")
    shards = LocalShards(parts, client_of(embedder="hashing", timezone="Europe/Berlin"))
    options: dict[str, Any] = {"now": "2025-06-15T17:00:00", "reinforce": False, "explain": True}
    options["date_range"] = ("2025-06-15T11:00:00", "2025-06-15T15:00:00")
    found, expected = shards.search("tea", **options), whole.search("tea", **options)
    assert plain_values(found) == plain_values(expected)
    assert found.now == 1_750_000_000.0 - 400
    with pytest.raises(ValueError, match="now: "):
        LocalShards(parts, client_of(embedder="hashing")).search("tea", **options)


def test_many_threads_search_at_once() -> None:
    whole, parts = engines_of(RECORDS, 3)
    shards = LocalShards(parts, client_of(embedder="hashing"))
    queries = [f"{word} {number}" for word in ("tea", "milk", "rum") for number in range(7)]
    expected = [plain_values(whole.search(query, reinforce=False)) for query in queries]
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda query: plain_values(shards.search(query, reinforce=False)), queries)
        assert list(found) == expected


def test_stores_without_memories() -> None:
    whole, parts = engines_of([], 3)
    shards = LocalShards(parts, client_of(embedder="hashing"))
    found = shards.search("tea")
    assert plain_values(found) == plain_values(whole.search("tea"))


def test_a_reranker_is_called_once_with_the_texts_of_the_whole() -> None:
    whole, parts = engines_of(RECORDS, 3)
    seen: list[list[str]] = []

    def longest(_query: str, texts: list[str]) -> list[float]:
        seen.append(texts)
        return [float(len(text)) for text in texts]

    shards = LocalShards(parts, client_of("cognitive", embedder="hashing"))
    options: dict[str, Any] = {"reranker": longest, "reinforce": False, "deadline": float("inf")}
    options["profile"] = "cognitive"
    found = shards.search("note on tea 3", **options)
    expected = whole.search("note on tea 3", **options)
    assert len(seen) == 2
    assert seen[0] == seen[1]
    assert plain_values(found) == plain_values(expected)


def test_an_embedder_is_called_once() -> None:
    calls: list[list[str]] = []

    def embedder(texts: list[str]) -> np.ndarray:
        calls.append(texts)
        return np.ones((len(texts), 4), np.float32)

    _, parts = engines_of(RECORDS, 2, embedder=embedder)
    calls.clear()
    shards = LocalShards(parts, client_of(embedder=embedder))
    shards.search("tea with milk", reinforce=False)
    assert calls == [["tea with milk"]]


def test_a_damaged_memory_is_left_out() -> None:
    whole, parts = engines_of(RECORDS, 2)
    shards = LocalShards(parts, client_of(embedder="hashing"))
    best = whole.search("tea 3", reinforce=False).ids[0]
    part = next(part for part in parts if part.get_many([best]) != [None])
    store = part._scope.services.store
    with store.write() as transaction:
        transaction.run("UPDATE memory SET text = 'other' WHERE id = ?", (best,))
    found = shards.search("tea 3", reinforce=False)
    assert best not in found.ids
    assert len(found) == 10


class Moving(CandidateSource):
    """A shard to which a memory is added while it is searched.

    Args:
        engine: of the shard.
        number: of the shard.
        times: how often.
    """

    def __init__(self, engine: oneiros.Engine, number: int, times: int) -> None:
        super().__init__(engine, number)
        self.engine = engine
        self.left = times

    def around(self, *args: Any, **keywords: Any) -> Around:
        if self.left:
            self.left -= 1
            self.engine.add(f"tea of zebras {self.left}", id=f"new {self.left}")
        return super().around(*args, **keywords)


@pytest.mark.parametrize("times", [1, 3, 100])
def test_a_change_between_rounds_starts_the_search_again(times: int) -> None:
    whole, parts = engines_of(RECORDS, 2)
    shards = LocalShards(parts, client_of(embedder="hashing"))
    shards.sources[1] = moving = Moving(parts[1], 1, times)
    response = shards.search("tea of zebras", reinforce=False)
    done = times - moving.left
    assert shards.calls.count("overview") == min(times + 1, 4)
    if moving.left == 0:  # else the last search goes on, as one engine does next to a writer
        for number in reversed(range(done)):
            whole.add(f"tea of zebras {number}", id=f"new {number}")
        expected = whole.search("tea of zebras", reinforce=False)
        assert plain_values(response) == plain_values(expected)
    assert len(response) == 10


def test_a_shard_lets_in_nothing_that_comes_while_it_is_searched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where all its memories are of the scope, it looks at every row."""
    records = [{**record, "project": "kitchen"} for record in RECORDS]
    few = profiles.get("bm25")
    few = few.replace(channels=tuple(replace(channel, depth=2) for channel in few.channels))

    def ids_found_as_another_comes(text: str) -> list[str]:
        _, parts = engines_of(records, 2)
        shards = LocalShards(parts, client_of(embedder="hashing"))
        came = []

        def walk_after_a_change(request: SearchRequest, read_model: Any, visible: Visible) -> Walk:
            if read_model is parts[1]._scope.read_model and not came:
                if shards.calls.count("overview") < 4:  # the search starts again
                    parts[1].update("r1", metadata={"calls": len(shards.calls)})
                else:  # it goes on
                    assert visible.bits is None
                    came.append(parts[1].add(text, project="garage"))
                    parts[1].refresh()  # it is in the indexes
            return walk_graph(request, read_model, visible)

        with monkeypatch.context() as patch:
            patch.setattr(candidates, "walk_graph", walk_after_a_change)
            bounds = {"project": "kitchen"}
            found = shards.search("note on tea", bounds=bounds, profile=few, reinforce=False)
        assert came
        return found.ids

    assert ids_found_as_another_comes("note on tea") == ids_found_as_another_comes("a zebra")


@pytest.mark.parametrize("leading", [0, 2])
def test_neighbours_are_fetched_when_a_ranking_lacks_them(
    leading: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also hidden ones, which stand between others, and archived ones, which do not."""
    monkeypatch.setattr(rounds, "_LEADING", leading)
    chance = random.Random(5)
    records = [
        {**record, "kind": chance.choice(["note", "fact"])}
        | ({"status": "archived"} if chance.random() < 0.2 else {})
        for record in RECORDS
    ]
    whole, parts = engines_of(records, 3)
    shards = LocalShards(parts, client_of(embedder="hashing"))
    ways: tuple[dict[str, Any], ...] = (
        {},
        {"where": oneiros.where(kind="fact")},
        {"status": ["archived", "staged"]},
        {"date_range": (NOW - 9_000, NOW - 4_000)},
        {"exclude": ["r4", "r8", "r9", "r41"]},
        {"syntax": "query"},
    )
    brought = fetched = 0
    few = profiles.get("oneiros")
    few = few.replace(channels=tuple(replace(channel, depth=6) for channel in few.channels))
    for way in ways:
        for query in ("tea 3", "+honey -5" if "syntax" in way else "honey 5"):
            shards.calls.clear()
            options: dict[str, Any] = {"profile": few, "reinforce": False, "explain": True, **way}
            found = shards.search(query, 20, **options)
            assert plain_values(found) == plain_values(whole.search(query, 20, **options))
            brought += sum(result.neighbour_of is not None for result in found)
            fetched += shards.calls.count("around")
    assert brought > 50
    assert fetched == 2 * len(ways) if leading else fetched > 3 * len(ways)


def test_an_id_in_two_shards_is_refused() -> None:
    _, parts = engines_of(RECORDS, 2)
    for part in parts:
        part.add("tea twice", id="twice")
    shards = LocalShards(parts, client_of(embedder="hashing"))
    with pytest.raises(DuplicateId, match="'twice' is in the shards 0 and 1"):
        shards.search("tea twice")


def test_shards_must_be_alike() -> None:
    def shards_of(*options: dict[str, Any]) -> LocalShards:
        engines = [oneiros.Engine(":memory:", clock=clock, **each) for each in options]
        for number, engine in enumerate(engines):
            engine.add("tea", id=str(number))
        return LocalShards(engines, client_of())

    with pytest.raises(MixedShards, match="shards 0 and 1 have different lexical options"):
        shards_of({}, {"analyzer": "german"}).search("tea")
    with pytest.raises(MixedShards, match="0 and 2 have different lexical options"):
        shards_of({}, {}, {"k1": 0.9}).search("tea")

    class Other:
        name = "other"

        def __call__(self, texts: list[str]) -> np.ndarray:
            return np.ones((len(texts), 4), np.float32)

    with pytest.raises(
        MixedShards, match="different embedder: 'oneiros/hashing-1-512' and 'other'"
    ):
        shards_of({"embedder": "hashing"}, {"embedder": Other()}).search("tea")
    alike = shards_of({"embedder": Other()}, {"embedder": Other()})
    alike.client = client_of(embedder="hashing")
    with pytest.raises(EmbedderMismatch, match="'other'"):
        alike.search("tea")


def test_what_would_differ_is_refused() -> None:
    _, parts = engines_of(RECORDS, 2)
    shards = LocalShards(parts, client_of(embedder="hashing"))
    with pytest.raises(ValueError, match="embedding: expected 512 values"):
        shards.search("tea", embedding=[1.0, 0.0], profile="oneiros")
    with pytest.raises(ValueError, match="k: "):
        shards.search("tea", -1, profile="oneiros")
    with pytest.raises(ValueError, match="reinforce: must not be True"):
        shards.search("tea", profile="bm25", reinforce=True)


STEMMED = [
    "the runner ran",
    "a run of tea",
    "runs of honey",
    "running late for tea",
    "the runway is long",
    "runny honey and rum",
    "tea alone",
    "happiness",
    "happily running",
    "a rune, and runes",
    "she swims with tea",
    "swimming",
]
"""Some shards have only forms that do not begin with the prefix which finds their words."""


@pytest.mark.parametrize(
    ("profile", "count"),
    [
        (profile, count)
        for profile in profiles.names()
        for count in ((1, 2, 3, 7) if LONG else (1, 3) if profile == "oneiros" else (3,))
    ],
)
def test_a_prefix_finds_the_words_of_all_shards(profile: str, count: int, tmp_path: Path) -> None:
    records: list[dict[str, Any]] = [
        {"id": f"r{number}", "text": text, "project": "kitchen" if number % 2 else "garage"}
        for number, text in enumerate(STEMMED * 2)
    ]
    records.append({"id": "old", "text": "runaway quasars", "status": "archived"})
    given: dict[str, Any] = {"profile": profile, "embedder": "hashing", "clock": clock}
    whole, _ = engines_of(records, 1, **given)
    shard_of = {record["id"]: number % count for number, record in enumerate(records)}
    loosen(whole, shard_of)
    shards = LocalShards(split(whole, shard_of, tmp_path, **given), Client.of(given))
    # The garage has "swims", which the prefix "swimm" finds since the kitchen has "swimming".
    queries = (
        *("swimm*", "tea -swimm*", "+swimm* tea", "swimm* rum", "runn*"),
        *("run*", "+runn* tea", "tea -runn*", "+runn*", "-run* honey", "title:run* tea"),
        *("runa* tea", "happ* +run*", "zz* tea", "+zz*", "tea -zz*", "a-runn* honey", "r* t* h*"),
        *('"tea" runn* runn*', "RUNN*", "happin* happil*"),
    )
    again = 0
    for query in queries:
        for bounds in ({}, {"project": "kitchen"}, {"project": "garage"}):
            options: dict[str, Any] = {"syntax": "query", "reinforce": False, "explain": True}
            shards.calls.clear()
            found = shards.search(query, bounds=bounds, **options)
            expected = whole.scope(**bounds).search(query, **options)
            assert plain_values(found) == plain_values(expected), query
            again += shards.calls.count("overview") - 1
    assert (again > 0) == (count > 1)
    known = whole.statistics("runn* tea", syntax="query")
    options = {"syntax": "query", "statistics": known, "reinforce": False}
    found, expected = (each.search("runn* tea", **options) for each in (shards, whole))
    assert plain_values(found) == plain_values(expected)


def one_and_shards(
    records: list[dict[str, Any]], count: int, folder: Path, given: dict[str, Any]
) -> tuple[oneiros.Engine, LocalShards]:
    """Return an engine of the records, and so many shards over which they are dealt out."""
    whole, _ = engines_of(records, 1, **given)
    shard_of = {record["id"]: number % 7 % count for number, record in enumerate(records)}
    loosen(whole, shard_of)
    shards = LocalShards(split(whole, shard_of, folder, **given), Client.of(given))
    return whole, shards


@pytest.mark.parametrize("embedder", [None, "hashing"])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_words_one_slip_away_are_those_of_all_shards(
    count: int, embedder: str | None, tmp_path: Path
) -> None:
    """One shard has the word itself, another the word nearest to it, a scope neither."""
    texts = ("green tea", "gren hills", "grey tea", "the greens", "a kitten", "kitchen tea", "milk")
    records = [
        {"id": f"r{number}", "text": text, "project": "home" if number % 2 else "away"}
        for number, text in enumerate(texts * 3)
    ]
    given: dict[str, Any] = {"embedder": embedder, "clock": clock}
    whole, shards = one_and_shards(records, count, tmp_path, given)
    options: dict[str, Any] = {"reinforce": False, "explain": True}
    respelled = 0
    for query in ("grenn tea", "gren", "kitcen", "kitchne mikl", "tea", "xyzzy grean", "hilsl"):
        for bounds in ({}, {"project": "home"}, {"project": "away"}):
            found = shards.search(query, bounds=bounds, **options)
            expected = whole.scope(**bounds).search(query, **options)
            assert plain_values(found) == plain_values(expected), (query, bounds)
            respelled += any("searched as" in stage.note for stage in expected.trace.stages)
    assert respelled >= 10


@pytest.mark.parametrize("embedder", [None, "hashing"])
@pytest.mark.parametrize("count", [1, 3])
def test_a_question_of_a_time_alone_is_answered_by_all_shards(
    count: int, embedder: str | None, tmp_path: Path
) -> None:
    records = [
        {"id": f"r{number}", "text": text, "created_at": clock() - (number % 9) * 86_400.0}
        for number, text in enumerate(("yesterday we swam", "tea", "the long walk") * 9)
    ]
    given: dict[str, Any] = {"embedder": embedder, "clock": clock}
    whole, shards = one_and_shards(records, count, tmp_path, given)
    options: dict[str, Any] = {"reinforce": False, "explain": True}
    for query in ("what did we do yesterday?", "in the last week", "the walk of two days ago"):
        found, expected = shards.search(query, **options), whole.search(query, **options)
        assert plain_values(found) == plain_values(expected), query
        assert (expected.confidence is None) == (query != "the walk of two days ago")


def test_the_most_accessed_memories_are_those_that_a_prefix_permits() -> None:
    """The shard of the most accessed ones has no word that begins so."""
    texts = ["she swims", "swimming", "he swims", "zebra", "zebrafish", "tea", "milk", "honey"]
    records = [
        {"id": f"r{number}", "text": text, "access_count": 9 - number}
        for number, text in enumerate(texts)
    ]
    profile = profiles.get("omega")
    assert profile.hot_set is not None
    profile = profile.replace(hot_set=replace(profile.hot_set, size=2))
    given: dict[str, Any] = {"profile": profile, "embedder": None}
    whole, parts = engines_of(records, 2, **given)
    shards = LocalShards(parts, client_of(**given))
    for query in ("-swimm* zebra", "zebra -swimming", "zebra"):
        options: dict[str, Any] = {"syntax": "query", "reinforce": False, "explain": True}
        found = shards.search(query, **options)
        assert plain_values(found) == plain_values(whole.search(query, **options))
    assert "r4" in shards.search("-swimm* zebra", syntax="query", reinforce=False).ids


def test_a_prefix_of_too_many_words_is_refused_as_in_the_whole() -> None:
    """No shard has too many of them."""
    records = [
        {"id": f"r{number}", "text": " ".join(f"w{number}x{word}" for word in range(300))}
        for number in range(4)
    ]
    whole, parts = engines_of(records, 2)
    shards = LocalShards(parts, client_of(embedder="hashing"))
    refusals = []
    for engine in (whole, shards):
        with pytest.raises(oneiros.QueryTooLarge) as caught:
            engine.search("w* tea", syntax="query", reinforce=False)
        refusals.append(str(caught.value))
    assert refusals[0] == refusals[1]
    found, expected = (
        engine.search("w1* tea", syntax="query", reinforce=False) for engine in (shards, whole)
    )
    assert plain_values(found) == plain_values(expected)


def rephrase(query: str) -> list[str]:
    return {
        "how does the tea work": ["quasar voltage", "honey with rum", "milk"],
        "how does rum work and why is honey good": ["honey rum", "zorgle"],
        "explain the note on milk": ["tea"],
    }.get(query, [])


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_variants_of_a_query_are_weighed_by_the_whole(count: int) -> None:
    calls: list[str] = []

    def expander(query: str) -> list[str]:
        calls.append(query)
        return rephrase(query)

    records = [*RECORDS, {"id": "old", "text": "quasar voltage", "status": "archived"}]
    given: dict[str, Any] = {"profile": "omega", "query_expander": expander}
    whole, parts = engines_of(records, count, **given)
    shards = LocalShards(parts, client_of(embedder="hashing", **given))
    expanded = 0
    ways: tuple[dict[str, Any], ...] = (
        {},
        {"explain": True},
        {"statistics": "store", "bounds": {"project": "kitchen"}},
        {"statistics": whole.statistics("how does tea work rum milk honey note explain")},
        {"embedding": np.ones(512), "where": oneiros.where(project="kitchen")},
    )
    queries = (
        *("how does the tea work", "how does rum work and why is honey good", "tea"),
        *("explain the note on milk", "why is tea good and how does rum work?"),
    )
    for way in ways:
        for query in queries:
            options = {"reinforce": False, **way}
            bounds = options.pop("bounds", {})
            calls.clear()
            expected = outcome(whole.scope(**bounds).search, query, **options)
            wanted = [*calls]
            calls.clear()
            found = outcome(shards.search, query, bounds=bounds, **options)
            assert found == expected, (query, way)
            assert calls == wanted  # once for each text
            expanded += len(wanted)
    few = profiles.get("omega")
    few = few.replace(channels=tuple(replace(channel, depth=3) for channel in few.channels))
    for query in ("how does the tea work -rum", "how does the tea work -ru*"):
        for profile in ("omega", few):
            options = {"syntax": "query", "reinforce": False, "profile": profile}
            expected = whole.search(query, **options)
            assert plain_values(shards.search(query, **options)) == plain_values(expected)
    assert expanded > 10


def test_variants_come_from_one_call_of_the_expander_and_one_of_the_embedder() -> None:
    """Also if the search starts again, as memories change meanwhile."""
    calls: list[list[str]] = []

    def embedder(texts: list[str]) -> np.ndarray:
        calls.append(texts)
        return np.ones((len(texts), 4), np.float32)

    def expander(query: str) -> list[str]:
        calls.append([query])
        return ["honey", "rum"]

    given: dict[str, Any] = {"profile": "omega", "query_expander": expander, "embedder": embedder}
    _, parts = engines_of(RECORDS, 2, **given)
    shards = LocalShards(parts, client_of(**given))
    shards.sources[1] = Moving(parts[1], 1, 1)
    query = "how does the tea work"
    calls.clear()
    shards.search(query, reinforce=False)
    asked = [texts for texts in calls if "tea of zebras 0" not in texts]
    assert asked == [[query], [query, "honey", "rum"]]


def test_a_walk_of_the_graph_of_vectors_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    _, parts = engines_of(RECORDS, 2)

    def walked(request: SearchRequest, *_: object) -> Walk:
        return Walk(None, 0.0, breadth=0 if request.vector is None else 64)

    monkeypatch.setattr(candidates, "walk_graph", walked)
    shards = LocalShards(parts, client_of(embedder="hashing"))
    trace = shards.search("note on tea", reinforce=False).trace
    (stage,) = (stage for stage in trace.stages if stage.name == "vector_search")
    assert stage.note == "approximate: HNSW, breadth 64"


def test_the_profiles_of_a_question_need_not_be_those_of_the_shards() -> None:
    whole, parts = engines_of(RECORDS, 3)
    shards = LocalShards(parts, client_of(embedder="hashing"))
    for name in profiles.names():
        for query in ("note on tea 5", "milk yesterday"):
            options: dict[str, Any] = {"profile": name, "reinforce": False, "explain": True}
            found = shards.search(query, **options)
            assert plain_values(found) == plain_values(whole.search(query, **options)), name
