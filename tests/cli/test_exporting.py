"""``oneiros export``: memories as JSON lines, which ``oneiros import`` takes again."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from oneiros.engine import Engine
from tests.cli.conftest import HOSTILE, Run


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "mind.db"
    with Engine(path) as mind:
        mind.add("Ada likes tea", id="tea", user="ada", embedding=np.array([0.6, 0.8], np.float32))
        mind.add(HOSTILE, id="odd", user="bo", metadata={"deep": [1, None]})
        mind.add("gone", id="gone", user="ada")
        mind.delete("gone")
    return path


def test_what_is_exported_is_imported_again(run: Run, store: Path, tmp_path: Path) -> None:
    file = tmp_path / "out.jsonl"
    outcome = run("export", file, "-s", store)
    assert (outcome.exit_code, outcome.stdout) == (0, f"{file}: 2 memories\n")
    copy = tmp_path / "copy.db"
    assert run("import", file, "-s", copy).exit_code == 0
    with Engine(store) as mind, Engine(copy) as other:
        for id in ("tea", "odd"):
            was, got = (engine.get(id).to_record() for engine in (mind, other))
            assert got | {"learned_at": None} == was | {"learned_at": None}
        assert len(other) == 2


def test_a_scope_and_no_vectors(run: Run, store: Path, tmp_path: Path) -> None:
    file = tmp_path / "out.jsonl"
    file.write_text("was there")
    asked = ("export", file, "-s", store, "--scope", "user=ada", "--no-embeddings", "--json")
    told = json.loads(run(*asked).stdout)
    assert (told["file"], told["count"]) == (str(file), 1)
    (line,) = file.read_text().splitlines()
    record = json.loads(line)
    assert record["id"] == "tea"
    assert not record.get("embedding")


def test_a_file_that_cannot_be_written_is_an_error(run: Run, store: Path, tmp_path: Path) -> None:
    outcome = run("export", tmp_path / "absent" / "out.jsonl", "-s", store)
    assert outcome.exit_code == 2
    assert outcome.stderr == f"error: FILE: {tmp_path}/absent: no such folder\n"
    assert run("export", store, "-s", store).exit_code == 2  # the store itself
    with Engine(store) as mind:
        assert len(mind) == 2


@pytest.mark.parametrize("command", ["export", "backup"])
def test_a_dash_is_no_file(
    run: Run, store: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(store.parent)
    outcome = run(command, "-", "-s", store)
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert outcome.stderr == "error: FILE: must be a file's name, got '-'\n"
    assert not Path("-").exists()


@pytest.mark.parametrize("command", ["export", "backup"])
def test_a_file_of_the_store_and_a_link_are_refused_by_their_name(
    run: Run, store: Path, command: str
) -> None:
    log, link = Path(f"{store}-wal"), store.with_name("link.jsonl")
    link.symlink_to(store.with_name("elsewhere"))
    outcome = run(command, log, "-s", store)
    words = f"FILE: must be another file than the store's own, got '{log}'"
    assert (outcome.exit_code, outcome.stderr) == (2, f"error: {words}\n")
    outcome = run(command, link, "-s", store)
    words = f"FILE: {link} is a symbolic link, which is not followed"
    assert (outcome.exit_code, outcome.stderr) == (2, f"error: {words}\n")
