"""The command line as a whole: table of contents, help, lightness, what needs no store."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import oneiros
from oneiros.cli import main
from oneiros.cli.application import application

COMMANDS = (
    *("add", "import", "search", "why-not", "get", "list", "last", "history", "update"),
    *("feedback", "pin", "link", "supersede", "conflicts", "delete", "restore", "forget", "purge"),
    *("promote", "dream", "drift", "stats", "doctor", "embed", "export", "backup", "config"),
    *("profiles", "rescore", "demo", "evaluate", "tune", "simulate"),
)


def test_help_lists_every_command() -> None:
    result = CliRunner().invoke(application, ["--help"])
    assert result.exit_code == 0
    for command in COMMANDS:
        assert f"  {command} " in result.stdout
    assert CliRunner().invoke(application, []).stdout == result.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_and_json(command: str) -> None:
    result = CliRunner().invoke(application, [command, "--help"])
    assert result.exit_code == 0
    assert "--json" in result.stdout


@pytest.mark.parametrize("module", ["oneiros", "oneiros.cli"])
def test_it_runs_as_a_module(module: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", module, "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{oneiros.__version__}\n"
    assert done.stderr == ""


def test_importing_the_command_is_light() -> None:
    heavy = "{'typer', 'rich', 'numpy', 'faiss', 'apsw', 'pyarrow'} & set(sys.modules)"
    code = f"import sys, oneiros.cli; sys.exit(repr({heavy}) if {heavy} else 0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_help_needs_no_engine() -> None:
    heavy = "{'numpy', 'faiss', 'apsw', 'pyarrow'} & set(sys.modules)"
    code = (
        "import sys\n"
        "sys.argv = ['oneiros', '--help']\n"
        "import oneiros.cli\n"
        "try:\n    oneiros.cli.main()\n"
        f"except SystemExit:\n    sys.stderr.write(repr(sorted({heavy})))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "[]"


@pytest.mark.parametrize(
    "arguments",
    [
        ["search", "tea"],
        ["get", "m1"],
        ["list"],
        ["last"],
        ["history", "m1"],
        ["update", "m1", "--text", "x"],
        ["feedback", "m1", "helpful"],
        ["pin", "m1"],
        ["link", "m1", "m2"],
        ["supersede", "m1", "m2"],
        ["conflicts"],
        ["delete", "m1"],
        ["forget", "m1", "--yes"],
        ["backup", "copy.db"],
        ["export", "copy.jsonl"],
        ["dream"],
        ["dream", "--watch"],
        ["drift"],
        ["restore", "m1"],
        ["purge", "--yes"],
        ["stats"],
        ["doctor"],
        ["doctor", "--verify-erased", "x"],
    ],
)
@pytest.mark.parametrize("by_environment", [True, False])
def test_a_missing_store_is_an_error_and_is_not_created(
    tmp_path: Path, arguments: list[str], by_environment: bool
) -> None:
    path = tmp_path / "absent.db"
    named = [] if by_environment else ["--store", str(path)]
    environment = {"ONEIROS_STORE": str(path)} if by_environment else {}
    result = CliRunner().invoke(application, [*arguments, "--json", *named], env=environment)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"error: {path}: no such store")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["import"], "either a file or --git PATH"),
        (["import", "x.csv", "--git", "."], "either a file or --git PATH"),
        (["import", "absent.csv"], "absent.csv: no such file"),
        (["import", "--git", "absent"], "absent: no such directory"),
        (["import", "x.csv", "--on-error", "perhaps"], "--on-error"),
        (["search"], "Missing argument"),
        (["search", "tea", "-k", "-1"], "-k"),
        (["search", "tea", "--now", "yesterday"], "--now: must be ISO 8601 with an offset"),
        (["search", "tea", "--now", "2025-01-01"], "--now: must be aware"),
        (["search", "tea", "--valid-at", "then"], "--valid-at: must be ISO 8601 with an offset"),
        (["search", "tea", "--now", "1e12"], "--now: must be seconds since 1970"),
        (["search", "tea", "--date-range", "2025"], "--date-range: expected START/END, got '2025'"),
        (
            ["search", "tea", "--date-range", "then/"],
            "--date-range: must be ISO 8601 with an offset",
        ),
        (["search", "tea", "--soft-range"], "--soft-range: needs --date-range"),
        (["why-not", "tea", "m1", "--soft-range"], "--soft-range: needs --date-range"),
        (["search", "tea", "--where", "{"], "--where: not JSON: Expecting"),
        (["search", "tea", "--where", "[]"], "--where: expected a JSON object"),
        (["search", "tea", "--where", '{"colour": 1}'], "colour"),
    ],
)
def test_wrong_input_is_told_in_one_line_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(application, arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("error: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_while_the_command_is_loaded_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("oneiros.cli.application.application", interrupted)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    assert capsys.readouterr().err == "error: interrupted\n"
