"""``oneiros dream --html``: the page that is written, and what keeps it from being written."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from oneiros.engine import Engine
from tests.cli.conftest import HOSTILE, Run
from tests.dream.page.reading import Read, read

NOW = 1_750_000_000.0
DAY = 86_400.0
SHOWN = "tea ␛[2J⟨U+009B⟩31m⟨U+202E⟩[bold red]gone[/] ␇"
DELETED = [
    SHOWN,
    "old",
    "deleted",
    "not used for 800 days (limit 180)",
    "oneiros restore -- old",
]
ARCHIVED = [
    "a long session",
    "talk",
    "archived",
    "not used for 300 days (limit 30)",
    "oneiros restore -- talk",
]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "dreams.db"
    with Engine(path, clock=lambda: NOW) as mind:
        mind.add(HOSTILE, id="old", now=NOW - 800 * DAY)
        mind.add("a long session", id="talk", kind="session", now=NOW - 300 * DAY)
        mind.add("said today", id="fresh")
    return path


def written(path: Path) -> Read:
    """Read a page that is there as a whole, and nothing beside it."""
    assert [one.name for one in path.parent.iterdir()] == [path.name]
    assert path.stat().st_mode & 0o777 == 0o600
    return read(path.read_text(encoding="utf-8"))


@pytest.fixture
def page(tmp_path: Path) -> Path:
    (tmp_path / "pages").mkdir()
    return tmp_path / "pages" / "cycle.html"


def dream(run: Run, store: Path, page: Path, *more: object) -> str:
    given = ("dream", "-s", store, "--profile", "reverie", "--now", NOW, "--html", page)
    outcome = run(*given, *(more if "--dry-run" in more else ("--yes", *more)))
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    return outcome.stdout


def test_a_plan_is_written_with_texts_and_impact(run: Run, store: Path, page: Path) -> None:
    pytest.importorskip("matplotlib", reason="pages have plots: pip install 'oneiros[plots]'")
    questions = store.with_suffix(".jsonl")
    questions.write_text('{"text": "tea gone"}\n', encoding="utf-8")
    page.write_text("what was there before", encoding="utf-8")
    told = dream(run, store, page, "--dry-run", "--impact", questions)
    assert "would change" in told
    found = written(page)
    assert DELETED in found.cells
    assert ARCHIVED in found.cells
    assert "1 question: of the best 10 answers, 0.0% stay" in found.texts["impact"]
    assert "Lost answers: pruning 1" in found.texts["impact"]
    with Engine(store) as mind:
        assert mind.dreams() == []


def test_what_was_done_is_written_with_texts_and_drift(run: Run, store: Path, page: Path) -> None:
    pytest.importorskip("matplotlib", reason="pages have plots: pip install 'oneiros[plots]'")
    assert dream(run, store, page, "--json").startswith("{")
    found = written(page)
    assert DELETED in found.cells
    assert ARCHIVED in found.cells
    assert "drift" not in found.texts
    dream(run, store, page)
    assert "drift" in written(page).texts
    with Engine(store) as mind:
        id = mind.dreams()[0].id
    outcome = run("dream", "-s", store, "--undo", id, "--html", page)
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    assert f"Dream cycle {id} undone" in written(page).texts[""]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("none/page.html", "none: no such folder"),
        (".", "--html: must be a file's name, got the folder"),
        ("dreams.db", "--html: must be another file than the store's own"),
        ("dreams.db-wal", "--html: must be another file than the store's own"),
        ("link.html", "link.html is a symbolic link"),
    ],
)
def test_where_no_page_can_be_nothing_is_done(run: Run, store: Path, name: str, words: str) -> None:
    pytest.importorskip("matplotlib", reason="pages have plots: pip install 'oneiros[plots]'")
    (store.parent / "link.html").symlink_to("elsewhere.html")
    outcome = run("dream", "-s", store, "--html", f"{store.parent}{os.sep}{name}")
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert words in outcome.stderr
    with Engine(store) as mind:
        assert mind.dreams() == []


def test_a_page_replaces_no_questions_and_needs_a_folder_to_write_in(
    run: Run, store: Path, page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib", reason="pages have plots: pip install 'oneiros[plots]'")
    page.write_text('{"text": "tea"}\n', encoding="utf-8")
    outcome = run("dream", "-s", store, "--dry-run", "--impact", page, "--html", page)
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert "--html: must be another file than that of --impact" in outcome.stderr
    assert page.read_text(encoding="utf-8") == '{"text": "tea"}\n'
    monkeypatch.setattr("os.access", lambda _, mode: mode == os.R_OK)  # root may write anywhere
    outcome = run("dream", "-s", store, "--html", page)
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert f"--html: {page.parent}: nothing can be written in this folder" in outcome.stderr
    with Engine(store) as mind:
        assert mind.dreams() == []


def test_without_matplotlib_nothing_is_done(
    run: Run, store: Path, page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    outcome = run("dream", "-s", store, "--html", page)
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert outcome.stderr == (
        "error: --html: matplotlib is not installed; run: pip install 'oneiros[plots]'\n"
    )
    assert not page.exists()
    with Engine(store) as mind:
        assert mind.dreams() == []
