"""``oneiros add``, ``list``, ``last``, ``update`` and ``history``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from oneiros.engine import Engine
from tests.cli.conftest import HOSTILE, RECORDS, Run


def test_add_creates_a_store_and_prints_the_id(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    given = ("--id", "tea", "--kind", "fact", "--title", "Drinks", "--tag", "a", "--tag", "b")
    fields = ("--set", "importance=0.9", "--set", 'metadata={"cups": 2}', "--now", "1000")
    outcome = run("add", "Green tea", "-s", path, *given, *fields)
    assert outcome == (0, "tea\n", "")
    with Engine(path) as engine:
        memory = engine.get("tea")
    assert (memory.text, memory.kind, memory.title) == ("Green tea", "fact", "Drinks")
    assert (memory.tags, memory.metadata) == (["a", "b"], {"cups": 2})
    assert (memory.created_at, round(memory.importance, 6)) == (1000.0, 0.9)


def test_add_reads_stdin_and_reports_a_document(run: Run, store: Path) -> None:
    document = run("add", "-", "-s", store, "--json", stdin="two\nlines\n").document
    (new,) = document["ids"]
    assert document == {"store": str(store), "command": "add", "ids": [new]}
    assert run("get", new, "-s", store, "--json").document["memory"]["text"] == "two\nlines"


def test_an_id_that_exists_is_refused_or_replaced(run: Run, store: Path) -> None:
    refused = run("add", "tea", "--id", "m1", "-s", store)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert refused.stderr == "error: --id: 'm1' exists; --replace replaces it\n"
    assert run("add", "tea", "--id", "m1", "--replace", "-s", store).stdout == "m1\n"
    assert run("get", "m1", "-s", store, "--json").document["memory"]["text"] == "tea"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--set", "importance"], "--set: expected FIELD=VALUE, each field once, got 'importance'"),
        (["--set", "priority=1", "--set", "priority=2"], "got 'priority=2'"),
        (["--set", "colour=red"], "--set: 'colour' is no field of a memory"),
        (["--set", "importance=high"], "--set: importance: must be a number, got 'high'"),
        (["--set", "metadata=[1]"], "--set: metadata: must be a JSON object (a dict), got [1]"),
        (["--set", 'embedding={"a": 1}'], "--set: embedding: must be an array of real numbers"),
        (["--set", "text=milk"], "--set: 'text' is given as TEXT"),
        (["--set", "kind=fact", "--kind", "note"], "--set: 'kind' is given as --kind"),
        (["--tag", "a", "--set", "tags=b"], "--set: 'tags' is given as --tag"),
        (["--set", "importance=7"], "importance: must be a number in [0, 1], got 7.0"),
        (["--scope", "user"], "--scope: expected FIELD=VALUE, each field once, got 'user'"),
        (["--scope", "kind=fact"], "--scope: scope: 'kind' cannot bound a scope"),
        (["--embedder", "none"], "--embedder: must be hashing, "),
    ],
)
def test_what_is_no_memory_is_refused(
    run: Run, store: Path, arguments: list[str], message: str
) -> None:
    outcome = run("add", "tea", "-s", store, *arguments)
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert message in outcome.stderr
    assert len(run("list", "-s", store, "--json").document["memories"]) == len(RECORDS)


def test_a_store_of_hashing_gets_its_vectors_without_being_told(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    run("add", "The restaurant opens at nine", "--id", "open", "-s", path, "--embedder", "hashing")
    run("add", "Bicycles are repaired on Mondays", "--id", "bike", "-s", path)
    assert run("stats", "-s", path, "--json").document["without_vector"] == 0
    found = run("search", "resturant", "-s", path, "--json").document["results"]
    assert found[0]["id"] == "open"
    assert found[0]["channels"]["vector"] > 0.3
    assert run("search", "resturant", "-s", path, "--plain").rows[0][0] == "open"
    other = run("add", "x", "-s", path, "--embedder", "hashing:64")
    assert other.exit_code == 2
    assert "hashing-1-64" in other.stderr


def test_update_changes_clears_and_keeps_a_history(run: Run, store: Path) -> None:
    changed = run("update", "m2", "-s", store, "--text", "It works again", "--set", "tags=")
    assert changed == (0, "m2: updated (tags, text)\n", "")
    memory = run("get", "m2", "-s", store, "--json").document["memory"]
    assert (memory["text"], memory["tags"]) == ("It works again", [])
    document = run("history", "m2", "-s", store, "--json").document
    texts = [one["memory"]["text"] for one in document["revisions"]]
    assert texts == ["The coffee machine broke", "It works again"]
    assert document["revisions"][0]["until"] == document["revisions"][1]["recorded_at"]
    assert {"text", "tags"} <= set(document["revisions"][1]["changed"])
    shown = run("history", "m2", "-s", store).stdout
    assert "The coffee machine" in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert [row[-1] for row in run("history", "m2", "-s", store, "--plain").rows] == texts
    assert run("update", "m2", "-s", store).stderr == (
        "error: update: give --text or --set FIELD=VALUE\n"
    )
    twice = run("update", "m2", "-s", store, "--text", "x", "--set", "text=y")
    assert twice == (2, "", "error: --set: 'text' is given as --text\n")
    assert run("update", "none", "-s", store, "--text", "x").exit_code == 1
    assert run("history", "none", "-s", store).exit_code == 1


def test_update_merges_metadata(run: Run, store: Path) -> None:
    run("update", "m1", "-s", store, "--set", 'metadata={"a": 1, "b": 2}', "--set", "project=")
    assert run("get", "m1", "-s", store, "--json").document["memory"]["project"] is None
    run("update", "m1", "-s", store, "--set", 'metadata={"b": null, "c": 3}', "--merge-metadata")
    assert run("get", "m1", "-s", store, "--json").document["memory"]["metadata"] == {
        "a": 1,
        "c": 3,
    }


def test_an_empty_value_empties_metadata(run: Run, store: Path) -> None:
    run("update", "m1", "-s", store, "--set", 'metadata={"a": 1}')
    assert run("update", "m1", "-s", store, "--set", "metadata=").exit_code == 0
    assert run("get", "m1", "-s", store, "--json").document["memory"]["metadata"] == {}
    outcome = run("update", "m1", "-s", store, "--set", "importance=")
    assert outcome == (2, "", "error: --set: importance: must be a number, got ''\n")


def test_list_pages_filters_and_orders(run: Run, store: Path) -> None:
    def ids(*arguments: str) -> list[str]:
        return [
            m["id"] for m in run("list", "-s", store, "--json", *arguments).document["memories"]
        ]

    assert ids() == ["m1", "m2", "m3", "m4"]
    assert ids("--order", "newest", "-n", "2") == ["m4", "m3"]
    assert ids("--after", "m2", "-n", "1") == ["m3"]
    assert ids("--kind", "lesson") == ["m3"]
    assert ids("--tag", "kitchen") == ["m2"]
    assert ids("--where", '{"session": "s1"}') == ["m3"]
    assert ids("--scope", "project=x") == ["m1"]
    page = run("list", "-s", store, "-n", "1")
    assert page.stdout.endswith("1 of 4 memories\n")
    assert run("list", "-s", store, "-n", "1", "--json").document["count"] == 4
    assert run("list", "-s", store, "--order", "taste").exit_code == 2


def test_listing_is_no_use(run: Run, store: Path) -> None:
    run("list", "-s", store)
    run("last", "-s", store)
    run("search", "coffee", "-s", store)
    assert run("get", "m1", "-s", store, "--json").document["memory"]["access_count"] == 0
    run("search", "coffee", "-s", store, "--reinforce")
    assert run("get", "m1", "-s", store, "--json").document["memory"]["access_count"] == 1


def test_last_is_the_newest_in_the_order_of_time(run: Run, store: Path) -> None:
    def ids(*arguments: object) -> list[str]:
        return [
            m["id"] for m in run("last", *arguments, "-s", store, "--json").document["memories"]
        ]

    assert ids(2) == ["m3", "m4"]
    assert ids() == ["m1", "m2", "m3", "m4"]
    assert ids("--session", "s1") == ["m3"]


@pytest.mark.parametrize("command", [["list"], ["last"], ["search", "tea"], ["history", "m4"]])
def test_tables_are_narrow_and_plain_lines_are_whole(
    run: Run, store: Path, command: list[str]
) -> None:
    text = "tea " + "word " * 100
    run("update", "m4", "-s", store, "--text", text + HOSTILE)
    shown = run(*command, "-s", store).stdout
    if command[0] != "search":
        assert max(map(len, shown.splitlines())) <= 80
    plain = run(*command, "-s", store, "--plain").stdout
    assert text in plain
    for output in (shown, plain):
        assert not {"\x1b", "\x9b", "\u202e", "\x07"} & set(output)


def test_a_long_kind_leaves_room_for_id_and_text(run: Run, store: Path) -> None:
    run("add", "Ada likes tea", "--id", "tea", "--kind", "k" * 64, "-s", store)
    shown = run("list", "-s", store).stdout
    for words in ("m2", "The coffee machine broke", "tea", "Ada likes tea", "2025-01-01"):
        assert words in shown
    assert shown.count("k" * 5) >= 2


def test_an_empty_list_is_said_and_plainly_has_heads_alone(run: Run, store: Path) -> None:
    nothing = ("list", "-s", store, "--kind", "nothing")
    assert run(*nothing).stdout.endswith("0 memories\n")
    assert run(*nothing, "--plain") == (0, "memory\tkind\tday\ttext\n", "")
    document = run(*nothing, "--json").document
    assert (document["memories"], document["count"]) == ([], 0)


def test_stdin_that_is_not_utf_8_is_refused(store: Path) -> None:
    for encoding in ({}, {"PYTHONIOENCODING": "utf-8:strict"}, {"PYTHONUTF8": "1"}):
        done = subprocess.run(
            [sys.executable, "-m", "oneiros", "add", "-", "-s", str(store)],
            input=b"caf\xe9",
            capture_output=True,
            env=os.environ | encoding,
            check=False,
        )
        assert (done.returncode, done.stdout) == (2, b"")
        assert done.stderr == b"error: stdin: not UTF-8\n"


def test_a_terminal_without_room_for_a_table_gets_lines(
    run: Run, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    shown = run("list", "-s", store).stdout
    assert "m1: kind" in shown
    assert " ".join(shown.split()).startswith(
        "m1: kind user_preference; day 2025-01-01; text Ada takes her coffee black"
    )
