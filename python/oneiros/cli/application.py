"""The commands of ``oneiros``: a door to their modules, which are imported when a command is used."""

from __future__ import annotations

from collections.abc import Callable
from enum import EnumType
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import typer

from oneiros import __version__
from oneiros.cli.failures import CommandGroup

__all__ = ["application"]

_GROUPS = {  # heading -> name -> module of this folder, function, summary; in the order of the help
    "Memories": {
        "add": ("memories", "add", "Remember a text."),
        "import": ("importing", "import_memories", "Store memories of a file or a repository."),
        "search": ("search", "search", "Find memories, best first."),
        "why-not": ("search", "why_not", "Say why a search does not return a memory."),
        "get": ("search", "get", "Show one memory with all its fields."),
        "list": ("memories", "list_memories", "List memories, a page at a time."),
        "last": ("memories", "last", "Show the newest memories, as a chat."),
        "history": ("memories", "history", "Show what a memory was, revision by revision."),
        "update": ("memories", "update", "Change fields of a memory."),
    },
    "Their lives": {
        "feedback": ("marking", "feedback", "Say whether a memory helped."),
        "pin": ("marking", "pin", "Pin a memory, so that it does not age."),
        "link": ("marking", "link", "Link two memories, or show the links of one."),
        "supersede": ("marking", "supersede", "Replace a memory by another."),
        "conflicts": ("marking", "conflicts", "Find memories that contradict each other."),
        "delete": ("removing", "delete", "Delete memories; restore brings them back."),
        "restore": ("store", "restore", "Bring back a memory that was deleted or archived."),
        "forget": ("removing", "forget", "Erase memories for good."),
        "purge": ("store", "purge", "Erase for good what was deleted long enough ago."),
        "promote": ("rescore", "promote", "Consolidate staged memories that score high enough."),
        "dream": ("dream", "dream", "Run one dream cycle in one transaction."),
        "drift": ("dream_tables", "drift", "Show how the store drifts from cycle to cycle."),
    },
    "The store": {
        "stats": ("store", "stats", "Count what the store holds."),
        "doctor": ("store", "doctor", "Check the store, show versions."),
        "embed": ("store", "embed", "Make the vectors that memories lack."),
        "export": ("store", "export", "Write memories as JSON lines."),
        "backup": ("store", "backup", "Copy the store while it is in use."),
        "config": ("configuration", "config", "Show the settings, and where each comes from."),
        "inspect": ("inspect", "inspect", "Look into a store with a browser on this machine."),
        "ray": ("shards", "ray", "Show or drain the shards of a folder."),
        "mcp": ("mcp", "mcp", "Offer the memories to agents as a server of the MCP."),
    },
    "Scores": {
        "profiles": ("store", "profiles_known", "List the profiles."),
        "rescore": ("rescore", "rescore", "Score a file of memories, or compare two scores of it."),
        "demo": ("demo", "demo", "Fill a store, run searches, measure them."),
        "bench": ("bench", "bench", "Measure searches beside other libraries, on this machine."),
        "evaluate": ("evaluate", "evaluate", "Measure profiles on judged questions."),
        "eval": ("evaluate", "evaluate", ""),  # the short name, not listed
        "tune": ("evaluate", "tune", "Find better numbers for a profile on judged questions."),
        "simulate": (
            "simulate",
            "simulate",
            "Simulate a year of a memory, with dreams and without.",
        ),
    },
}
_COMMANDS = {name: entry for group in _GROUPS.values() for name, entry in group.items()}
_PLAIN: Any = {
    "rich_markup_mode": None,  # help is plain text; nothing on the command line is markup
    "pretty_exceptions_enable": False,
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
        for heading, commands in _GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl(
                    [(name, summary) for name, (_, _, summary) in commands.items() if summary]
                )


@cache
def _command(name: str) -> Any:
    module, function, _ = _COMMANDS[name]
    alone = typer.Typer(**_PLAIN, add_completion=False)
    found = getattr(import_module(f"oneiros.cli.{module}"), function)
    _name_values(found)
    alone.command(name)(found)
    command: Any = typer.main.get_command(alone)
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            parameter.display_type = _no_type  # its word and its help say it
    return command


def _no_type(_context: Any) -> None:
    """Show no type."""


_WORDS = {  # parameter -> the word that stands for its value in the help
    "after_new": "COUNT",
    "agent": "NAME",
    "allow_host": "HOST",
    "analyzer": "LANGUAGE",
    "budget": "CHARACTERS",
    "collections": "FOLDER",
    "columns": "COLUMNS",
    "compare": "A B",
    "days": "DAYS",
    "dream_every": "DAYS",
    "every": "INTERVAL",
    "file": "FILE",
    "folds": "COUNT",
    "git": "FOLDER",
    "host": "HOST",
    "id": "ID",
    "limit": "COUNT",
    "memories": "COUNT",
    "namespace": "NAME",
    "now": "TIME",
    "older_than": "DAYS",
    "over": "FIELD=NUMBERS",
    "port": "PORT",
    "profile": "PROFILE",
    "project": "NAME",
    "seed": "NUMBER",
    "threads": "COUNT",
    "threshold": "SCORE",
    "timezone": "ZONE",
    "token": "TOKEN",
    "top": "COUNT",
    "undo": "ID",
    "user": "NAME",
    "verify_erased": "WORDS",
}


def _name_values(command: Callable[..., Any]) -> None:
    """Give each value of a command a word in its help where the command names none."""
    hints = get_type_hints(command, include_extras=True)
    for name, hint in hints.items():
        for info in getattr(hint, "__metadata__", ()):
            kinds = (hint.__origin__, *get_args(hint.__origin__))
            kinds = (*kinds, *(one for kind in kinds for one in get_args(kind)))
            is_named = info.metavar is not None or bool in kinds
            if not is_named and not any(isinstance(kind, EnumType) for kind in kinds):
                info.metavar = _WORDS.get(name) or _kind(kinds)
    command.__annotations__ = hints  # typer reads these in place of the source's text


def _kind(kinds: tuple[Any, ...]) -> str:
    if Path in kinds:
        return "FILE"
    return "NUMBER" if int in kinds or float in kinds else "TEXT"


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
    if context.invoked_subcommand in _COMMANDS:
        configuration = import_module("oneiros.cli.configuration")
        context.default_map = configuration.default_map(_COMMANDS)
    if context.invoked_subcommand is None and not version:
        typer.echo(context.get_help())
