"""``oneiros search`` and ``oneiros get`` on a real store."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from oneiros.engine import Engine
from oneiros.index import snapshot
from tests.cli.conftest import RECORDS, Run

NOW = "2025-02-01T00:00:00Z"


def found(run: Run, store: Path, *arguments: object) -> list[str]:
    outcome = run("search", *arguments, "--store", store, "--now", NOW, "--json")
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    return [result["id"] for result in outcome.document["results"]]


def test_search_finds_by_words(run: Run, store: Path) -> None:
    assert set(found(run, store, "coffee")) == {"m1", "m2"}
    assert found(run, store, "ERR_CONN-42") == ["m3"]
    assert found(run, store, "nothing of the kind") == []
    assert found(run, store, "") == []
    assert len(found(run, store, "coffee", "-k", 1)) == 1
    assert found(run, store, "coffee", "-k", 0) == []


def test_search_understands_signs_if_asked(run: Run, store: Path) -> None:
    asked = ("--syntax", "query", "--no-reinforce")
    assert found(run, store, "coffee -machine", *asked) == ["m1"]
    assert found(run, store, '"coffee black"', *asked) == ["m1"]
    assert found(run, store, "tags:kitch*", *asked) == ["m2"]
    assert set(found(run, store, "coffee -machine")) == {"m1", "m2"}
    assert run("why-not", "+black", "m2", "--syntax", "query", "-s", store).stdout.startswith(
        "'m2'"
    )
    refused = run("search", "coffee", "--syntax", "lucene", "-s", store)
    assert refused.exit_code != 0
    assert "syntax: must be 'plain' or 'query'" in refused.stderr


def test_search_finds_what_was_valid_then_and_what_is_no_more(run: Run, store: Path) -> None:
    with Engine(store) as mind:
        mind.add("a coffee offer", id="offer", valid_until="2025-01-31T00:00:00Z")
    assert "offer" not in found(run, store, "coffee")
    assert "offer" in found(run, store, "coffee", "--valid-at", "2025-01-30T00:00:00Z")
    assert "offer" in found(run, store, "coffee", "--include-expired")
    with Engine(store) as mind:
        mind.supersede("offer", mind.add("a tea offer"))
    assert "offer" not in found(run, store, "coffee", "--include-expired")
    assert "offer" in found(run, store, "coffee", "--include-expired", "--deep")


def test_search_takes_a_range_of_time_in_place_of_the_querys(run: Run, store: Path) -> None:
    with Engine(store) as mind:
        mind.add("a coffee of then", id="then", event_at="2024-05-10T00:00:00Z")

    def temporal(*options: str) -> float:
        asked = ("coffee", "then", "-k", "1", "--profile", "omega", "--json", "-s", store)
        told = json.loads(run("why-not", *asked, *options).stdout)
        return {one["name"]: one["value"] for one in told["factors"]}["temporal"]

    june = ("--date-range", "2024-06-01T00:00:00Z/2024-06-02T00:00:00Z")
    assert temporal(*june) == 0.15
    assert temporal(*june, "--soft-range") == 0.85
    assert temporal("--date-range", "2024-05-10T00:00:00Z/") == 1.3
    assert temporal("--date-range", "/1715299200") == 1.3
    options = ("--date-range", "2024-05-01T00:00:00Z/2024-06-01T00:00:00Z", "--no-reinforce")
    assert found(run, store, "coffee last year", *options)[0] == "then"
    refused = run("search", "coffee", "-s", store, "--date-range", "5/1")
    assert refused.exit_code != 0
    assert "--date-range: must not end before it starts" in refused.stderr


@pytest.mark.parametrize(
    ("filters", "ids"),
    [
        (["--kind", "note"], {"m2"}),
        (["--kind", "note", "--kind", "user_preference"], {"m1", "m2"}),
        (["--project", "x"], {"m1"}),
        (["--tag", "kitchen"], {"m2"}),
        (["--session", "s1"], set()),
        (["--where", '{"kind": ["note", "lesson"]}'], {"m2"}),
        (["--where", '{"not": {"kind": "note"}}', "--project", "x"], {"m1"}),
        (
            ["--where", '{"occurred_at": ["2025-01-02T00:00:00Z", "2025-01-03T00:00:00Z"]}'],
            {"m2"},
        ),
        (["--where", '{"not": {"metadata": {"a": {"$exists": true}}}}', "--kind", "note"], {"m2"}),
        (["--where", '{"metadata": {"a": {"$gte": 1}}}'], set()),
    ],
)
def test_filters_all_hold(run: Run, store: Path, filters: list[str], ids: set[str]) -> None:
    assert set(found(run, store, "coffee", *filters)) == ids


def test_an_explained_document_adds_up(run: Run, store: Path) -> None:
    outcome = run("search", "coffee", "-s", store, "--now", NOW, "--explain", "--json")
    for result in outcome.document["results"]:
        explanation = result["explanation"]
        score = explanation["relevance"]
        for factor in explanation["factors"]:
            assert factor["operation"] == "multiply"
            score *= factor["value"]
        assert score == result["score"]
        assert explanation["channels"][0]["name"] == "lexical"


def test_the_clock_rules_the_scores(run: Run, store: Path) -> None:
    scores = []
    for now in ("2025-01-05T00:00:00Z", "2025-06-01T00:00:00Z", "1736035200"):
        arguments = ("search", "coffee", "-s", store, "--now", now, "--json", "--no-reinforce")
        scores.append(run(*arguments).document["results"][0]["score"])
    assert scores[0] > scores[1]
    assert scores[0] == scores[2]  # the same moment, as a number


def access_count(store: Path, id: str) -> int:
    with Engine(store) as engine:
        return engine.get(id).access_count


def test_a_search_reinforces_only_with_the_option(run: Run, store: Path) -> None:
    run("search", "ERR_CONN-42", "-s", store)
    run("search", "ERR_CONN-42", "-s", store, "--no-reinforce")
    run("search", "ERR_CONN-42", "-s", store, "--explain")
    assert access_count(store, "m3") == 0
    run("search", "ERR_CONN-42", "-s", store, "--reinforce")
    assert access_count(store, "m3") == 1
    run("search", "ERR_CONN-42", "-s", store, "--reinforce", "--explain")
    assert access_count(store, "m3") == 2


def test_a_profile_that_reinforces_nothing_refuses_the_option(run: Run, store: Path) -> None:
    outcome = run("search", "ERR_CONN-42", "-s", store, "--reinforce", "--profile", "bm25")
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    words = "--reinforce: must not be True, since the profile 'bm25' has no reinforcement"
    assert outcome.stderr == f"error: {words}\n"


def test_people_get_a_table_and_a_summary(run: Run, store: Path) -> None:
    outcome = run("search", "coffee", "-s", store, "--explain", "--now", NOW)
    assert outcome.exit_code == 0
    assert outcome.stderr == ""
    assert "Ada takes her coffee black" in outcome.stdout
    assert "lexical" in outcome.stdout
    assert "2 results in " in outcome.stdout
    assert "profile oneiros" in outcome.stdout


@pytest.mark.parametrize("options", [(), ("--explain",), ("--plain",), ("--json",)])
def test_a_damaged_memory_costs_no_other_result(
    run: Run, store: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    monkeypatch.setattr(snapshot, "FEWEST_ROWS", 1)
    with Engine(store) as engine:
        engine.add("Bob likes coffee", id="bob")
    with closing(apsw.Connection(str(store))) as connection:
        connection.execute("UPDATE memory SET text = 'Bob likes cofee' WHERE id = 'bob'")
    outcome = run("search", "coffee", "-s", store, *options)
    assert outcome.exit_code == 0
    assert "Ada takes her coffee black" in outcome.stdout
    if options == ("--json",):
        results = outcome.document["results"]
        assert [one["memory"] for one in results if one["id"] == "bob"] == [None]
    elif options == ("--plain",):
        (row,) = (line for line in outcome.stdout.split("\n") if line.startswith("bob\t"))
        assert row.split("\t")[2:] == ["", "", ""]
    else:
        assert "its row in the store is damaged" in " ".join(outcome.stdout.split())


def test_explain_shows_a_tree_a_result_and_one_table(run: Run, store: Path) -> None:
    shown = run("search", "coffee", "-s", store, "--explain", "--now", NOW).stdout
    assert shown.count("├── relevance ") == 2
    assert shown.count("lexical: rank 1, score ") == 1
    assert shown.count("vector: not found") == 2
    assert shown.count("× 1.0000 strength = ") == 2
    heading = next(line for line in shown.splitlines() if line.startswith("rank"))
    assert heading.split() == ["rank", "id", *("rank", "score") * 3, *("part",) * 4]
    others = [  # no room left beside these
        *("rank", "id", *("part",) * 3, "relevance", "recency", "strength", "feedback"),
        *("priority", "trust", "feedback"),  # the last stands below "question"
    ]
    headings = [line.split() for line in shown.splitlines()]
    assert others in headings
    assert ["rank", "id", "score"] in headings
    empty = run("search", "unheard", "-s", store, "--explain")
    assert empty.exit_code == 0
    assert empty.stdout.startswith("0 results in ")


def test_why_not_tells_what_a_memory_lacks(run: Run, store: Path) -> None:
    asked = ("why-not", "coffee", "m2", "-k", 1, "-s", store, "--now", NOW)
    outcome = run(*asked)
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    assert outcome.stdout.startswith("'m2' for 'coffee': in place 2 of 2, k is 1")
    assert "needs +0.0" in outcome.stdout
    assert outcome.stdout.splitlines()[-1].split()[0] == "score"  # beside the first one's
    document = run(*asked, "--json").document
    assert (document["place"], document["is_returned"], document["kth_id"]) == (2, False, "m1")
    assert document["gap"] == document["kth_score"] - document["score"]
    assert document["lacked"].startswith("needs +0.0")
    assert [channel["rank"] for channel in document["channels"]] == [1, None, None]
    assert access_count(store, "m2") == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["m3"], "no channel finds it"),
        (["m2"], "returned, in place 2"),
        (["absent"], "no memory has this id"),
        (["m1", "--kind", "note"], 'the filter {"kind": "note"}: its kind is "user_preference"'),
    ],
)
def test_why_not_has_an_answer_for_any_id(
    run: Run, store: Path, arguments: list[str], words: str
) -> None:
    outcome = run("why-not", "coffee", *arguments, "-s", store, "--now", NOW)
    assert outcome.exit_code == 0
    assert words in outcome.stdout


@pytest.mark.parametrize("extra", [[], ["--explain"], ["--json"]])
@pytest.mark.parametrize("command", [["search", "tea"], ["get", "m4"], ["why-not", "tea", "m4"]])
def test_hostile_text_never_reaches_the_terminal(
    run: Run, store: Path, command: list[str], extra: list[str]
) -> None:
    if command[0] == "why-not":
        extra = [*(one for one in extra if one != "--explain"), "--project", "[bold red]gone[/]"]
    elif command[0] == "get":
        extra = [one for one in extra if one != "--explain"]
    outcome = run(*command, *extra, "-s", store)
    assert outcome.exit_code == 0
    assert "[bold" in outcome.stdout  # a narrow cell may break the line between the words
    assert "red]gone[/]" in outcome.stdout
    for character in ("\x1b", "\x9b", "\u202e", "\x07"):
        assert character not in outcome.stdout


def test_a_hostile_query_or_id_comes_back_harmless(run: Run, store: Path) -> None:
    hostile = "\x1b]0;owned\x07\nx"
    assert run("search", hostile, "-s", store).exit_code == 0
    outcome = run("get", hostile, "-s", store)
    assert outcome.exit_code == 1
    assert "\x1b" not in outcome.stderr
    assert outcome.stderr.count("\n") == 1
    outcome = run("why-not", hostile, hostile, "-s", store)
    assert outcome.exit_code == 0
    assert "\x1b" not in outcome.stdout


def test_get_shows_every_field_that_says_something(run: Run, store: Path) -> None:
    document = run("get", "m1", "-s", store, "--json").document["memory"]
    assert document["text"] == RECORDS[0]["text"]
    assert document["created_at"] == "2025-01-01T00:00:00+00:00"
    assert document["kind"] == "user_preference"
    shown = run("get", "m1", "-s", store).stdout
    assert "user_preference" in shown
    assert shown.rstrip().endswith(RECORDS[0]["text"])
    assert "valid_until" not in shown  # has no value


def test_an_unknown_id_fails_in_one_line(run: Run, store: Path) -> None:
    outcome = run("get", "absent", "-s", store, "--json")
    assert (outcome.exit_code, outcome.stdout) == (1, "")
    assert outcome.stderr.startswith("error: ")
    assert "absent" in outcome.stderr


def test_an_unknown_profile_is_wrong_input(run: Run, store: Path) -> None:
    outcome = run("search", "tea", "-s", store, "--profile", "nobody")
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert "nobody" in outcome.stderr


@pytest.mark.parametrize("command", [["search", "tea"], ["get", "m1"], ["stats"], ["doctor"]])
def test_a_file_that_is_no_store_fails_and_is_left_alone(
    run: Run, tmp_path: Path, command: list[str]
) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("dear diary", encoding="utf-8")
    outcome = run(*command, "-s", path)
    assert outcome.exit_code == 1
    assert outcome.stderr.startswith("error: ")
    assert path.read_text(encoding="utf-8") == "dear diary"


def test_that_a_query_names_no_time_is_not_noted(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with Engine(path) as mind:
        mind.add("Ada likes tea")
    said = run("search", "tea", "--store", path).stdout
    assert "1 result in" in said
    assert "temporal" not in said
