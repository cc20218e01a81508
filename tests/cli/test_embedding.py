"""``oneiros embed``, and what other commands do with embedders and missing vectors."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from oneiros.engine import Engine
from oneiros.errors import MissingEmbedderWarning
from tests.cli.conftest import RECORDS, Run
from tests.engine.embedders import LetterCounts, Meddling

LETTERS = "tests.engine.embedders:LetterCounts"
other = Meddling("other", letters="xya")  # what --embedder may name
number = 7

OWN = """
import numpy as np

class Own:
    name = "own"
    def __call__(self, texts):
        return np.ones((len(texts), 3))

own = Own()
"""


def test_the_missing_vectors_are_made(run: Run, store: Path) -> None:
    outcome = run("embed", "-s", store, "--embedder", LETTERS)
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    assert outcome.stdout == f"{len(RECORDS)} embedded: {store}\n"
    again = run("embed", "-s", store, "--embedder", LETTERS, "--json").document
    want = {
        "command": "embed",
        "store": str(store),
        "embedded": 0,
        "embedder": "letter-counts",
        "without_vector": 0,
    }
    assert again == want
    with Engine(store, embedder=LetterCounts()) as engine:
        assert all(memory.embedding is not None for memory in engine.list())


def test_the_environment_may_name_the_embedder(
    run: Run, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONEIROS_EMBEDDER", LETTERS)
    assert run("embed", "-s", store, "--json").document["embedded"] == len(RECORDS)


def test_all_vectors_are_replaced_when_that_is_wanted(run: Run, store: Path) -> None:
    run("embed", "-s", store, "--embedder", LETTERS)
    refused = run("embed", "-s", store, "--embedder", f"{__name__}:other")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert refused.stderr == (
        "error: --embedder: the store's vectors were made by 'letter-counts', this engine has "
        "'other'; oneiros embed --replace replaces all vectors\n"
    )
    arguments = ("embed", "-s", store, "--embedder", f"{__name__}:other", "--replace")
    document = run(*arguments, "--json").document
    assert (document["embedded"], document["embedder"]) == (len(RECORDS), "other")
    assert run(*arguments, "--restart").exit_code == 0


def test_a_module_of_the_working_directory_serves(store: Path, tmp_path: Path) -> None:
    (tmp_path / "my_models.py").write_text(OWN)
    command = [sys.executable, "-P", "-m", "oneiros", "embed", "-s", store, "--json"]
    for name in ("my_models:own", "my_models:Own"):
        done = subprocess.run(
            [*command, "--embedder", name], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        assert json.loads(done.stdout)["embedder"] == "own"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("letters", "--embedder: must be hashing, "),
        (":x", "or module:attribute, got ':x'"),
        ("no_such_module:x", "--embedder: No module named 'no_such_module'"),
        (f"{__name__}:missing", "has no attribute 'missing'"),
        (f"{__name__}:number", "--embedder: embedder: expected a callable"),
        ("onnx:/no/such/folder", "--embedder: "),
    ],
)
def test_what_is_no_embedder_is_refused(run: Run, store: Path, given: str, words: str) -> None:
    rows = store.parent / "rows.jsonl"
    rows.write_text('{"text": "a"}\n')
    for command in (["embed"], ["import", rows]):
        outcome = run(*command, "-s", store, "--embedder", given)
        assert (outcome.exit_code, outcome.stdout) == (2, "")
        assert outcome.stderr.startswith("error: ")
        assert words in outcome.stderr


def test_embedding_needs_an_embedder_and_a_store(run: Run, store: Path, tmp_path: Path) -> None:
    assert run("embed", "-s", store).stderr.startswith("error: --embedder: needed")
    assert run("embed", "-s", store, "--embedder", LETTERS, "--restart").exit_code == 2
    missing = tmp_path / "missing.db"
    assert run("embed", "-s", missing, "--embedder", LETTERS).exit_code == 2
    assert not missing.exists()


def test_vectors_of_the_box_are_made_without_the_option(run: Run, tmp_path: Path) -> None:
    store = tmp_path / "boxed.db"
    run("add", "tea at noon", "-s", store, "--embedder", "hashing")
    with pytest.warns(MissingEmbedderWarning), Engine(store) as engine:
        engine.add("coffee at one")
    assert "(oneiros embed)" in run("doctor", "-s", store).stdout
    assert run("embed", "-s", store).stdout == f"1 embedded: {store}\n"
    assert run("embed", "-s", store, "--replace").stderr.startswith("error: --embedder: needed")


# Others


def test_an_import_makes_vectors_and_embeds_nothing_twice(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = tmp_path / "rows.jsonl"
    records = [{"id": "a", "text": "aaa"}, {"id": "b", "text": "bbb", "embedding": [1.0] * 8}]
    rows.write_text("".join(json.dumps(record) + "\n" for record in records))
    embedder = LetterCounts()
    monkeypatch.setattr(sys.modules[__name__], "other", embedder)
    target = tmp_path / "new.db"
    outcome = run("import", rows, "-s", target, "--embedder", f"{__name__}:other", "--json")
    assert (outcome.exit_code, outcome.document["without_vector"]) == (0, 0)
    assert embedder.asked == ["aaa"]
    with Engine(target, embedder=LetterCounts()) as engine:
        np.testing.assert_array_equal(engine.get("a").embedding, np.eye(8, dtype="f4")[0])
        assert engine.stats()["embedder"] == "letter-counts"


def test_an_import_whose_embedder_fails_leaves_no_store(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_texts: list[str]) -> None:
        msg = "out of order"
        raise ValueError(msg)

    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"text": "a"}\n')
    monkeypatch.setattr(sys.modules[__name__], "other", fail)
    outcome = run("import", rows, "-s", tmp_path / "new.db", "--embedder", f"{__name__}:other")
    assert outcome.exit_code == 2
    assert "out of order" in outcome.stderr
    assert not (tmp_path / "new.db").exists()


def test_an_import_without_one_says_how_many_lack_a_vector(
    run: Run, store: Path, tmp_path: Path
) -> None:
    run("embed", "-s", store, "--embedder", LETTERS)
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"text": "a"}\n{"text": ""}\n')
    shown = run("import", rows, "-s", store)
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert shown.stdout.splitlines()[1] == (
        "1 memory lacks a vector: searches find it by words alone (oneiros embed)"
    )
    told = run("import", rows, "-s", store, "--json")
    assert (told.stderr, told.document["without_vector"]) == ("", 2)


def test_doctor_and_stats_report_missing_vectors(run: Run, store: Path) -> None:
    assert "lack a vector" not in run("doctor", "-s", store).stdout  # a store of words alone
    document = run("doctor", "-s", store, "--json").document
    assert (document["without_vector"], document["embedder"]) == (len(RECORDS), None)
    run("embed", "-s", store, "--embedder", LETTERS)
    with Engine(store, embedder=LetterCounts()) as engine:
        engine.update("m1", embedding=None)
        engine.update("m2", embedding=None)
    outcome = run("doctor", "-s", store)
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    assert "note: 2 memories lack a vector" in outcome.stdout
    assert "clean" in outcome.stdout
    assert run("doctor", "-s", store, "--json").document["without_vector"] == 2
    assert run("stats", "-s", store, "--json").document["without_vector"] == 2


def test_doctor_reports_that_vectors_are_being_replaced(run: Run, store: Path) -> None:
    def fail() -> None:
        raise KeyboardInterrupt

    with Engine(store) as engine, pytest.raises(KeyboardInterrupt):
        engine.reembed(Meddling("new", at={0: fail}))
    assert "by those of 'new' is unfinished, 0 memories done" in run("doctor", "-s", store).stdout
    document = run("doctor", "-s", store, "--json").document
    assert document["reembedding"] == {"embedder": "new", "done": 0}


def test_the_embedder_in_the_box_fills_a_store_from_a_file(run: Run, tmp_path: Path) -> None:
    rows, path = tmp_path / "rows.jsonl", tmp_path / "a.db"
    rows.write_text(
        '{"id": "a", "text": "The restaurant opens"}\n{"id": "b", "text": "Bicycles"}\n'
    )
    document = run("import", rows, "-s", path, "--embedder", "hashing", "--json").document
    assert (document["stored"], document["without_vector"]) == (2, 0)
    more = tmp_path / "more.jsonl"
    more.write_text('{"id": "c", "text": "A harbour"}\n')
    assert run("import", more, "-s", path, "--json").document["without_vector"] == 0
    found = run("search", "harbor", "-s", path, "-k", "1", "--json").document
    assert [one["id"] for one in found["results"]] == ["c"]
    replaced = run("embed", "-s", path, "--embedder", "hashing:64", "--replace", "--json").document
    assert (replaced["embedded"], replaced["embedder"]) == (3, "oneiros/hashing-1-64")
    assert run("search", "harbor", "-s", path, "-k", "1", "--plain").rows[0][0] == "c"
