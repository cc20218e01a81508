"""``oneiros simulate``: a year of a memory in a minute, and what each profile forgets in it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from oneiros.cli import terminal
from oneiros.cli.failures import CommandError, blamed_on, require_each_once, require_only_one
from oneiros.cli.options import PROFILE_HELP, JsonOption, PlainOption, named_profile
from oneiros.cli.sources import located
from oneiros.cli.terminal import (
    output,
    progress_bar,
    require_writable,
    show_plain,
    show_table,
    table,
    text,
)
from oneiros.display.counts import count_of
from oneiros.display.pages import require
from oneiros.model.validation import require_number
from oneiros.runtime.dataclasses import replace
from oneiros.runtime.files import new_file
from oneiros.simulation import figures, run, script
from oneiros.simulation.figures import grouped
from oneiros.simulation.plots import drawn, page
from oneiros.simulation.run import SHORTEST_DAYS
from oneiros.simulation.workload import Workload

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.table import Table

    from oneiros.scoring.profile import Profile
    from oneiros.simulation.figures import Course, FigureTable, Lives
    from oneiros.simulation.script import Script
    from oneiros.simulation.world import World

__all__ = ["simulate"]

_ALL: Final = ("oneiros", "reverie", "cognitive", "mnemosyne", "omega", "ciar")
_DEMO: Final = "demo"
"""The name of the demo's memories for --data."""


def simulate(
    profile: Annotated[
        list[str] | None,
        typer.Option(help=f'Live under this; may be given again. {PROFILE_HELP} Or "all" six.'),
    ] = None,
    days: Annotated[
        float, typer.Option(help="How long the life is, in its own days, at least 1.")
    ] = 365.0,
    memories: Annotated[
        int | None, typer.Option(help="Memories that are made up; default 5000.")
    ] = None,
    seed: Annotated[
        list[int] | None,
        typer.Option(help="The same seed is the same life; default 0; may be given again."),
    ] = None,
    dream_every: Annotated[
        float | None, typer.Option(help="Days between two dream cycles, at least 0.01; default 1.")
    ] = None,
    no_dream: Annotated[bool, typer.Option("--no-dream", help="Only live without dreams.")] = False,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Use these JSON lines instead: a memory each, with questions about it and the id"
            ' that it replaces; or "demo".'
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="Draw it over time, as .svg or .png; needs oneiros[plots]."),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(help="Write picture and tables as one page; needs oneiros[plots]."),
    ] = None,
    plain: PlainOption = False,
    json: JsonOption = False,
) -> None:
    """Simulate a year of a memory on a virtual clock, with dreams and without.

    Sessions add memories and query earlier ones: recent ones, and facts by an interest of their
    own, whatever their kind, which fades within days or lasts for years. Facts change, and half of
    the changes are not announced. Each month measures, over the facts that are queried in the last
    30 or the next 90 days: the share found among the first ten results (recall@10), and the share
    of responses with an outdated memory of the fact above all true ones (stale@1) or anywhere among
    the ten (stale@10). The tables show the figures at the end, shares as means over the months, all
    as means over the seeds, then the memories that dreams removed by kind and rule. --json has
    every month, --plain the first table. The default profile is oneiros.
    """
    chosen = _chosen(profile)
    remark = "; the data are as many as they are"
    require_only_one({"--memories": memories, "--data": data}, remark)
    require_only_one({"--no-dream": no_dream, "--dream-every": dream_every})
    _check_pictures(plot, html, data)
    worlds = _worlds(days, memories, seed or [0], None if data is None else _script(data))
    every = None if no_dream else 1.0
    if dream_every is not None:
        every = require_number("--dream-every", dream_every, low=SHORTEST_DAYS)
    courses = list(_lived(worlds, chosen, every))
    tables = list(_tables(worlds, grouped(courses)))
    if json:
        terminal.write("simulate", None, _document(worlds, every, courses))
    elif plain:
        show_plain(tables[0].heads, tables[0].rows)
    else:
        for place, one in enumerate(tables):
            if place:
                output().print()
            show_table(_table(one))
    _draw(plot, html, grouped(courses), tables)  # last: if it fails, the figures are shown


def _chosen(names: list[str] | None) -> list[Profile]:
    written = [one for name in names or ["oneiros"] for one in (_ALL if name == "all" else [name])]
    found = [named_profile("--profile", name) for name in written]
    require_each_once("--profile", [one.name for one in found])
    return found


def _check_pictures(plot: Path | None, html: Path | None, data: Path | None) -> None:
    """Refuse what could not be written in the end, before anything takes its time."""
    if plot is not None and plot.suffix not in (".svg", ".png"):
        msg = f"--plot: expected a name that ends in .svg or .png, got {plot.name!r}"
        raise CommandError(msg)
    if plot is None and html is None:
        return
    with blamed_on("--html" if plot is None else "--plot", (ImportError,)):
        require()
    read = None if data is None or str(data) == _DEMO else data
    if plot is not None:
        require_writable("--plot", plot, {"--data": read})
    if html is not None:
        require_writable("--html", html, {"--data": read, "--plot": plot})


def _script(data: Path) -> Script:
    if str(data) == _DEMO:
        return script.demo_script()
    if not data.is_file():
        msg = f"--data: {data}: no such file"
        raise CommandError(msg)
    try:
        return script.read_script(data)
    except (TypeError, ValueError) as error:
        msg = f"--data: {located(data, str(error))}"
        raise CommandError(msg) from error


def _worlds(
    days: float, memories: int | None, seeds: list[int], script: Script | None
) -> list[World]:
    require_each_once("--seed", seeds)
    workload = Workload(days=days)
    if memories is not None:
        workload = replace(workload, memories=memories)
    return [replace(workload, seed=seed).world(script) for seed in seeds]


def _lived(worlds: list[World], chosen: list[Profile], every: float | None) -> Iterator[Course]:
    """Yield the lives of each profile without dreams, then with them, where it has any."""
    lives = [
        (profile, interval, world)
        for profile in chosen
        for interval in ((None, every) if profile.phases and every is not None else (None,))
        for world in worlds
    ]
    # All are counted first, and so judged, before any of them takes its time.
    steps = [run.step_count(world, interval) for _, interval, world in lives]
    for place, ((profile, interval, world), count) in enumerate(zip(lives, steps, strict=True)):
        how = "awake" if interval is None else "dreaming"
        label = f"{place + 1}/{len(lives)} {profile.name}, {how}, seed {world.seed}"
        with progress_bar(label, count) as advance:
            yield run.simulate(world, profile, dream_every_days=interval, advance=advance)


def _tables(worlds: list[World], lives: Sequence[Lives]) -> Iterator[FigureTable]:
    first = worlds[0]
    seeds = ", ".join(str(world.seed) for world in worlds)
    title = f"{count_of(first.memory_count, 'memory')} in {first.days:g} days, "
    yield figures.fared(lives, title + (f"seed {seeds}" if len(worlds) == 1 else f"seeds {seeds}"))
    forgotten = figures.forgot(lives)
    if forgotten is not None:
        yield forgotten


def _draw(
    plot: Path | None, html: Path | None, lives: list[Lives], tables: list[FigureTable]
) -> None:
    if plot is not None:
        _write(plot, drawn(lives, plot.suffix.removeprefix(".")))
    if html is not None:
        _write(html, page(lives, tables, "Simulated lives").encode())


def _write(path: Path, made: bytes) -> None:
    """Write a file, whole or not at all."""
    with new_file(path) as file:
        file.write(made)


def _table(figures: FigureTable) -> Table:
    figure_heads = (f">{head}" for head in figures.heads[figures.names :])
    heads = (*figures.heads[: figures.names], *figure_heads)
    return table(*heads, rows=figures.rows, title=text(figures.title))


def _document(
    worlds: list[World], dream_every: float | None, courses: Sequence[Course]
) -> dict[str, object]:
    return {
        "worlds": [
            {
                "days": world.days,
                "memories": world.memory_count,
                "facts": len(world.facts),
                "questions": sum(len(one.asked) for one in world.sessions if one.at < world.days),
                "seed": world.seed,
            }
            for world in worlds
        ],
        "dream_every_days": dream_every,
        "courses": [course.to_document() for course in courses],
    }
