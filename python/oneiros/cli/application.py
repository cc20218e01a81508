"""The commands of ``oneiros``: a door to their modules, which are imported when a command is used."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer

from oneiros import __version__
from oneiros.cli.failures import CommandGroup

__all__ = ["application"]

_COMMANDS = {  # name -> module of this folder, function, summary; in the order of the help
    "demo": ("demo", "demo", "Fill a store, run searches, measure them."),
    "import": ("importing", "import_memories", "Store memories of a file or a repository."),
    "embed": ("store", "embed", "Make the vectors that memories lack."),
    "search": ("search", "search", "Find memories, best first."),
    "why-not": ("search", "why_not", "Say why a search does not return a memory."),
    "get": ("search", "get", "Show one memory with all its fields."),
    "rescore": ("rescore", "rescore", "Score a file of memories, or compare two scores of it."),
    "promote": ("rescore", "promote", "Consolidate staged memories that score high enough."),
    "dream": ("dream", "dream", "Run one dream cycle in one transaction."),
    "drift": ("dream_tables", "drift", "Show how the store drifts from cycle to cycle."),
    "restore": ("store", "restore", "Bring back a memory that was deleted or archived."),
    "purge": ("store", "purge", "Erase for good what was deleted long enough ago."),
    "inspect": ("inspect", "inspect", "Look into a store with a browser on this machine."),
    "mcp": ("mcp", "mcp", "Offer the memories to agents as a server of the MCP."),
    "stats": ("store", "stats", "Count what the store holds."),
    "doctor": ("store", "doctor", "Check the store, show versions."),
    "evaluate": ("evaluate", "evaluate", "Measure profiles on judged questions."),
    "eval": ("evaluate", "evaluate", ""),  # the short name, not listed
    "tune": ("evaluate", "tune", "Find better numbers for a profile on judged questions."),
    "simulate": ("simulate", "simulate", "Simulate a year of a memory, with dreams and without."),
}
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

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - click's signature
        """Write the summaries, without importing the commands."""
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, summary) for name, (_, _, summary) in _COMMANDS.items() if summary]
            )


@cache
def _command(name: str) -> Any:
    module, function, _ = _COMMANDS[name]
    alone = typer.Typer(**_PLAIN)
    found = getattr(import_module(f"oneiros.cli.{module}"), function)
    alone.command(name)(found)
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
