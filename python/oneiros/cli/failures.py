"""Failures of commands: one line on stderr, and an exit code that says whose fault it was."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

import typer
from typer.core import TyperGroup

from oneiros.display.escaping import one_line
from oneiros.errors import OneirosError

__all__ = [
    "FAILED",
    "INTERRUPTED",
    "WRONG_INPUT",
    "CommandError",
    "CommandGroup",
    "blamed_on",
    "exit_code_of",
    "interrupt_held",
    "renamed",
    "require_each_once",
    "require_only_one",
    "say",
]

FAILED = 1
WRONG_INPUT = 2
INTERRUPTED = 130
_SIMD = "SIMD path: "
_WRONG_PATHS = (FileNotFoundError, FileExistsError, IsADirectoryError, NotADirectoryError)
"""Errors of a path that was given, not of the work."""


class CommandError(Exception):
    """A failure in the command's own words.

    Args:
        message: what went wrong, for one line after "error: ".
        exit_code: :data:`WRONG_INPUT` or :data:`FAILED`.
    """

    def __init__(self, message: str, exit_code: int = WRONG_INPUT) -> None:
        super().__init__(message)
        self.exit_code = exit_code


@contextmanager
def blamed_on(
    option: str, kinds: tuple[type[Exception], ...] = (TypeError, ValueError), sign: str = ": "
) -> Iterator[None]:
    """Report errors of some kinds as those of an option."""
    try:
        yield
    except kinds as error:
        msg = f"{option}{sign}{error}"
        raise CommandError(msg) from error


@contextmanager
def renamed(argument: str, option: str) -> Iterator[None]:
    """Report what the engine says of an argument as said of the option that gives it.

    Raises:
        CommandError: the argument's value broke a rule.
    """
    try:
        yield
    except ValueError as error:
        name, _, rule = str(error).partition(":")
        if name != argument:
            raise
        msg = f"{option}:{rule}"
        raise CommandError(msg) from error


def require_each_once(option: str, values: Sequence[object]) -> None:
    """Refuse an option that gives a value twice."""
    if len(set(values)) < len(values):
        msg = f"{option}: each once, got {', '.join(map(str, values))}"
        raise CommandError(msg)


def require_only_one(given: Mapping[str, object], remark: str = "") -> None:
    """Refuse options of which all have a value other than None and False."""
    if all(value is not None and value is not False for value in given.values()):
        msg = f"{', '.join(given)}: only one of them{remark}"
        raise CommandError(msg)


class CommandGroup(TyperGroup):
    """Typer's group with this project's exit codes, in the shell as under a test runner."""

    def main(self, args: Sequence[str] | None = None, *rest: Any, **options: Any) -> Any:
        """Run, report a failure on one line, exit with its code."""
        options["standalone_mode"] = False
        if sys.stdout is None:  # closed by who ran it: a store's file would take its number
            if sys.stderr is not None:
                say("stdout: must not be closed")
            sys.exit(FAILED)
        _survive_odd_encodings()
        try:
            outcome = super().main(args, *rest, **options)
            sys.stdout.flush()
            if outcome == INTERRUPTED:  # typer's word for one outside of the command itself
                raise KeyboardInterrupt
        except BrokenPipeError:  # the reader (head, less) has seen enough
            _discard_stdout()
            sys.exit(FAILED)
        except (KeyboardInterrupt, typer.Abort):
            say("interrupted")
            sys.exit(INTERRUPTED)
        except Exception as error:
            if _is_interrupt(error):
                say("interrupted")
                sys.exit(INTERRUPTED)
            code = exit_code_of(error)
            if code is None:
                raise
            say(_words(error))
            sys.exit(code)
        sys.exit(outcome if isinstance(outcome, int) else 0)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; an interrupt goes on as itself, before typer makes its own of it.

        Raises:
            CommandError: the engine refused the value of an option, which is then named as such.
        """
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise typer.Abort from None
        except ValueError as error:
            command = self.get_command(ctx, ctx.invoked_subcommand or "")
            option = _option_of(command, str(error).partition(":")[0])
            if option is None:
                raise
            msg = f"{option}:{str(error).partition(':')[2]}"
            raise CommandError(msg) from error


def _option_of(command: Any, name: str) -> str | None:
    """Return the long form of the option that sets a parameter; None: no option does."""
    for parameter in () if command is None else command.params:
        if parameter.name == name and parameter.param_type_name == "option":
            return next((form for form in parameter.opts if form.startswith("--")), None)
    return None


def say(message: str) -> None:
    """Write one line "error: ..." on stderr, whatever the message holds."""
    sys.stderr.write(f"error: {one_line(message)}\n")


@contextmanager
def interrupt_held() -> Iterator[None]:
    """Let a Ctrl-C wait until the block is done, so that what it did is known.

    A second Ctrl-C breaks in at once. Outside the main thread, where Python delivers no signals, and
    in a process that ignores Ctrl-C, as one that a script runs in the background, the block simply
    runs.

    Raises:
        KeyboardInterrupt: at the end of the block, when a Ctrl-C came during it.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        yield
        return
    came = False

    def remember(number: int, frame: FrameType | None) -> None:
        nonlocal came
        if came:
            signal.default_int_handler(number, frame)
        came = True

    try:
        former = signal.signal(signal.SIGINT, remember)
    except ValueError:
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, former)
    if came:
        raise KeyboardInterrupt


_TAKEN_FOR_ARGUMENTS: Final = (
    ("store", "; the store is an option, --store FILE"),
    ("query", "; a query of several words needs quotes"),
    ("text", "; a text of several words needs quotes"),
)
"""By the name of a parameter: how to give what is often given as a further argument."""


def exit_code_of(error: Exception) -> int | None:
    """Return the exit code of an error that is reported in one line, None for a fault of ours."""
    if isinstance(error, CommandError):
        return error.exit_code
    if hasattr(error, "format_message"):  # click's own, from whichever copy typer uses
        return int(getattr(error, "exit_code", WRONG_INPUT))
    if isinstance(error, ValueError):  # a rule of the engine that names field, value and rule
        return WRONG_INPUT
    if _is_of_simd(error):
        return WRONG_INPUT
    if isinstance(error, _WRONG_PATHS):
        return WRONG_INPUT
    return FAILED if isinstance(error, OneirosError | OSError) else None


def _is_interrupt(error: BaseException | None) -> bool:
    """Whether a Ctrl-C is behind an import that failed: a module of C may report it so."""
    if not isinstance(error, ImportError):
        return False
    cause = error.__cause__ or error.__context__
    return isinstance(cause, KeyboardInterrupt) or _is_interrupt(cause)


def _is_of_simd(error: Exception) -> bool:
    """Whether the core refused to load for the SIMD path that the environment names."""
    return isinstance(error, ImportError) and str(error).startswith(_SIMD)


def _words(error: Exception) -> str:
    if _is_of_simd(error):
        return f"ONEIROS_SIMD: {str(error).removeprefix(_SIMD)}"
    if hasattr(error, "format_message"):
        return str(error.format_message()) + _hint(error)
    if isinstance(error, OSError) and error.strerror:
        return error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
    return str(error) or type(error).__name__


def _hint(error: Exception) -> str:
    """Return how to give what was given as an argument too many: the store, or words without quotes."""
    if not str(error).startswith("Got unexpected extra argument"):
        return ""
    command = getattr(getattr(error, "ctx", None), "command", None)
    names = {parameter.name for parameter in getattr(command, "params", ())}
    return "".join(words for name, words in _TAKEN_FOR_ARGUMENTS if name in names)


def _survive_odd_encodings() -> None:
    """Make text that the terminal's encoding lacks a visible escape instead of a crash."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _discard_stdout() -> None:
    """Give the interpreter's last flush somewhere to go, or it would complain on its way out."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
