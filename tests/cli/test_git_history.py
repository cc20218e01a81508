"""A repository's history as rows; hostile names, messages and settings."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from oneiros.cli.failures import CommandError
from oneiros.cli.git_history import TAG_LIMIT, rows


class Repository:
    """A fresh repository with commits of the test's choosing."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir()
        self.git("init", "-q")

    def git(self, *arguments: str, date: str = "2025-01-02T03:04:05+02:00") -> str:
        identity = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        names = ("-c", "user.name=Ada [red]", "-c", "user.email=a@example.org")
        done = subprocess.run(
            ["git", *names, "-C", str(self.path), *arguments],
            check=True,
            capture_output=True,
            env=os.environ | identity | {"GIT_CONFIG_GLOBAL": os.devnull},
        )
        return done.stdout.decode().strip()

    def commit(self, message: str, *files: str, date: str = "2025-01-02T03:04:05+02:00") -> str:
        for file in files:
            target = self.path / file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(message, encoding="utf-8")
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "--cleanup=verbatim", "-m", message, date=date)
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "project")


def test_a_commit_becomes_a_record(repository: Repository) -> None:
    hash = repository.commit("Fix the parser\n\nIt lost commas.\n", "src/parse.py", "README")
    (row,) = rows(repository.path)
    assert row.place == f"commit {hash[:12]}"
    assert row.record == {
        "id": f"git:{hash}",
        "text": "Fix the parser\n\nIt lost commas.",
        "kind": "task_completion",
        "category": "episodic",
        "project": "project",
        "tags": ["README", "src/parse.py"],
        "created_at": 1735779845.0,
        "event_at": 1735779845.0,
        "metadata": {"author": "Ada [red]", "hash": hash, "path_count": 2},
    }


def test_commits_come_oldest_first_and_empty_and_merge_ones_too(repository: Repository) -> None:
    hashes = [repository.commit("one", "a"), repository.commit("empty")]  # same second
    repository.git("checkout", "-q", "-b", "side", "HEAD~1")
    hashes.append(repository.commit("side", "b", date="2025-02-02T00:00:00Z"))
    repository.git("checkout", "-q", "-")
    repository.git("merge", "-q", "--no-ff", "-m", "merge", "side")
    got = [row.record for row in rows(repository.path)]
    assert [record["text"] for record in got if record] == ["one", "empty", "side", "merge"]
    assert [record["id"] for record in got if record][:3] == [f"git:{hash}" for hash in hashes]
    assert [record["tags"] for record in got if record] == [["a"], [], ["b"], []]


def test_nothing_written_in_a_commit_can_pose_as_a_field(repository: Repository) -> None:
    fake = "0" * 40
    message = f"{fake}\nauthor\x01\n:100644 100644 {fake} {fake} M\nx"
    names = [fake, ":100644 M", "two\nlines", "tab\tname", "ünï.py", "-rf", "a b"]
    repository.commit(message, *names)
    repository.commit("after", "z")
    first, second = (row.record for row in rows(repository.path))
    assert first is not None
    assert second is not None
    assert first["text"] == message
    assert set(first["tags"]) == set(names)
    assert second["text"] == "after"


def test_tags_are_limited_and_the_count_is_kept(repository: Repository) -> None:
    repository.commit("many", *[f"dir/{number:03}" for number in range(50)], "l/" + "o" * 255)
    (row,) = rows(repository.path)
    assert row.record is not None
    assert row.record["tags"] == [f"dir/{number:03}" for number in range(TAG_LIMIT)]
    assert row.record["metadata"]["path_count"] == 51


def test_bytes_that_are_not_utf8_are_replaced(repository: Repository) -> None:
    repository.commit("first", "a")
    tree = repository.git("rev-parse", "HEAD^{tree}")
    raw = f"tree {tree}\nauthor A <a@b> 5 +0000\ncommitter A <a@b> 5 +0000\n\n".encode()
    made = subprocess.run(
        ["git", "-C", str(repository.path), "hash-object", "-t", "commit", "-w", "--stdin"],
        input=raw + b"caf\xff\n",
        check=True,
        capture_output=True,
    )
    repository.git("reset", "-q", "--hard", made.stdout.decode().strip())
    (row,) = rows(repository.path)
    assert row.record is not None
    assert row.record["text"] == "caf\ufffd"


def test_the_repository_cannot_start_a_program(repository: Repository, tmp_path: Path) -> None:
    repository.commit("one", "a")
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n", encoding="utf-8")
    trap.chmod(0o755)
    for setting in (
        "core.fsmonitor",
        "core.pager",
        "diff.external",
        "gpg.program",
        "diff.x.textconv",
    ):
        repository.git("config", setting, str(trap))
    repository.git("config", "log.showSignature", "true")
    (repository.path / ".gitattributes").write_text("* diff=x\n", encoding="utf-8")
    assert [row.record is not None for row in rows(repository.path)] == [True]
    assert not (tmp_path / "sprung").exists()


def test_a_hook_environment_does_not_point_elsewhere(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit("here", "a")
    other = Repository(tmp_path / "other")
    other.commit("elsewhere", "b")
    monkeypatch.setenv("GIT_DIR", str(other.path / ".git"))
    (row,) = rows(repository.path)
    assert row.record is not None
    assert row.record["text"] == "here"


def test_stopping_early_leaves_no_process(repository: Repository) -> None:
    for number in range(3):
        repository.commit(f"{number}", "a")
    reading = rows(repository.path)
    next(reading)
    reading.close()  # waits for git's end: a process left behind would hang or warn here


@pytest.mark.parametrize(
    ("name", "message"),
    [("absent", "absent: no such directory"), ("plain", "plain: fatal: not a git repository")],
)
def test_what_is_no_repository_is_refused(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "plain").mkdir()
    with pytest.raises(CommandError, match=message):
        list(rows(tmp_path / name))


def test_a_repository_without_commits_says_so(repository: Repository) -> None:
    with pytest.raises(CommandError, match="does not have any commits yet"):
        list(rows(repository.path))


def test_without_git_the_message_says_so(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit("one", "a")
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(CommandError, match="git cannot be run"):
        list(rows(repository.path))
