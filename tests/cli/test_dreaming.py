"""``oneiros dream``: what is shown of a cycle, how it is confirmed, and how it is undone."""

from __future__ import annotations

import json
import re
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from oneiros.cli.terminal import moment
from oneiros.engine import Engine
from tests.cli.conftest import HOSTILE, Run

NOW = 1_750_000_000.0
DAY = 86_400.0
CLOCK = ("--now", str(NOW))


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "dreams.db"
    with Engine(path, clock=lambda: NOW) as mind:
        mind.add("long forgotten", id="old", now=NOW - 800 * DAY)
        mind.add(HOSTILE, id="[red]odd[/]", now=NOW - 800 * DAY)
        mind.add("never to go", id="kept", now=NOW - 800 * DAY, pinned=True)
        mind.add("said today", id="fresh", now=NOW - 3 * DAY)
    return path


def live(store: Path) -> set[str]:
    with Engine(store) as mind:
        return {memory.id for memory in mind.list()}


REVERIE = ("--profile", "reverie", *CLOCK)


def dreamed(run: Run, store: Path, *more: str) -> dict[str, object]:
    yes = () if "--dry-run" in more else ("--yes",)
    outcome = run("dream", "--store", store, *REVERIE, "--json", *yes, *more)
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    return outcome.document


def test_a_cycle_is_run_and_told_as_a_document(run: Run, store: Path) -> None:
    before = live(store)
    told = dreamed(run, store)
    assert told["is_dry_run"] is False
    assert told["now"] == moment(NOW)
    assert told["live_before"] == 4
    assert told["live_after"] == len(live(store)) < 4
    assert "kept" in live(store) < before
    with Engine(store) as mind:
        record = json.loads(json.dumps(mind.dreams(1)[0].record()))
    named = {"command": "dream", "store": str(store), "now": moment(NOW)}
    for change in record["named"]:
        if change["field"] == "deleted_at":
            change["after"] = moment(change["after"])
    assert told == record | named


def test_a_dry_run_changes_nothing_and_tells_the_same(run: Run, store: Path) -> None:
    before = live(store)
    told = dreamed(run, store, "--dry-run")
    assert live(store) == before
    done = dreamed(run, store)
    for field in ("named", "left_alone", "live_after", "change_count"):
        assert told[field] == done[field]


RULE_CODE = re.compile(r"\b[A-Z]\d+\b")


def test_a_dry_run_shows_what_would_go_with_its_words_and_the_reason(run: Run, store: Path) -> None:
    outcome = run("dream", "-s", store, *REVERIE, "--dry-run")
    assert outcome.exit_code == 0
    lines = [" ".join(line.split()) for line in outcome.stdout.splitlines()]
    assert "(reverie) as of 2025-06-15T15:06:40+00:00: would change" in lines[0]
    assert "would be removed: 2 deleted" in lines
    assert "old long forgotten deleted not used for 800 days (limit 180)" in lines
    assert "prune pinned, core, or tagged explicit or schema_violation 1" in lines
    assert any(line.startswith("downscale weakened a little") for line in lines)
    assert not RULE_CODE.search(outcome.stdout)
    assert "\x1b" not in outcome.stdout
    assert "tea ␛[2J" in outcome.stdout


def test_every_reason_is_in_words(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "reasons.db"
    with Engine(path, clock=lambda: NOW) as mind:
        mind.add("the door code is 12", id="first", now=NOW - 30 * DAY)
        mind.add("the door code is 12", id="second", now=NOW - 3 * DAY)
        mind.add("coffee was black", id="was", now=NOW - 9 * DAY)
        mind.add("coffee is green", id="now", now=NOW - 8 * DAY)
        mind.supersede("was", "now")
        mind.add("a weak one", id="weak", strength=0.005, now=NOW - 40 * DAY)
        mind.add("a talk", id="talk", kind="session", now=NOW - 300 * DAY)
        mind.add("fading", id="fading", strength=0.125, now=NOW - 100 * DAY, access_count=1)
    told = dreamed(run, path, "--dry-run")
    named = told["named"]
    assert isinstance(named, list)
    because = {one["id"]: one["because"] for one in named if one["because"]}
    assert because == {
        "first": "same text as second",
        "was": "superseded by now",
        "weak": "never used in 40 days, and at the lowest strength",
        "talk": "not used for 300 days (limit 30)",
        "fading": "not used for 100 days, and weak (strength 0.12)",
    }
    assert told["removed"] == {"deleted": 3, "archived": 2}
    shown = " ".join(run("dream", "-s", path, *REVERIE, "--dry-run").stdout.split())
    for id, words in because.items():
        assert id in shown
        assert words in shown


QUESTION = "run this cycle, which removes 2 memories (2 deleted)? [y/N] "


@pytest.mark.parametrize("answer", ["y\n", " YES \n"])
def test_a_confirmed_cycle_is_the_one_that_was_shown(run: Run, store: Path, answer: str) -> None:
    outcome = run("dream", "-s", store, *REVERIE, stdin=answer)
    assert (outcome.exit_code, outcome.stderr) == (0, QUESTION)
    shown, done = outcome.stdout.split("\ndream ")
    assert "would be removed: 2 deleted" in shown
    assert "long forgotten" in shown
    assert "long forgotten" not in done
    assert ": changed " in done.splitlines()[0]
    assert live(store) == {"kept", "fresh"}


@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        ("n\n", 1, "error: nothing was changed"),
        ("\n", 1, "error: nothing was changed"),
        ("yesterday\n", 1, "error: nothing was changed"),
        ("", 2, "error: --yes: needed where stdin has no answer; nothing was changed"),
    ],
)
@pytest.mark.parametrize("json", [(), ("--json",)])
def test_without_a_yes_nothing_is_changed(
    run: Run, store: Path, answer: str, code: int, words: str, json: tuple[str, ...]
) -> None:
    before = live(store)
    outcome = run("dream", "-s", store, *REVERIE, *json, stdin=answer)
    assert (outcome.exit_code, outcome.stderr.splitlines()[-1]) == (
        code,
        (QUESTION if answer else "") + words,
    )
    assert ("long forgotten" in outcome.stdout) == (not json)
    assert live(store) == before
    with Engine(store) as mind:
        assert mind.dreams() == []


def test_a_confirmed_cycle_is_one_document(run: Run, store: Path) -> None:
    outcome = run("dream", "-s", store, *REVERIE, "--json", stdin="y\n")
    assert (outcome.exit_code, outcome.stderr) == (0, QUESTION)
    assert outcome.document["removed"] == {"deleted": 2}


def test_a_cycle_that_removes_nothing_does_not_ask(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "young.db"
    with Engine(path, clock=lambda: NOW) as mind:
        mind.add("said today", id="fresh", now=NOW - 3 * DAY)
    outcome = run("dream", "-s", path, *REVERIE)
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    assert ": changed 3 fields, 1 -> 1 memory" in outcome.stdout
    assert "removed" not in outcome.stdout


def test_with_yes_what_was_removed_is_shown_afterwards(run: Run, store: Path) -> None:
    outcome = run("dream", "-s", store, *REVERIE, "--yes")
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    lines = [" ".join(line.split()) for line in outcome.stdout.splitlines()]
    assert "removed: 2 deleted" in lines
    assert "old long forgotten deleted not used for 800 days (limit 180)" in lines


def test_what_changed_while_the_question_stood_is_left_out_and_named(
    run: Run, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(*_: str) -> None:
        with Engine(store, clock=lambda: NOW) as other:
            other.update("old", text="remembered in time")

    monkeypatch.setattr("oneiros.cli.dream.confirm", answer)
    outcome = run("dream", "-s", store, *REVERIE)
    assert outcome.exit_code == 0
    assert "left as they are, because they changed after the plan (1): old" in outcome.stdout
    assert live(store) == {"old", "kept", "fresh"}


def test_of_many_removals_fifty_are_shown_and_all_are_counted(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "many.db"
    with Engine(path, clock=lambda: NOW) as mind:
        mind.add_many(
            [
                {"text": f"text {n}", "id": f"m{n}", "created_at": NOW - 800 * DAY - n}
                for n in range(53)
            ],
            now=NOW - 800 * DAY,
        )
    outcome = run("dream", "-s", path, *REVERIE, stdin="n\n")
    assert "would be removed: 53 deleted" in outcome.stdout
    assert outcome.stdout.count("not used for") == 50
    assert "... and 3 more\n" in outcome.stdout
    assert "which removes 53 memories (53 deleted)?" in outcome.stderr


def test_people_see_the_limit_of_a_day(run: Run, store: Path) -> None:
    with Engine(store) as mind:
        mind.add_many([{"text": f"note {number % 8}"} for number in range(17)], now=NOW - 900 * DAY)
    command = ("dream", "-s", store, *CLOCK, "--yes")
    dry = ("dream", "-s", store, *CLOCK, "--dry-run")
    removed = "removed 2 memories, and 0 by other cycles within 24 hours; limit 2 a day\n"
    assert removed in run(*dry).stdout
    assert removed in run(*command).stdout
    removed = "removed 0 memories, and 2 by other cycles within 24 hours; limit 2 a day\n"
    assert removed in run(*dry).stdout
    assert "limit 2 a day" not in run(*dry, "--profile", "reverie").stdout


def test_ids_are_shown_literally(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "odd.db"
    with Engine(path) as mind:
        mind.add("a", id="[red]odd\x1b[2J[/]", now=NOW - 800 * DAY)
    shown = run("dream", "-s", path, *REVERIE, "--yes").stdout
    assert "[red]odd" in shown
    assert "\x1b" not in shown


def test_a_cycle_is_taken_back(run: Run, store: Path) -> None:
    before = live(store)
    told = dreamed(run, store)
    outcome = run("dream", "-s", store, "--undo", told["id"])
    assert outcome.exit_code == 0
    assert f"dream {told['id']} undone by " in outcome.stdout
    assert live(store) == before
    again = run("dream", "-s", store, "--undo", told["id"])
    assert again.exit_code == 2
    assert again.stderr == (
        f"error: --undo: must be of a cycle that stands, {told['id']!r} was undone "
        "(oneiros dream --list shows which can be undone)\n"
    )


def test_the_cycles_are_listed_the_newest_first(run: Run, store: Path) -> None:
    assert "no dream cycle" in run("dream", "-s", store, "--list").stdout
    told = dreamed(run, store)
    undone = run("dream", "-s", store, "--undo", told["id"], "--json").document
    found = run("dream", "-s", store, "--list", "--json").document["dreams"]
    assert [one["id"] for one in found] == [undone["id"], told["id"]]
    lines = run("dream", "-s", store, "--list").stdout.splitlines()
    assert f"undoes {told['id']}" in lines[-2]
    assert lines[-1].startswith(str(told["id"]))
    assert [row[-1] for row in run("dream", "-s", store, "--list", "--plain").rows] == ["", "done"]


def test_a_cycle_that_can_be_undone_says_how(run: Run, store: Path) -> None:
    planned = run("dream", "-s", store, *REVERIE, "--dry-run").stdout
    shown = run("dream", "-s", store, *REVERIE, "--yes").stdout
    (row,) = run("dream", "-s", store, "--list", "--plain").rows
    assert row[-1] == "yes"
    assert f"oneiros dream --undo {row[0]} takes it back" in shown
    assert "takes it back" not in planned
    assert "takes it back" not in run("dream", "-s", store, "--undo", row[0]).stdout


def test_plain_lines_name_the_changes_of_a_cycle(run: Run, store: Path) -> None:
    planned = run("dream", "-s", store, *REVERIE, "--dry-run", "--plain")
    deleted = [row for row in planned.rows if row[1] == "deleted_at"]
    assert [row[:5] for row in deleted] == [
        [row[0], "deleted_at", "", moment(NOW), "deleted"] for row in deleted
    ]
    assert len(deleted) == 2
    done = run("dream", "-s", store, *REVERIE, "--yes", "--plain")
    assert done.rows == planned.rows


@pytest.mark.parametrize(
    "damage",
    ["report = '{'", "report = '{}'", "report = CAST(x'FF' AS TEXT)", "dreamed_at = 1e300"],
)
def test_a_damaged_cycle_is_listed_as_one(run: Run, store: Path, damage: str) -> None:
    told = dreamed(run, store)
    with closing(apsw.Connection(str(store))) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute(f"UPDATE dream_cycle SET {damage}")
    outcome = run("dream", "-s", store, "--list")
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    assert str(told["id"]) in outcome.stdout
    assert "damaged: " in outcome.stdout
    again = run("dream", "-s", store, "--list", "--json")
    assert (again.exit_code, len(again.document["dreams"])) == (0, 1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--dry-run", "--list"], "--list: cannot go with --dry-run"),
        (["--undo", "x", "--list"], "--list: cannot go with --undo"),
        (["--undo", "x", "--profile", "reverie"], "--profile: cannot go with --undo"),
        (["--undo", "x", "--yes"], "--yes: cannot go with --undo"),
        (["--dry-run", "--yes"], "--yes: cannot go with --dry-run"),
        (["--list", "-y"], "--yes: cannot go with --list"),
        (["--profile", "nobody"], "--profile: name: no profile is called 'nobody'"),
        (["--now", "soon"], "--now"),
        (["--now=-1e30"], "--now: must be in year 1 or later, seconds since 1970, got -1e+30"),
        (["--watch", "--dry-run"], "--watch: cannot go with --dry-run"),
        (["--watch", "--now", "0"], "--now: cannot go with --watch"),
        (["--watch", "--html", "x.html"], "--html: cannot go with --watch"),
        (["--list", "--now", "0"], "--now: cannot go with --list"),
        (["--list", "--html", "x.html"], "--html: cannot go with --list"),
        (["--every", "4h"], "--every: needs --watch"),
        (["--after-new", "3"], "--after-new: needs --watch"),
        (["--watch", "--every", "soon"], "--every: must be a number and one of s, min, h and d"),
        (["--watch", "--every", "0s"], "--every: must be above 0"),
        (["--watch", "--after-new", str(2**31)], "'--after-new': Input should be less than"),
        (["--watch", "--every", "never", "--after-new", "0"], "one of them must be a reason"),
        (["--undo", "x"], "x"),
    ],
)
def test_what_cannot_be_is_said_and_nothing_done(
    run: Run, store: Path, options: list[str], words: str
) -> None:
    outcome = run("dream", "-s", store, *options)
    assert outcome.exit_code == 2
    assert outcome.stdout == ""
    assert outcome.stderr.startswith("error: ")
    assert words in outcome.stderr
    with Engine(store) as mind:
        assert mind.dreams() == []


def test_no_store_is_made(run: Run, tmp_path: Path) -> None:
    outcome = run("dream", "-s", tmp_path / "none.db")
    assert outcome.exit_code == 2
    assert not (tmp_path / "none.db").exists()


@pytest.mark.parametrize("command", ["dream", "drift", "purge"])
def test_an_empty_file_is_no_store_and_becomes_none(run: Run, tmp_path: Path, command: str) -> None:
    path = tmp_path / "notes.txt"
    path.touch()
    outcome = run(command, "-s", path)
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert outcome.stderr == f"error: {path}: no store: the file is empty\n"
    assert ([one.name for one in tmp_path.iterdir()], path.stat().st_size) == (["notes.txt"], 0)


def test_an_impact_tells_which_answers_a_cycle_would_lose(run: Run, store: Path) -> None:
    questions = store.with_suffix(".jsonl")
    questions.write_text('{"text": "long forgotten"}\n\n{"text": "said today"}\n', encoding="utf-8")
    told = dreamed(run, store, "--dry-run", "--impact", str(questions))
    impact = told["impact"]
    assert isinstance(impact, dict)
    first, second = impact["queries"]
    assert (first["query"], first["before"], first["after"]) == ("long forgotten", ["old"], [])
    assert (second["before"], second["after"], second["overlap"]) == (["fresh"], ["fresh"], 1.0)
    assert impact["lost_by_rule"] == {"R13": 1}
    assert (first["rules"], first["shifts"][0]["rules"]) == (["R13"], ["R13"])
    outcome = run("dream", "-s", store, *REVERIE, "--dry-run", "--impact", str(questions))
    assert "2 questions, top 10: 50.0% stay; lost: pruning 1" in outcome.stdout
    assert "'long forgotten': old (pruning)" in outcome.stdout
    assert "old" in live(store)


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ("{}", ".jsonl:1: "),
        ('{"text": "a"}\nnot', ".jsonl:2: "),
        ('{"text": 3}', ".jsonl:1: "),
        ("\n", "no question in it"),
    ],
)
def test_questions_that_are_none_are_refused_by_their_line(
    run: Run, store: Path, lines: str, problem: str
) -> None:
    questions = store.with_suffix(".jsonl")
    questions.write_text(lines, encoding="utf-8")
    outcome = run("dream", "-s", store, *CLOCK, "--dry-run", "--impact", str(questions))
    assert outcome.exit_code != 0
    assert problem in outcome.stderr


def test_an_impact_is_of_a_dry_run(run: Run, store: Path) -> None:
    outcome = run("dream", "-s", store, "--impact", str(store))
    assert outcome.exit_code != 0
    assert "--dry-run" in outcome.stderr
