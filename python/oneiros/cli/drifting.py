"""``oneiros drift``: how a store changes from dream cycle to dream cycle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from oneiros.cli import documents
from oneiros.cli.stores import DEFAULT_STORE, JsonOption, StoreOption, existing, opened

if TYPE_CHECKING:
    from oneiros.dream.drift_over import CycleDrift, Drift

__all__ = ["drift"]

_KINDS: Final = 4  # half-lives told on a terminal; --json tells all
_KIND: Final = 24  # characters of a kind
_LEAST: Final = 100  # columns of a terminal for a table


def drift(
    store: StoreOption = DEFAULT_STORE,
    limit: Annotated[
        int,
        typer.Option(
            "-n", "--limit", min=1, max=10_000, help="Of the last so many cycles and undoings."
        ),
    ] = 20,
    json: JsonOption = False,
) -> None:
    """Tell how the store drifts: a line for each of the last dream cycles, the oldest first.

    Live memories; the share that is as stale as what is pruned; how concentrated accesses are (Gini,
    0 to 1); how much the 50 recalled most changed since the cycle before; the age at which half of a
    kind is gone, in days.
    """
    with opened(existing(store)) as engine:
        found = engine.drift(limit)
        has_dreamt = bool(found.cycles or engine.dreams(1))
    if json:
        documents.write(found.record())
    elif found.cycles:
        _show(found)
    else:
        typer.echo(
            f"no figures in the last {limit} reports, which are of undoings or damaged: see --limit"
            if has_dreamt
            else "no dream cycle ran on this store"
        )


def _show(found: Drift) -> None:
    from rich import box  # noqa: PLC0415  (--json needs no rich)
    from rich.table import Table  # noqa: PLC0415

    from oneiros.cli.terminal import show_table, text  # noqa: PLC0415
    from oneiros.display import moment  # noqa: PLC0415

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in ("cycle", "when"):  # whole: people take ids over into "dream --undo"
        table.add_column(name, no_wrap=True)
    table.add_column("by", overflow="fold")
    for name in ("live", "stale", "Gini", "churn"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("half-life, days", overflow="fold")
    for cycle in found.cycles:
        table.add_row(
            text(cycle.id),
            text(moment(cycle.now)),
            text(cycle.profile + (", undone" if cycle.is_undone else "")),
            str(cycle.live),
            f"{cycle.stale_share:.1%}",
            f"{cycle.access_gini:.3f}",
            "-" if cycle.churn is None else f"{cycle.churn:.1%}",
            text(_lives(cycle)),
        )
    show_table(table, _LEAST)


def _lives(cycle: CycleDrift) -> str:
    from oneiros.visible_text import snippet  # noqa: PLC0415

    known = [(kind, days) for kind, days in cycle.half_life_days.items() if days is not None]
    told = ", ".join(f"{snippet(kind, _KIND)} {days:.4g}" for kind, days in known[:_KINDS])
    return told + (", ..." if len(known) > _KINDS else "") or "-"
