"""``oneiros delete`` and ``oneiros forget``: what they take, and that they ask."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import RECORDS, Run


def count(run: Run, store: Path) -> int:
    document = run("list", "-s", store, "--json").document
    assert isinstance(document["count"], int)
    return document["count"]


def test_a_deleted_memory_can_be_restored(run: Run, store: Path) -> None:
    assert run("delete", "m1", "m2", "-s", store) == (0, "2 memories deleted\n", "")
    assert count(run, store) == len(RECORDS) - 2
    assert run("restore", "m1", "-s", store).stdout == "m1: restored\n"
    document = run("delete", "m1", "-s", store, "--json").document
    assert document == {"store": str(store), "command": "delete", "deleted": 1, "ids": ["m1"]}


def test_an_unknown_id_deletes_nothing(run: Run, store: Path) -> None:
    assert run("delete", "m1", "none", "-s", store).exit_code == 1
    assert count(run, store) == len(RECORDS)


def test_a_filter_asks_before_it_deletes(run: Run, store: Path) -> None:
    arguments = ("delete", "--where", '{"kind": ["note"]}', "-s", store)
    refused = run(*arguments, stdin="n\n")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert refused.stderr == "delete 2 memories? [y/N] error: nothing was deleted\n"
    assert count(run, store) == len(RECORDS)
    assert run(*arguments, stdin="y\n").stdout == "2 memories deleted\n"
    assert count(run, store) == len(RECORDS) - 2


def test_forget_asks_and_erases_for_good(run: Run, store: Path) -> None:
    no_answer = run("forget", "m3", "-s", store, stdin="")
    assert no_answer.exit_code == 2
    assert "--yes: needed where stdin has no answer; nothing was erased" in no_answer.stderr
    document = run("forget", "m3", "--yes", "-s", store, "--json").document
    assert (document["ids"], document["command"]) == (["m3"], "forget")
    assert document["erased_at"].startswith("20")
    assert run("restore", "m3", "-s", store).exit_code == 1
    assert run("doctor", "-s", store, "--verify-erased", "ERR_CONN-42").exit_code == 0


def test_forget_takes_a_filter_and_what_was_derived(run: Run, store: Path) -> None:
    run("add", "Coffee, in short", "--id", "sum", "--set", "derived_from=m1", "-s", store)
    kept = run("forget", "--where", '{"project": "x"}', "-y", "--keep-derived", "-s", store)
    assert kept.stdout == "1 memory erased\n"
    run("add", "Again", "--id", "m1", "-s", store)
    run("update", "sum", "--set", "derived_from=m1", "-s", store)
    taken = run("forget", "m1", "-y", "-s", store)
    assert taken.stdout == "2 memories erased, 1 of them derived\n"


def test_forget_says_that_a_filter_matches_deleted_memories_too(run: Run, store: Path) -> None:
    run("delete", "m1", "-s", store)
    refused = run("forget", "--where", '{"project": "x"}', "-s", store, stdin="n\n")
    assert refused.stderr == (
        "erase 0 memories, and the deleted ones that match, with what was derived from them, for good? "
        "[y/N] error: nothing was erased\n"
    )
    assert run("restore", "m1", "-s", store).exit_code == 0


def test_a_scope_erases_nothing_outside_of_it(run: Run, store: Path) -> None:
    assert run("forget", "m2", "-y", "-s", store, "--scope", "project=x").exit_code == 1
    assert run("delete", "m2", "-s", store, "--scope", "project=x").exit_code == 1
    assert count(run, store) == len(RECORDS)


@pytest.mark.parametrize("command", ["delete", "forget"])
@pytest.mark.parametrize("arguments", [[], ["m1", "--where", "{}"]])
def test_either_ids_or_a_filter(run: Run, store: Path, command: str, arguments: list[str]) -> None:
    outcome = run(command, *arguments, "-y", "-s", store)
    assert outcome == (2, "", f"error: {command}: give ids or --where, one of the two\n")
    assert count(run, store) == len(RECORDS)


def test_an_empty_filter_erases_nothing(run: Run, store: Path) -> None:
    assert run("forget", "--where", "{}", "-y", "-s", store).exit_code == 2
    assert count(run, store) == len(RECORDS)
