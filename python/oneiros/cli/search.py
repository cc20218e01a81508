"""``oneiros search``, ``oneiros why-not`` and ``oneiros get``."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Container, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oneiros.cli import terminal
from oneiros.cli.failures import CommandError
from oneiros.cli.options import (
    DEFAULT_STORE,
    EmbedderOption,
    JsonOption,
    PlainOption,
    ProfileOption,
    ScopeOption,
    StoreOption,
    TimezoneOption,
    condition_of,
    existing,
    named_profile,
    opened_scope,
    zone_of,
)
from oneiros.cli.terminal import grid, output, range_of, seconds_of, show_plain, table, text
from oneiros.display.counts import count_of
from oneiros.display.escaping import snippet
from oneiros.display.tables import columns_of, day
from oneiros.errors import StoreCorrupt, UnknownMemory
from oneiros.runtime.dataclasses import NamedTuple
from oneiros.search.records import memory_of, memory_record, response_record
from oneiros.search.trace import NO_TIME

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from datetime import tzinfo
    from pathlib import Path

    from rich.console import RenderableType
    from rich.table import Table as RichTable
    from rich.text import Text
    from rich.tree import Tree

    from oneiros.display.tables import Branch, DisplayTable
    from oneiros.engine.memories import Memories
    from oneiros.explain.why_not import WhyNot
    from oneiros.model.memory import Memory
    from oneiros.search.response import SearchResponse, SearchResult

__all__ = [
    "get",
    "parts",
    "results_table",
    "rich_tree",
    "search",
    "summary",
    "why_not",
    "why_not_document",
    "why_not_parts",
]


SNIPPET = 160  # characters of a text in a table
TEXT_ROOM = 50  # columns for rank, text and score
FIGURE_ROOM = 9  # columns for one figure and the space before it


def results_table(
    response: SearchResponse,
    width: int,
    zone: tzinfo | None = None,
    *,
    right: Container[str] = frozenset(),
) -> RichTable:
    """Return the results, one a row; with explanations also each channel's rank and each factor.

    Args:
        response: the answer; its memories are read here.
        width: columns of the terminal; where the figures would leave the texts too little room,
            they stand below each text instead.
        zone: whose days are shown; None: those of UTC.
        right: ids known to answer the question, marked as such.
    """
    channels, factors = _explained(response)
    is_wide = width >= TEXT_ROOM + FIGURE_ROOM * len((*channels, *factors))
    figure_heads = (f">{_heading(name)}" for name in (*channels, *factors) if is_wide)
    shown_table = table("#", "memory", ">score", *figure_heads, folds=("memory",))
    shown_table.columns[1].ratio = 1
    for rank, result in enumerate(response.results, start=1):
        figures = (*_ranks(result, channels), *_values(result, factors))
        shown = _described(result, zone)
        if figures and not is_wide:
            pairs = zip((*channels, *factors), figures, strict=True)
            named = ", ".join(f"{name} {figure}" for name, figure in pairs)
            shown.append_text(text(f"\n{named}", style="dim"))
        mark = " ✓" if result.id in right else ""
        score, others = f"{result.score:.5f}", figures if is_wide else ()
        shown_table.add_row(f"{rank}{mark}", shown, score, *others)
    return shown_table


def _plain_rows(response: SearchResponse, zone: tzinfo | None) -> Iterator[tuple[str | None, ...]]:
    """Yield id, score, kind, day and text of each result. Reads the memories.

    Of a memory that cannot be read, only id and score.
    """
    for result in response.results:
        if (memory := memory_of(result)) is None:
            yield result.id, f"{result.score:.5f}", None, None, None
            continue
        occurred = memory.created_at if memory.event_at is None else memory.event_at
        whole = f"{memory.title}: {memory.text}" if memory.title else memory.text
        yield result.id, f"{result.score:.5f}", memory.kind, day(occurred, zone), whole


def _described(result: SearchResult, zone: tzinfo | None) -> Text:
    """Return the beginning of a result's text, then id, kind and day. Reads the memory.

    Of a memory that cannot be read, the reason, then the id.
    """
    try:
        memory = result.memory
    except (UnknownMemory, StoreCorrupt) as error:
        return text(f"({snippet(str(error), SNIPPET)})\n{snippet(result.id, SNIPPET)}", style="dim")
    occurred = memory.created_at if memory.event_at is None else memory.event_at
    title = f"{snippet(memory.title, SNIPPET)}: " if memory.title else ""
    kind, id = snippet(memory.kind, SNIPPET), snippet(result.id, SNIPPET)
    shown = text("").append_text(text(title, style="bold"))
    shown.append_text(text(snippet(memory.text, SNIPPET)))
    return shown.append_text(text(f"\n{id}  {kind}  {day(occurred, zone)}", style="dim"))


def summary(response: SearchResponse) -> str:
    """Return one line: how many, how long, by which profile, and what was left out or odd."""
    trace = response.trace
    empty = (stage for stage in trace.stages if stage.note and not stage.survivor_count)
    # Most queries name no time, which is nothing to note.
    notes = [f"{stage.name}: {stage.note}" for stage in empty if stage.note != NO_TIME]
    head = f"{count_of(len(response.results), 'result')} in {trace.total_ms:.1f} ms"
    noted = "; ".join((*notes, *trace.notes))
    return f"{head}, profile {response.profile}" + (f" ({noted})" if noted else "")


def _explained(response: SearchResponse) -> tuple[list[str], list[str]]:
    """Return the names of channels and factors, in their order; none without explanations."""
    channels: dict[str, None] = {}
    factors: dict[str, None] = {}
    for result in response.results:
        if result.explanation is not None:
            channels.update(dict.fromkeys(score.name for score in result.explanation.channels))
            factors.update(dict.fromkeys(value.name for value in result.explanation.factors))
    return list(channels), list(factors)


def _ranks(result: SearchResult, channels: list[str]) -> list[str]:
    scores = () if result.explanation is None else result.explanation.channels
    ranks = {score.name: score.rank for score in scores}
    return ["-" if ranks.get(name) is None else str(ranks[name]) for name in channels]


def _values(result: SearchResult, factors: list[str]) -> list[str]:
    held = () if result.explanation is None else result.explanation.factors
    values = {factor.name: factor.value for factor in held}
    return [f"{values[name]:.3f}" if name in values else "-" for name in factors]


LEAST_WIDTH = 30  # columns of a terminal for the table of results
_GAP = 3  # columns between the columns of a table
_KEYS = 2  # columns that every table begins with: rank and id


def parts(
    response: SearchResponse, width: int, zone: tzinfo | None = None
) -> Iterator[Tree | RichTable]:
    """Yield a tree for each explained result, then the table over all; nothing without results."""
    yield from _result_trees(response, zone)
    if response.results:
        yield from _tables(response.table(), width)


def why_not_parts(reasons: WhyNot) -> Iterator[Tree | RichTable | str]:
    """Yield the tree of the reasons, and their figures next to those of the last result."""
    yield rich_tree(reasons.tree())
    if reasons.kth is not None and reasons.channels and not reasons.is_returned:
        yield ""
        yield _rich_table(reasons.table())


def why_not_document(reasons: WhyNot) -> dict[str, object]:
    """Return the whole answer as JSON values."""
    derived = ("is_returned", "score", "kth_score", "gap", "verdict", "lacked")
    return dataclasses.asdict(reasons) | {name: getattr(reasons, name) for name in derived}


def _result_trees(response: SearchResponse, zone: tzinfo | None) -> Iterator[Tree]:
    """Yield each result's text over the tree of its score; memories are read here."""
    for rank, result in enumerate(response.results, start=1):
        if result.explanation is not None:
            label = text(f"{rank}  ").append_text(_described(result, zone))
            tree = result.explanation.tree()
            yield rich_tree(tree._replace(label=""), label, first=tree.label)


def rich_tree(root: Branch, label: RenderableType | None = None, *, first: str = "") -> Tree:
    """Return a tree of texts that are shown literally.

    ``label`` stands in place of the root's own; ``first`` is one more branch, before the others.
    """
    from rich.tree import Tree  # noqa: PLC0415 - --json needs no rich

    tree = Tree(text(root.label) if label is None else label, guide_style="dim")
    if first:
        tree.add(text(first, style="bold"))
    for branch in root.branches:
        tree.add(rich_tree(branch))
    return tree


def _rich_table(shown: DisplayTable, columns: Sequence[int] = ()) -> RichTable:
    """Return a table of literal texts, of these columns; by default of all."""
    chosen = columns or range(len(shown.columns))
    heads = (
        f"{'>' if shown.is_figures(column) else ''}{_heading(shown.columns[column])}"
        for column in chosen
    )
    return table(*heads, rows=([row[column] for column in chosen] for row in shown.shown()))


def _tables(whole: DisplayTable, width: int) -> Iterator[RichTable]:
    """Yield a table whole where it fits; else in parts, each with its first two: rank and id."""
    headings = map(_heading, whole.columns)
    widths = [
        max(columns_of(line) for cell in (heading, *cells) for line in cell.split("\n"))
        for heading, *cells in zip(headings, *whole.shown(), strict=True)
    ]
    for group in _fitting(widths, width):
        yield _rich_table(whole, group)


def _heading(name: str) -> str:
    """One word a line, so that a column stays as narrow as its numbers."""
    return name.replace(" ", "\n").replace("_", "\n")


def _fitting(widths: Sequence[int], width: int) -> Iterator[list[int]]:
    """Yield groups of columns, rank and id in each, no wider than the terminal where it can be."""
    keys = list(range(_KEYS))
    group, used = list(keys), sum(widths[:_KEYS])
    for column in range(_KEYS, len(widths)):
        if used + widths[column] + _GAP * len(group) > width and len(group) > _KEYS:
            yield group
            group, used = list(keys), sum(widths[:_KEYS])
        group.append(column)
        used += widths[column]
    yield group


NamesOption = Annotated[
    list[str] | None, typer.Option(metavar="NAME", help="Only this; may be given again.")
]


class _SearchCommand(NamedTuple):
    """One search, as the command line has it."""

    query: str
    store: Path
    scope: list[str] | None
    embedder: str | None
    timezone: str | None
    options: dict[str, Any]
    """The keywords of ``Engine.search`` and ``Engine.why_not``."""

    @property
    def zone(self) -> tzinfo | None:
        """Whose days results show; None: those of UTC."""
        return zone_of(self.timezone)

    def opened(self) -> AbstractContextManager[Memories]:
        """Open the memories that are searched."""
        path = existing(self.store)
        return opened_scope(path, self.scope, self.embedder, timezone=self.timezone)


def _asked(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for; any text.")],
    store: StoreOption = DEFAULT_STORE,
    k: Annotated[
        int, typer.Option("-k", metavar="COUNT", min=0, max=10_000, help="How many results.")
    ] = 10,
    where: Annotated[
        str | None,
        typer.Option(
            metavar="JSON", help='Filter as JSON: {"kind": "fact", "created_at": [START, END]}.'
        ),
    ] = None,
    kind: NamesOption = None,
    project: NamesOption = None,
    session: NamesOption = None,
    tag: NamesOption = None,
    now: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="The search's clock: ISO 8601 with an offset, or seconds."
        ),
    ] = None,
    valid_at: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Only what was valid then; a time as for --now."),
    ] = None,
    date_range: Annotated[
        str | None,
        typer.Option(
            metavar="START/END",
            help="When it was, in place of the time that the query names: START/END, "
            "times as for --now. Either may be left out. A profile that does not read it refuses it.",
        ),
    ] = None,
    soft_range: Annotated[
        bool,
        typer.Option("--soft-range", help="Lower what lies outside of --date-range only slightly."),
    ] = False,
    deep_recall: Annotated[
        bool, typer.Option("--deep", help="Also superseded memories, with a penalty.")
    ] = False,
    include_expired: Annotated[
        bool, typer.Option("--include-expired", help="Also what is past its validity.")
    ] = False,
    profile: ProfileOption = None,
    syntax: Annotated[
        str,
        typer.Option(
            metavar="SYNTAX",
            help='plain: taken literally. query: +must -not "a phrase" pre* title:word.',
        ),
    ] = "plain",
    scope: ScopeOption = None,
    embedder: EmbedderOption = None,
    timezone: TimezoneOption = None,
) -> _SearchCommand:
    if soft_range and date_range is None:
        msg = "--soft-range: needs --date-range"
        raise CommandError(msg)
    options = {
        "k": k,
        "where": condition_of(where, kind=kind, project=project, session=session, tags=tag),
        "now": seconds_of("--now", now),
        "valid_at": seconds_of("--valid-at", valid_at),
        "date_range": range_of("--date-range", date_range),
        "soft_range": soft_range,
        "include_expired": include_expired,
        "deep_recall": deep_recall,
        "profile": None if profile is None else named_profile("--profile", profile),
        "syntax": syntax,
    }
    return _SearchCommand(query, store, scope, embedder, timezone, options)


def _asks(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the query and the options of a search, in place of its argument ``asked``.

    Arguments of the command's own come after the query, its options after those of the search.
    """
    shared = inspect.signature(_asked, eval_str=True).parameters
    own = inspect.signature(command, eval_str=True).parameters

    def run(**given: Any) -> None:
        asked = _asked(**{name: given.pop(name) for name in shared})
        command(asked=asked, **given)

    parameters = [*shared.values(), *(one for name, one in own.items() if name != "asked")]
    parameters.sort(key=lambda one: one.default is not one.empty)  # arguments first
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    return run


@_asks
def search(
    asked: _SearchCommand,
    explain: Annotated[bool, typer.Option("--explain", help="Show how scores came about.")] = False,
    json: JsonOption = False,
    plain: PlainOption = False,
    reinforce: Annotated[
        bool, typer.Option("--reinforce/--no-reinforce", help="Count the found memories as used.")
    ] = False,
) -> None:
    """Find memories, best first. Only with --reinforce does that count as a use of them."""
    with asked.opened() as memories:
        response = memories.search(
            asked.query, **asked.options, explain=explain, reinforce=reinforce
        )
        # Inside the block: the memories of results are read from the store when first touched.
        if json:
            found = {"count": len(response.results)} | response_record(response)
            terminal.write("search", asked.store, found)
            return
        if plain:
            show_plain(
                ("memory", "score", "kind", "day", "text"), _plain_rows(response, asked.zone)
            )
            return
        console = output()
        if explain:
            for part in parts(response, console.width, asked.zone):
                console.print(part)
                console.print()
        elif response.results:
            terminal.show_table(results_table(response, console.width, asked.zone), LEAST_WIDTH)
        console.print(text(summary(response), style="dim"))


@_asks
def why_not(
    asked: _SearchCommand,
    id: Annotated[str, typer.Argument(help="Id of the memory that is missed.")],
    json: JsonOption = False,
    plain: PlainOption = False,
) -> None:
    """Say why a search does not return a memory. The memory is left as it is."""
    with asked.opened() as memories:
        reasons = memories.why_not(asked.query, id, **asked.options)
    if json:
        terminal.write("why-not", asked.store, why_not_document(reasons))
        return
    if plain:
        _show_plain_reasons(reasons)
        return
    console = output()
    for part in why_not_parts(reasons):
        console.print(part)


def _show_plain_reasons(reasons: WhyNot) -> None:
    """Write the verdict, then the figures of the memory, next to those of the last result."""
    rows = [(*row, None)[:3] for row in reasons.table().rows]
    heads = ("part", "this memory", "last result")
    show_plain(
        heads, [("verdict", reasons.verdict, None), ("id", reasons.id, reasons.kth_id), *rows]
    )


def get(
    id: Annotated[str, typer.Argument(metavar="ID", help="Id of the memory.")],
    store: StoreOption = DEFAULT_STORE,
    as_of: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="As the store knew it then; a time as for --now."),
    ] = None,
    scope: ScopeOption = None,
    plain: PlainOption = False,
    json: JsonOption = False,
) -> None:
    """Show one memory with all its fields."""
    with opened_scope(existing(store), scope) as memories:
        memory = memories.get(id, as_of=seconds_of("--as-of", as_of))
    document = memory_record(memory)
    if json:
        terminal.write("get", store, {"memory": document})
    elif plain:
        terminal.show_plain_figures(document, "field")
    else:
        _show(memory, document)


def _show(memory: Memory, document: dict[str, object]) -> None:
    console = output()
    rows = (
        (text(name, style="dim"), value if isinstance(value, str) else str(terminal.plain(value)))
        for name, value in document.items()
        if name != "text" and value not in (None, "", [], {})
    )
    console.print(grid(rows))
    console.print()
    console.print(text(memory.text))
