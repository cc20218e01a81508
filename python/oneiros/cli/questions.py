"""What a search is asked on the command line: one declaration for every command that asks."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from oneiros.cli.failures import CommandError
from oneiros.cli.moments import range_of, seconds_of
from oneiros.cli.profile_names import PROFILE_HELP, named_profile
from oneiros.cli.stores import DEFAULT_STORE, StoreOption

if TYPE_CHECKING:
    from pathlib import Path

    from oneiros.scopes import Where

__all__ = ["Asked", "asks"]

NamesOption = Annotated[list[str] | None, typer.Option(help="Only this; may be given again.")]


class Asked(NamedTuple):
    """One search, as the command line has it."""

    query: str
    store: Path
    options: dict[str, Any]
    """What ``Engine.search`` and ``Engine.why_not`` take by these names."""


def _asked(
    query: Annotated[str, typer.Argument(help="What to look for; any text.")],
    store: StoreOption = DEFAULT_STORE,
    k: Annotated[int, typer.Option("-k", min=0, max=10_000, help="How many results.")] = 10,
    where: Annotated[
        str | None,
        typer.Option(help='Filter as JSON: {"kind": "fact", "created_at": [START, END]}.'),
    ] = None,
    kind: NamesOption = None,
    project: NamesOption = None,
    session: NamesOption = None,
    tag: NamesOption = None,
    now: Annotated[
        str | None, typer.Option(help="The search's clock: ISO 8601 with an offset, or seconds.")
    ] = None,
    valid_at: Annotated[
        str | None, typer.Option(help="Only what was valid then; a time as for --now.")
    ] = None,
    date_range: Annotated[
        str | None,
        typer.Option(
            help="When it was, in place of the time that the query names: START/END, "
            "times as for --now. Either may be left out. A profile that does not read it refuses it."
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
    profile: Annotated[str | None, typer.Option(help=f"Rank by this. {PROFILE_HELP}")] = None,
    syntax: Annotated[
        str,
        typer.Option(help='plain: taken literally. query: +must -not "a phrase" pre* title:word.'),
    ] = "plain",
) -> Asked:
    if soft_range and date_range is None:
        msg = "--soft-range: needs --date-range"
        raise CommandError(msg)
    options = {
        "k": k,
        "where": _condition(where, kind=kind, project=project, session=session, tags=tag),
        "now": seconds_of("--now", now),
        "valid_at": seconds_of("--valid-at", valid_at),
        "date_range": range_of("--date-range", date_range),
        "soft_range": soft_range,
        "include_expired": include_expired,
        "deep_recall": deep_recall,
        "profile": None if profile is None else named_profile("--profile", profile),
        "syntax": syntax,
    }
    return Asked(query, store, options)


def asks(command: Callable[..., None]) -> Callable[..., None]:
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
