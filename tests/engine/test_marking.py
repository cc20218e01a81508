"""Memories marked: superseded by another, which hides them, and pinned."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from oneiros import Engine, profiles
from oneiros.errors import UnknownMemory

NOW = 1_770_000_000.0
DAY = 86_400.0


@pytest.fixture
def mind() -> Iterator[Engine]:
    with Engine(":memory:", clock=lambda: NOW) as opened:
        opened.add("ant on Tuesdays", id="old", metadata={"from": "Ada"}, now=NOW - DAY)
        opened.add("ant on Wednesdays", id="new", now=NOW - DAY)
        yield opened


def showing_all(name: str = "oneiros") -> oneiros.Profile:
    """The profile, hiding nothing that is superseded."""
    profile = profiles.get(name)
    return profile.replace(selection=type(profile.selection)(hide_superseded=False))


def found(mind: oneiros.Memories, **options: Any) -> set[str]:
    return set(mind.search("ant", reinforce=False, **options).ids)


# -- superseded ------------------------------------------------------------------------------------


# "cosine" finds no memory without a vector.
@pytest.mark.parametrize("name", [name for name in profiles.names() if name != "cosine"])
def test_what_is_superseded_is_found_only_where_a_profile_shows_it(mind: Engine, name: str) -> None:
    assert found(mind, profile=name) == {"old", "new"}
    mind.supersede("old", "new")
    assert found(mind, profile=name) == {"new"}
    assert found(mind, profile=showing_all(name)) == {"old", "new"}
    assert mind.search_many(["ant"], profile=name, reinforce=False)[0].ids == ["new"]
    (hiding,) = mind.why_not("ant", "old", profile=name).hidden
    assert (hiding.reason, hiding.detail) == ("superseded", "superseded by 'new'")


def test_the_older_keeps_all_it_holds_and_says_by_what_when_and_why(mind: Engine) -> None:
    before, newer = mind.get("old"), mind.get("new")
    mind.supersede("old", "new", "the team moved", now=NOW - 5)
    after = mind.get("old")
    assert after.superseded_by == "new"
    assert after.metadata == {
        "from": "Ada",
        "superseded_at": NOW - 5,
        "superseded_reason": "the team moved",
    }
    changed = {"superseded_by", "metadata"}
    assert {name: value for name, value in after.to_record().items() if name not in changed} == {
        name: value for name, value in before.to_record().items() if name not in changed
    }
    assert mind.get("new") == newer
    assert mind.count() == 2
    assert [memory.id for memory in mind.list()] == ["old", "new"]


def test_what_was_said_last_holds_and_can_be_taken_back(mind: Engine) -> None:
    mind.add("ant at noon", id="newest")
    mind.supersede("old", "new", "moved")
    mind.supersede("old", "newest")
    assert mind.get("old").superseded_by == "newest"
    assert mind.get("old").metadata == {"from": "Ada", "superseded_at": NOW}
    mind.supersede("new", "newest")
    assert found(mind) == {"newest"}
    mind.update("old", superseded_by=None)
    assert found(mind) == {"old", "newest"}


def test_taking_it_back_removes_its_time_and_reason(mind: Engine) -> None:
    mind.supersede("old", "new", "moved")
    mind.update("old", superseded_by=None)
    assert mind.get("old").metadata == {"from": "Ada"}
    mind.supersede("old", "new", "moved")
    mind.update("old", superseded_by=None, metadata={"by": "Bob"}, merge_metadata=True)
    assert mind.get("old").metadata == {"from": "Ada", "by": "Bob"}
    mind.supersede("old", "new")
    mind.update("old", superseded_by="new", importance=0.75)
    assert mind.get("old").metadata["superseded_at"] == NOW
    mind.update("old", superseded_by=None, metadata={"superseded_at": "never"})
    assert mind.get("old").metadata == {"superseded_at": "never"}


def test_taking_it_back_leaves_nulls_in_metadata(mind: Engine) -> None:
    metadata = {"by": None, "where": {"room": None}}
    mind.update("old", metadata=metadata)
    for merges in (False, True):
        mind.supersede("old", "new", "moved")
        mind.update("old", superseded_by=None, merge_metadata=merges)
        assert mind.get("old").metadata == metadata


def test_use_that_waits_to_be_written_is_not_lost(mind: Engine) -> None:
    mind.search("Tuesdays", session="s")
    mind.supersede("old", "new")
    mind.pin("old")
    mind.flush()
    held = mind.get("old")
    assert (held.access_count, held.sessions) == (1, {"s"})
    assert (held.superseded_by, held.pinned) == ("new", True)


# -- a newer one that is erased --------------------------------------------------------------------


def erase_by(mind: Engine, how: str, *ids: str) -> None:
    for id in ids:
        if how == "forget":
            mind.forget(id)
        else:
            mind.delete(id, now=NOW)
    if how == "purge":
        assert mind.purge(0.0, now=NOW + 1.0) == len(ids)


@pytest.mark.parametrize("how", ["forget", "purge"])
def test_what_an_erased_memory_superseded_comes_back(tmp_path: Path, how: str) -> None:
    path = tmp_path / "mind.db"
    with Engine(path) as mind, Engine(path) as other:
        mind.add("ant old", id="old", metadata={"from": "Ada"})
        mind.add("ant new", id="new")
        mind.supersede("old", "new", "moved", now=NOW)
        assert found(other) == {"new"}
        erase_by(mind, how, "new")
        for one in (mind, other):
            assert found(one) == {"old"}
            assert one.get("old").superseded_by is None
            assert one.get("old").metadata == {"from": "Ada"}
            assert one.check() == []
    with Engine(path) as again:
        assert found(again) == {"old"}


@pytest.mark.parametrize("how", ["forget", "purge"])
def test_a_chain_is_relinked_to_the_next_that_is_there(mind: Engine, how: str) -> None:
    for id in ("newest", "last"):
        mind.add(f"ant {id}", id=id)
    mind.supersede("old", "new", "moved", now=NOW)
    mind.supersede("new", "newest", "moved again", now=NOW + 5)
    mind.supersede("newest", "last", now=NOW + 9)
    before = mind.get("old")
    erase_by(mind, how, "new", "newest")
    after = mind.get("old")
    assert after.superseded_by == "last"
    assert after.metadata == before.metadata  # when and why it stopped to hold is as it was
    assert found(mind) == {"last"}
    assert mind.check() == []
    erase_by(mind, how, "last")
    assert found(mind) == {"old"}
    assert mind.get("old").metadata == {"from": "Ada"}


def test_names_given_by_a_record_are_minded_too(mind: Engine) -> None:
    mind.add("ant one", id="one", superseded_by="two")
    mind.add("ant two", id="two", superseded_by="one")  # a circle, which only records can make
    mind.add("ant three", id="three", superseded_by="nobody")
    mind.add("ant four", id="four", superseded_by="three")
    mind.forget("two")
    mind.forget("three")
    assert found(mind) == {"old", "new", "one", "four"}
    assert mind.check() == []
    mind.add("ant five", id="five", superseded_by="three")
    (problem,) = mind.check()
    assert problem.startswith("memory 'five': superseded by 'three', which was forgotten")


def test_it_outlives_closing_with_and_without_what_a_reopening_maps(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with Engine(path) as mind:
        for id in ("old", "new", "other"):
            mind.add(f"ant {id}", id=id)
        mind.supersede("old", "new", "moved")
        mind.pin("new")
        mind.backup(tmp_path / "copy.db")
    for name in ("mind.db", "copy.db"):
        for _ in range(2):
            with Engine(tmp_path / name) as mind:
                assert found(mind) == {"new", "other"}
                assert mind.get("old").metadata["superseded_reason"] == "moved"
                assert mind.why_not("ant", "old").verdict == "hidden: superseded"
                assert found(mind, where=oneiros.where(pinned=True)) == {"new"}
            (tmp_path / f"{name}-snapshot").unlink(missing_ok=True)


def test_another_engine_follows(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with Engine(path) as mind, Engine(path) as other:
        mind.add("ant old", id="old")
        mind.add("ant new", id="new")
        assert found(other) == {"old", "new"}
        mind.supersede("old", "new")
        assert found(other) == {"new"}
        other.pin("new")
        assert mind.get("new").pinned
        with pytest.raises(ValueError, match="superseded by old"):
            other.supersede("new", "old")
        other.update("old", superseded_by=None)
        mind.supersede("new", "old")
        assert found(other) == {"old"}


def test_another_process_follows_and_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    script = """
import sys, oneiros
with oneiros.Engine(sys.argv[1]) as mind:
    print(sorted(mind.search("ant").ids), mind.why_not("ant", "a").hidden[0].detail)
    mind.supersede("b", "c")
    mind.pin("c")
"""
    with Engine(path) as mind:
        for id in "abc":
            mind.add(f"ant {id * 2}", id=id)
        mind.supersede("a", "b")
        run = subprocess.run(
            [sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True
        )
        assert run.stdout.strip() == "['b', 'c'] superseded by 'b'"
        assert found(mind) == {"c"}
        assert mind.get("c").pinned


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=14))
def test_no_circle_is_ever_made(pairs: list[tuple[int, int]]) -> None:
    with Engine(":memory:") as mind:
        ids = [mind.add(f"ant {number}") for number in range(5)]
        newer: dict[int, int] = {}  # the model: what supersedes what

        def ends_at(number: int) -> int:
            return ends_at(newer[number]) if number in newer else number

        for old, new in pairs:
            was = newer.pop(
                old, None
            )  # now old leads nowhere: a circle closes where new leads to it
            if ends_at(new) == old:
                if was is not None:
                    newer[old] = was
                with pytest.raises(ValueError, match=r"^new: must "):
                    mind.supersede(ids[old], ids[new])
            else:
                mind.supersede(ids[old], ids[new])
                newer[old] = new
            assert [memory.superseded_by for memory in mind.list()] == [
                ids[newer[number]] if number in newer else None for number in range(5)
            ]
        assert found(mind) == {ids[number] for number in range(5) if number not in newer}


def test_a_circle_is_refused_through_what_is_deleted_too(mind: Engine) -> None:
    mind.add("ant between", id="between")
    mind.supersede("old", "between")
    mind.supersede("between", "new")
    mind.delete("between")
    with pytest.raises(ValueError, match="new: must not be superseded by old, 'new', itself"):
        mind.supersede("new", "old")
    mind.forget("between")  # old is superseded by new from now on
    with pytest.raises(ValueError, match="new: must not be superseded by old, 'new', itself"):
        mind.supersede("new", "old")
    mind.forget("old")
    mind.add("ant old", id="old")
    mind.supersede("new", "old")
    assert mind.get("new").superseded_by == "old"


def test_a_circle_that_was_given_as_fields_ends_nothing_else(mind: Engine) -> None:
    mind.add("ant x", id="x", superseded_by="y")
    mind.add("ant y", id="y", superseded_by="x")
    mind.supersede("old", "x")
    assert mind.get("old").superseded_by == "x"


def test_no_update_makes_a_circle(mind: Engine) -> None:
    mind.supersede("old", "new")
    for name, by in (("old", "old"), ("new", "old")):
        rule = f"superseded_by: must not be '{name}' itself, or superseded by it, got '{by}'"
        with pytest.raises(ValueError, match=f"^{rule}$"):
            mind.update(name, text="changed", superseded_by=by)
    assert mind.get("new").superseded_by is None
    assert mind.get("new").text != "changed"
    mind.add("ant alone", id="alone", superseded_by="alone")  # as a file may have it
    mind.update("alone", superseded_by="alone", importance=0.75)
    mind.update("alone", superseded_by=None)
    assert "alone" in found(mind)
    mind.update("new", superseded_by="later")  # not in the store yet
    assert mind.get("new").superseded_by == "later"


@pytest.mark.parametrize("on_conflict", ["update", "replace"])
def test_no_add_to_an_existing_memory_makes_a_circle(mind: Engine, on_conflict: str) -> None:
    mind.supersede("old", "new")
    rule = "superseded_by: must not be 'new' itself, or superseded by it, got 'old'"
    with pytest.raises(ValueError, match=f"^{rule}$"):
        mind.add("changed", id="new", superseded_by="old", on_conflict=on_conflict)
    report = mind.add_many(
        [
            {"id": "new", "text": "changed", "superseded_by": "between"},
            {"id": "between", "text": "ant between", "superseded_by": "old"},
            {"id": "old", "text": "ant changed", "superseded_by": "new"},
        ],
        on_conflict=on_conflict,
        on_error="collect",
    )
    ((place, error),) = report.failures
    assert (place, str(error)) == (0, rule.replace("'old'", "'between'"))
    assert report.updated == ["old"]
    assert mind.get("old").text == "ant changed"
    assert mind.get("new").text != "changed"
    assert found(mind) == {"new"}


def test_a_batch_may_turn_a_chain_round(mind: Engine) -> None:
    mind.supersede("old", "new")
    records = [
        {"id": "new", "text": "ant new", "superseded_by": "old"},
        {"id": "old", "text": "ant old"},
    ]
    mind.add_many(records, on_conflict="replace")
    assert found(mind) == {"old"}


# -- pinned ----------------------------------------------------------------------------------------


def test_a_pinned_memory_does_not_age_under_the_house_profile(mind: Engine) -> None:
    def recency() -> dict[str, float]:
        results = mind.search("ant", now=NOW + 400 * DAY, explain=True).results
        return {
            result.id: factor.value
            for result in results
            for factor in result.explanation.factors
            if factor.name == "recency"
        }

    aged = recency()
    assert aged["old"] == aged["new"] < 1.0
    mind.pin("new")
    assert recency() == {"old": aged["old"], "new": 1.0}
    assert mind.search("ant", now=NOW + 400 * DAY, reinforce=False).ids == ["new", "old"]
    mind.pin("new", pinned=False)
    assert recency() == aged


def test_pinning_is_no_revision_and_twice_is_once(mind: Engine) -> None:
    before = mind.get("old")
    mind.pin("old")
    pinned, revision = mind.get("old"), mind.stats()["revision"]
    assert (pinned.pinned, pinned.revision_count) == (True, 0)
    assert pinned.updated_at == before.updated_at
    mind.pin("old")
    assert mind.stats()["revision"] == revision
    mind.pin("old", False)
    assert mind.get("old") == before


# -- both ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda mind: mind.supersede("old", "old"), ValueError, "new: must be another memory"),
        (lambda mind: mind.supersede("nobody", "new"), UnknownMemory, "nobody"),
        (lambda mind: mind.supersede("old", "nobody"), UnknownMemory, "nobody"),
        (lambda mind: mind.supersede("gone", "new"), UnknownMemory, "gone"),
        (lambda mind: mind.supersede("old", "gone"), UnknownMemory, "gone"),
        (lambda mind: mind.supersede("old", 7), TypeError, "new: expected str"),
        (lambda mind: mind.supersede("old", "new", None), TypeError, "reason: expected str"),
        (lambda mind: mind.supersede("old", "new", "\ud800"), ValueError, "reason"),
        (lambda mind: mind.supersede("old", "new", "x" * 2**20), ValueError, "metadata: must be"),
        (lambda mind: mind.supersede("old", "new", now="soon"), ValueError, "now: must be"),
        (lambda mind: mind.pin("nobody"), UnknownMemory, "nobody"),
        (lambda mind: mind.pin("gone"), UnknownMemory, "gone"),
        (lambda mind: mind.pin("old", 1), TypeError, "pinned: must be True or False, got 1"),
        (lambda mind: mind.pin(None), TypeError, "id: expected str"),
    ],
)
def test_wrong_arguments_are_refused_and_leave_nothing(
    mind: Engine, call: Callable[[Engine], object], error: type[Exception], words: str
) -> None:
    mind.add("bee", id="gone")
    mind.delete("gone")
    before, revision = mind.get("old"), mind.stats()["revision"]
    with pytest.raises(error, match=words):
        call(mind)
    assert (mind.get("old"), mind.stats()["revision"]) == (before, revision)
    assert found(mind) == {"old", "new"}


def test_a_scope_marks_nothing_beyond_it_and_tells_nothing_of_it(mind: Engine) -> None:
    mind.add("ant", id="a", project="x")
    mind.add("ant", id="b", project="x")
    scope = mind.scope(project="x")
    for call in (
        lambda id: scope.supersede("a", id),
        lambda id: scope.supersede(id, "a"),
        scope.pin,
    ):
        for id in ("old", "nobody"):
            with pytest.raises(UnknownMemory, match=f"^id: no memory '{id}'$"):
                call(id)
    assert not mind.get("old").pinned
    scope.supersede("a", "b")
    scope.pin("b")
    assert found(scope) == {"b"}
    assert found(mind) == {"old", "new", "b"}
    assert mind.get("b").pinned
