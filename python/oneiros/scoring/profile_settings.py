"""Settings of profiles from the environment and from TOML or YAML files.

Source: docs/systems/ciar.md A9.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from oneiros.model.validation import file_name
from oneiros.runtime.dataclasses import replace
from oneiros.scoring.factors import CiarDecay, CiarReinforcement
from oneiros.scoring.profile_record import (
    DEEPEST,
    LONGEST_TEXT,
    MOST_NODES,
    parse_toml,
    require_keys,
    require_size,
)
from oneiros.scoring.promotion import Promotion

if TYPE_CHECKING:
    import os

    from oneiros.scoring.profile import Profile

__all__ = ["VARIABLES", "read_presets", "read_settings", "with_environment"]


VARIABLES: Final = {
    "OMEGA_STRONG_SIGNAL_THRESHOLD": ("strong_signal", "threshold"),  # O5
    "OMEGA_STRONG_SIGNAL_GAP": ("strong_signal", "gap"),
    "OMEGA_SEMANTIC_DEDUP_THRESHOLD": ("duplicates", "cosine"),  # O26
    "OMEGA_ADAPTIVE_RETRY_THRESHOLD": ("retry", "least_confidence"),  # O28
    "OMEGA_ADAPTIVE_RETRY_RELAXATION": ("retry", "relaxation"),
}
"""Environment variable -> part and field of the profile."""


def with_environment(profile: Profile, environment: Mapping[str, str]) -> Profile:
    """Return the profile with the numbers set in ``environment``; parts it lacks are skipped.

    Raises:
        ValueError: not a number, or out of range; the message names the variable.
    """
    changes: dict[str, Any] = {}
    for variable, (name, field) in VARIABLES.items():
        part, text = changes.get(name, getattr(profile, name)), environment.get(variable, "")
        if part is None or not text:
            continue
        try:
            changes[name] = replace(part, **{field: float(text)})
        except ValueError as error:
            msg = f"{variable}: {error}"
            raise ValueError(msg) from error
    return profile.replace(**changes) if changes else profile


_YAML = (".yaml", ".yml")


def read_settings(path: str | os.PathLike[str]) -> dict[str, object]:
    """Read the table in a TOML or YAML file.

    Args:
        path: ``.toml``, ``.yaml`` or ``.yml``; at most 64 KiB, 8 levels and 4,096 values. YAML is
            read by PyYAML's safe loader (extra ``oneiros[yaml]``).

    Raises:
        ValueError: another suffix, invalid content, a limit exceeded, or not a table; in YAML, an
            alias or a duplicate key.
        ImportError: YAML without PyYAML.
        OSError: the file cannot be read.
    """
    path = Path(path)
    if path.suffix not in (".toml", *_YAML):
        msg = f"path: expected a .toml, .yaml or .yml file, got {path.name!r}"
        raise ValueError(msg)
    with path.open("rb") as file:
        content = file.read(LONGEST_TEXT + 1)
    try:
        text = content.decode("utf-8-sig")
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
        import yaml  # noqa: PLC0415 - optional
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
        raise ValueError(msg)  # noqa: TRY004 - the content of a file, not an argument
    require_size(dict(record))
    return dict(record)


def _require_modest(events: Iterator[Any]) -> None:
    """Check the limits before any value is built: nested aliases grow exponentially.

    Stops at the first excess, because deep nesting takes quadratic time.
    """
    depth = nodes = 0
    for event in events:
        name = type(event).__name__
        depth += name.endswith("StartEvent") - name.endswith("EndEvent")
        nodes += name in ("ScalarEvent", "SequenceStartEvent", "MappingStartEvent")
        if name == "AliasEvent":
            msg = "text: aliases are not read"
            raise ValueError(msg)
        if depth > DEEPEST + 2:  # the stream and the document are two levels
            msg = f"text: nested deeper than {DEEPEST}"
            raise ValueError(msg)
        if nodes > 2 * MOST_NODES + 1:  # keys are nodes too
            msg = f"text: at most {MOST_NODES} values, got more"
            raise ValueError(msg)


def _require_single_keys(node: object) -> None:
    """Check that no mapping has a duplicate key, of which YAML's loader would take the last."""
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


_NUMBERS: Final = ("lambda_decay", "alpha_reinforcement", "promotion_threshold")
_DEFAULT: Final = "default"


def read_presets(path: str | os.PathLike[str], ciar: Profile) -> dict[str, Profile]:
    """Read CIAR presets from a file; ``default`` has the numbers outside of ``presets``.

    Args:
        path: as in :func:`read_settings`.
        ciar: the base profile. Numbers that a preset leaves out come from ``default``, and those
            that ``default`` leaves out from this profile.

    Raises:
        TypeError: a number of another type.
        ValueError: an unknown key, a number out of its range, or as :func:`read_settings`; the
            message names the file and the place in it.
        ImportError, OSError: as :func:`read_settings`.
    """
    settings = read_settings(file_name("path", path))
    where = f"{Path(path).name}: ciar"
    require_keys(settings, ("ciar",), Path(path).name)
    table = _table(settings.get("ciar"), where)
    require_keys(table, (*_NUMBERS, "presets"), where)
    numbers = {name: table[name] for name in _NUMBERS if name in table}
    presets = {_DEFAULT: _with_numbers(ciar, numbers, where)}
    for name, preset in _table(table.get("presets", {}), f"{where}.presets").items():
        place = f"{where}.presets.{name}"
        changes = _table(preset, place)
        require_keys(changes, _NUMBERS, place)
        if name in presets or not isinstance(name, str):
            msg = f"{place}: a preset's name is a word other than {_DEFAULT}"
            raise ValueError(msg)
        presets[name] = _with_numbers(ciar, {**numbers, **changes}, place)
    return presets


def _with_numbers(ciar: Profile, numbers: Mapping[str, Any], where: str) -> Profile:
    parts: dict[str, Any] = {}
    try:
        for name, kind, field in (
            ("lambda_decay", CiarDecay, "rate"),
            ("alpha_reinforcement", CiarReinforcement, "reinforcement"),
            ("promotion_threshold", Promotion, "threshold"),
        ):
            if name in numbers:
                parts[field] = kind(**{field: numbers[name]})
    except (TypeError, ValueError) as error:
        msg = f"{where}.{name} ({error})"
        raise type(error)(msg) from error
    promotion = parts.pop("threshold", ciar.promotion)
    return ciar.with_factors(*parts.values()).replace(promotion=promotion)


def _table(value: object, where: str) -> dict[Any, Any]:
    if not isinstance(value, Mapping):
        msg = f"{where}: expected a table, got {type(value).__name__}"
        raise TypeError(msg)
    return dict(value)
