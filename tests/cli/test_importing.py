"""``oneiros import`` into a real store: all sources, bad rows, conflicts, interrupts."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from oneiros.cli import importing
from oneiros.cli.sources import Row
from oneiros.engine import Engine
from tests.cli.conftest import Run
from tests.cli.test_git_history import Repository

GOOD = [{"id": f"m{number}", "text": f"memory number {number}"} for number in range(5)]


def lines(path: Path, records: list[Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def ids_in(store: Path) -> list[str]:
    with Engine(store) as engine:
        return [f"m{n}" for n in range(100) if engine.get_many([f"m{n}"])[0] is not None]


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "agent.db"


@pytest.mark.parametrize("extension", [".jsonl", ".csv", ".parquet"])
def test_every_format_comes_in_whole(
    run: Run, tmp_path: Path, target: Path, extension: str
) -> None:
    path = tmp_path / f"memories{extension}"
    if extension == ".jsonl":
        lines(path, [{"id": "a", "text": "green tea", "tags": ["hot"], "importance": 0.75}])
    elif extension == ".csv":
        path.write_text("id,text,tags,importance\na,green tea,hot,0.75\n", encoding="utf-8")
    else:
        columns = {"id": ["a"], "text": ["green tea"], "tags": [["hot"]], "importance": [0.75]}
        pq.write_table(pa.table(columns), path)
    outcome = run("import", path, "-s", target, "--json")
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    assert outcome.document["stored"] == 1
    with Engine(target) as engine:
        memory = engine.get("a")
        assert (memory.text, memory.tags, memory.importance) == ("green tea", ["hot"], 0.75)
        assert engine.search("tea").ids == ["a"]


def test_people_are_told_the_counts(run: Run, tmp_path: Path, target: Path) -> None:
    outcome = run("import", lines(tmp_path / "m.jsonl", GOOD), "-s", target)
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    assert outcome.stdout.startswith("5 stored in ")


@pytest.fixture
def in_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "BATCH", 2)


BAD: list[Any] = [*GOOD[:3], {"id": "bad", "text": "x", "importance": 7}, GOOD[4]]


@pytest.mark.usefixtures("in_pairs")
def test_a_bad_row_stops_and_takes_its_batch_along(run: Run, tmp_path: Path, target: Path) -> None:
    outcome = run("import", lines(tmp_path / "m.jsonl", BAD), "-s", target)
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert outcome.stderr.startswith(f"error: {tmp_path}/m.jsonl:4: importance: must be")
    assert outcome.stderr.endswith("(2 memories of earlier batches stored)\n")
    assert ids_in(target) == ["m0", "m1"]


def test_the_store_keeps_the_language_it_was_given(run: Run, tmp_path: Path, target: Path) -> None:
    path = lines(tmp_path / "m.jsonl", [{"id": "m1", "text": "Die Häuser stehen leer"}])
    refused = run("import", path, "-s", target, "--analyzer", "klingon")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert refused.stderr.startswith("error: --analyzer: analyzer: must be one of 'simple', ")
    assert not target.exists()
    assert run("import", path, "-s", target, "--analyzer", "german").exit_code == 0
    assert "m1" in run("search", "Haus", "-s", target).stdout


@pytest.mark.usefixtures("in_pairs")
@pytest.mark.parametrize("policy", ["skip", "collect"])
def test_bad_rows_may_be_passed_over(run: Run, tmp_path: Path, target: Path, policy: str) -> None:
    path = lines(tmp_path / "m.jsonl", [*BAD, ["not an object"]])
    outcome = run("import", path, "-s", target, "--on-error", policy, "--json")
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    assert (outcome.document["stored"], outcome.document["skipped"]) == (4, 2)
    places = [error["place"] for error in outcome.document["errors"]]
    assert places == (["line 4", "line 6"] if policy == "collect" else [])
    assert ids_in(target) == ["m0", "m1", "m2", "m4"]


def test_vectors_of_another_width_are_told_apart(run: Run, tmp_path: Path, target: Path) -> None:
    records = [{"text": "a", "embedding": [1, 2]}, {"text": "b", "embedding": [1, 2, 3]}]
    path = lines(tmp_path / "m.jsonl", records)
    refused = run("import", path, "-s", target)
    assert refused.exit_code == 2
    assert refused.stderr.startswith(f"error: {path}:2: embedding: ")
    outcome = run("import", path, "-s", target, "--on-error", "collect", "--json")
    assert outcome.document["stored"] == 1
    assert [error["place"] for error in outcome.document["errors"]] == ["line 2"]


def test_people_are_told_the_collected_errors(run: Run, tmp_path: Path, target: Path) -> None:
    bad = [{"text": "x", "\x1b[2J": 1}]
    outcome = run("import", lines(tmp_path / "m.jsonl", bad), "-s", target, "--on-error", "collect")
    assert outcome.stderr.startswith(f"{tmp_path}/m.jsonl:1: column ")
    assert "\x1b" not in outcome.stderr
    assert "0 stored, 1 skipped" in outcome.stdout


def test_an_error_names_the_line_of_one_record_among_many(
    run: Run, tmp_path: Path, target: Path
) -> None:
    def refused(records: list[Any], *options: str) -> str:
        path = tmp_path / "m.jsonl"
        path.write_text("\n\n".join(map(json.dumps, records)), encoding="utf-8")
        outcome = run("import", path, "-s", target, *options)
        assert outcome.exit_code == 2
        return outcome.stderr.removeprefix(f"error: {path}")

    tea = {"id": "a", "text": "tea"}
    twice = refused([tea, {"text": "milk"}, tea])
    assert twice == ":5: id: 'a' comes twice; --on-conflict update changes it\n"
    run("add", "tea", "--id", "a", "-s", target)
    exists = refused([{"text": "milk"}, tea])
    assert exists == ":3: id: 'a' exists; --on-conflict update changes it\n"
    bounded = refused([tea, {"text": "milk", "user": "bob"}], "--scope", "user=ada")
    assert bounded.startswith(":3: user: the scope fixes it")


def test_an_extra_column_is_refused_or_kept(run: Run, tmp_path: Path, target: Path) -> None:
    path = lines(tmp_path / "m.jsonl", [{"id": "a", "text": "x", "colour": "red"}])
    refused = run("import", path, "-s", target)
    assert refused.exit_code == 2
    assert f"{path}:1: column 'colour' is not a field of a memory" in refused.stderr
    assert run("import", path, "-s", target, "--extra-to-metadata").exit_code == 0
    with Engine(target) as engine:
        assert engine.get("a").metadata == {"colour": "red"}


def test_an_id_that_exists_is_an_error_or_an_update(run: Run, tmp_path: Path, target: Path) -> None:
    run("import", lines(tmp_path / "m.jsonl", GOOD), "-s", target)
    again = lines(tmp_path / "n.jsonl", [{"id": "m1", "text": "changed"}])
    refused = run("import", again, "-s", target)
    assert refused.exit_code == 2
    words = "id: 'm1' exists; --on-conflict update changes it"
    assert refused.stderr == f"error: {again}:1: {words}\n"
    with Engine(target) as engine:
        engine.search("memory", now=1e9)  # something to keep: the access counts
    assert run("import", again, "-s", target, "--on-conflict", "update").exit_code == 0
    with Engine(target) as engine:
        memory = engine.get("m1")
        assert (memory.text, memory.access_count, len(engine)) == ("changed", 1, 5)


def test_an_update_is_advised_only_where_it_helps(run: Run, tmp_path: Path, target: Path) -> None:
    path = lines(tmp_path / "m.jsonl", GOOD[:1])
    run("import", path, "-s", target, "--scope", "user=ada")
    taken = f"error: {path}:1: id: 'm0' is taken\n"
    for options in ((), ("--on-conflict", "update")):
        refused = run("import", path, "-s", target, "--scope", "user=bob", *options)
        assert (refused.exit_code, refused.stderr) == (2, taken)
    run("delete", "m0", "-s", target)
    refused = run("import", path, "-s", target)
    words = "exists, soft-deleted; restore it, or --on-conflict update replaces it for good"
    assert (refused.exit_code, refused.stderr) == (2, f"error: {path}:1: id: 'm0' {words}\n")


def test_ids_that_exist_may_be_passed_over(run: Run, tmp_path: Path, target: Path) -> None:
    run("import", lines(tmp_path / "m.jsonl", GOOD[:2]), "-s", target)
    more = lines(
        tmp_path / "n.jsonl", [*GOOD, {"id": "m4", "text": "again"}, {"id": [7], "text": "x"}]
    )
    outcome = run("import", more, "-s", target, "--on-error", "collect", "--json")
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    places = {error["place"] for error in outcome.document["errors"]}
    assert (outcome.document["stored"], places) == (3, {"line 1", "line 2", "line 6", "line 7"})
    with Engine(target) as engine:
        assert engine.get("m4").text == GOOD[4]["text"]


def test_memories_without_a_project_get_the_one_given(
    run: Run, tmp_path: Path, target: Path
) -> None:
    records = [{"id": "a", "text": "x"}, {"id": "b", "text": "y", "project": "own"}]
    run("import", lines(tmp_path / "m.jsonl", records), "-s", target, "--project", "given")
    with Engine(target) as engine:
        assert [engine.get(id).project for id in "ab"] == ["given", "own"]


def test_a_git_history_can_be_imported_again_and_again(
    run: Run, tmp_path: Path, target: Path
) -> None:
    repository = Repository(tmp_path / "project")
    hash = repository.commit("Teach the parser commas", "src/parse.py")
    first = run("import", "--git", repository.path, "-s", target, "--json").document
    assert (first["stored"], first["unchanged"]) == (1, 0)
    with Engine(target) as engine:
        before = engine.get(f"git:{hash}")
    repository.commit("Second", "b")
    second = run("import", "--git", repository.path, "-s", target, "--json").document
    assert (second["stored"], second["unchanged"]) == (1, 1)
    with Engine(target) as engine:
        assert engine.get(f"git:{hash}") == before  # not even its revision count or its dates
        assert before.project == "project"
        assert before.tags == ["src/parse.py"]
        assert before.event_at == before.created_at == before.updated_at
        assert engine.search("parser commas", k=1).ids == [f"git:{hash}"]


def test_a_deleted_commit_stays_deleted(run: Run, tmp_path: Path, target: Path) -> None:
    repository = Repository(tmp_path / "project")
    hash = repository.commit("Plant beans", "garden")
    run("import", "--git", repository.path, "-s", target)
    run("delete", f"git:{hash}", "-s", target)
    again = run("import", "--git", repository.path, "-s", target, "--json").document
    assert (again["stored"], again["unchanged"]) == (0, 1)
    with Engine(target) as engine:
        assert engine.count() == 0
        assert engine.restore(f"git:{hash}")


def test_a_git_history_may_get_another_project(run: Run, tmp_path: Path, target: Path) -> None:
    repository = Repository(tmp_path / "project")
    hash = repository.commit("One", "a")
    run("import", "--git", repository.path, "-s", target, "--project", "given")
    with Engine(target) as engine:
        assert engine.get(f"git:{hash}").project == "given"


@pytest.mark.parametrize(
    ("name", "content"), [("m.csv", "colour\nred\n"), ("m.parquet", "no"), ("m.jsonl", "")]
)
def test_a_useless_source_leaves_no_store(
    run: Run, tmp_path: Path, target: Path, name: str, content: str
) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    outcome = run("import", tmp_path / name, "-s", target)
    assert outcome.exit_code == (0 if name == "m.jsonl" else 2)
    assert target.exists() == (name == "m.jsonl")  # an empty source is a source


@pytest.mark.parametrize(
    "records",
    [
        [{"id": "m0", "text": "fine"}, {"id": "m1", "importance": 7, "text": "x"}],
        [{"id": "m0", "text": "x"}] * 2,
    ],
    ids=["a bad record", "an id twice"],
)
def test_a_first_batch_that_fails_leaves_no_store(
    run: Run, tmp_path: Path, target: Path, records: list[dict[str, object]]
) -> None:
    path = lines(tmp_path / "m.jsonl", records)
    outcome = run("import", path, "-s", target)
    assert outcome.exit_code != 0
    assert [file.name for file in tmp_path.iterdir()] == ["m.jsonl"]
    assert run("import", path, "-s", target, "--on-error", "skip").exit_code == 0
    assert ids_in(target) == ["m0"]


@pytest.mark.usefixtures("in_pairs")
def test_a_later_batch_that_fails_is_wrong_input_like_the_first(
    run: Run, tmp_path: Path, target: Path
) -> None:
    path = lines(tmp_path / "m.jsonl", [*GOOD[:3], {"id": "m0", "text": "again"}])
    outcome = run("import", path, "-s", target)
    assert outcome.exit_code == 2
    assert outcome.stderr.endswith("(2 memories of earlier batches stored)\n")
    assert ids_in(target) == ["m0", "m1"]


def test_a_damaged_part_of_a_parquet_file_is_told_with_what_is_stored(
    run: Run, tmp_path: Path, target: Path
) -> None:
    path = tmp_path / "m.parquet"
    table = pa.table({"text": [f"memory number {number}" for number in range(2000)]})
    pq.write_table(table, path, row_group_size=1000)
    place = pq.read_metadata(path).row_group(1).column(0).dictionary_page_offset
    assert place is not None
    content = bytearray(path.read_bytes())
    content[place : place + 100] = bytes(100)
    path.write_bytes(content)
    outcome = run("import", path, "-s", target)
    assert outcome.exit_code == 2
    assert outcome.stderr.startswith(f"error: {path}: cannot be read after row 1000: ")
    assert outcome.stderr.endswith("(1000 memories of earlier batches stored)\n")
    with Engine(target) as engine:
        assert len(engine) == 1000


@pytest.mark.parametrize("id", ["m1", "a; b"])
def test_collected_problems_have_no_advice_for_python(
    run: Run, tmp_path: Path, target: Path, id: str
) -> None:
    path = lines(tmp_path / "m.jsonl", [{"id": id, "text": "x"}])
    run("import", path, "-s", target)
    outcome = run("import", path, "-s", target, "--on-error", "collect", "--json")
    assert outcome.document["errors"] == [{"place": "line 1", "problem": f"id: {id!r} exists"}]
    refused = run("import", path, "-s", target)
    assert f"id: {id!r} exists; --on-conflict update changes it" in refused.stderr


def test_a_folder_is_no_store(run: Run, tmp_path: Path) -> None:
    path = lines(tmp_path / "m.jsonl", [{"text": "x"}])
    outcome = run("import", path, "-s", tmp_path)
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert f"--store: must be a file's name, got the folder '{tmp_path}'" in outcome.stderr


def test_a_directory_that_is_no_repository_leaves_no_store(
    run: Run, tmp_path: Path, target: Path
) -> None:
    (tmp_path / "plain").mkdir()
    # Leads nowhere, and keeps git from a repository that the temporary folders may lie in.
    (tmp_path / "plain/.git").write_text(f"gitdir: {tmp_path / 'nowhere'}")
    outcome = run("import", "--git", tmp_path / "plain", "-s", target)
    assert outcome.exit_code == 2
    assert "not a git repository" in outcome.stderr
    assert not target.exists()


def test_parquet_without_pyarrow_says_what_to_install(
    run: Run, tmp_path: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "m.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)  # what an import of a missing module meets
    outcome = run("import", tmp_path / "m.parquet", "-s", target)
    assert outcome.exit_code == 1
    assert outcome.stderr == (
        "error: reading Parquet needs pyarrow: pip install 'oneiros[arrow]'\n"
    )


@pytest.mark.parametrize("extension", [".jsonl", ".csv", ".parquet"])
@pytest.mark.parametrize(
    ("embedder", "named"),
    [("nope", "--embedder: must be"), ("builtins:len", "the store's vectors")],
)
def test_a_refused_import_leaves_its_file_closed(
    run: Run, tmp_path: Path, target: Path, extension: str, embedder: str, named: str
) -> None:
    path = tmp_path / f"memories{extension}"
    if extension == ".parquet":
        pq.write_table(pa.table({"text": ["tea", "milk"]}), path)
    else:
        path.write_text({".csv": "text\ntea\nmilk\n"}.get(extension, '{"text":"tea"}\n' * 2))
    with Engine(target, embedder="hashing") as engine:
        engine.add("coffee")
    gc.disable()  # a reader that is only left would be closed once it is collected
    try:
        outcome = run("import", path, "-s", target, "--embedder", embedder)
        links = [
            entry.readlink() for entry in Path("/proc/self/fd").iterdir() if entry.is_symlink()
        ]
    finally:
        gc.enable()
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert named in outcome.stderr
    assert path not in links


def test_ctrl_c_during_a_batch_reports_its_bad_rows(
    run: Run, tmp_path: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add = importing._add

    def interrupted(*arguments: Any) -> Any:
        report = add(*arguments)
        os.kill(os.getpid(), signal.SIGINT)
        return report

    run("import", lines(tmp_path / "first.jsonl", [{"id": "a", "text": "x"}]), "-s", target)
    path = lines(tmp_path / "m.jsonl", [{"id": id, "text": "x"} for id in ("a", "b")])
    monkeypatch.setattr(importing, "_add", interrupted)
    outcome = run("import", path, "-s", target, "--on-error", "collect", "--json")
    assert outcome.exit_code == 130
    assert (outcome.document["stored"], outcome.document["skipped"]) == (1, 1)
    assert outcome.document["errors"] == [{"place": "line 1", "problem": "id: 'a' exists"}]


@pytest.mark.parametrize("as_json", [True, False])
def test_ctrl_c_between_rows_keeps_whole_batches_and_counts_them(
    run: Run, tmp_path: Path, target: Path, monkeypatch: pytest.MonkeyPatch, as_json: bool
) -> None:
    def rows() -> Iterator[Row]:
        for number in range(25):
            yield Row(place=f"line {number}", record={"id": f"m{number}", "text": "x"})
        os.kill(os.getpid(), signal.SIGINT)
        yield Row(place="line 26", problem="never reached")

    monkeypatch.setattr(importing, "BATCH", 10)
    source = nullcontext((tmp_path / "x", rows()))
    monkeypatch.setattr(importing, "_source", lambda *_, **__: source)
    outcome = run("import", tmp_path / "x", "-s", target, *(["--json"] if as_json else []))
    assert outcome.exit_code == 130
    assert outcome.stderr == "error: interrupted: 20 memories stored, the rest is not\n"
    if as_json:
        assert (outcome.document["stored"], outcome.document["is_interrupted"]) == (20, True)
    assert len(ids_in(target)) == 20


def test_ctrl_c_in_a_real_process_leaves_what_it_says(tmp_path: Path, target: Path) -> None:
    path = lines(tmp_path / "m.jsonl", [{"text": f"memory {n}"} for n in range(300_000)])
    command = [
        sys.executable,
        "-m",
        "oneiros.cli",
        "import",
        str(path),
        "-s",
        str(target),
        "--json",
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    log = target.with_name(target.name + "-wal")
    waited_until = time.monotonic() + 60
    while not (log.exists() and log.stat().st_size > 500_000) and time.monotonic() < waited_until:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    document = json.loads(out)
    assert document["is_interrupted"]
    assert 0 < document["stored"] < 300_000
    assert err == f"error: interrupted: {document['stored']} memories stored, the rest is not\n"
    with Engine(target) as engine:
        assert len(engine) == document["stored"]
        assert engine.check() == []
