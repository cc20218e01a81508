"""Settings in TOML or YAML: small tables of tables from outside, read with suspicion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oneiros.ranking.profile_record import (
    DEEPEST,
    LONGEST_TEXT,
    MOST_NODES,
    parse_toml,
    require_size,
)

if TYPE_CHECKING:
    import os

__all__ = ["read_settings"]

_YAML = (".yaml", ".yml")


def read_settings(path: str | os.PathLike[str]) -> dict[str, object]:
    """Return the table that a file holds.

    Args:
        path: ``.toml``, ``.yaml`` or ``.yml`` (by PyYAML's safe loader; the extra
            ``oneiros[yaml]``); at most 64 KiB, 8 levels and 4,096 values.

    Raises:
        ValueError: another suffix; no such text, or more of it; no table; in YAML, an alias or a
            key that comes twice.
        ImportError: YAML without PyYAML.
        OSError: the file cannot be read.
    """
    path = Path(path)
    if path.suffix not in (".toml", *_YAML):
        msg = f"path: expected a .toml, .yaml or .yml file, got {path.name!r}"
        raise ValueError(msg)
    with path.open("rb") as file:
        held = file.read(LONGEST_TEXT + 1)
    try:
        text = held.decode("utf-8")
    except UnicodeDecodeError as error:
        msg = f"{path.name}: expected UTF-8: {error}"
        raise ValueError(msg) from None
    try:
        return parse_toml(text) if path.suffix == ".toml" else _parse_yaml(text)
    except ValueError as error:
        msg = f"{path.name}: {error}"
        raise ValueError(msg) from error


def _parse_yaml(text: str) -> dict[str, object]:
    try:
        import yaml  # noqa: PLC0415 - an extra
    except ImportError as error:
        msg = "reading YAML needs PyYAML; install oneiros[yaml]"
        raise ImportError(msg) from error
    if len(text.encode()) > LONGEST_TEXT:
        msg = f"text: at most {LONGEST_TEXT} bytes, got more"
        raise ValueError(msg)
    try:
        _require_modest(yaml.parse(text, yaml.SafeLoader))
        _require_single_keys(yaml.compose(text, yaml.SafeLoader))
        record = yaml.safe_load(text)
    except yaml.YAMLError as error:
        msg = f"text: no YAML: {error}"
        raise ValueError(msg) from error
    if not isinstance(record, Mapping):
        msg = f"text: expected a table, got {type(record).__name__}"
        raise ValueError(msg)  # noqa: TRY004 - what a file holds, not what a caller gave
    require_size(dict(record))
    return dict(record)


def _require_modest(events: Iterator[Any]) -> None:
    """Refuse text before anything is built of it: ten aliases of ten aliases are a billion values.

    Nor is more of it looked at than may be there: deep nesting takes quadratic time.
    """
    depth = nodes = 0
    for event in events:
        name = type(event).__name__
        depth += name.endswith("StartEvent") - name.endswith("EndEvent")
        nodes += name in ("ScalarEvent", "SequenceStartEvent", "MappingStartEvent")
        if name == "AliasEvent":
            msg = "text: aliases are not read"
            raise ValueError(msg)
        if depth > DEEPEST + 2:  # the stream and the document are two
            msg = f"text: nested deeper than {DEEPEST}"
            raise ValueError(msg)
        if nodes > 2 * MOST_NODES + 1:  # keys are nodes here too
            msg = f"text: at most {MOST_NODES} values, got more"
            raise ValueError(msg)


def _require_single_keys(node: object) -> None:
    """Refuse a mapping that says something twice: YAML's loader would take the last."""
    value = getattr(node, "value", None)
    if not isinstance(value, list):
        return
    seen: set[object] = set()
    for item in value:
        parts = item if isinstance(item, tuple) else (item,)
        if len(parts) == 2:
            key = getattr(parts[0], "value", None)
            if isinstance(key, str) and key in seen:
                msg = f"text: {key!r} stands there twice"
                raise ValueError(msg)
            seen.add(key if isinstance(key, str) else id(parts[0]))
        for part in parts:
            _require_single_keys(part)
