"""``oneiros restore``: what is away comes back, and whatever is not is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from oneiros.engine import Engine
from tests.cli.conftest import HOSTILE, Run

NOW = 1_750_000_000.0
DAY = 86_400.0


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "deleted.db"
    with Engine(path, profile="reverie", clock=lambda: NOW) as mind:
        mind.add("the code of the old door", id="stale", now=NOW - 400 * DAY)
        mind.add("a session", id="session", kind="session", now=NOW - 400 * DAY)
        mind.add("here", id="here")
        mind.add(HOSTILE, id=HOSTILE)
        mind.delete(HOSTILE)
        mind.dream(NOW)
    return path


@pytest.mark.parametrize("id", ["stale", "session"])
def test_what_a_cycle_took_away_comes_back_for_good(run: Run, store: Path, id: str) -> None:
    outcome = run("restore", id, "-s", store, "--now", NOW)
    assert outcome == (0, f"{id}: restored\n", "")
    assert run("restore", id, "-s", store, "--now", NOW) == (0, f"{id}: it was not away\n", "")
    with Engine(store, profile="reverie") as mind:
        mind.dream(NOW + DAY)
        shown = [one for one in mind.list() if one.status != "archived"]
        assert [(one.id, one.last_accessed_at) for one in shown] == [(id, NOW), ("here", None)]


def test_machines_are_told_whether_it_was_away(run: Run, store: Path) -> None:
    for was_away in (True, False):
        document = run("restore", "stale", "-s", store, "--json").document
        assert (document["ids"], document["restored"]) == (["stale"], was_away)


def test_an_id_is_shown_harmless(run: Run, store: Path) -> None:
    outcome = run("restore", HOSTILE, "-s", store)
    assert outcome.stdout.endswith(": restored\n")
    assert "\x1b" not in outcome.stdout


def test_an_id_is_shown_on_one_line(run: Run, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    id = "a line\nand a second one, longer than the terminal"
    run("add", "x", "--id", id, "-s", store)
    shown = "a line␊and a second one, longer than the terminal"
    assert run("restore", id, "-s", store).stdout == f"{shown}: it was not away\n"


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["nobody"], 1, "nobody"),
        (["stale", "--now", "soon"], 2, "--now: must be ISO 8601"),
    ],
)
def test_what_cannot_be_is_told_in_one_line(
    run: Run, store: Path, arguments: list[str], code: int, words: str
) -> None:
    outcome = run("restore", *arguments, "-s", store)
    assert (outcome.exit_code, outcome.stdout) == (code, "")
    assert outcome.stderr.startswith("error: ")
    assert words in outcome.stderr
    with Engine(store) as mind:
        assert mind.get_deleted(["stale"]) != [None]
