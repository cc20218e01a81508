"""Nothing that a forgotten memory said is left in a store that dreamt: looked for byte by byte."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import oneiros
from oneiros.index.snapshot import FEWEST_ROWS
from tests.dream.worlds import DAY, NOW

LATER = NOW + DAY
FADED = {"category": "episodic", "stability": 0.125, "importance": 0.0, "session": "s"}


def secrets(number: int) -> list[str]:
    """Words that only one memory says: in its beginning, in what a stub loses, and beside its text."""
    return [f"{place}{number}zyx" for place in ("begin", "middle", "end", "title", "tag", "note")]


def secretive(number: int) -> dict[str, object]:
    begin, middle, end, title, tag, note = secrets(number)
    filler = "a story told at length " * 12
    return {
        "id": f"m{number}",
        "text": f"{begin} {filler} {middle} {filler} {end}",
        "title": title,
        "tags": [tag],
        "metadata": {"note": note},
        "embedding": (1.0, 0.0),
        "created_at": NOW - 900.0 * DAY,
        **FADED,
    }


def written(texts: Sequence[str]) -> str:
    """A summary that says the first and the last word of each."""
    return " ".join(f"{text.split()[0]} {text.split()[-1]}" for text in texts)


def left_in_files(path: Path, words: Sequence[str]) -> set[str]:
    """Return which of the words stand anywhere in the store's files."""
    files = [one.read_bytes() for one in path.parent.glob(f"{path.name}*")]
    assert files
    return {word for word in words if any(word.encode() in content for content in files)}


@pytest.fixture
def dreamt(tmp_path: Path) -> tuple[oneiros.Engine, list[str]]:
    """Five memories that were summarised, cut to stubs, and brought back, and what was made of them."""
    mind = oneiros.Engine(tmp_path / "mind.db", profile="cognitive")
    mind.add_many([secretive(number) for number in range(5)], now=NOW - 900.0 * DAY)
    first = mind.dream(NOW, summarise=written)
    mind.undo_dream(first.id, now=NOW)
    second = mind.dream(LATER, summarise=written)
    mind.search("story told", deep_recall=True, now=LATER, session="another")
    mind.dream(LATER + 200.0 * DAY)  # cuts to stubs what stayed cold
    made = [one.id for one in second.named if one.field == "memory"]
    return mind, made


def test_forgotten_sources_and_their_summary_leave_no_word(
    dreamt: tuple[oneiros.Engine, list[str]], tmp_path: Path
) -> None:
    path = tmp_path / "mind.db"
    mind, made = dreamt
    words = [word for number in range(5) for word in secrets(number)]
    with mind, oneiros.Engine(path) as other:
        other.search("story", reinforce=False, now=LATER)
        assert made
        assert {mind.get(f"m{number}").superseded_by for number in range(5)} == set(made)
        assert left_in_files(path, words) == set(words)
        assert mind.forget("m0").derived == tuple(made)
        assert left_in_files(path, words) == set(words) - set(secrets(0))
        for number in range(1, 5):
            assert mind.get(f"m{number}").superseded_by is None
            assert mind.forget(f"m{number}").derived == ()
        assert left_in_files(path, words) == set()
        assert all(map(mind.verify_erased, words))
        for report in mind.dreams():  # which tell of them by their ids
            assert not any(word in str(report.record()) for word in words)
        assert mind.check() == other.check() == []


def test_the_others_of_a_summary_come_back_and_get_another_without_the_word(
    dreamt: tuple[oneiros.Engine, list[str]], tmp_path: Path
) -> None:
    mind, (made,) = dreamt
    with mind:
        others = [link.id for link in mind.neighbours(made, now=LATER) if link.id != "m2"]
        before = {id: mind.get(id).tier for id in others}
        assert set(before.values()) == {"cold"}
        receipt = mind.forget("m2")
        assert (receipt.ids, receipt.derived) == (("m2",), (made,))
        assert mind.verify_erased(secrets(2)[0])
        for id in others:
            other = mind.get(id)
            assert (other.superseded_by, other.tier, other.cold_since) == (None, "hot", None)
        mind.add_many([secretive(5)], now=LATER)  # the fifth
        mind.search("story told", now=LATER + 700.0 * DAY)  # none has been at its floor for long
        again = mind.dream(LATER + 900.0 * DAY, summarise=written)
        (new,) = [one.id for one in again.named if one.field == "memory"]
        assert {mind.get(id).superseded_by for id in (*others, "m5")} == {new}
        assert left_in_files(tmp_path / "mind.db", secrets(2)) == set()


def test_what_is_purged_or_undone_stands_in_no_snapshot(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    with oneiros.Engine(path, profile="cognitive") as mind:
        mind.add_many([{"text": "filler", "id": f"f{n}"} for n in range(FEWEST_ROWS)], now=NOW)
        mind.add_many([secretive(number) for number in range(6)], now=NOW - 900.0 * DAY)
        report = mind.dream(NOW, summarise=lambda _texts: "onlyinsummaryzyx")
    snapshot = path.with_name("mind.db-snapshot")
    words = ["onlyinsummaryzyx", secrets(3)[0]]
    assert all(word.encode() in snapshot.read_bytes() for word in words)
    with oneiros.Engine(path, profile="cognitive") as mind:
        mind.undo_dream(report.id, now=NOW)
        assert not snapshot.exists()
    assert left_in_files(path, words) == {secrets(3)[0]}
    with oneiros.Engine(path, profile="cognitive") as mind:
        mind.delete("m3", now=NOW)
        assert mind.purge(0.0, now=LATER) == 1
        assert left_in_files(path, secrets(3)) == set()
    assert left_in_files(path, secrets(3)) == set()


def test_a_report_keeps_its_words_when_a_memory_of_that_name_is_forgotten(tmp_path: Path) -> None:
    names = ("prune", "R13", "stale", "deleted_at", "reverie", "consolidate", "archived")
    with oneiros.Engine(tmp_path / "mind.db", profile="reverie") as mind:
        mind.add_many(
            [
                {"id": name, "text": f"story {name}", "kind": "session", "session": "s"}
                for name in (*names, "kept")
            ],
            now=NOW - 500.0 * DAY,
        )
        mind.dream(NOW)
        (before,) = mind.dreams()
        for name in names:
            mind.forget(name)
        (after,) = mind.dreams()
        assert not {one.id for one in after.named} & set(names)
        nameless = [
            [replace(one, id="") for one in report.named if one.field != "link"]
            for report in (before, after)
        ]
        assert nameless[0] == nameless[1]
        assert (after.phases, after.profile) == (before.phases, before.profile)
        assert str(after) == str(before)
        assert mind.check() == []


def test_a_report_forgets_what_was_accessed_most(tmp_path: Path) -> None:
    with oneiros.Engine(tmp_path / "mind.db", profile="cognitive") as mind:
        mind.add_many(
            [{"id": f"m{number}zyx", "text": f"story {number}"} for number in range(3)],
            now=NOW - 9.0 * DAY,
        )
        mind.search("story", session="s", now=NOW - DAY)
        mind.dream(NOW)
        (before,) = mind.dreams()
        assert "m0zyx" in before.drift["top"]
        mind.forget("m0zyx")
        (after,) = mind.dreams()
        assert set(before.drift["top"]) & set(after.drift["top"]) == {"m1zyx", "m2zyx"}
        assert {**after.drift, "top": ()} == {**before.drift, "top": ()}
    assert left_in_files(tmp_path / "mind.db", ["m0zyx"]) == set()
