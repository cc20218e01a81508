"""``oneiros mcp``."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from oneiros.cli.failures import CommandError
from oneiros.cli.options import (
    DEFAULT_STORE,
    AnalyzerOption,
    EmbedderOption,
    ProfileOption,
    StoreOption,
    TimezoneOption,
    embedder_of,
    existing,
    named_profile,
    quiet_engine,
    require_analyzer,
    zone_of,
)
from oneiros.display.escaping import one_line
from oneiros.integrations.mcp_tools import BUDGET, MemoryTools
from oneiros.model.fields import FIELDS

__all__ = ["mcp"]

_HOST = "127.0.0.1"
_BOUND = "Only memories of this {}. The server sees no others."


def mcp(
    store: StoreOption = DEFAULT_STORE,
    user: Annotated[str | None, typer.Option(help=_BOUND.format("user"))] = None,
    agent: Annotated[str | None, typer.Option(help=_BOUND.format("agent"))] = None,
    project: Annotated[str | None, typer.Option(help=_BOUND.format("project"))] = None,
    namespace: Annotated[str | None, typer.Option(help=_BOUND.format("namespace"))] = None,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Write nothing, and leave out the writing tools.")
    ] = False,
    reinforce: Annotated[bool, typer.Option(help="Count recalled memories as used.")] = True,
    dream: Annotated[
        bool | None,
        typer.Option(
            help="Offer the tool that runs dream cycles, of the whole store. "
            "Default: only without --user, --agent, --project and --namespace.",
            show_default=False,
        ),
    ] = None,
    budget: Annotated[int, typer.Option(min=4_000, help="Most characters of one result.")] = BUDGET,
    profile: ProfileOption = None,
    embedder: EmbedderOption = None,
    analyzer: AnalyzerOption = None,
    timezone: TimezoneOption = None,
    http: Annotated[
        bool, typer.Option("--http", help="Streamable HTTP in place of stdin and stdout.")
    ] = False,
    host: Annotated[str, typer.Option(help="The address for --http.")] = _HOST,
    port: Annotated[int, typer.Option(min=0, max=65_535, help="0: a free one.")] = 0,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="A name in the Host header besides those of loopback; may be repeated."),
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="ONEIROS_MCP_TOKEN",
            help="What clients of --http must present. Default: a new one, printed on stderr.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Offer the memories of a store to agents, as a server of the Model Context Protocol.

    Serves one client on stdin and stdout, or many with --http, until stdin closes, Ctrl-C or
    SIGTERM; then the exit code is 0. A store that is missing is created, unless --read-only.
    """
    try:
        from oneiros.integrations import mcp as server  # noqa: PLC0415 - an optional package
    except ImportError as error:
        msg = f"mcp: {error}"
        raise CommandError(msg) from error
    given = {"user": user, "agent": agent, "project": project, "namespace": namespace}
    bounds = {name: FIELDS[name].check(value) for name, value in given.items() if value is not None}
    names = allow_host or ()
    if http:  # before the store is opened, which may create it
        server.checked_token(token)
        server.require_reachable(host, names)
    else:
        listening = {"--host": host != _HOST, "--port": port != 0, "--allow-host": bool(names)}
        for name, is_given in listening.items():
            if is_given:
                msg = f"{name}: needs --http"
                raise CommandError(msg)
    if read_only and dream:
        msg = "--dream: cannot be used with --read-only"
        raise CommandError(msg)
    ranking = "oneiros" if profile is None else named_profile("--profile", profile)
    model = None if embedder is None else embedder_of(embedder)
    require_analyzer(analyzer)
    zone = zone_of(timezone)
    path = existing(store) if read_only else store
    is_new = not path.exists()
    with quiet_engine(
        path, model, analyzer=analyzer, timezone=zone, profile=ranking, read_only=read_only
    ) as engine:
        if is_new:  # so that a misspelt path is noticed
            sys.stderr.write(f"new store: {one_line(str(path))}\n")
        memories = engine.scope(**bounds) if bounds else engine
        offers_dreams = not bounds if dream is None else dream
        tools = MemoryTools(
            memories,
            dreams=engine if offers_dreams and not read_only else None,
            read_only=read_only,
            reinforce=reinforce,
            budget=budget,
        )
        if http:
            server.serve_http(
                server.make_server(tools),
                host=host,
                port=port,
                token=token,
                allowed_hosts=names,
            )
        else:
            server.serve_stdio(server.make_server(tools))
