"""``oneiros simulate``: a year of a memory in a minute, and what each profile forgets in it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oneiros.cli import documents
from oneiros.cli.failures import CommandError
from oneiros.cli.profile_names import PROFILE_HELP, named_profile
from oneiros.cli.stores import JsonOption
from oneiros.cli.terminal import output, progress_bar, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.table import Table

    from oneiros.ranking.profile import Profile
    from oneiros.simulation.figures import Course
    from oneiros.simulation.script import Script
    from oneiros.simulation.world import World

__all__ = ["simulate"]

_HEADS = ("recalled", "aside", "deleted", "recall@10", "misled", "untrue", "p50 ms", "p99 ms")


def simulate(
    profile: Annotated[
        list[str] | None,
        typer.Option(help=f"Live under this; may be given again. {PROFILE_HELP}"),
    ] = None,
    days: Annotated[float, typer.Option(help="How long the life is, in its own days.")] = 365.0,
    memories: Annotated[
        int | None, typer.Option(help="Memories that are made up; default 5000.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed is the same life.")] = 0,
    dream_every: Annotated[float, typer.Option(help="Days between two dream cycles.")] = 1.0,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Tell these JSON lines instead: a memory each, with questions about it and the id"
            ' that it replaces; or "demo".'
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="Draw it over time, as .svg or .png; needs oneiros[plots]."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Let memories live for a year on a clock that nobody waits for, with dreams and without.

    Sessions tell memories and ask about earlier ones: by popularity, and about what was told lately.
    Facts change; half of the time nobody says so. Measured each month, over the facts that are still
    relevant (asked about in the last 30 or the next 90 days): how many are found among the first ten
    results (recall@10), in how many answers an untrue memory of the fact stands above all that hold
    (misled) or stands at all (untrue). Shown is how things are at the end, the shares as means over
    the months; --json has every month. oneiros is run where no profile is named.
    """
    from oneiros.simulation.workload import Workload  # noqa: PLC0415

    chosen = _chosen(profile)
    if plot is not None and plot.suffix not in (".svg", ".png"):
        msg = f"--plot: expected a name that ends in .svg or .png, got {plot.name!r}"
        raise CommandError(msg)
    if data is not None and memories is not None:
        msg = "--memories, --data: only one of them; the data are as many as they are"
        raise CommandError(msg)
    script = None if data is None else _script(data)
    workload = Workload(days=days, seed=seed)
    if memories is not None:
        workload = replace(workload, memories=memories)
    world = workload.world(script)
    courses = [course for one in chosen for course in _lived(world, one, dream_every)]
    if plot is not None:
        from oneiros.simulation.plot import drawn  # noqa: PLC0415

        plot.write_bytes(drawn(courses, plot.suffix.removeprefix(".")))
    if json:
        documents.write(_document(world, seed, dream_every, courses))
    else:
        output().print(_table(world, courses))


def _chosen(names: list[str] | None) -> list[Profile]:
    found = [named_profile("--profile", name) for name in names or ["oneiros"]]
    if len({one.name for one in found}) < len(found):
        msg = f"--profile: each once, got {', '.join(one.name for one in found)}"
        raise CommandError(msg)
    return found


def _script(data: Path) -> Script:
    from oneiros.simulation import given  # noqa: PLC0415

    if str(data) == "demo":
        return given.demo_script()
    try:
        return given.read_script(data)
    except (TypeError, ValueError) as error:
        msg = f"--data: {error}"
        raise CommandError(msg) from error


def _lived(world: World, profile: Profile, dream_every: float) -> Iterator[Course]:
    """Yield a profile's life without dreams, then with them, where it has any."""
    from oneiros.simulation import run  # noqa: PLC0415

    intervals = (None, dream_every) if profile.phases else (None,)
    # All are counted first, and so judged, before any of them takes its time.
    steps = {every: run.step_count(world, every) for every in intervals}
    for every, count in steps.items():
        label = f"{profile.name}, {'awake' if every is None else 'dreaming'}"
        with progress_bar(label, count) as advance:
            yield run.simulate(world, profile, dream_every_days=every, advance=advance)


def _table(world: World, courses: Sequence[Course]) -> Table:
    from rich import box  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    table = Table(
        title=text(f"{world.memory_count} memories in {world.days:g} days"),
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        show_edge=False,
    )
    table.add_column("profile", no_wrap=True)
    table.add_column("dreams", justify="right")
    for head in _HEADS:
        table.add_column(head, justify="right", no_wrap=True)
    for course in courses:
        last = course.last
        table.add_row(
            text(course.profile),
            str(course.dreams) if course.is_dreaming else "-",
            *(str(number) for number in (last.active, last.set_aside, last.deleted)),
            *(f"{course.over_time(name):.3f}" for name in ("found", "misled", "untrue")),
            *(f"{milliseconds:.2f}" for milliseconds in (last.p50_ms, last.p99_ms)),
        )
    return table


def _document(
    world: World, seed: int, dream_every: float, courses: Sequence[Course]
) -> dict[str, object]:
    return {
        "world": {
            "days": world.days,
            "memories": world.memory_count,
            "facts": len(world.facts),
            "questions": sum(len(one.asked) for one in world.sessions if one.at < world.days),
            "seed": seed,
        },
        "dream_every_days": dream_every,
        "courses": [course.to_document() for course in courses],
    }
