"""``oneiros feedback``, ``pin``, ``link``, ``supersede`` and ``conflicts``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run


def test_feedback_adds_up(run: Run, store: Path) -> None:
    assert run("feedback", "m1", "helpful", "-s", store) == (0, "m1: helpful, feedback +1\n", "")
    document = run("feedback", "m1", "outdated", "-s", store, "--json").document
    assert (document["ids"], document["feedback"]) == (["m1"], -1)
    assert run("get", "m1", "-s", store, "--json").document["memory"]["feedback"] == -1
    assert run("feedback", "m1", "nice", "-s", store).exit_code == 2
    assert run("feedback", "none", "helpful", "-s", store).exit_code == 1


def test_feedback_with_its_question_counts_for_it(run: Run, store: Path) -> None:
    def score_of(query: str) -> float:
        found = run("search", query, "-s", store, "--json").document["results"]
        return next(one["score"] for one in found if one["id"] == "m1")

    before = score_of("Ada and coffee"), score_of("coffee")
    printed = run("feedback", "m1", "helpful", "--query", "Ada and coffee", "-s", store)
    assert printed == (0, "m1: helpful, feedback +1\n", "")
    after = score_of("Ada and coffee"), score_of("coffee")
    assert after[0] > 1.1 * before[0]
    assert after[1] < 1.01 * before[1]


def test_pin_and_its_end(run: Run, store: Path) -> None:
    assert run("pin", "m1", "-s", store).stdout == "m1: pinned\n"
    assert run("get", "m1", "-s", store, "--json").document["memory"]["pinned"] is True
    assert run("pin", "m1", "--off", "-s", store).stdout == "m1: not pinned\n"
    assert run("get", "m1", "-s", store, "--json").document["memory"]["pinned"] is False
    outside = run("pin", "m2", "-s", store, "--scope", "project=x")
    assert outside.exit_code == 1


def test_links_are_made_shown_and_removed(run: Run, store: Path) -> None:
    assert run("link", "m1", "-s", store).stdout == "m1: no links\n"
    assert run("link", "m1", "m2", "--weight", "0.8", "-s", store).stdout == "m1, m2: linked\n"
    assert run("link", "m2", "-s", store, "--json").document == {
        "command": "link",
        "store": str(store),
        "id": "m2",
        "count": 1,
        "links": [{"id": "m1", "kind": "explicit", "weight": 0.8}],
    }
    assert "Ada takes her coffee" in run("link", "m2", "-s", store).stdout
    assert run("link", "m2", "-s", store, "--plain").stdout == (
        "memory\tkind\tweight\ttext\nm1\texplicit\t0.800\tAda takes her coffee black\n"
    )
    assert run("link", "m1", "m2", "--remove", "-s", store).stdout == "m1, m2: link removed\n"
    assert run("link", "m1", "m2", "--remove", "-s", store).stdout == (
        "m1, m2: there was no link\n"
    )
    assert run("link", "m1", "m1", "-s", store).exit_code == 2
    assert run("link", "m1", "m2", "--weight", "2", "-s", store).exit_code == 2


def test_removing_a_link_needs_both_memories(run: Run, store: Path) -> None:
    outcome = run("link", "m1", "--remove", "-s", store)
    assert outcome == (2, "", "error: --remove: needs OTHER, the other memory of the link\n")


def test_supersede_hides_the_old_one(run: Run, store: Path) -> None:
    done = run("supersede", "m1", "m2", "--reason", "broken", "-s", store)
    assert done.stdout == "m1: superseded by m2\n"
    memory = run("get", "m1", "-s", store, "--json").document["memory"]
    assert memory["superseded_by"] == "m2"
    assert memory["metadata"]["superseded_reason"] == "broken"
    found = run("search", "coffee", "-s", store, "--json").document["results"]
    assert [one["id"] for one in found] == ["m2"]
    assert run("supersede", "m2", "m2", "-s", store).exit_code == 2


def test_conflicts_are_found_and_settled(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    run("add", "My rent is 900 euros a month", "--id", "old", "--now", "1.7e9", "-s", path)
    assert run("conflicts", "-s", path).stdout.endswith("0 pairs\n")
    run("add", "My rent went up to 950 euros now", "--id", "new", "--now", "1.71e9", "-s", path)
    document = run("conflicts", "-s", path, "--json").document
    assert document["count"] == 1
    (pair,) = document["conflicts"]
    assert (pair["older"], pair["newer"]) == ("old", "new")
    shown = run("conflicts", "-s", path).stdout
    assert "My rent is 900" in shown
    assert "1 pair\noneiros supersede OLDER NEWER settles one\n" in shown
    (row,) = run("conflicts", "-s", path, "--plain").rows
    assert row[1:3] == ["old", "new"]
    run("supersede", "old", "new", "-s", path)
    assert run("conflicts", "-s", path, "--json").document["count"] == 0


@pytest.mark.parametrize("wrong", ["0", "1.5", "-0.1", "nan"])
def test_a_confidence_out_of_range_is_named_with_its_rule(
    run: Run, store: Path, wrong: str
) -> None:
    outcome = run("conflicts", "--confidence", wrong, "-s", store)
    assert outcome.exit_code == 2
    assert outcome.stderr == f"error: --confidence: must be > 0 and <= 1, got {float(wrong)}\n"
