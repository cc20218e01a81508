"""The numbers of profiles from the environment and from TOML or YAML files. Source: docs/systems/ciar.md A9."""

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
"""Variable -> part and field of the profile."""


def with_environment(profile: Profile, environment: Mapping[str, str]) -> Profile:
    """Return the profile with the numbers that are set there, of the parts that it has.

    Raises:
        ValueError: one is no number, or out of its field's range; the message names the variable.
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


_NUMBERS: Final = ("lambda_decay", "alpha_reinforcement", "promotion_threshold")
_DEFAULT: Final = "default"


def read_presets(path: str | os.PathLike[str], ciar: Profile) -> dict[str, Profile]:
    """Return the presets that a file holds; ``default`` has the numbers that stand above them.

    Args:
        path: as :func:`read_settings` takes it.
        ciar: the profile whose numbers they replace. A number that a preset leaves out is that of
            ``default``; one that this leaves out, the profile's own.

    Raises:
        TypeError: a number of another type.
        ValueError: an unknown key, a number out of its range, what :func:`read_settings` refuses;
            the message names the file and the place in it.
        ImportError, OSError: as :func:`read_settings`.
    """
    settings = read_settings(file_name("path", path))
    where = f"{Path(path).name}: ciar"
    require_keys(settings, ("ciar",), Path(path).name)
    table = _table(settings.get("ciar"), where)
    require_keys(table, (*_NUMBERS, "presets"), where)
    numbers = {name: table[name] for name in _NUMBERS if name in table}
    presets = {_DEFAULT: _with_numbers(ciar, numbers, where)}
    for name, held in _table(table.get("presets", {}), f"{where}.presets").items():
        place = f"{where}.presets.{name}"
        own = _table(held, place)
        require_keys(own, _NUMBERS, place)
        if name in presets or not isinstance(name, str):
            msg = f"{place}: a preset's name is a word other than {_DEFAULT}"
            raise ValueError(msg)
        presets[name] = _with_numbers(ciar, {**numbers, **own}, place)
    return presets


def _with_numbers(ciar: Profile, numbers: Mapping[str, Any], where: str) -> Profile:
    made: dict[str, Any] = {}
    try:
        for name, kind, field in (
            ("lambda_decay", CiarDecay, "rate"),
            ("alpha_reinforcement", CiarReinforcement, "reinforcement"),
            ("promotion_threshold", Promotion, "threshold"),
        ):
            if name in numbers:
                made[field] = kind(**{field: numbers[name]})
    except (TypeError, ValueError) as error:
        msg = f"{where}.{name} ({error})"
        raise type(error)(msg) from error
    factors = (_replaced(factor, made) for factor in ciar.factors)
    return ciar.replace(factors=tuple(factors), promotion=made.get("threshold", ciar.promotion))


def _replaced(factor: Any, made: Mapping[str, Any]) -> Any:
    """Return the new factor of the same name, if there is one."""
    new = {held.name: held for field, held in made.items() if field != "threshold"}
    return new.get(factor.name, factor)


def _table(value: object, where: str) -> dict[Any, Any]:
    if not isinstance(value, Mapping):
        msg = f"{where}: expected a table, got {type(value).__name__}"
        raise TypeError(msg)
    return dict(value)
