"""``oneiros stats`` and ``oneiros doctor`` on a real store."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import apsw
import numpy as np
import pytest

import oneiros
from oneiros import _core
from oneiros.engine import Engine
from tests.cli.conftest import RECORDS, Run


def test_stats_counts_the_memories(run: Run, store: Path) -> None:
    document = run("stats", "-s", store, "--json").document
    assert len(RECORDS) in document.values()
    shown = run("stats", "-s", store).stdout
    assert len(shown.splitlines()) >= len(document)


def test_stats_shows_a_kind_in_one_line(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "odd.db"
    with Engine(path) as engine:
        engine.add("tea", kind="no\nmemories 99\x1b[31m")
    shown = run("stats", "-s", path).stdout
    assert "\nmemories 99" not in shown
    assert "\x1b" not in shown
    assert "no\u240amemories 99" in shown


def test_doctor_finds_a_healthy_store_clean(run: Run, store: Path) -> None:
    outcome = run("doctor", "-s", store, "--json")
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    document = outcome.document
    assert (document["is_clean"], document["problems"]) == (True, [])
    machine = document["machine"]
    assert machine["oneiros"] == oneiros.__version__
    assert machine["numpy"] == np.__version__
    assert tuple(map(int, machine["sqlite"].split("."))) >= (3, 51, 3)
    assert machine["simd"] == _core.simd_path()
    assert machine["unicode_tables"].count(".") == 2
    assert "clean" in run("doctor", "-s", store).stdout


@pytest.mark.parametrize("path", _core.simd_paths())
def test_doctor_names_the_path_that_the_core_runs(tmp_path: Path, path: str) -> None:
    command = [sys.executable, "-m", "oneiros", "doctor", "--json"]
    environment = {**os.environ, "ONEIROS_SIMD": path}
    told = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, check=True
    ).stdout
    assert json.loads(told)["machine"]["simd"] == path
    others = {"avx2", "avx512"} - {path}
    assert not any(other in told.decode().lower().replace("-", "") for other in others)


def test_doctor_without_a_store_describes_the_machine(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = run("doctor", "--json")
    assert outcome.exit_code == 0
    assert outcome.document["store"] is None
    assert "only the machine" in run("doctor").stdout
    assert list(tmp_path.iterdir()) == []


def test_doctor_says_whether_a_text_is_erased(run: Run, store: Path) -> None:
    before = run("doctor", "-s", store, "--verify-erased", "ERR_CONN-42", "--json")
    assert before.exit_code == 1
    assert before.document["problems"] == ["the text is still in the store's files"]
    with Engine(store) as engine:
        engine.forget("m3")
    after = run("doctor", "-s", store, "--verify-erased", "ERR_CONN-42", "--json")
    assert (after.exit_code, after.document["is_clean"]) == (0, True)


def test_the_text_to_look_for_may_come_by_stdin(run: Run, store: Path) -> None:
    arguments = ("doctor", "-s", store, "--verify-erased", "-")
    assert run(*arguments, stdin="coffee black\n").exit_code == 1
    assert run(*arguments, stdin="green tea\n").exit_code == 0
    outcome = run(*arguments, stdin="\n")
    assert (outcome.exit_code, outcome.stderr) == (2, "error: --verify-erased: must not be empty\n")


def test_doctor_finds_damage(run: Run, store: Path) -> None:
    content = bytearray(store.read_bytes())
    place = content.index(b"The coffee machine broke")
    page = place - place % 4096
    content[page : page + 4096] = b"\xa5" * 4096  # a page of the memories, overwritten
    store.write_bytes(content)
    outcome = run("doctor", "-s", store)
    assert outcome.exit_code == 1
    assert "problem: " in outcome.stdout or outcome.stderr.startswith("error: ")


@pytest.mark.parametrize("table", ["memory", "link"])
def test_a_deep_look_verifies_every_row(run: Run, store: Path, table: str) -> None:
    with Engine(store) as engine:
        engine.link("m1", "m3")
    assert run("doctor", "-s", store, "--deep", "--json").document["is_clean"]
    sql = {
        "memory": "UPDATE memory SET text = 'Ada takes her coffee blacj' WHERE id = 'm1'",
        "link": "UPDATE link SET weight = 0.25",
    }
    with closing(apsw.Connection(str(store))) as connection:
        connection.execute(sql[table])
    outcome = run("doctor", "-s", store, "--deep", "--json")
    assert outcome.exit_code == 1
    (problem,) = outcome.document["problems"]
    assert ("memory 'm1'" if table == "memory" else "table link") in problem
    assert run("stats", "-s", store, "--json").document["damaged"] == (table == "memory")
