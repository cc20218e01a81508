"""``oneiros ray drain``: all scopes of a shard go to the others, without Ray."""

from __future__ import annotations

from pathlib import Path

from oneiros.ray import status
from oneiros.ray.shard import store_file
from tests.cli.conftest import Run
from tests.ray.test_moves import opened, state_of


def test_all_scopes_go_to_the_others(tmp_path: Path, run: Run) -> None:
    folder = str(tmp_path)
    with opened(tmp_path) as shards:
        for user in ("ada", "bob"):
            for number in range(3):
                shards.engines[0].add(f"tea {number}", user=user, id=f"{user} {number}")
        expected = {user: state_of(shards.engines[0], user) for user in ("ada", "bob")}
        busy = run("ray", "drain", folder, "--shard", "0")
        assert busy.exit_code != 0
        assert "open in another process" in busy.stderr
    shown = run("ray", "drain", folder, "--shard", "0")
    assert shown.exit_code == 0, shown.stderr
    assert "6 memories of 2 scopes left shard 0" in shown.stdout
    states = status(tmp_path).states
    assert [(state.memories, state.is_drained) for state in states] == [(0, True), (6, False)]
    first, last = run("ray", "status", folder, "--plain").stdout.splitlines()[1:]
    assert first.split("\t")[5:] == [
        "0",
        "2",
        "oneiros/hashing-1-512",
        "drained: takes no new scopes",
    ]
    assert last.split("\t")[5:] == ["2", "0", "oneiros/hashing-1-512", "-"]
    with opened(tmp_path) as shards:
        assert {user: state_of(shards.engines[1], user) for user in expected} == expected
    again = run("ray", "drain", folder, "--shard", "0", "--json").document
    assert (again["shard"], again["moved"]) == (0, [])
    lines = run("ray", "drain", folder, "--shard", "0", "--plain").stdout
    assert lines == "scope\tshard\tmemories\tseconds\n"


def test_wrong_calls_change_nothing(tmp_path: Path, run: Run) -> None:
    folder = str(tmp_path)
    with opened(tmp_path) as shards:
        shards.engines[0].add("tea", user="ada")
    for call in (
        ("drain", folder),
        ("drain", folder, "--shard", "2"),
        ("status", folder, "--shard", "0"),
        ("move", folder),
    ):
        outcome = run("ray", *call)
        assert outcome.exit_code != 0, call
        assert outcome.stderr
    store_file(tmp_path, 1).unlink()
    outcome = run("ray", "drain", folder, "--shard", "0")
    assert outcome.exit_code != 0
    assert "missing on this machine" in outcome.stderr
    assert status(tmp_path).states[0].memories == 1
