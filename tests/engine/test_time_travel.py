"""Searches as of a time, beside copies of the store that were made at that time."""

from __future__ import annotations

import contextlib
import gc
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import oneiros
from oneiros.clock import VirtualClock
from oneiros.errors import EngineClosed, HistoryUnavailable, OneirosError, UnknownMemory
from oneiros.scoring.factors import Thompson
from oneiros.search.response import SearchResponse
from oneiros.store.erased import digest_of
from tests.engine.embedders import LetterCounts

START = 1_700_000_000.0
DAY = 86_400.0
POINTS = 1_000 if os.environ.get("ONEIROS_LONG") else 40
VERDICTS = oneiros.profiles.get("omega").with_factors(Thompson(least=1.0))
PROFILES: dict[str, oneiros.Profile | str] = {
    **dict(zip(*2 * [("oneiros", "omega", "cognitive", "reverie")], strict=True)),
    "verdicts": VERDICTS,
}
WORDS = [
    "bad",
    "cafe",
    "deed",
    "face",
    "gab",
    "hedge",
    "bead",
    "fade",
    "cab",
    "bag",
    "head",
    "chef",
    "beach",
]
USERS = ("ada", "bob", None)


class Life:
    """A store that is changed at random, and the times at which a copy of it was kept."""

    def __init__(self, folder: Path, seed: int, profile: oneiros.Profile | str) -> None:
        self.folder, self.profile = folder, profile
        self.random = random.Random(seed)
        self.clock = VirtualClock(START)
        self.engine = oneiros.Engine(
            folder / "life.db",
            profile=profile,
            embedder=LetterCounts(),
            clock=self.clock,
            history="all",
        )
        self.ids: list[str] = []
        self.cycles: list[str] = []
        self.copies: dict[float, Path] = {}
        steps: list[Callable[[], object]] = [
            *(self.add,) * 4, self.add_many, *(self.update,) * 3, *(self.search,) * 5,
            *(self.feedback,) * 2, self.link, self.unlink, self.supersede, self.delete,
            self.restore, self.pin, self.touch, self.dream, self.undo, self.replace, self.quarantine,
        ]  # fmt: skip
        self.steps = steps

    def text(self) -> str:
        return " ".join(self.random.choices(WORDS, k=self.random.randint(1, 6)))

    def fields(self) -> dict[str, Any]:
        choice = self.random.choice
        fields: dict[str, Any] = {
            "kind": choice(("note", "fact", "decision", "session_summary")),
            "session": choice(("s1", "s2", None)),
            "tags": self.random.sample(WORDS, self.random.randint(0, 2)),
            "importance": self.random.random(),
            "user": choice(USERS),
            "valid_until": choice((None, self.clock() + self.random.uniform(-5, 40) * DAY)),
        }
        return {name: value for name, value in fields.items() if self.random.random() < 0.6}

    def id(self) -> str:
        return self.random.choice(self.ids)

    def add(self) -> None:
        self.ids.append(self.engine.add(self.text(), id=f"m{len(self.ids)}", **self.fields()))

    def add_many(self) -> None:
        records = [
            {"id": f"m{len(self.ids) + n}", "text": self.text(), **self.fields()} for n in range(3)
        ]
        self.ids += self.engine.add_many(records).ids

    def update(self) -> None:
        changes = self.fields() | {"title": self.random.choice(WORDS)}
        if self.random.random() < 0.5:
            changes["text"] = self.text()
        self.engine.update(self.id(), **changes)

    def replace(self) -> None:
        id = self.id()
        if self.engine.get_deleted([id])[0] is None:  # else it is erased
            self.engine.add(self.text(), id=id, on_conflict="replace", **self.fields())

    def search(self) -> None:
        self.engine.search(self.text(), self.random.randint(1, 4), session="s3")

    def feedback(self) -> None:
        self.engine.feedback(self.id(), self.random.choice(("helpful", "unhelpful", "outdated")))

    def link(self) -> None:
        self.engine.link(self.id(), self.id(), weight=self.random.uniform(0.1, 1.0))

    def unlink(self) -> None:
        self.engine.unlink(self.id(), self.id())

    def supersede(self) -> None:
        self.engine.supersede(self.id(), self.id(), reason="newer")

    def delete(self) -> None:
        self.engine.delete(self.id())

    def restore(self) -> None:
        self.engine.restore(self.id())

    def pin(self) -> None:
        self.engine.pin(self.id())

    def quarantine(self) -> None:
        self.engine.update(self.id(), status=self.random.choice(("quarantined", "staged")))

    def touch(self) -> None:
        self.engine.touch(self.id(), ttl=self.random.uniform(0, 30) * DAY)

    def dream(self) -> None:
        self.cycles.append(self.engine.dream().id)

    def undo(self) -> None:
        if self.cycles:
            self.engine.undo_dream(self.cycles.pop())

    def live(self, points: int) -> None:
        """Change the store until copies of as many states were kept."""
        for _ in range(6):
            self.add()
        while len(self.copies) < points:
            for _ in range(self.random.randint(1, 4)):
                # A deleted memory, one linked to itself.
                with contextlib.suppress(OneirosError, ValueError):
                    self.random.choice(self.steps)()
                self.clock.advance(self.random.choice((0.0, 1.0, DAY)))
            path = self.folder / f"copy-{len(self.copies)}.db"
            self.engine.flush()
            self.engine.backup(path)
            self.copies[self.clock()] = path
            self.clock.advance(self.random.choice((0.5, 60.0, 10 * DAY)))

    def known(self) -> list[tuple[float, Path]]:
        """Return the copies whose memories are all still there; an undone cycle erases its own."""
        with self.engine._parts.store.read() as reading:
            present = {row[0] for row in reading.rows("SELECT id FROM memory")}
            gone = {erased.digest for erased in reading.erased(0)}
            salt = reading.erased_salt()
        return [
            (time, path)
            for time, path in self.copies.items()
            if not any(digest_of(id, salt) in gone for id in ids_in(path) - present)
        ]


def ids_in(path: Path) -> set[str]:
    import apsw  # noqa: PLC0415 - read without an engine, which would write

    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return {row[0] for row in connection.execute("SELECT id FROM memory")}
    finally:
        connection.close()


def contents_of(response: SearchResponse) -> list[Any]:
    """Return all that a response holds but its durations."""
    return [
        response.now,
        response.confidence,
        *(
            (
                result.id,
                result.relevance_score,
                result.retention_score,
                result.combined_score,
                result.raw_score,
                dict(result.channels),
                result.found_by_links,
                result.neighbour_of,
                result.via_deep_recall,
                result.memory,
                result.text,
                str(result.explanation),
            )
            for result in response
        ),
    ]


@pytest.mark.parametrize("name", PROFILES)
def test_a_search_as_of_a_time_is_that_of_a_copy_made_then(tmp_path: Path, name: str) -> None:
    count, profile = POINTS // len(PROFILES), PROFILES[name]
    life = Life(tmp_path, seed=len(name) + count, profile=profile)
    compared = 0
    with life.engine as engine:
        life.live(count)
        known = life.known()
        assert len(known) > count / 3
        life.random.shuffle(known)
        for time, path in known:
            with oneiros.Engine(
                path, profile=profile, embedder=LetterCounts(), clock=lambda at=time: at
            ) as copy:
                compared += compare(life, engine, copy, time)
    assert compared > 2 * len(known)


def compare(life: Life, engine: oneiros.Engine, copy: oneiros.Engine, time: float) -> int:
    """Compare a state of the past with a copy of it; return the number of results compared."""
    compared = 0
    scope = {"user": "ada"}
    options: list[dict[str, Any]] = [
        {},
        {"explain": True},
        {"deep_recall": True, "include_expired_in_deep_recall": True},
        {"valid_at": time + life.random.uniform(-30, 30) * DAY},
        {"status": ("staged", "consolidated", "archived", "quarantined")},
        {"now": time + 30 * DAY},
    ]
    for given in options:
        query = life.text()
        for past, then in (
            (engine, copy),
            (engine.scope(**scope), copy.scope(**scope)),
        ):
            response = past.search(query, 8, as_of=time, **given)
            wanted = contents_of(then.search(query, 8, reinforce=False, **given))
            assert contents_of(response) == wanted
            compared += len(response)
    queries = [life.text(), life.text()]
    for many, one in zip(
        engine.search_many(queries, 5, as_of=time),
        copy.search_many(queries, 5, reinforce=False),
        strict=True,
    ):
        assert contents_of(many) == contents_of(one)
    id = life.id()
    past_why, wanted_why = (
        asked.why_not(query, id, **more) for asked, more in ((engine, {"as_of": time}), (copy, {}))
    )
    assert str(past_why) == str(wanted_why)
    for id in life.ids:
        try:
            held = copy.get(id)
        except UnknownMemory:
            with pytest.raises(UnknownMemory):
                engine.get(id, as_of=time)
        else:
            assert engine.get(id, as_of=time) == held
    return compared


def test_the_present_is_the_last_of_the_past(tmp_path: Path) -> None:
    life = Life(tmp_path, seed=3, profile="oneiros")
    with life.engine as engine:
        life.live(3)
        now = life.clock()
        assert contents_of(engine.search("bad cafe", as_of=now)) == contents_of(
            engine.search("bad cafe", reinforce=False, now=now)
        )
        assert engine.search("bad cafe", as_of=START - 1).ids == []
        assert engine.check(deep=True) == []


def test_verdicts_given_later_do_not_count() -> None:
    clock = VirtualClock(START)
    with oneiros.Engine(":memory:", clock=clock, history="all", profile=VERDICTS) as engine:
        engine.add("green tea", id="a", kind="fact")
        engine.add("black tea", id="b", kind="decision")
        engine.feedback("a", "helpful")
        before = contents_of(engine.search("tea", now=START, explain=True))
        clock.advance(1)
        for _ in range(9):
            engine.feedback("b", "unhelpful")
        now = contents_of(engine.search("tea", now=START, explain=True))
        assert contents_of(engine.search("tea", as_of=START, explain=True)) == before != now


# What a store does not know


def test_a_store_that_keeps_contents_only_refuses() -> None:
    with oneiros.Engine(":memory:", clock=VirtualClock(START)) as engine:
        engine.add("tea", id="a")
        with pytest.raises(HistoryUnavailable, match="history='all'") as caught:
            engine.search("tea", as_of=START)
        assert caught.value.since is None


def test_a_search_names_the_time_from_which_all_is_kept() -> None:
    clock = VirtualClock(START)
    with oneiros.Engine(":memory:", clock=clock, history="all", history_limit=1) as engine:
        for id in ("a", "b"):
            engine.add("tea", id=id)
        for text in ("milk", "water", "wine"):
            clock.advance(10)
            engine.update("a", text=text)
        assert engine.get("b", as_of=START + 5).text == "tea"
        with pytest.raises(HistoryUnavailable) as caught:
            engine.search("tea", as_of=START + 19)
        assert caught.value.since == START + 20
        assert engine.search("water", as_of=START + 20).ids == ["a"]


def test_all_is_kept_from_when_it_was_chosen(tmp_path: Path) -> None:
    clock = VirtualClock(START)
    path = tmp_path / "a.db"
    with oneiros.Engine(path, clock=clock) as engine:
        engine.add("tea", id="a")
        clock.advance(10)
        engine.search("tea")
    clock.advance(10)
    with oneiros.Engine(path, clock=clock, history="all") as engine:
        engine.add("tea again", id="b")
        with pytest.raises(HistoryUnavailable) as caught:
            engine.search("tea", as_of=START + 9)
        assert caught.value.since == START + 10  # the state then is that of when it was chosen
        clock.advance(10)
        engine.add("more tea", id="c")
        assert engine.search("tea", as_of=START + 10).ids == ["a"]
        assert set(engine.search("tea", as_of=START + 20).ids) == {"a", "b"}


def test_vectors_of_another_embedder_are_not_compared() -> None:
    clock = VirtualClock(START)
    with oneiros.Engine(":memory:", clock=clock, history="all", embedder=LetterCounts()) as engine:
        engine.add("bad cafe", id="a")
        clock.advance(10)
        engine.update("a", text="deed")
        clock.advance(10)
        engine.reembed(LetterCounts("hgfedc", name="other"))
        with pytest.raises(HistoryUnavailable) as caught:
            engine.search("cafe", as_of=START + 15)
        assert caught.value.since == START + 20
        assert engine.search("deed", as_of=START + 20).ids == ["a"]
        assert engine.get("a", as_of=START).text == "bad cafe"


@pytest.mark.parametrize(
    "call",
    [
        lambda engine: engine.unlink("a", "b"),
        lambda engine: engine.forget(where=oneiros.where(id="none")),
    ],
    ids=["unlink", "forget"],
)
def test_what_comes_after_a_call_that_changed_nothing_is_found(
    call: Callable[[oneiros.Engine], object],
) -> None:
    clock = VirtualClock(START)
    with oneiros.Engine(":memory:", clock=clock, history="all") as engine:
        engine.add_many([{"id": id, "text": "tea"} for id in "ab"])
        call(engine)
        clock.advance(1)
        assert engine.search("tea", as_of=clock()).ids == ["a", "b"]
        clock.advance(1)
        engine.add("tea", id="c")
        assert sorted(engine.search("tea", as_of=clock()).ids) == ["a", "b", "c"]
        assert engine.search("tea", as_of=clock() - 1).ids == ["a", "b"]


def test_the_past_cannot_be_used() -> None:
    clock = VirtualClock(START)
    with oneiros.Engine(":memory:", clock=clock, history="all") as engine:
        engine.add("tea", id="a")
        engine.search("tea", as_of=START)
        engine.search_many(["tea"], as_of=START)
        assert engine.get("a").access_count == 0
        with pytest.raises(ValueError, match="reinforce: must not be True with as_of"):
            engine.search("tea", as_of=START, reinforce=True)
        with pytest.raises(ValueError, match="as_of"):
            engine.search("tea", as_of="yesterday")
        with pytest.raises(TypeError, match="did you mean 'as_of'"):
            engine.search("tea", as_off=START)  # type: ignore[call-arg]
        assert engine.search("tea", as_of=None).ids == ["a"]


def test_the_settings_of_a_read_only_engine_apply_in_the_past(tmp_path: Path) -> None:
    clock = VirtualClock(START)
    with oneiros.Engine(tmp_path / "a.db", clock=clock, history="all") as engine:
        engine.add("Die Häuser am Fluss", id="a")
    reader = {"clock": clock, "read_only": True, "profile": "bm25"}
    with oneiros.Engine(tmp_path / "a.db", analyzer="german", k1=0.3, b=0.0, **reader) as engine:  # type: ignore[arg-type]
        assert engine.search("Haus").ids == ["a"]
        assert contents_of(engine.search("Haus", as_of=START)) == contents_of(
            engine.search("Haus", now=START)
        )


def test_an_observer_sees_a_search_of_the_past() -> None:
    clock = VirtualClock(START)
    seen: list[oneiros.Event] = []
    with oneiros.Engine(":memory:", clock=clock, history="all") as engine:
        engine.add("tea", id="a")
        with engine.observe(seen.append):
            engine.search("tea", as_of=START)
            engine.search("tea", as_of=START)
        engine.search("tea", as_of=START)
    assert [(event.kind, tuple(event.ids)) for event in seen] == [("search", ("a",))] * 2


def test_the_event_of_a_search_of_the_past_has_the_revision_of_the_time() -> None:
    clock = VirtualClock(START)
    seen: list[oneiros.Event] = []
    with oneiros.Engine(":memory:", clock=clock, history="all", observers=[seen.append]) as engine:
        for id in ("a", "b", "c"):
            engine.add(f"tea {id}", id=id)
            clock.advance(1)
        engine.search("tea", as_of=START + 1)
        engine.search_many(["tea"], as_of=START)
        assert [event.revision for event in seen[3:]] == [event.revision for event in seen[1::-1]]
        assert [change.id for change in engine.changes(seen[3].revision)] == ["c"]


def test_erased_memories_are_gone_from_the_past() -> None:
    clock = VirtualClock(START)
    with oneiros.Engine(":memory:", clock=clock, history="all") as engine:
        for id in ("a", "b"):
            engine.add("tea", id=id)
        clock.advance(1)
        assert set(engine.search("tea", as_of=START).ids) == {"a", "b"}
        engine.forget("a")
        assert not engine._parts.past._made
        assert engine.search("tea", as_of=START).ids == ["b"]


def test_what_an_erased_memory_had_replaced_is_found_at_times_before() -> None:
    clock = VirtualClock(START)
    with oneiros.Engine(":memory:", profile="cognitive", clock=clock, history="all") as engine:
        engine.add_many(
            {"id": f"m{n}", "text": f"harbour {n}", "embedding": [1.0, n / 100], "importance": 0.1}
            for n in range(5)
        )
        clock.advance(900 * DAY)
        cycle = engine.dream()
        (summary,) = [memory.id for memory in engine.list() if memory.derived_from]
        time = clock()
        clock.advance(10.0)
        assert engine.search("harbour", embedding=[1.0, 0.0], as_of=time).ids == [summary]
        engine.undo_dream(cycle.id)
        sources = {f"m{n}" for n in range(5)}
        assert set(engine.search("harbour", embedding=[1.0, 0.0], as_of=time).ids) == sources
        engine.forget("m0")
        found = engine.search("harbour", embedding=[1.0, 0.0], as_of=time).ids
        assert set(found) == sources - {"m0"}


def test_what_an_erased_memory_had_replaced_was_current_at_times_before() -> None:
    clock = VirtualClock(START)
    with oneiros.Engine(":memory:", clock=clock, history="all") as engine:
        engine.add("tea on Mondays", id="old", metadata={"seen": True})
        engine.add("tea on Fridays", id="new")
        engine.supersede("old", "new", "moved")
        time = clock()
        clock.advance(1.0)
        engine.forget("new")
        (found,) = engine.search("tea", as_of=time).results
        assert found.memory is not None
        assert (found.memory.superseded_by, found.memory.metadata) == (None, {"seen": True})
        assert found.memory.revision_count == engine.get("old", as_of=time).revision_count == 0


def test_a_response_of_the_past_does_not_tell_what_was_forgotten_since() -> None:
    clock = VirtualClock(START)
    with oneiros.Engine(":memory:", clock=clock, history="all") as engine:
        engine.add("zebra", id="a")
        engine.add("zebra crossing", id="b")
        time = clock()
        clock.advance(1.0)
        response = engine.search("zebra", as_of=time)
        engine.forget("a")
        assert sorted(response.texts, key=str) == [None, "zebra crossing"]


def test_a_time_before_new_vectors_is_refused_whether_it_was_searched_or_not() -> None:
    clock = VirtualClock(START)
    embedder = LetterCounts()
    with oneiros.Engine(":memory:", clock=clock, history="all", embedder=embedder) as engine:
        engine.add("zebra", id="a")
        time = clock()
        clock.advance(1.0)
        engine.search("zebra", as_of=time)
        engine.reembed(LetterCounts(name="another"))
        with pytest.raises(HistoryUnavailable):
            engine.search("zebra", as_of=time)


def test_responses_outlive_the_states_that_are_kept() -> None:
    clock = VirtualClock(START)
    with oneiros.Engine(":memory:", clock=clock, history="all") as engine:
        engine.add("tea 0", id="a")
        responses = []
        for number in range(10):
            clock.advance(1)
            engine.update("a", text=f"tea {number}")
            responses.append(engine.search("tea", as_of=clock()))
        assert [one.texts for one in responses] == [[f"tea {number}"] for number in range(10)]
        assert len(engine._parts.past._made) == 4


@pytest.fixture
def uncollected() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("uncollected")
def test_states_that_are_no_longer_kept_are_freed_at_once() -> None:
    clock = VirtualClock(START)
    with oneiros.Engine(":memory:", clock=clock, history="all") as engine:
        for number in range(10):
            engine.add(f"tea {number}")
            clock.advance(1)
            assert len(engine.search("tea", as_of=clock())) == number + 1
        stores = engine._parts.past._stores
        assert len(stores) == 4
        response = engine.search("tea", as_of=START)
        for number in range(4):
            assert len(engine.search("tea", as_of=clock() - 1 - number)) == 10 - number
        assert len(stores) == 5
        assert response.texts == ["tea 0"]
        del response
        assert len(stores) == 4
    assert not stores


def test_forgetting_goes_on_beside_a_state_that_ends() -> None:
    clock = VirtualClock(START)
    with oneiros.Engine(":memory:", clock=clock, history="all") as engine:
        engine.add("tea", id="a")
        response = engine.search("tea", as_of=START)
        (store,) = engine._parts.past._stores
        engine._parts.past.drop(())
        del response
        with pytest.raises(EngineClosed):
            store.revision()
        assert engine.forget("a").ids == ("a",)


FORKED = """
import os, signal, threading
import oneiros

engine = oneiros.Engine(":memory:", history="all")
engine.add("tea", id="a")
engine.search("tea", as_of=engine.get("a").created_at)
held, done = threading.Event(), threading.Event()

def search():
    with engine._parts.past._lock:
        held.set()
        done.wait()

thread = threading.Thread(target=search)
thread.start()
held.wait()
child = os.fork()
if not child:
    signal.alarm(10)
    engine.close()
    os._exit(0)
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
done.set()
thread.join()
raise SystemExit(code)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
def test_a_forked_child_closes_while_its_parent_searches_the_past() -> None:
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED], capture_output=True, timeout=60, check=False
    )
    assert (run.returncode, run.stderr) == (0, b"")
