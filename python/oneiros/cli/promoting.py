"""``oneiros promote``: staged memories that score high enough are consolidated."""

from __future__ import annotations

from typing import Annotated

import typer

from oneiros.cli import documents
from oneiros.cli.moments import seconds_of
from oneiros.cli.profile_names import PROFILE_HELP, named_profile
from oneiros.cli.stores import DEFAULT_STORE, JsonOption, StoreOption, existing, opened
from oneiros.dataclasses_on_use import asdict

__all__ = ["promote"]


def promote(
    store: StoreOption = DEFAULT_STORE,
    profile: Annotated[str, typer.Option(help=f"Score by this. {PROFILE_HELP}")] = "ciar",
    threshold: Annotated[
        float | None, typer.Option(help="The least score, above 0 and up to 1; default: its own.")
    ] = None,
    now: Annotated[
        str | None, typer.Option(help="The clock: ISO 8601 with an offset, or seconds.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell.")] = False,
    json: JsonOption = False,
) -> None:
    """Consolidate staged memories that score high enough, in one transaction; tell which and why."""
    chosen = named_profile("--profile", profile)
    clock = seconds_of("--now", now)
    with opened(existing(store)) as engine:
        report = engine.promote(chosen, threshold, clock, dry_run=dry_run)
    if json:
        documents.write(asdict(report))
        return
    from oneiros.cli.terminal import output, text  # noqa: PLC0415

    console = output()
    for line in str(report).splitlines():
        console.print(text(line))
