"""Cells of the cycles' history damaged one at a time: told by ``check``, and all else goes on."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import pytest

import oneiros
from oneiros.dream import undo_log
from oneiros.dream.report import DreamReport
from tests.dream.worlds import DAY, NOW
from tests.engine.dream_stores import filled_mind, links, memories

LATER = NOW + DAY
NO_UTF8 = b"\xff\xfe"
HUGE = 2**63 - 1

# What a cell is damaged to; of texts and of what is kept as it was, what no check can tell is left out.
_OF_INTEGER = (None, "NaN", HUGE, -1)
_OF_TIME = (None, "NaN", 1e300)
_OF_TEXT = (None, NO_UTF8, "")
CELLS: dict[tuple[str, str], Sequence[Any]] = {
    ("dream_cycle", "number"): (HUGE, -1),
    ("dream_cycle", "id"): (*_OF_TEXT, "NaN"),
    ("dream_cycle", "revision"): _OF_INTEGER,
    ("dream_cycle", "dreamed_at"): _OF_TIME,
    ("dream_cycle", "undoes"): (NO_UTF8, "NaN", ""),
    ("dream_cycle", "report"): (*(*_OF_TEXT, "{}", "1e999", "[" * 100_000, "9" * 5000),),
    ("dream_cycle", "changes"): ("NaN", b"", -1),
    ("dream_content", "cycle"): (None, HUGE),
    ("dream_content", "sequence"): ("NaN", -1),
    ("dream_content", "field"): (None, NO_UTF8, "__class__"),
    ("dream_content", "rule"): (NO_UTF8,),
    ("replay", "sequence"): (-1,),
    ("replay", "replayed_at"): _OF_TIME,
}
KEPT: dict[str, Sequence[Any]] = {  # by the field of the change, for its cell ``before``
    "memory": ("NaN",),
    "text": (None, -1),
    "embedding": ("NaN", b"x"),
    "superseded_by": (-1, ""),
    "metadata": ("[]", b"x"),
    "replayed_at": ("NaN", math.inf),
}
CASES = [
    *((*cell, "", value) for cell, values in CELLS.items() for value in values),
    *(("dream_content", "before", field, one) for field, values in KEPT.items() for one in values),
]


class Sound(NamedTuple):
    """A store in which nothing is damaged."""

    file: bytes
    reports: dict[str, DreamReport]
    """By id, the newest first."""
    held: tuple[object, object]
    """What memories and links it holds."""


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Sound:
    """A store on which three cycles ran: one stands, one was undone, the last changed everything."""
    path = tmp_path_factory.mktemp("sound") / "mind.db"
    with filled_mind(path, "cognitive") as mind:
        told = {"tier": "cold", "cold_since": NOW - 400 * DAY, "now": NOW - 900 * DAY}
        mind.add("a long story " * 50, embedding=(0.5, -0.5), id="cold", **told)
        light = _profile("reverie", only="downscale")
        mind.dream(NOW - DAY, profile=light)
        mind.undo_dream(mind.dream(NOW, profile=light).id, now=NOW)
        every = _profile("cognitive", "reverie")
        report = mind.dream(LATER, profile=every, summarise=" and ".join)
        assert mind.check() == []
        with mind._scope.services.store.read() as reading:
            cycle = reading.cycles.dream_cycle(report.id)
            assert cycle is not None
            assert {one.field for one in reading.cycles.dream_contents(cycle.number)} == KEPT.keys()
        reports = {one.id: one for one in mind.dreams()}
    return Sound(path.read_bytes(), reports, (memories(path), links(path)))


def _profile(*names: str, only: str = "") -> oneiros.Profile:
    """Return a profile with the phases of others, or those of one name."""
    every = (phase for name in names for phase in oneiros.profiles.get(name).phases)
    phases = tuple(phase for phase in every if phase.name == only or not only)
    return oneiros.profiles.get("cognitive").replace(name="trial", phases=phases)


def _damage(path: Path, table: str, column: str, value: object, where: str) -> None:
    """Put a value into a cell that its table would refuse, as damage does."""
    with closing(apsw.Connection(str(path))) as connection:
        sql = connection.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (table,)).get
        loose = sql.replace("STRICT", "").replace("NOT NULL", "")
        _redefine(connection, table, loose)
    with closing(apsw.Connection(str(path))) as connection:
        held = "CAST(? AS TEXT)" if value is NO_UTF8 else "?"
        connection.execute(f"UPDATE {table} SET {column} = {held} WHERE {where}", (value,))
        assert connection.changes() == 1
        _redefine(connection, table, sql)


def _redefine(connection: apsw.Connection, table: str, sql: str) -> None:
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute("UPDATE sqlite_schema SET sql = ? WHERE name = ?", (sql, table))


@pytest.mark.parametrize(
    ("table", "column", "field", "value"), CASES, ids=lambda one: repr(one)[:20]
)
def test_a_damaged_cell_is_told_and_all_else_goes_on(
    sound: Sound, tmp_path: Path, table: str, column: str, field: str, value: object
) -> None:
    path = tmp_path / "mind.db"
    path.write_bytes(sound.file)
    last = next(iter(sound.reports))
    of = f"WHERE field = '{field}'" if field else ""
    where = f"rowid = (SELECT max(rowid) FROM {table} {of})"
    _damage(path, table, column, value, where)
    with oneiros.Engine(path, profile="reverie") as mind:
        problems = mind.check()
        assert problems
        assert all("dream" in one or "repl" in one for one in problems), problems
        assert mind.search("story", now=LATER, reinforce=False).ids
        _tells_what_is_sound(mind, sound.reports, last)
        try:
            mind.undo_dream(last, now=LATER)
        except (oneiros.StoreCorrupt, ValueError):
            assert (memories(path), links(path)) == sound.held
        mind.dream(LATER + DAY)
        assert set(mind.check()) <= set(problems)
        assert len(mind.list(limit=1000)) == len(mind)


def _tells_what_is_sound(mind: oneiros.Engine, told: dict[str, DreamReport], last: str) -> None:
    found = mind.dreams()
    assert len(found) == len(told)
    for report in found:
        assert report == told.get(report.id) or report.damage
        assert json.loads(json.dumps(report.record(), allow_nan=False))
        assert str(report)
    assert sum(bool(report.damage) for report in found) <= 1
    assert {one.id for one in found if not one.damage} >= told.keys() - {last}


MORE_CYCLES = 31  # after which what the last one changed is kept no longer


@pytest.mark.parametrize(
    ("column", "value", "stays"),
    [
        ("id", b"x", True),
        ("revision", "NaN", True),
        ("dreamed_at", "NaN", True),
        ("dreamed_at", b"", True),
        ("undoes", NO_UTF8, False),
        ("undoes", b"x", True),
        ("report", b"{}", True),
        ("changes", "NaN", False),
    ],
)
def test_a_cell_of_another_type_stops_no_later_cycle(
    sound: Sound, tmp_path: Path, column: str, value: object, stays: bool
) -> None:
    path = tmp_path / "mind.db"
    path.write_bytes(sound.file)
    _damage(path, "dream_cycle", column, value, f"dreamed_at = {LATER!r}")
    with oneiros.Engine(path, durability="normal") as mind:
        problems = mind.check()
        assert problems
        light = _profile("reverie", only="downscale")
        ids = [mind.dream(LATER + n * DAY, profile=light).id for n in range(1, MORE_CYCLES + 1)]
        assert set(mind.check()) <= set(problems)
        with mind._scope.services.store.read() as reading:
            numbers = [cycle.number for cycle in reading.cycles.dream_cycles(100)]
            held = [
                number for number in numbers if reading.cycles.dream_changes(number) is not None
            ]
            contents = [number for number in numbers if reading.cycles.dream_contents(number)]
        whole = numbers[MORE_CYCLES : MORE_CYCLES + stays]  # what cannot be written stays whole
        assert (held, contents) == (numbers[:30] + whole, whole)
        with pytest.raises(ValueError, match="too old"):
            mind.undo_dream(ids[0], now=LATER)
        assert mind.undo_dream(ids[1], now=LATER).undoes == ids[1]


def test_a_damaged_report_is_told_in_words_and_its_cycle_undone(
    sound: Sound, tmp_path: Path
) -> None:
    path = tmp_path / "mind.db"
    path.write_bytes(sound.file)
    _damage(path, "dream_cycle", "report", '{"id": "x", "now": 3}', f"dreamed_at = {LATER!r}")
    with oneiros.Engine(path) as mind:
        (report, *others) = mind.dreams()
        assert (report.now, report.undoes, report.profile) == (LATER, None, "")
        assert report.damage == "report: has no profile"
        assert "its report is damaged (report: has no profile" in str(report)
        assert not any(one.damage for one in others)
        assert mind.check() == [
            f"dream cycle {report.id!r}: its report is damaged (report: has no profile)"
        ]
        assert mind.dream(LATER + DAY, profile="reverie").drift["churn"] is not None
        assert mind.undo_dream(report.id, now=LATER + DAY).undoes == report.id


def test_a_cycle_follows_the_last_clock_that_is_sound(sound: Sound, tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    path.write_bytes(sound.file)
    with oneiros.Engine(path) as mind, mind._scope.services.store.read() as reading:
        assert reading.cycles.last_dreamed_at() == LATER
    _damage(path, "dream_cycle", "dreamed_at", math.inf, f"dreamed_at = {LATER!r}")
    with oneiros.Engine(path) as mind, mind._scope.services.store.read() as reading:
        assert reading.cycles.last_dreamed_at() == NOW - DAY


def _kept(path: Path) -> tuple[str, bytes]:
    with closing(apsw.Connection(str(path))) as connection:
        sql = "SELECT id, changes FROM dream_cycle ORDER BY number DESC LIMIT 1"
        (row,) = connection.execute(sql)
    return row


def test_a_ledger_that_was_altered_and_sealed_anew_writes_nothing(
    sound: Sound, tmp_path: Path
) -> None:
    path = tmp_path / "mind.db"
    path.write_bytes(sound.file)
    id, changes = _kept(path)
    columns, kept_links = undo_log.decoded(changes)
    place = next(n for n, column in enumerate(columns) if column.field == "strength")
    column = columns[place]
    altered = [
        column._replace(sequences=column.sequences[::-1]),
        column._replace(sequences=_repeated(column.sequences)),
        column._replace(before=column.before + 7),
        column._replace(field="importance_tag"),
    ]
    for one in altered:
        blob = undo_log.encoded(
            [*columns[:place], one, *columns[place + 1 :]], kept_links, revision=1
        )
        _damage(path, "dream_cycle", "changes", blob, f"id = '{id}'")
        with oneiros.Engine(path) as mind:
            with pytest.raises(oneiros.StoreCorrupt, match="damaged changes"):
                mind.undo_dream(id, now=LATER)
            assert any("damaged changes" in problem for problem in mind.check())
        assert (memories(path), links(path)) == sound.held


def _repeated(sequences: Any) -> Any:
    """Return the numbers, the second the first's again."""
    repeated = sequences.copy()
    repeated[1] = repeated[0]
    return repeated
