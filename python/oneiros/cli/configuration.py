"""Settings of the commands from a file ``oneiros.toml``, and ``oneiros config``."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import typer

from oneiros.cli import terminal
from oneiros.cli.failures import CommandError
from oneiros.cli.options import (
    DEFAULT_STORE,
    AnalyzerOption,
    EmbedderOption,
    JsonOption,
    PlainOption,
    ProfileOption,
    ScopeOption,
    StoreOption,
    TimezoneOption,
    bounds_of,
    read_toml,
)

__all__ = ["FILE_NAME", "VARIABLE", "config", "default_map"]

FILE_NAME: Final = "oneiros.toml"
VARIABLE: Final = "ONEIROS_CONFIG"

_SETTINGS: Final = ("store", "profile", "embedder", "analyzer", "timezone", "scope")
_VARIABLES: Final = {name: f"ONEIROS_{name.upper()}" for name in _SETTINGS}
_SCOPED_BY_OPTIONS: Final = ("user", "agent", "project", "namespace")  # of ``oneiros mcp``
_SEARCHES: Final = frozenset({"search", "why-not", "mcp", "config"})
"""Commands whose ``--profile`` is the ranking of searches."""
_MEASURES: Final = frozenset({"evaluate", "eval", "tune"})
"""Commands whose ``--embedder`` and ``--analyzer`` are not those of a store."""


def default_map(commands: Mapping[str, object]) -> dict[str, dict[str, Any]]:
    """Return what a file of settings gives each command, by the name of the parameter.

    The file is ``oneiros.toml`` in the working directory, or the one that ONEIROS_CONFIG names.
    Options and variables come before it.

    Args:
        commands: names of the commands.

    Raises:
        CommandError: the named file is missing, is no TOML, or holds another setting or a value of
            another kind; the message names file and line.
    """
    path = _file()
    if path is None:
        return {}
    given = _read(path)
    scope = given.pop("scope", {})
    shared = {**given, "scope": [f"{name}={value}" for name, value in scope.items()] or None}
    for_mcp = {name: value for name, value in scope.items() if name in _SCOPED_BY_OPTIONS}
    found = {}
    for command in commands:
        settings = {name: value for name, value in shared.items() if value is not None}
        if command not in _SEARCHES:
            settings.pop("profile", None)
        if command in _MEASURES:
            for name in ("embedder", "analyzer"):
                settings.pop(name, None)
        found[command] = settings | (for_mcp if command == "mcp" else {})
    return found


def config(
    context: typer.Context,
    store: StoreOption = DEFAULT_STORE,
    profile: ProfileOption = None,
    embedder: EmbedderOption = None,
    analyzer: AnalyzerOption = None,
    timezone: TimezoneOption = None,
    scope: ScopeOption = None,
    plain: PlainOption = False,
    json: JsonOption = False,
) -> None:
    """Show the settings that commands use here, and where each comes from.

    An option comes before a variable (ONEIROS_STORE, ONEIROS_PROFILE, ONEIROS_EMBEDDER,
    ONEIROS_ANALYZER, ONEIROS_TIMEZONE, ONEIROS_SCOPE), a variable before the file oneiros.toml in
    the working directory or the one that ONEIROS_CONFIG names. A relative store in the file is
    relative to the file.
    """
    path = _file()
    values = {
        "store": str(store),
        "profile": profile or "oneiros",
        "embedder": embedder,
        "analyzer": analyzer,
        "timezone": timezone,
    }
    settings: dict[str, dict[str, object]] = {
        name: {"value": value, "from": _origin(context, name, path)}
        for name, value in (*values.items(), ("scope", bounds_of(scope)))
    }
    if json:
        found = {"file": None if path is None else str(path), "settings": settings}
        terminal.write("config", store, found)
        return
    rows = [(name, _shown(one["value"]), str(one["from"])) for name, one in settings.items()]
    terminal.show_rows(("setting", "value", "from"), rows, plain=plain, folds=("value", "from"))


def _origin(context: typer.Context, name: str, path: Path | None) -> str:
    source = context.get_parameter_source(name)
    kind = "default" if source is None else source.name.lower()
    if kind == "commandline":
        return f"option --{name}"
    if kind == "environment":
        return f"variable {_VARIABLES[name]}"
    return f"file {path}" if kind == "default_map" else "default"


def _shown(value: object) -> str:
    if isinstance(value, Mapping):
        return " ".join(f"{name}={one}" for name, one in value.items()) or "-"
    return "-" if value is None else str(value)


def _file() -> Path | None:
    """Return the file of settings, if there is one."""
    given = os.environ.get(VARIABLE)
    if given:
        path = Path(given)
        if not path.is_file():
            msg = f"{VARIABLE}: {given}: no such file"
            raise CommandError(msg)
        return path
    path = Path(FILE_NAME)
    return path if path.is_file() else None


def _read(path: Path) -> dict[str, Any]:
    """Return the settings of a file, the store's path as seen from here."""
    text, given = read_toml(path)
    fail = partial(_refuse, path, text)
    for name, value in given.items():
        if name not in _SETTINGS:
            fail(name, f"no setting is named {name!r}; there are {', '.join(_SETTINGS)}")
        if name == "scope":
            if not isinstance(value, dict):
                fail(name, f'scope: must be a table such as {{ user = "ada" }}, got {value!r}')
            for field, one in value.items():
                if not isinstance(one, str) or not one:
                    fail(field, f"scope.{field}: must be a text that is not empty, got {one!r}")
        elif not isinstance(value, str) or not value:
            fail(name, f"{name}: must be a text that is not empty, got {value!r}")
    if "store" in given:
        given["store"] = str(path.parent / given["store"])
    return given


def _refuse(path: Path, text: str, key: str, problem: str) -> None:
    """Raise an error that names the line of a key."""
    lines = text.split("\n")
    named = re.compile(rf"(^|[\s{{,\[.\"']){re.escape(key)}[\"']?\s*[\].=]")
    line = next((number for number, one in enumerate(lines, 1) if named.search(one)), 1)
    msg = f"{path}:{line}: {problem}"
    raise CommandError(msg)
