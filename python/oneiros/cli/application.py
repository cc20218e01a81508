"""The commands of ``oneiros``: a door to their modules, which are imported when a command is used."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer

from oneiros import __version__
from oneiros.cli.failures import CommandGroup

__all__ = ["application"]

_COMMANDS = {  # name -> module of this folder and function, in the order of the help
    "demo": ("demo", "demo"),
    "import": ("importing", "import_memories"),
    "embed": ("store", "embed"),
    "search": ("search", "search"),
    "why-not": ("search", "why_not"),
    "get": ("search", "get"),
    "rescore": ("rescore", "rescore"),
    "promote": ("rescore", "promote"),
    "dream": ("dream", "dream"),
    "drift": ("dream_tables", "drift"),
    "restore": ("store", "restore"),
    "purge": ("store", "purge"),
    "stats": ("store", "stats"),
    "doctor": ("store", "doctor"),
    "evaluate": ("evaluate", "evaluate"),
    "eval": ("evaluate", "evaluate"),  # the short name
    "tune": ("evaluate", "tune"),
    "simulate": ("simulate", "simulate"),
}
_HIDDEN = ("eval",)
_PLAIN: Any = {
    "rich_markup_mode": None,  # help is plain text; nothing on the command line is markup
    "pretty_exceptions_enable": False,
    "add_completion": False,
}


class _Commands(CommandGroup):
    """The group of all commands."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names, in the order of the help."""
        return list(_COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - click's signature
        """Return a command, its module imported; None for an unknown name."""
        return _command(cmd_name) if cmd_name in _COMMANDS else None


@cache
def _command(name: str) -> Any:
    module, function = _COMMANDS[name]
    alone = typer.Typer(**_PLAIN)
    found = getattr(import_module(f"oneiros.cli.{module}"), function)
    alone.command(name, hidden=name in _HIDDEN)(found)
    return typer.main.get_command(alone)


application = typer.Typer(
    name="oneiros",
    cls=_Commands,
    help="Memories that live: remember, find by words, meaning and time, check.",
    **_PLAIN,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@application.callback(invoke_without_command=True)
def _common(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show it.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None and not version:
        typer.echo(context.get_help())
