"""``oneiros search`` and ``oneiros get``: what the store holds, found and shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from oneiros.cli import documents
from oneiros.cli.failures import CommandError
from oneiros.cli.moments import seconds_of
from oneiros.cli.stores import DEFAULT_STORE, JsonOption, StoreOption, existing, opened

if TYPE_CHECKING:
    from oneiros.memory import Memory
    from oneiros.scopes import Where

__all__ = ["get", "search", "why_not"]

QueryArgument = Annotated[str, typer.Argument(help="What to look for; any text.")]
SyntaxOption = Annotated[
    str,
    typer.Option(help='plain: taken literally. query: +must -not "a phrase" pre* title:word.'),
]
CountOption = Annotated[int, typer.Option("-k", min=0, max=10_000, help="How many results.")]
WhereOption = Annotated[
    str | None, typer.Option(help='Filter as JSON: {"kind": "fact", "created_at": [START, END]}.')
]
NamesOption = Annotated[list[str] | None, typer.Option(help="Only this; may be given again.")]
NowOption = Annotated[
    str | None, typer.Option(help="The search's clock: ISO 8601 with an offset, or seconds.")
]
ProfileOption = Annotated[str | None, typer.Option(help="Rank by this profile.")]


def search(
    query: QueryArgument,
    store: StoreOption = DEFAULT_STORE,
    k: CountOption = 10,
    where: WhereOption = None,
    kind: NamesOption = None,
    project: NamesOption = None,
    session: NamesOption = None,
    tag: NamesOption = None,
    now: NowOption = None,
    profile: ProfileOption = None,
    syntax: SyntaxOption = "plain",
    explain: Annotated[bool, typer.Option("--explain", help="Show how scores came about.")] = False,
    json: JsonOption = False,
    no_reinforce: Annotated[
        bool, typer.Option("--no-reinforce", help="Leave the found memories as they are.")
    ] = False,
) -> None:
    """Find memories, best first."""
    condition = _condition(where, kind=kind, project=project, session=session, tags=tag)
    clock = seconds_of("--now", now)
    with opened(existing(store)) as engine:
        response = engine.search(
            query,
            k,
            where=condition,
            now=clock,
            profile=profile,
            explain=explain,
            syntax=syntax,
            reinforce=False if no_reinforce else None,
        )
        # Inside the block: the memories of results are read from the store when first touched.
        from oneiros.cli import explained, rendering  # noqa: PLC0415
        from oneiros.cli.terminal import output, text  # noqa: PLC0415

        if json:
            documents.write(rendering.response_document(response))
            return
        console = output()
        if explain:
            for part in explained.parts(response, console.width):
                console.print(part)
                console.print()
        elif response.results:
            console.print(rendering.results_table(response, console.width))
        console.print(text(rendering.summary(response), style="dim"))


def why_not(
    query: QueryArgument,
    id: Annotated[str, typer.Argument(help="Id of the memory that is missed.")],
    store: StoreOption = DEFAULT_STORE,
    k: CountOption = 10,
    where: WhereOption = None,
    kind: NamesOption = None,
    project: NamesOption = None,
    session: NamesOption = None,
    tag: NamesOption = None,
    now: NowOption = None,
    profile: ProfileOption = None,
    syntax: SyntaxOption = "plain",
    json: JsonOption = False,
) -> None:
    """Tell why a search does not return a memory; the memory is left as it is."""
    condition = _condition(where, kind=kind, project=project, session=session, tags=tag)
    clock = seconds_of("--now", now)
    with opened(existing(store)) as engine:
        told = engine.why_not(
            query, id, k=k, where=condition, now=clock, profile=profile, syntax=syntax
        )
    from oneiros.cli import explained  # noqa: PLC0415
    from oneiros.cli.terminal import output  # noqa: PLC0415

    if json:
        documents.write(explained.why_not_document(told))
        return
    console = output()
    for part in explained.why_not_parts(told):
        console.print(part)


def get(
    id: Annotated[str, typer.Argument(help="Id of the memory.")],
    store: StoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Show one memory with all its fields."""
    with opened(existing(store)) as engine:
        memory = engine.get(id)
    from oneiros.cli import rendering  # noqa: PLC0415

    document = rendering.memory_document(memory)
    if json:
        documents.write(document)
    else:
        _show(memory, document)


def _show(memory: Memory, document: dict[str, object]) -> None:
    from rich.table import Table  # noqa: PLC0415

    from oneiros.cli.terminal import output, text  # noqa: PLC0415

    table = Table.grid(padding=(0, 2))
    for name, value in document.items():
        if name != "text" and value not in (None, "", [], {}):
            shown = value if isinstance(value, str) else str(documents.plain(value))
            table.add_row(text(name, style="dim"), text(shown))
    console = output()
    console.print(table)
    console.print()
    console.print(text(memory.text))


def _condition(where: str | None, **named: list[str] | None) -> Where | None:
    """Return the filter of the options, all of which must hold; None without any.

    Raises:
        CommandError: what the filter's own rules refuse, in their words.
    """
    given = {name: values for name, values in named.items() if values}
    if where is None and not given:
        return None
    from oneiros import scopes  # noqa: PLC0415  (bitmaps)

    try:
        condition = scopes.where(**given)
        return condition if where is None else condition & scopes.Where.from_json(where)
    except (TypeError, ValueError) as error:
        msg = f"--where: {error}"
        raise CommandError(msg) from error
