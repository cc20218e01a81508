"""Links of memories: made, taken away, followed, and what is left of them."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

import oneiros
from oneiros import Engine, Link
from oneiros.errors import StoreCorrupt, UnknownMemory
from oneiros.graph import Associations
from oneiros.store import KINDS, Store, StoredLink, schema
from oneiros.store.salvage import salvage
from tests.folders import IN_MEMORY

NOW = 1_770_000_000.0
DAY = 86_400.0


@pytest.fixture
def mind() -> Iterator[Engine]:
    with Engine(":memory:", clock=lambda: NOW) as opened:
        yield opened


def test_a_link_is_seen_from_both_ends_and_goes_when_it_is_taken_away(mind: Engine) -> None:
    a, b = mind.add("one"), mind.add("other")
    mind.link(a, b)
    assert mind.neighbours(a) == [Link(b, 0.5, "explicit", NOW, None)]
    assert mind.neighbours(b) == [Link(a, 0.5, "explicit", NOW, None)]
    assert mind.stats()["links"] == 1
    assert mind.unlink(b, a)
    assert not mind.unlink(a, b)
    assert mind.neighbours(a) == []
    assert mind.stats()["links"] == 0


def test_linking_again_says_what_the_link_is_now_but_not_when_it_was_made(mind: Engine) -> None:
    a, b = mind.add("one"), mind.add("other")
    mind.link(a, b, now=NOW - DAY)
    mind.link(b, a, 0.25, kind="relation")
    assert mind.neighbours(a) == [Link(b, 0.25, "relation", NOW - DAY, None)]
    mind.unlink(a, b)
    mind.link(a, b)
    assert mind.neighbours(a)[0].created_at == NOW


def test_the_heaviest_come_first_then_the_earlier(mind: Engine) -> None:
    ids = [mind.add(f"memory {number}") for number in range(6)]
    for id, weight in zip(ids[1:], [0.2, 0.9, 0.2, 1.0, 0.9], strict=True):
        mind.link(ids[0], id, weight)
    assert [link.id for link in mind.neighbours(ids[0])] == [ids[i] for i in (4, 2, 5, 1, 3)]
    assert [link.id for link in mind.neighbours(ids[0], limit=2)] == [ids[4], ids[2]]
    assert mind.neighbours(ids[0], limit=0) == []


def test_a_link_fades_from_the_last_co_retrieval_on_and_never_in_the_store(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with Engine(path, clock=lambda: NOW) as mind:
        a, b = mind.add("one"), mind.add("other")
    with Store(path) as store, store.write() as transaction:
        assert transaction.set_link(StoredLink(a, b, 0, 0.8, NOW - 9 * DAY, NOW))
    with Engine(path, clock=lambda: NOW) as mind:
        for days in (0.0, 30.0, 90.0, 900.0, 0.0):
            (link,) = mind.neighbours(a, now=NOW + days * DAY)
            assert link.weight == pytest.approx(0.8 * math.exp(-days / 90), rel=1e-12)
            assert (link.kind, link.co_retrieved_at) == ("co_retrieval", NOW)
    with Store(path) as store, store.read() as reading:
        ((held,),) = reading.links(0)
        assert held.weight == 0.8


def test_what_a_scope_cannot_see_it_neither_links_nor_meets(mind: Engine) -> None:
    a = mind.add("one", project="x")
    b = mind.add("other", project="x")
    c = mind.add("elsewhere", project="y")
    mind.link(a, b)
    mind.link(a, c, 0.9)
    scope = mind.scope(project="x")
    assert [link.id for link in scope.neighbours(a)] == [b]
    for call in (scope.link, scope.unlink):
        with pytest.raises(UnknownMemory):
            call(a, c)
    with pytest.raises(UnknownMemory):
        scope.neighbours(c)
    assert len(mind.neighbours(a)) == 2


def test_a_deleted_memory_keeps_its_links_for_when_it_comes_back(mind: Engine) -> None:
    a, b = mind.add("one"), mind.add("other")
    mind.link(a, b)
    mind.delete(b)
    assert mind.neighbours(a) == []
    with pytest.raises(UnknownMemory):
        mind.neighbours(b)
    with pytest.raises(UnknownMemory):
        mind.link(a, b)
    mind.restore(b)
    assert [link.id for link in mind.neighbours(a)] == [b]


def test_what_is_forgotten_leaves_no_link(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with Engine(path) as mind:
        a, b, c = (mind.add(text) for text in ("one", "other", "third"))
        mind.link(a, b)
        mind.link(b, c)
        mind.link(a, c)
        mind.forget(b)
        assert [link.id for link in mind.neighbours(a)] == [c]
    with Engine(path) as mind:
        assert [link.id for link in mind.neighbours(a)] == [c]
        assert mind.stats()["links"] == 1


def test_another_process_s_links_are_followed(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with Engine(path) as mind, Engine(path) as other:
        a, b, c = (mind.add(text) for text in ("one", "other", "third"))
        assert other.neighbours(a) == []
        mind.link(a, b)
        assert [link.id for link in other.neighbours(a)] == [b]
        other.unlink(a, b)
        other.link(b, c)
        assert mind.neighbours(a) == []
        assert [link.id for link in mind.neighbours(b)] == [c]
        d = other.add("a fourth")
        other.link(a, d)
        assert [link.id for link in mind.neighbours(a)] == [d]
        mind.forget(d)
        assert other.neighbours(a) == []


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda mind, a, _: mind.link(a, a), ValueError, "another memory"),
        (lambda mind, a, b: mind.link(a, b, 0), ValueError, "weight"),
        (lambda mind, a, b: mind.link(a, b, 1.5), ValueError, "weight"),
        (lambda mind, a, b: mind.link(a, b, math.nan), ValueError, "weight"),
        (lambda mind, a, b: mind.link(a, b, "heavy"), TypeError, "weight"),
        (lambda mind, a, b: mind.link(a, b, kind="friend"), ValueError, "kind"),
        (lambda mind, a, b: mind.link(a, b, now="once"), ValueError, "now"),
        (lambda mind, a, _: mind.link(a, 7), TypeError, "b"),
        (lambda mind, a, _: mind.link(a, "nobody"), UnknownMemory, "nobody"),
        (lambda mind, a, _: mind.unlink(a, "nobody"), UnknownMemory, "nobody"),
        (lambda mind, a, _: mind.unlink(a, a), ValueError, "another memory"),
        (lambda mind, *_: mind.neighbours("nobody"), UnknownMemory, "nobody"),
        (lambda mind, a, _: mind.neighbours(a, limit=-1), ValueError, "limit"),
        (lambda mind, *_: mind.neighbours(None), TypeError, "id"),
    ],
)
def test_wrong_arguments_are_refused_and_leave_nothing(
    mind: Engine, call: Callable[..., Any], error: type[Exception], words: str
) -> None:
    a, b = mind.add("one"), mind.add("other")
    with pytest.raises(error, match=words):
        call(mind, a, b)
    assert mind.stats()["links"] == 0
    assert mind.neighbours(a) == []


def test_a_link_that_makes_no_sense_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with Engine(path) as mind:
        a, b = mind.add("one"), mind.add("other")
        mind.link(a, b)
    for change in ("weight = 7", "kind = 9", "co_retrieved_at = 9e999", "weight = -1"):
        copy = tmp_path / "copy.db"
        copy.write_bytes(path.read_bytes())
        connection = apsw.Connection(str(copy))
        connection.execute(f"UPDATE link SET {change}")
        connection.close()
        with Engine(copy) as mind:
            if change == "weight = -1":
                assert mind.stats()["links"] == 0
                continue
            with pytest.raises(StoreCorrupt, match="makes no sense"):
                mind.neighbours(a)
            assert mind.search("one").results  # all else goes on


def test_a_link_that_comes_to_make_no_sense_stops_neither_searches_nor_writes(
    tmp_path: Path,
) -> None:
    path = tmp_path / "mind.db"
    with Engine(path) as mind:
        a, b = mind.add("one"), mind.add("other")
        mind.link(a, b)
        assert mind.neighbours(a)
        connection = apsw.Connection(str(path))
        was = connection.execute("SELECT weight, revision FROM link").get
        connection.execute("UPDATE link SET weight = 7, revision = 100")
        assert mind.search("one").ids == [a]
        c = mind.add("one more")
        with pytest.raises(StoreCorrupt, match="makes no sense"):
            mind.neighbours(a)
        connection.execute("UPDATE link SET weight = ?, revision = ?", was)
        connection.close()
        mind.link(a, c, weight=0.25)
        assert [link.weight for link in mind.neighbours(a)] == [0.5, 0.25]


def test_no_memory_can_be_stored_as_linked_with_itself(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with Engine(path) as mind:
        a, b = mind.add("one"), mind.add("other")
        mind.link(a, b)
    connection = apsw.Connection(str(path))
    with pytest.raises(apsw.ConstraintError):
        connection.execute("UPDATE link SET first = second")
    connection.execute("PRAGMA ignore_check_constraints = ON")
    connection.execute("UPDATE link SET first = second")
    connection.close()
    with Engine(path) as mind, pytest.raises(StoreCorrupt, match="makes no sense"):
        mind.neighbours(a)


def test_a_forgetting_that_was_interrupted_is_finished_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Engine(tmp_path / "mind.db") as mind:
        a, b = mind.add("one"), mind.add("other")
        mind.link(a, b)
        assert mind.neighbours(a)
        with monkeypatch.context() as patched:
            patched.setattr(Associations, "erase", interrupted)
            with pytest.raises(KeyboardInterrupt):
                mind.forget(b)
        assert mind.neighbours(a) == []
        assert mind.search("other").ids == []
        with pytest.raises(UnknownMemory):
            mind.get(b)
        assert mind.check() == []


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def test_salvage_takes_all_links_that_make_sense(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with Engine(path) as mind:
        ids = [mind.add(f"memory {number}") for number in range(6)]
        for other in ids[1:]:
            mind.link(ids[0], other)
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE link SET kind = 9 WHERE second = 3")
    connection.close()
    assert salvage(path, tmp_path / "new.db").links == 4
    with Engine(tmp_path / "new.db") as mind:
        assert [link.id for link in mind.neighbours(ids[0])] == [ids[1], *ids[3:]]


def test_a_backup_and_a_salvaged_store_have_the_links(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with Engine(path, clock=lambda: NOW) as mind:
        a, b = mind.add("one"), mind.add("other")
        mind.link(a, b, 0.75, kind="summary")
        mind.backup(tmp_path / "copy.db")
    assert salvage(path, tmp_path / "salvaged.db").links == 1
    for name in ("copy.db", "salvaged.db"):
        with Engine(tmp_path / name) as mind:
            assert mind.neighbours(a) == [Link(b, 0.75, "summary", NOW, None)]


class Linked(RuleBasedStateMachine):
    """Two engines of one store against a plain model of its links."""

    ids = Bundle("ids")

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(prefix="oneiros-links-", dir=IN_MEMORY)
        self.path = Path(self.folder.name) / "mind.db"
        self.minds = [self.opened(), self.opened()]
        self.order: list[str] = []
        self.links: dict[frozenset[str], tuple[float, str, float]] = {}
        self.deleted: set[str] = set()
        self.time = NOW

    def opened(self) -> Engine:
        return Engine(self.path, durability="normal")

    def teardown(self) -> None:
        for mind in self.minds:
            mind.close()
        self.folder.cleanup()

    @rule(target=ids, which=st.integers(0, 1))
    def add(self, which: int) -> str:
        self.order.append(self.minds[which].add(f"memory {len(self.order)}"))
        return self.order[-1]

    @rule(
        a=ids,
        b=ids,
        which=st.integers(0, 1),
        weight=st.floats(0.01, 1.0),
        kind=st.sampled_from(KINDS),
    )
    def link(self, a: str, b: str, which: int, weight: float, kind: str) -> None:
        if a == b or {a, b} & self.deleted:
            return
        self.time += 1
        self.minds[which].link(a, b, weight, kind=kind, now=self.time)
        pair = frozenset((a, b))
        made = self.links[pair][2] if pair in self.links else self.time
        self.links[pair] = (weight, kind, made)

    @rule(a=ids, b=ids, which=st.integers(0, 1))
    def unlink(self, a: str, b: str, which: int) -> None:
        if a == b or {a, b} & self.deleted:
            return
        was = self.links.pop(frozenset((a, b)), None)
        assert self.minds[which].unlink(a, b) == (was is not None)

    @rule(a=ids, which=st.integers(0, 1))
    def delete_or_restore(self, a: str, which: int) -> None:
        if a in self.deleted:
            self.minds[which].restore(a)
            self.deleted.remove(a)
        else:
            self.minds[which].delete(a)
            self.deleted.add(a)

    @rule(a=consumes(ids), which=st.integers(0, 1))
    def forget(self, a: str, which: int) -> None:
        self.minds[which].forget(a)
        self.order.remove(a)
        self.deleted.discard(a)
        self.links = {pair: link for pair, link in self.links.items() if a not in pair}

    @rule(which=st.integers(0, 1))
    def reopen(self, which: int) -> None:
        self.minds[which].close()
        self.minds[which] = self.opened()

    @invariant()
    def both_tell_the_same(self) -> None:
        for id in self.order[-4:]:
            if id in self.deleted:
                continue
            wanted = [
                Link(other, weight, kind, made, None)
                for pair, (weight, kind, made) in self.links.items()
                if id in pair
                for other in pair - {id}
                if other not in self.deleted
            ]
            wanted.sort(key=lambda link: (-link.weight, self.order.index(link.id)))
            for mind in self.minds:
                assert mind.neighbours(id, now=self.time) == wanted


Linked.TestCase.settings = settings(max_examples=15, stateful_step_count=25, deadline=None)
TestLinked = Linked.TestCase


def test_an_older_store_comes_forward(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    connection = apsw.Connection(str(path))
    with connection:
        schema.MIGRATIONS[0](connection)
        connection.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
        connection.execute("PRAGMA user_version = 1")
    connection.close()
    with oneiros.Engine(path) as mind:
        a, b = mind.add("one"), mind.add("other")
        mind.link(a, b)
        assert [link.id for link in mind.neighbours(b)] == [a]
