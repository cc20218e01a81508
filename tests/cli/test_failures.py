"""Failures: one line on stderr, the right exit code, Ctrl-C held while it must be."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from typing import Annotated, NoReturn

import pytest
import typer
from typer.testing import CliRunner

from oneiros.cli.failures import CommandError, CommandGroup, interrupt_held
from oneiros.errors import StoreBusy, UnknownMemory, UnknownProfile


def failing(error: BaseException) -> typer.Typer:
    app = typer.Typer(cls=CommandGroup)

    @app.callback()
    def group() -> None:
        """A group, so that the class under test is used."""

    @app.command()
    def fail() -> NoReturn:
        raise error

    return app


def _interrupted(_given: bool) -> NoReturn:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (CommandError("no such file"), 2, "error: no such file\n"),
        (CommandError("pyarrow is missing", 1), 1, "error: pyarrow is missing\n"),
        (ValueError("importance: must lie in [0, 1], got 7"), 2, "error: importance: must"),
        (UnknownProfile("no profile 'x'"), 2, "error: no profile 'x'\n"),
        (UnknownMemory("no memory 'x'"), 1, "error: no memory 'x'\n"),
        (StoreBusy("locked for 5 s"), 1, "error: locked for 5 s\n"),
        (FileNotFoundError(2, "No such file", "x.db"), 2, "error: x.db: No such file\n"),
        (PermissionError(13, "Permission denied", "x.db"), 1, "error: x.db: Permission denied\n"),
        (
            ImportError('SIMD path: this machine runs avx2, got "x"'),
            2,
            'error: ONEIROS_SIMD: this machine runs avx2, got "x"\n',
        ),
        (KeyboardInterrupt(), 130, "error: interrupted\n"),
        (ValueError("two\nlines \x1b[2J"), 2, "error: two␊lines ␛[2J\n"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_an_error_is_one_line_and_a_code(error: BaseException, code: int, line: str) -> None:
    result = CliRunner().invoke(failing(error), ["fail"])
    assert (result.exit_code, result.stdout) == (code, "")
    assert result.stderr.startswith(line)
    assert result.stderr.count("\n") == 1


def test_an_interrupt_while_arguments_are_read_is_told_too() -> None:
    app = failing(ValueError("never run"))

    @app.command()
    def other(early: Annotated[bool, typer.Option(callback=_interrupted)] = False) -> None:
        """Never run."""

    result = CliRunner().invoke(app, ["other"])
    assert (result.exit_code, result.stderr) == (130, "error: interrupted\n")


def test_a_simd_path_that_no_machine_has_is_told_by_its_variable() -> None:
    environment = os.environ | {"ONEIROS_SIMD": "bogus"}
    for command in (["doctor"], ["demo"]):
        told = subprocess.run(
            [sys.executable, "-m", "oneiros", *command],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (told.returncode, told.stdout) == (2, "")
        assert re.fullmatch(
            r'error: ONEIROS_SIMD: this machine runs .*baseline.*, got "bogus"\n', told.stderr
        )


def test_an_import_that_fails_for_another_reason_is_a_fault_of_ours() -> None:
    result = CliRunner().invoke(failing(ImportError("no module x")), ["fail"])
    assert isinstance(result.exception, ImportError)


def test_an_import_that_ctrl_c_broke_off_is_an_interrupt() -> None:
    def failing_import() -> NoReturn:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as interrupt:
            msg = "initialization failed"  # as a module of C reports it
            raise ImportError(msg) from interrupt

    app = failing(ValueError("never run"))
    app.command("other")(failing_import)
    result = CliRunner().invoke(app, ["other"])
    assert (result.exit_code, result.stderr) == (130, "error: interrupted\n")


def test_a_fault_of_ours_is_not_dressed_up_as_an_input_error() -> None:
    result = CliRunner().invoke(failing(ZeroDivisionError()), ["fail"])
    assert isinstance(result.exception, ZeroDivisionError)
    assert result.stderr == ""


@pytest.mark.parametrize("arguments", [["nothing"], ["fail", "--nothing"], ["fail", "surplus"]])
def test_wrong_usage_exits_2_in_one_line(arguments: list[str]) -> None:
    result = CliRunner().invoke(failing(ValueError()), arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1


def press_ctrl_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def hold_while_pressing(steps: list[int], presses: int) -> None:
    with interrupt_held():
        for step in range(presses):
            press_ctrl_c()
            steps.append(step)


def test_a_held_interrupt_comes_after_the_block() -> None:
    steps: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        hold_while_pressing(steps, 1)
    assert steps == [0]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_interrupt_breaks_in() -> None:
    steps: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        hold_while_pressing(steps, 2)
    assert steps == [0]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupt_that_the_process_ignores_is_ignored_in_the_block() -> None:
    former = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        steps: list[int] = []
        hold_while_pressing(steps, 3)
        assert steps == [0, 1, 2]
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, former)


def test_an_error_in_the_block_is_not_hidden_by_a_held_interrupt() -> None:
    def block() -> None:
        with interrupt_held():
            press_ctrl_c()
            msg = "disk full"
            raise OSError(msg)

    with pytest.raises(OSError, match="disk full"):
        block()
