"""``oneiros evaluate``: every profile on the demo's questions and on collections of one's own."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from oneiros.evaluation.forgetting import POLICIES
from oneiros.evaluation.tasks import system_names
from tests.cli.conftest import HOSTILE, Run
from tests.engine.embedders import Meddling

DOCUMENTS = [
    {"_id": "d1", "text": "the kettle boils", "timestamp": "2024-01-01T00:00:00"},
    {"_id": "d2", "text": "the cat sleeps", "timestamp": "2024-01-02T00:00:00"},
    {"_id": "d3", "text": "the kettle leaks", "timestamp": "2024-01-03T00:00:00"},
]
GROUPS = ["a", "a", "b"]
server = Meddling("server")  # what --embedder may name


def collection(folder: Path, *, is_grouped: bool) -> Path:
    """Write a collection of three documents; in groups, a question may see its own alone."""
    folder.mkdir()
    documents = [dict(document) for document in DOCUMENTS]
    query = {"_id": "q1", "text": "kettle", "timestamp": "2024-02-01T00:00:00"}
    if is_grouped:
        for document, group in zip(documents, GROUPS, strict=True):
            document["metadata"] = {"group": group, "session": 1}  # type: ignore[assignment]
        query["metadata"] = {"group": "b"}  # type: ignore[assignment]
    for name, lines in (("corpus", documents), ("queries", [query])):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    (folder / "qrels.tsv").write_text("query\tdocument\tgrade\nq1\td3\t1\n", encoding="utf-8")
    for name, count in (("corpus", 3), ("queries", 1)):
        vectors = np.eye(3, dtype=np.float16)[:count]
        np.save(folder / f"all-MiniLM-L6-v2.{name}.f16.npy", vectors)
    return folder


def test_every_profile_is_measured_on_the_demo(run: Run) -> None:
    outcome = run("evaluate")
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    for word in ("demo", "nDCG@10", "R@5", "bm25", "dense", "rrf", *system_names()):
        assert word in outcome.stdout


def test_a_collection_follows_the_demo(run: Run, tmp_path: Path) -> None:
    folder = collection(tmp_path / "kettles", is_grouped=False)
    document = run("evaluate", folder, "--profile", "reverie", "--json").document
    assert document["tasks"]["kettles"] == {"memories": 3, "questions": 1}
    assert list(document["measured"]) == ["reverie"]
    assert set(document["measured"]["reverie"]) == {"demo", "kettles"}
    assert document["measured"]["reverie"]["kettles"]["overall"]["recall"] == 1.0


def test_vectors_may_come_from_an_embedder(run: Run) -> None:
    def measured(*more: str) -> dict[str, float]:
        outcome = run("evaluate", "--json", "--profile", "dense", "--profile", "bm25", *more)
        found = outcome.document["measured"]
        return {name: found[name]["demo"]["overall"]["ndcg"] for name in found}

    own, hashed = measured(), measured("--embedder", "hashing")
    assert hashed["bm25"] == own["bm25"]
    assert 0.2 < hashed["dense"] < own["dense"]
    wrong = run("evaluate", "--embedder", "hashing:x")
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    both = run("evaluate", "--embedder", "hashing", "--with-use")
    assert "--embedder, --with-use: only one of them" in both.stderr


def test_an_embedder_gets_the_texts_as_an_engine_gives_them(run: Run, tmp_path: Path) -> None:
    folder = collection(tmp_path / "kettles", is_grouped=False)
    with (folder / "corpus.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"_id": "blank", "text": " "}\n')
    for name in ("corpus", "queries"):
        (folder / f"all-MiniLM-L6-v2.{name}.f16.npy").unlink()
    server.calls.clear()
    run("evaluate", folder, "--embedder", f"{__name__}:server", "--profile", "dense", "--json")
    asked = [text for call in server.calls for text in call]
    assert max(map(len, server.calls)) == 256
    assert len(asked) > 256
    assert all(text.strip() for text in asked)


def test_collections_are_analyzed_by_their_language(run: Run, tmp_path: Path) -> None:
    folder = collection(tmp_path / "kettles", is_grouped=False)
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "kettles"}\n')
    options = ("evaluate", folder, "--profile", "bm25", "--json", "--analyzer")
    english, simple = (
        run(*options, analyzer).document["measured"]["bm25"] for analyzer in ("english", "simple")
    )
    assert english["kettles"]["overall"]["recall"] == 1.0
    assert simple["kettles"]["overall"]["recall"] == 0.0  # endings stay
    assert simple["demo"] == english["demo"]


@pytest.mark.parametrize("mode", ["--with-use", "--with-forgetting"])
def test_lives_are_analyzed_by_their_language(run: Run, tmp_path: Path, mode: str) -> None:
    folder = monthly(tmp_path / "months")
    lines = [f'{{"_id": "q{day}", "text": "kettles"}}\n' for day in range(1, 9)]
    (folder / "queries.jsonl").write_text("".join(lines))
    options = ("evaluate", folder, mode, "--profile", "bm25", "--json")
    english, simple = (run(*options, "--analyzer", name).document for name in ("english", "simple"))
    ((key, rows),) = ((key, rows) for key, rows in english.items() if isinstance(rows, list))
    assert rows[0]["recall_at_10"] > 0.0
    assert simple[key][0]["recall_at_10"] == 0.0


@pytest.mark.parametrize("command", ["evaluate", "tune"])
def test_an_unknown_analyzer_is_refused(run: Run, command: str) -> None:
    outcome = run(command, "--analyzer", "klingon")
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert "error: --analyzer: " in outcome.stderr


def test_a_question_sees_its_own_group_alone(run: Run, tmp_path: Path) -> None:
    figures = {}
    for is_grouped in (False, True):
        folder = collection(tmp_path / f"grouped-{is_grouped}", is_grouped=is_grouped)
        document = run("evaluate", folder, "--profile", "reverie", "--json").document
        figures[is_grouped] = document["measured"]["reverie"][folder.name]["overall"]["ndcg"]
    assert figures[False] < 1.0  # the vector channel puts d1 first
    assert figures[True] == 1.0


def test_figures_by_category_as_a_table_and_as_csv(run: Run) -> None:
    shown = run("eval", "--profile", "oneiros", "--categories").stdout
    for word in ("paraphrase", "exact_term", "nDCG@10", "R@5", "R@10", "R@20", "MRR"):
        assert word in shown
    lines = list(csv.DictReader(run("eval", "--profile", "bm25", "--csv").stdout.splitlines()))
    assert lines[0]["category"] == "all"
    assert int(lines[0]["count"]) == sum(int(line["count"]) for line in lines[1:])
    for line in lines:
        depths = [float(line[f"recall_at_{depth}"]) for depth in (5, 10, 20)]
        assert 0.0 <= depths[0] <= depths[1] <= depths[2] <= 1.0


def test_each_part_is_left_out(run: Run, tmp_path: Path) -> None:
    folder = collection(tmp_path / "kettles", is_grouped=False)
    options = ("evaluate", folder, "--profile", "rrf", "--without")
    shown = run(*options).stdout
    for word in ("kettles, rrf", "(nothing)", "channels.lexical", "channels.vector"):
        assert word in shown
    lines = list(csv.DictReader(run(*options, "--csv").stdout.splitlines()))
    assert run(*options, "--json").document["without"][-1]["without"] == "channels.vector"
    (words_only,) = (
        line
        for line in lines
        if (line["collection"], line["without"]) == ("kettles", "channels.vector")
    )
    assert float(words_only["ndcg_at_10"]) > 0.0
    assert float(words_only["ndcg_change"]) >= 0.0  # the vectors know nothing of kettles


def dated(folder: Path) -> Path:
    """Write a collection of eight documents, one a day, and a query for each."""
    folder.mkdir()
    documents = [
        {"_id": f"d{day}", "text": f"kettle word{day}", "timestamp": f"2024-01-0{day}T00:00:00"}
        for day in range(1, 9)
    ]
    queries = [{"_id": f"q{day}", "text": f"kettle word{day}"} for day in range(1, 9)]
    judgements = "".join(f"q{day}\td{day}\t1\n" for day in range(1, 9))
    for name, lines in (("corpus", documents), ("queries", queries)):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    (folder / "qrels.tsv").write_text(f"query\tdocument\tgrade\n{judgements}", encoding="utf-8")
    return folder


def test_use_is_measured_on_dated_collections(run: Run, tmp_path: Path) -> None:
    folder = dated(tmp_path / "days")
    options = ("evaluate", folder, "--with-use")
    shown = run(*options, "--profile", "bm25")
    assert (shown.exit_code, shown.stderr) == (0, "")
    for word in ("days", "bm25", "new", "repeated", "unasked", "silent, 95 %", "feedback, 95 %"):
        assert word in shown.stdout
    assert "demo" not in shown.stdout
    lines = list(csv.DictReader(run(*options, "--profile", "bm25", "--csv").stdout.splitlines()))
    assert [line["questions"] for line in lines] == ["new", "repeated"]
    for line in lines:
        assert (line["collection"], line["profile"], line["count"]) == ("days", "bm25", "4")
        assert float(line["ndcg_at_10"]) == float(line["recall_at_10"]) == 1.0
        for mode in ("silent", "feedback"):
            for figure in ("ndcg", "recall"):
                changes = [line[f"{mode}_{figure}_{bound}"] for bound in ("change", "low", "high")]
                assert [float(change) for change in changes] == [0.0, 0.0, 0.0]
    document = run(*options, "--profile", "bm25", "--seed", "7", "--json").document
    assert document["seed"] == 7
    assert [set(line) for line in document["with_use"]] == [set(line) for line in lines]


def test_use_is_measured_under_every_profile(run: Run, tmp_path: Path) -> None:
    folder = dated(tmp_path / "days")
    first, second = (run("evaluate", folder, "--with-use", "--json").stdout for _ in range(2))
    assert first == second
    measured = {line["profile"] for line in json.loads(first)["with_use"]}
    assert measured == {"bm25", "dense", "rrf", *system_names()}


def monthly(folder: Path) -> Path:
    """Write the collection of :func:`dated` with a month between two documents."""
    dated(folder)
    path = folder / "corpus.jsonl"
    text = path.read_text(encoding="utf-8")
    for day in range(1, 9):
        text = text.replace(f"2024-01-0{day}T", f"2024-0{day}-01T")
    path.write_text(text, encoding="utf-8")
    return folder


def test_forgetting_is_measured_on_dated_collections(run: Run, tmp_path: Path) -> None:
    folder = monthly(tmp_path / "months")
    options = ("evaluate", folder, "--with-forgetting", "--keep", "0.5", "--every", "30d")
    options = (*options, "--profile", "oneiros")
    shown = run(*options)
    assert (shown.exit_code, shown.stderr) == (0, "")
    for word in (
        "months",
        "oneiros",
        "kept",
        "50.0%",
        "nDCG@10",
        "R@10",
        "change, 95 %",
        *POLICIES,
    ):
        assert word in shown.stdout
    assert "demo" not in shown.stdout
    lines = list(csv.DictReader(run(*options, "--csv").stdout.splitlines()))
    assert [line["policy"] for line in lines] == list(POLICIES)
    for line in lines:
        assert (line["collection"], line["profile"], line["count"]) == ("months", "oneiros", "4")
        assert float(line["kept"]) == 0.5
        assert -1.0 <= float(line["recall_low"]) <= float(line["recall_change"]) <= 0.0
    document = run(*options, "--seed", "7", "--json").document
    assert (document["seed"], document["keep"], document["every_days"]) == (7, 0.5, 30.0)
    assert [set(line) for line in document["with_forgetting"]] == [set(line) for line in lines]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--keep", "2"], "--keep: "),
        (["--keep", "0"], "--keep: "),
        (["--keep", "nan"], "--keep: "),
        (["--every", "0d"], "--every: "),
        (["--every", "1s"], "--every: every_days: must be >= 0.01"),
        (["--every", "soon"], "--every: "),
        (["--with-use"], "--with-use, --with-forgetting: only one of them"),
    ],
)
def test_what_cannot_be_forgotten_is_refused(
    run: Run, tmp_path: Path, arguments: list[str], message: str
) -> None:
    outcome = run("evaluate", monthly(tmp_path / "months"), "--with-forgetting", *arguments)
    assert outcome.exit_code == 2
    assert message in outcome.stderr
    assert outcome.stdout == ""


def test_a_collection_without_times_has_no_use(run: Run, tmp_path: Path) -> None:
    folder = dated(tmp_path / "days")
    lines = (folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    lines[2] = json.dumps({"_id": "d3", "text": "kettle"})
    (folder / "corpus.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    outcome = run("evaluate", folder, "--with-use")
    assert outcome.exit_code == 2
    message = "--with-use: days: every document needs a timestamp to measure use, got 7 of 8"
    assert message in outcome.stderr


def test_questions_without_a_category_have_a_row_of_their_own(run: Run, tmp_path: Path) -> None:
    folder = collection(tmp_path / "kettles", is_grouped=False)
    queries = (
        {"_id": "q1", "text": "kettle"},
        {"_id": "q2", "text": "cat", "metadata": {"category": "pets"}},
    )
    (folder / "queries.jsonl").write_text("".join(json.dumps(one) + "\n" for one in queries))
    with (folder / "qrels.tsv").open("a") as file:
        file.write("q2\td2\t1\n")
    np.save(folder / "all-MiniLM-L6-v2.queries.f16.npy", np.eye(3, dtype=np.float16)[:2])
    lines = run("evaluate", folder, "--profile", "bm25", "--csv").stdout.splitlines()
    counts = {
        row["category"]: row["count"]
        for row in csv.DictReader(lines)
        if row["collection"] != "demo"
    }
    assert counts == {"all": "2", "(none)": "1", "pets": "1"}


@pytest.mark.parametrize("command", ["evaluate", "tune"])
def test_a_collection_that_cannot_be_measured_is_named_at_once(
    run: Run, tmp_path: Path, command: str
) -> None:
    folder = collection(tmp_path / "kettles", is_grouped=False)
    (folder / "qrels.tsv").write_text("query\tdocument\tgrade\nq7\td3\t1\n")
    outcome = run(command, folder)
    assert outcome.exit_code == 2
    assert outcome.stderr == "error: kettles: none of its questions has a relevant document\n"
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "a", "timestamp": "soon"}\n')
    assert "error: kettles: timestamp: expected ISO 8601" in run(command, folder).stderr


@pytest.mark.parametrize("form", [["--csv"], ["--categories"]])
def test_what_a_file_names_is_shown_as_harmless_text(
    run: Run, tmp_path: Path, form: list[str]
) -> None:
    folder = collection(tmp_path / "kettles", is_grouped=False)
    query = {"_id": "q1", "text": "kettle", "metadata": {"category": HOSTILE}}
    (folder / "queries.jsonl").write_text(json.dumps(query) + "\n", encoding="utf-8")
    shown = run("evaluate", folder, "--profile", "bm25", *form).stdout
    assert "gone" in shown
    assert not {"\x1b", "\x9b", "\u202e", "\x07"} & set(shown)


def test_collections_of_one_name_are_not_taken_for_each_other(run: Run, tmp_path: Path) -> None:
    for place in ("here", "there"):
        (tmp_path / place).mkdir()
    folders = [
        collection(tmp_path / one / "kettles", is_grouped=False) for one in ("here", "there")
    ]
    outcome = run("evaluate", *folders, "--profile", "bm25")
    assert outcome.exit_code == 2
    assert "collections: each name once, got demo, kettles, kettles" in outcome.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--csv", "--json"], "--csv, --json: only one of them"),
        (["--categories", "--without"], "--categories, --without: only one of them"),
        (["--without", "--with-use"], "--without, --with-use: only one of them"),
        (["--categories", "--with-use"], "--categories, --with-use: only one of them"),
        (["--with-use"], "--with-use: needs the folder of at least one collection, got none"),
        (["--keep", "0.5"], "--keep: only with --with-forgetting, got 0.5"),
        (["--every", "7d"], "--every: only with --with-forgetting, got 7d"),
        (
            ["--with-forgetting"],
            "--with-forgetting: needs the folder of at least one collection, got none",
        ),
        (["--seed", "3"], "--seed: only with --with-use or --with-forgetting, got 3"),
        (["--profile", "rrf", "--profile", "rrf"], "--profile: each once, got rrf, rrf"),
        (["--profile", "nothing"], "no profile is called 'nothing'"),
        (["/nowhere"], "/nowhere"),
    ],
)
def test_what_is_not_there_is_named(run: Run, arguments: list[str], message: str) -> None:
    outcome = run("evaluate", *arguments)
    assert outcome.exit_code in (1, 2)
    assert message in outcome.stderr


@pytest.mark.parametrize("command", ["evaluate", "tune"])
def test_relevant_documents_that_the_corpus_lacks_are_named(
    run: Run, tmp_path: Path, command: str
) -> None:
    folder = collection(tmp_path / "kettles", is_grouped=False)
    header = "query\tdocument\tgrade\n"
    (folder / "qrels.tsv").write_text(f"{header}q1\t0d1\t1\nq2\t0d2\t1\nq1\td1\t0\n")
    outcome = run(command, folder)
    assert outcome.exit_code == 2
    words = "the corpus has none of the relevant documents, such as '0d1'"
    assert outcome.stderr == f"error: kettles: {words}\n"
    (folder / "qrels.tsv").write_text(f"{header}q1\td1\t1\nq1\t0d2\t1\n")
    options = ("--profile", "bm25") if command == "evaluate" else ("--over", "fusion.weight=0.5")
    outcome = run(command, folder, *options)
    words = "the corpus lacks 1 relevant document, not found in any search, such as '0d2'"
    assert outcome.stderr.startswith(f"kettles: {words}\n")
