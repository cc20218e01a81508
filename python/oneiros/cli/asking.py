"""``oneiros search`` and ``oneiros get``: what the store holds, found and shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from oneiros.cli import documents
from oneiros.cli.questions import Asked, asks
from oneiros.cli.stores import DEFAULT_STORE, JsonOption, StoreOption, existing, opened

if TYPE_CHECKING:
    from oneiros.memory import Memory

__all__ = ["get", "search", "why_not"]


@asks
def search(
    asked: Asked,
    explain: Annotated[bool, typer.Option("--explain", help="Show how scores came about.")] = False,
    json: JsonOption = False,
    no_reinforce: Annotated[
        bool, typer.Option("--no-reinforce", help="Leave the found memories as they are.")
    ] = False,
) -> None:
    """Find memories, best first."""
    with opened(existing(asked.store)) as engine:
        response = engine.search(
            asked.query, **asked.options, explain=explain, reinforce=False if no_reinforce else None
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


@asks
def why_not(
    asked: Asked,
    id: Annotated[str, typer.Argument(help="Id of the memory that is missed.")],
    json: JsonOption = False,
) -> None:
    """Tell why a search does not return a memory; the memory is left as it is."""
    with opened(existing(asked.store)) as engine:
        told = engine.why_not(asked.query, id, **asked.options)
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
