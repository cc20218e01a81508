"""Stdout for results, stderr for the rest: pipes that close, terminals, odd encodings."""

from __future__ import annotations

import json
import os
import pty
import shlex
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from oneiros.engine import Engine
from tests.cli.conftest import HOSTILE

ONEIROS = (sys.executable, "-m", "oneiros.cli")


@pytest.mark.parametrize("extra", [[], ["--json"]])
def test_a_reader_that_leaves_early_causes_no_complaint(store: Path, extra: list[str]) -> None:
    process = subprocess.Popen(
        [*ONEIROS, "search", "coffee", "-s", str(store), *extra],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=60) == 1
    assert err == ""


def test_a_pipe_into_head_shows_a_line_and_no_traceback(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    with Engine(path) as engine:  # more than a pipe holds
        engine.add_many([{"id": f"m{n}", "text": "word " * 60} for n in range(2000)])
    for extra in ("--plain", "--json", ""):
        command = f'"{sys.executable}" -m oneiros list -n 2000 -s "{path}" {extra} | head -1'
        done = subprocess.run(
            ["bash", "-c", f'{command}; echo "${{PIPESTATUS[0]}}"'],
            capture_output=True,
            text=True,
            check=True,
        )
        line, code = done.stdout.splitlines()
        assert line.startswith({"--plain": "memory\t", "--json": "{", "": "memory"}[extra])
        assert (code, done.stderr) == ("1", "")


def test_ctrl_c_ends_a_question_with_nothing_done(store: Path) -> None:
    process = subprocess.Popen(
        [*ONEIROS, "forget", "m1", "-s", str(store)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    question = "erase 1 memory, with what was derived from them, for good? [y/N] "
    assert process.stderr.read(len(question)) == question
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert err.strip() == "error: interrupted"
    with Engine(store) as engine:
        assert engine.get("m1").id == "m1"


@pytest.mark.parametrize(
    "arguments", [("add", "-"), ("update", "m1", "--text", "-"), ("doctor", "--verify-erased", "-")]
)
def test_a_stdin_that_is_closed_or_no_utf8_is_wrong_input(
    store: Path, arguments: tuple[str, ...]
) -> None:
    command = shlex.join([*ONEIROS, *arguments, "-s", str(store)])
    for given, words in (("<&-", "must not be closed"), ("< latin", "not UTF-8")):
        (store.parent / "latin").write_bytes(b"caf\xe9")
        done = subprocess.run(
            ["bash", "-c", f"{command} {given}"],
            cwd=store.parent,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"error: stdin: {words}\n"


def test_completion_names_commands_and_options() -> None:
    code = "import sys; sys.argv[0] = 'oneiros'; import oneiros.cli; oneiros.cli.main()"

    def completed(words: str, at: int) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ
            | {"_ONEIROS_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(at)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stderr == ""
        return done.stdout.split()

    assert completed("oneiros su", 1) == ["supersede"]
    assert {"--store", "--scope"} <= set(completed("oneiros list --s", 2))


@pytest.mark.parametrize("kind", ["jsonl", "csv", "git"])
def test_progress_is_shown_on_a_terminal_only_and_never_on_stdout(
    tmp_path: Path, kind: str
) -> None:
    path, count = tmp_path / f"m.{kind}", 3000
    if kind == "jsonl":
        path.write_text('{"text": "x"}\n' * count, encoding="utf-8")
    elif kind == "csv":  # a line break in a cell is no row
        path.write_text("text\n" + '"two\nlines"\n' * count, encoding="utf-8")
    else:
        count = 3
        git = ("git", "-C", str(path), "-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        subprocess.run(["git", "init", "--quiet", str(path)], check=True)
        for number in range(count):
            commit = ("commit", "--quiet", "--allow-empty", "--message", f"step {number}")
            subprocess.run([*git, *commit], check=True)
    ours, theirs = pty.openpty()
    source = ["--git", str(path)] if kind == "git" else [str(path)]
    command = [*ONEIROS, "import", *source, "-s", str(tmp_path / "agent.db"), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs) as process:
        os.close(theirs)
        shown = bytearray()
        while chunk := read(ours):
            shown += chunk
        assert process.stdout is not None
        document = json.loads(process.stdout.read())
    os.close(ours)
    assert document["stored"] == count
    assert b"importing" in shown
    assert f"/{count}".encode() in shown


@pytest.mark.parametrize(
    "arguments",
    [
        ("get", "m1"),
        ("get", "m1", "--plain"),
        ("stats", "--json"),
        ("dream", "--dry-run"),
        ("drift",),
        ("doctor",),
        ("profiles",),
        ("why-not", "coffee", "m3"),
        ("add", "tea"),
        ("search", "--help"),
    ],
    ids=" ".join,
)
def test_a_pipe_that_nobody_reads_is_no_traceback(store: Path, arguments: tuple[str, ...]) -> None:
    of_store = () if arguments[0] == "profiles" else ("-s", str(store))
    ours, theirs = os.pipe()
    os.close(ours)
    done = subprocess.run(
        [*ONEIROS, *arguments, *of_store], stdout=theirs, stderr=subprocess.PIPE, check=False
    )
    os.close(theirs)
    assert (done.returncode, done.stderr) == (1, b"")


def test_a_terminal_has_colours_unless_they_are_refused(store: Path) -> None:
    for refusal, has_colours in (({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)):
        ours, theirs = pty.openpty()
        command = [*ONEIROS, "doctor", "-s", str(store)]
        terminal = {"TERM": "xterm-256color", "COLUMNS": "80"} | refusal
        given = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        with subprocess.Popen(command, stdout=theirs, env=given | terminal):
            os.close(theirs)
            shown = bytearray()
            while chunk := read(ours):
                shown += chunk
        os.close(ours)
        assert b"clean" in shown
        assert (b"\x1b[32m" in shown) == has_colours  # green


def test_a_store_that_another_process_writes_can_be_read_and_is_waited_for(store: Path) -> None:
    with closing(apsw.Connection(str(store))) as other:
        other.execute("BEGIN IMMEDIATE")
        for arguments in (("list",), ("stats",), ("search", "coffee"), ("dream", "--dry-run")):
            command = [*ONEIROS, *arguments, "-s", str(store)]
            done = subprocess.run(command, capture_output=True, check=False)
            assert (done.returncode, done.stderr) == (0, b"")
        command = [*ONEIROS, "add", "tea", "-s", str(store)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == f"error: {store}: another process holds the store's lock\n"
        other.execute("ROLLBACK")


def read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # how Linux says that the other side of a terminal is gone
        return b""


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_stream_that_lacks_a_character_gets_its_escape(store: Path, encoding: str) -> None:
    done = subprocess.run(
        [*ONEIROS, "get", "m4", "-s", str(store)],
        capture_output=True,
        check=False,
        env=os.environ | {"PYTHONIOENCODING": encoding},
    )
    assert (done.returncode, done.stderr) == (0, b"")
    shown = done.stdout.decode(encoding)
    assert "red]gone[/]" in shown
    assert "\x1b" not in shown
    assert ("␛" if encoding == "utf-8" else "\\u241b") in shown


def test_a_closed_stdout_is_an_error_before_anything_is_done(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    path.write_text('{"text": "x"}\n', encoding="utf-8")
    command = [*ONEIROS, "import", str(path), "-s", str(tmp_path / "agent.db")]
    closing = ["sh", "-c", 'exec "$@" >&-', "sh", *command]
    done = subprocess.run(closing, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (1, b"error: stdout: must not be closed\n")
    assert [*tmp_path.iterdir()] == [path]


def test_an_error_about_hostile_text_is_one_harmless_line(store: Path) -> None:
    done = subprocess.run(
        [*ONEIROS, "get", HOSTILE + "\n", "-s", str(store)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert not {"\x1b", "\x9b", "\u202e", "\x07"} & set(done.stderr)
