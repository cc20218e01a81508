"""Scopes moved between shards: whole at every step, wherever the process is killed. Without Ray."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

import oneiros
from oneiros.ray import status
from oneiros.ray.failures import MixedShards, ScopeBusy, ScopeMoved
from oneiros.ray.moves import drain, finish, interrupted, move_scope, salt_of, table_of
from oneiros.ray.routing import Layout
from oneiros.ray.shard import layout_file, store_file, write_layout
from oneiros.ray.shard_scopes import Move, ScopePlace, ShardPlaces, ShardScopes
from oneiros.store.erased import digest_of
from tests.frozen.answers import plain_values

NOW = 1_750_000_000.0
LAYOUT = Layout(2, "user")
SALT = "salt"
MOVE = Move("01M", "ada", 0, 1, SALT)
QUERIES = ("green tea", "who drinks milk", "tea 3")


class Killed(BaseException):
    """Stands for SIGKILL: no handler does anything after it."""


class Shards:
    """The shards of a folder, opened in this process.

    Args:
        folder: the folder.
        layout: the number of shards and the key.
        killed_at: the step before which the process dies, counted from 0.
        is_done: whether that step is carried out before.
    """

    def __init__(
        self,
        folder: Path,
        layout: Layout = LAYOUT,
        *,
        killed_at: int | None = None,
        is_done: bool = False,
        **options: Any,
    ) -> None:
        self.folder, self.layout = folder, layout
        options = {"embedder": "hashing", "profile": "reverie", **options}
        self.engines, self.scopes = [], []
        for number in range(layout.shards):
            engine = oneiros.Engine(store_file(folder, number), clock=lambda: NOW, **options)
            if not layout_file(folder, number).exists():
                write_layout(layout_file(folder, number), number, layout)
            self.engines.append(engine)
            self.scopes.append(ShardScopes(engine, number, layout))
        self.steps: list[str] = []
        self.killed_at, self.is_done, self.is_dead = killed_at, is_done, False
        self.before: Callable[[str], None] = lambda _: None

    def step(self, shard: int, name: str, *args: Any) -> Any:
        if self.is_dead:
            raise Killed
        is_last = len(self.steps) == self.killed_at
        self.steps.append(name)
        self.is_dead = is_last
        if is_last and not self.is_done:
            raise Killed
        self.before(name)
        found = getattr(self.scopes[shard], name)(*args)
        if is_last:
            raise Killed
        return found

    def places(self) -> dict[int, ShardPlaces]:
        return {number: scopes.places for number, scopes in enumerate(self.scopes)}

    def table(self) -> dict[str, int]:
        """Return the shard of each user that is not where its hash says."""
        salt = salt_of(self.places())
        names = {digest_of(name, salt): name for name in ("ada", "bob", "cy", "new", "newer")}
        return {names[digest]: shard for digest, shard in table_of(self.places()).items()}

    def recover(self) -> None:
        """End moves, as the next opening does."""
        for move in interrupted(self.places()):
            finish(self.step, move)

    def close(self) -> None:
        for scopes, engine in zip(self.scopes, self.engines, strict=True):
            engine.close()
            scopes.close()


@contextmanager
def opened(folder: Path, **options: Any) -> Iterator[Shards]:
    with closing(Shards(folder, **options)) as shards:
        yield shards


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of two shards; in the first lie the memories of Ada, with all that they can have."""
    folder = tmp_path_factory.mktemp("template")
    with opened(folder) as shards:
        first, second = shards.engines
        for number in range(30):
            for user in ("ada", "bob"):
                first.add(
                    f"{user} drinks {('tea', 'milk', 'rum')[number % 3]} {number}",
                    user=user,
                    id=f"{user} {number}",
                    session=f"talk {number // 5}",
                    metadata={"number": number},
                    now=NOW - 86_400 * (40 - number),
                )
        second.add("cy drinks tea", user="cy", id="cy", now=NOW - 1e6)
        ada = first.scope(user="ada")
        for query in QUERIES:
            ada.search(query, 5)
        ada.feedback("ada 3", "helpful", query=QUERIES[0])
        ada.feedback("ada 3", "helpful")
        ada.feedback("ada 6", "outdated")
        ada.link("ada 1", "ada 2", 0.7)
        ada.link("ada 1", "ada 4", 0.5)
        ada.unlink("ada 1", "ada 4")
        first.link("ada 5", "bob 5")
        ada.supersede("ada 7", "ada 8", "newer")
        ada.delete("ada 9")
        ada.forget("ada 10")
        ada.pin("ada 11")
        ada.update("ada 12", text="ada drinks cider")
        first.dream()
    return folder


@pytest.fixture
def folder(template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(template, tmp_path / "stores"))


def state_of(engine: oneiros.Engine, user: str = "ada") -> dict[str, Any]:
    """Return all that an engine knows of a user that a move keeps, in comparable form."""
    engine.flush()
    scope = engine.scope(user=user)
    with engine._scope.services.store.read() as reading:
        bounds = {"user": user}
        changes = sorted(reading.changes_by_revision(0, bounds), key=lambda memory: memory.sequence)
        ids = [memory.id for memory in changes]
        rows = reading.load_stored(ids)
        replays = reading.cycles.replays([memory.sequence for memory in changes])
        links = [link for batch in reading.links(0) for link in batch]
        verdicts = reading.verdicts_of(bounds)
        known = {memory.sequence: memory.id for memory in changes}
    numbers = ("sequence", "revision", "own_revision", "state_revision")
    sums = ("own_checksum", "state_checksum")
    return {
        "rows": [
            {name: getattr(row, name) for name in row._fields if name not in (*numbers, *sums)}
            for row in rows
            if row is not None
        ],
        "replays": replays,
        "links": sorted(tuple(link) for link in links if {link.one, link.other} <= set(ids)),
        "verdicts": [(known[number], *rest) for number, *rest in verdicts],
        "answers": [
            plain_values(scope.search(query, 10, reinforce=False, explain=True))
            for query in QUERIES
        ],
    }


def others_of(shards: Shards) -> list[Any]:
    return [state_of(shards.engines[0], "bob"), state_of(shards.engines[1], "cy")]


def test_a_moved_scope_is_as_it_was(folder: Path) -> None:
    with opened(folder) as shards:
        expected, others = state_of(shards.engines[0]), others_of(shards)
        assert len(expected["rows"]) == 29
        assert len(expected["verdicts"]) == 3
        assert ("ada 1", "ada 2") in {link[:2] for link in expected["links"]}
        assert any(time is not None for time in expected["replays"])
        moved = move_scope(shards.step, MOVE)
        assert (moved.value, moved.source, moved.target, moved.memories) == ("ada", 0, 1, 29)
        assert 0 <= moved.waiting_seconds <= moved.seconds
        assert state_of(shards.engines[1]) == expected
        assert state_of(shards.engines[0])["rows"] == []
        assert others_of(shards) == others
        assert shards.table() == {"ada": 1}
        text = (
            store_file(folder, 0).read_bytes() + Path(f"{store_file(folder, 0)}-wal").read_bytes()
        )
        assert b"ada drinks cider" not in text
    with opened(folder) as shards:
        assert shards.table() == {"ada": 1}
        assert state_of(shards.engines[1]) == expected
        assert [engine.check(deep=True) for engine in shards.engines] == [[], []]
        move_scope(shards.step, Move("02M", "ada", 1, 0, SALT))
        assert state_of(shards.engines[0]) == expected
        assert shards.table() == {"ada": 0}
        assert not list(folder.glob(".*"))


STEPS = ["begin", "changed", "rows", "stage", "stage"]
STEPS += ["leave", "changed", "remainder", "take", "release"]


@pytest.mark.parametrize("is_done", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", range(len(STEPS)))
def test_a_kill_at_any_step_neither_loses_nor_repeats(folder: Path, at: int, is_done: bool) -> None:
    with opened(folder) as shards:
        expected, others = state_of(shards.engines[0]), others_of(shards)
    with opened(folder, killed_at=at, is_done=is_done) as shards:
        with pytest.raises(Killed):
            move_scope(shards.step, MOVE)
        assert shards.steps == STEPS[: at + 1]
    with opened(folder) as shards:
        shards.recover()
        table = shards.table()
        owner = table.get("ada", 0)
        assert state_of(shards.engines[owner]) == expected
        assert state_of(shards.engines[1 - owner])["rows"] == []
        has_taken = (at, is_done) >= (STEPS.index("take"), True)
        assert owner == int(has_taken)
        if not has_taken:
            shards.engines[0].scope(user="ada").touch("ada 1", ttl=None)  # it can be written again
            expected = state_of(shards.engines[0])
            move_scope(shards.step, Move("02M", "ada", 0, 1, SALT))
            assert state_of(shards.engines[1]) == expected
        assert others_of(shards) == others
        assert [engine.check(deep=True) for engine in shards.engines] == [[], []]
        assert not list(folder.glob(".*"))


@pytest.mark.parametrize("at", range(3))
@pytest.mark.parametrize("is_done", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("killed_first", [5, 8], ids=["leave", "take"])
def test_a_kill_while_a_move_is_ended(
    folder: Path, at: int, is_done: bool, killed_first: int
) -> None:
    with opened(folder) as shards:
        expected = state_of(shards.engines[0])
    with opened(folder, killed_at=killed_first, is_done=True) as shards, pytest.raises(Killed):
        move_scope(shards.step, MOVE)
    with opened(folder, killed_at=at, is_done=is_done) as shards:
        try:
            shards.recover()
        except Killed:
            assert at < 2
    with opened(folder) as shards:
        shards.recover()
        owner = shards.table().get("ada", 0)
        assert owner == int(killed_first == STEPS.index("take"))
        assert state_of(shards.engines[owner]) == expected
        assert state_of(shards.engines[1 - owner])["rows"] == []


def test_what_is_written_meanwhile_comes_along(folder: Path) -> None:
    with opened(folder) as shards:
        source, target = shards.engines
        ada = source.scope(user="ada")
        ada.link("ada 11", "ada 12")
        expected: dict[str, Any] = {}

        def write(step: str) -> None:
            if step == "stage" and shards.steps.count("stage") == 1:
                ada.add("ada drinks water", id="ada new")
                ada.update("ada 2", text="ada drinks punch")
                ada.forget("ada 1")
                ada.delete("ada 4")
                ada.unlink("ada 11", "ada 12")
                ada.link("ada 13", "ada new")
                ada.feedback("ada new", "helpful")
                ada.search("punch")
            if step == "take":
                expected.update(state_of(source))

        shards.before = write
        move_scope(shards.step, MOVE)
        assert state_of(target) == expected
        assert target.get("ada 2").text == "ada drinks punch"
        assert target.get_many(["ada 1", "ada new"])[0] is None
        links = {link[:2] for link in expected["links"]}
        assert ("ada 13", "ada new") in links
        assert ("ada 11", "ada 12") not in links
        assert not any("ada 1" in link for link in links)


def test_calls_wait_while_a_scope_leaves_and_follow_it(folder: Path) -> None:
    with opened(folder) as shards:
        source = shards.scopes[0]
        tokens = {source.token}
        with source.using(["ada"], writes=True), source.using(None, writes=True):
            pass
        shards.scopes[1].begin(MOVE)
        source.leave(MOVE)
        source.leave(MOVE)  # a step may be repeated
        tokens.add(source.token)
        with source.using(["ada"], writes=False), source.using(["bob"], writes=True):
            pass
        for values in (["ada"], ["bob", "ada"], None):
            with pytest.raises(ScopeBusy, match="'ada' are on their way to shard 1"):
                source.using(values, writes=True).__enter__()
        with pytest.raises(ScopeBusy):
            source.require_settled()
        with pytest.raises(ScopeBusy):
            source.leave(Move("02M", "ada", 0, 1, SALT))
        source.keep(MOVE)
        tokens.add(source.token)
        with source.using(["ada"], writes=True):
            source.require_settled()
        move_scope(shards.step, Move("02M", "ada", 0, 1, SALT))
        tokens.add(source.token)
        assert len(tokens) == 4
        with pytest.raises(ScopeMoved, match="'ada' lie in shard 1") as caught:
            source.using(["bob", "ada"], writes=False).__enter__()
        assert (caught.value.value, caught.value.shard) == ("ada", 1)
        with pytest.raises(ScopeMoved):
            source.leave(Move("03M", "ada", 0, 1, SALT))


def test_a_move_waits_for_writes_that_have_begun(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("oneiros.ray.shard_scopes._PATIENCE", 0.05)
    with opened(folder) as shards:
        source = shards.scopes[0]
        for values in (["ada"], None):
            with source.using(values, writes=True), pytest.raises(ScopeBusy, match="do not end"):
                source.leave(MOVE)
        with source.using(["bob"], writes=True), source.using(None, writes=False):
            source.leave(MOVE)


def test_what_cannot_be_moved_stays(folder: Path) -> None:
    with opened(folder) as shards:
        source, target = shards.engines
        before = state_of(source)
        target.add("another", user="cy", id="ada 2")
        with pytest.raises(oneiros.DuplicateId, match="ada 2"):
            move_scope(shards.step, MOVE)
        target.forget("ada 2")
        source.supersede("bob 1", "ada 1")
        with pytest.raises(ValueError, match="'ada 1' supersedes 'bob 1'"):
            move_scope(shards.step, Move("02M", "ada", 0, 1, SALT))
        source.update("bob 1", superseded_by=None)
        assert state_of(source) == before
        with source._scope.services.store.write() as transaction:
            transaction.set_setting("embedder", "another")
        with pytest.raises(MixedShards, match="different embedder: 'another' and 'oneiros/hashing"):
            move_scope(shards.step, Move("03M", "ada", 0, 1, SALT))
        with source._scope.services.store.write() as transaction:
            transaction.set_setting("embedder", target.stats()["embedder"])
        move_scope(shards.step, Move("04M", "ada", 0, 1, SALT))
        assert state_of(target) == before


def test_a_move_that_was_given_up_takes_nothing(folder: Path) -> None:
    with opened(folder) as shards:
        shards.scopes[1].begin(MOVE)
        shards.scopes[0].leave(MOVE)
        remainder = shards.scopes[0].remainder("ada")
        assert not shards.scopes[1].settle(MOVE)
        with pytest.raises(ScopeBusy, match="was given up"):
            shards.scopes[1].take(MOVE, remainder)
        assert shards.engines[1].count(oneiros.where(user="ada")) == 0


def test_another_process_must_not_have_the_stores_open(folder: Path) -> None:
    with opened(folder) as shards:
        with opened(folder), pytest.raises(ScopeBusy, match="open in another process"):
            move_scope(shards.step, MOVE)
        move_scope(shards.step, Move("02M", "ada", 0, 1, SALT))


def test_shards_of_different_times_are_refused() -> None:
    def table(*known: dict[str, ScopePlace], salts: tuple[str, str] = (SALT, SALT)) -> Any:
        return table_of(
            {
                shard: ShardPlaces(salt, True, {digest_of(value, salt): known[shard][value]})
                if (value := next(iter(known[shard]), None))
                else ShardPlaces("another", False, {})
                for shard, salt in enumerate(salts)
            }
        )

    gone, here = ScopePlace("gone", 1, "01M"), ScopePlace("here", 0, "01M")
    assert table({"ada": gone}, {"ada": here}) == {digest_of("ada", SALT): 1}
    for places in (({"ada": gone}, {}), ({}, {"ada": here})):
        with pytest.raises(oneiros.StoreCorrupt, match="from one generation"):
            table(*places)
    back = {"ada": ScopePlace("here", 1, "02M")}
    with pytest.raises(oneiros.StoreCorrupt, match="do not agree on where the memories of a moved"):
        table(back, {"ada": here})
    with pytest.raises(oneiros.StoreCorrupt, match="shards 0 and 1 key their scopes in different"):
        table({"ada": gone}, {"ada": here}, salts=(SALT, "other"))


def bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def test_no_name_is_left_of_a_user_that_was_moved_and_forgotten(folder: Path) -> None:
    name = "Adelheid Quux"
    move = Move("02M", name, 0, 1, SALT)
    with opened(folder) as shards:
        source, target = shards.scopes
        for engine in shards.engines:
            engine.add("tea", user="cy", id=f"tea {id(engine)}")
        shards.engines[0].add("likes tea", user=name, id="secret")
        target.begin(move)
        source.leave(move)
        assert name.encode() in bytes_of(folder)
        assert not finish(shards.step, move)  # given up
        move_scope(shards.step, move._replace(id="03M"))
        source.close_for_new([1], SALT)
        with pytest.raises(ScopeMoved, match="lie in shard 1"):
            source.using(["Sibylle Quux"], writes=True).__enter__()
        shards.engines[1].scope(user=name).forget(where=oneiros.where())
        assert b"Quux" not in bytes_of(folder)
    assert b"Quux" not in bytes_of(folder)
    with opened(folder) as shards, pytest.raises(ScopeMoved):
        shards.scopes[0].using([name], writes=False).__enter__()


def test_a_namespace_moves_with_all_below_it(tmp_path: Path) -> None:
    layout = Layout(2, "namespace")
    with opened(tmp_path, layout=layout) as shards:
        source, target = shards.engines
        for name in ("acme", "acme/support", "acme/a/b", "acmes"):
            source.add("tea", namespace=name, id=name)
        assert shards.scopes[0].values() == ["acme", "acmes"]
        assert move_scope(shards.step, Move("01M", "acme", 0, 1, SALT)).memories == 3
        assert [memory.id for memory in source.list()] == ["acmes"]
        assert target.scope(namespace="acme/a").count() == 1
        with pytest.raises(ScopeMoved):
            shards.scopes[0].using(["acme/a/b"], writes=False).__enter__()


def test_a_drained_shard_is_empty_and_takes_nothing_new(folder: Path) -> None:
    with opened(folder) as shards:
        expected = {user: state_of(shards.engines[0], user) for user in ("ada", "bob")}
        numbers = iter(range(10, 100))

        def move(value: str, to: int) -> Any:
            return move_scope(shards.step, Move(f"{next(numbers)}M", value, 0, to, SALT))

        moved = drain(shards.step, 0, 2, SALT, move)
        assert sorted(each.value for each in moved) == ["ada", "bob"]
        assert shards.scopes[0].memory_count() == 0
        assert {user: state_of(shards.engines[1], user) for user in ("ada", "bob")} == expected
        with shards.scopes[0].using(["new"], writes=False):
            pass
        for _ in range(2):
            with pytest.raises(ScopeMoved, match="'new' lie in shard 1"):
                shards.scopes[0].using(["new"], writes=True).__enter__()
        assert drain(shards.step, 0, 2, SALT, move) == []
        with pytest.raises(ValueError, match="no shard but 1 takes scopes"):
            drain(shards.step, 1, 2, SALT, move)
        assert shards.table() == {"ada": 1, "bob": 1, "new": 1}
    with opened(folder) as shards:
        shards.step(0, "close_for_new", [], SALT)
        with shards.scopes[0].using(["newer"], writes=True):
            pass
        with pytest.raises(ScopeMoved):
            shards.scopes[0].using(["new"], writes=True).__enter__()


def test_a_read_that_has_begun_sees_the_whole_scope(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The source erases its copy when no call reads it; new calls go to the target at once."""
    monkeypatch.setattr("oneiros.ray.shard_scopes._PATIENCE", 0.05)
    with opened(folder) as shards:
        source, target = shards.scopes
        expected = state_of(shards.engines[0])
        target.begin(MOVE)
        changed = source.changed("ada", 0)
        target.stage(MOVE, source.rows(changed.sequences), changed.links)
        source.leave(MOVE)
        remainder = source.remainder("ada")
        with target.using(None, writes=False), pytest.raises(ScopeBusy, match="do not end"):
            target.take(MOVE, remainder)
        target.take(MOVE, remainder)
        with source.using(["ada"], writes=False):
            with pytest.raises(ScopeBusy, match="do not end"):
                source.release(MOVE)
            assert state_of(shards.engines[0]) == expected
            with pytest.raises(ScopeMoved):
                source.using(["ada"], writes=False).__enter__()
        with source.using(["bob"], writes=False):
            source.release(MOVE)
        assert state_of(shards.engines[0])["rows"] == []
        assert state_of(shards.engines[1]) == expected


def test_the_status_of_the_folder_shows_moves(folder: Path) -> None:
    def shown() -> list[tuple[int | None, int | None, tuple[str, ...]]]:
        states = status(folder).states
        return [(state.moved_here, state.moved_away, state.leaving) for state in states]

    assert shown() == [(0, 0, ()), (0, 0, ())]
    with opened(folder) as shards:
        shards.step(1, "begin", MOVE)
        shards.step(0, "leave", MOVE)
        assert shown() == [(0, 0, ("ada",)), (0, 0, ())]
        assert not finish(shards.step, MOVE)
        assert shown() == [(0, 0, ()), (0, 0, ())]
        move_scope(shards.step, Move("02M", "ada", 0, 1, SALT))
    assert shown() == [(0, 1, ()), (1, 0, ())]
    assert status(folder).problems == ()


def test_a_reader_follows_the_moves_of_another_process(folder: Path) -> None:
    with opened(folder) as shards, opened(folder, read_only=True) as reader:
        ada = reader.engines[0].scope(user="ada")

        def count() -> int:
            with reader.scopes[0].using(["ada"], writes=False):
                return ada.count()

        expected = count()
        assert expected > 20
        seen: list[str] = []
        token = reader.scopes[0].token

        def look(name: str) -> None:
            if name in ("take", "release"):  # the source has the memories still
                assert count() == expected
                with pytest.raises(ScopeBusy, match="on their way to shard 1"):
                    reader.scopes[0].require_settled()
                seen.append(name)

        shards.before = look
        move_scope(shards.step, MOVE)
        assert seen == ["take", "release"]
        with pytest.raises(ScopeMoved) as caught:
            count()
        assert caught.value.shard == 1
        assert reader.scopes[0].token != token
        reader.scopes[0].require_settled()
        shards.before = lambda _: None
        move_scope(shards.step, Move("02M", "ada", 1, 0, SALT))
        assert count() == expected


def test_a_reader_notices_a_move_during_its_call(folder: Path) -> None:
    with opened(folder) as shards, opened(folder, read_only=True) as reader:

        def found_during_the_move() -> None:
            with reader.scopes[0].using(["ada"], writes=False):
                move_scope(shards.step, MOVE)
                reader.engines[0].scope(user="ada").get("ada 1")

        with pytest.raises(ScopeMoved):
            found_during_the_move()


def test_a_reader_of_a_drained_shard_searches_for_what_it_lacks(folder: Path) -> None:
    with opened(folder) as shards:
        shards.step(0, "close_for_new", [1], SALT)
    with opened(folder, read_only=True) as reader, reader.scopes[0].using(["new"], writes=True):
        assert reader.engines[0].scope(user="new").search("tea").ids == []
