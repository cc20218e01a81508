"""The command line's table of contents: which commands there are, and what all have in common."""

from __future__ import annotations

from typing import Annotated

import typer

from oneiros import __version__
from oneiros.cli.demo import demo
from oneiros.cli.dream import dream
from oneiros.cli.dream_tables import drift
from oneiros.cli.evaluate import evaluate, tune
from oneiros.cli.failures import CommandGroup
from oneiros.cli.importing import import_memories
from oneiros.cli.rescore import promote, rescore
from oneiros.cli.search import get, search, why_not
from oneiros.cli.simulate import simulate
from oneiros.cli.store import doctor, embed, purge, restore, stats

__all__ = ["application"]

application = typer.Typer(
    name="oneiros",
    cls=CommandGroup,
    help="Memories that live: remember, find by words, meaning and time, check.",
    rich_markup_mode=None,  # help is plain text; nothing on the command line is markup
    pretty_exceptions_enable=False,
    add_completion=False,
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


application.command("demo")(demo)
application.command("import")(import_memories)
application.command("embed")(embed)
application.command("search")(search)
application.command("why-not")(why_not)
application.command("get")(get)
application.command("rescore")(rescore)
application.command("promote")(promote)
application.command("dream")(dream)
application.command("drift")(drift)
application.command("restore")(restore)
application.command("purge")(purge)
application.command("stats")(stats)
application.command("doctor")(doctor)
application.command("evaluate")(evaluate)
application.command("eval", hidden=True)(evaluate)  # the short name
application.command("tune")(tune)
application.command("simulate")(simulate)
