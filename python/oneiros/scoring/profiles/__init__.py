"""The scoring systems by name: one file of this folder a system, and what a program registers.

A file holds ``PROFILES``, a tuple of profiles, and may hold ``PRESETS``: by a profile's name, its
presets by theirs.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from oneiros.errors import UnknownProfile
from oneiros.model.validation import require_flag, require_instance
from oneiros.scoring.profile import Profile

if TYPE_CHECKING:
    import os

__all__ = ["from_environment", "get", "names", "presets_from", "register", "resolved"]

_lock = threading.RLock()  # a signal handler may ask on the thread that holds it
_profiles: dict[str, Profile] = {}
_presets: dict[str, dict[str, Profile]] = {}
_read_systems: set[str] = set()
_DEFAULT = "oneiros"  # the file that every engine asks for, unless it is told otherwise


@cache
def _load() -> None:
    """Read the files of this folder, each once; which there are, is looked up once too."""
    from pkgutil import iter_modules  # noqa: PLC0415 - for who asks for more than one system

    for module in iter_modules(__path__):
        _read(module.name)


def _read(system: str) -> None:
    with _lock:
        if system in _read_systems:
            return
        module = import_module(f"{__name__}.{system}")
        for profile in module.PROFILES:
            _profiles.setdefault(profile.name, profile)
        presets: Mapping[str, dict[str, Profile]] = getattr(module, "PRESETS", {})
        for name, held in presets.items():
            _presets.setdefault(name, held)
        _read_systems.add(system)


def names() -> list[str]:
    """Return the names that :func:`get` knows, sorted."""
    _load()
    return sorted(_profiles)


def register(profile: Profile, *, presets: Mapping[str, Profile] | None = None) -> None:
    """Let :func:`get`, ``Engine(profile=...)`` and the command line know a profile by its name.

    Args:
        profile: under a name that no other has; the same profile again changes nothing.
        presets: by name, what ``get(profile.name, preset=...)`` returns.

    Raises:
        TypeError: no profile.
        ValueError: another profile has the name.
    """
    _require_profile(profile)
    if presets is not None:
        require_instance("presets", presets, (Mapping,), "a dict of name to Profile")
    for held in (presets or {}).values():
        _require_profile(held)
    _load()
    with _lock:
        if _profiles.setdefault(profile.name, profile) != profile:
            msg = f"profile: another one is called {profile.name!r}"
            raise ValueError(msg)
        if presets:
            _presets[profile.name] = dict(presets)


def get(name: str, *, preset: str | None = None, **switches: bool) -> Profile:
    """Return the profile of this name, with switches.

    Args:
        name: one of :func:`names`.
        preset: one of the profile's own, as ``get("ciar", preset="customer_service")``.
        **switches: ``lifecycle=False`` leaves out every factor that reads lifecycle state, so that
            ``get("reverie", lifecycle=False)`` is docs/systems/reverie.md R1 to R4; a factor's own
            name leaves out that factor, as in ``get("reverie", spread=False)``.

    Raises:
        UnknownProfile: no profile, or no preset, has this name; the message lists those there are.
        TypeError: a switch that the profile does not have, or whose value is no bool.
    """
    if name == _DEFAULT:
        _read(_DEFAULT)
    else:
        _load()
    given: object = name  # whatever the annotation promises
    profile = _profiles.get(given) if isinstance(given, str) else None
    if profile is None:
        msg = f"name: no profile is called {name!r}; known: {', '.join(names())}"
        raise UnknownProfile(msg)
    if preset is not None:
        profile = _preset_of(name, preset)
    if not switches:
        return profile
    known = ["lifecycle", *(factor.name for factor in profile.factors)]
    for switch, value in switches.items():
        if switch not in known:
            msg = f"{switch}: no option of profile {name!r}; known: {', '.join(known)}"
            raise TypeError(msg)
        require_flag(switch, value)
    kept = tuple(
        factor
        for factor in profile.factors
        if switches.get(factor.name, True)
        and (switches.get("lifecycle", True) or not factor.is_lifecycle)
    )
    return profile if kept == profile.factors else profile.replace(factors=kept)


def resolved(profile: Profile | str) -> Profile:
    """Return the profile that is given, or the one of a name.

    Raises:
        TypeError: neither a profile nor a name.
        UnknownProfile: no profile has the name.
    """
    if isinstance(profile, str):
        return get(profile)
    require_instance("profile", profile, (Profile,), "a name or a Profile")
    return profile


def _require_profile(value: object) -> None:
    if not isinstance(value, Profile):
        msg = f"profile: expected Profile, got {type(value).__name__} {value!r}"
        raise TypeError(msg)


def presets_from(path: str | os.PathLike[str]) -> dict[str, Profile]:
    """Return CIAR's presets from a file in its source's layout, as profiles by their names.

    ``default`` is what stands above the presets; a number left out is the published one. To look
    them up by name, hand them on: ``register(get("ciar"), presets=presets_from(path))``.

    Args:
        path: ``.toml``; or ``.yaml`` or ``.yml``, read by PyYAML's safe loader.

    Raises:
        TypeError, ValueError: something else stands there, or a number out of its range; the
            message names the file and the place.
        ImportError: YAML without the extra ``oneiros[yaml]``.
        OSError: the file cannot be read.

    Source: docs/systems/ciar.md A6, A9.
    """
    from oneiros.scoring.profile_settings import read_presets  # noqa: PLC0415 - few need it

    return read_presets(path, get("ciar"))


def from_environment(
    name: str = "omega", *, environment: Mapping[str, str] | None = None
) -> Profile:
    """Return a profile with the numbers that its source lets the environment set.

    ``OMEGA_STRONG_SIGNAL_THRESHOLD`` and ``OMEGA_STRONG_SIGNAL_GAP``,
    ``OMEGA_SEMANTIC_DEDUP_THRESHOLD``, ``OMEGA_ADAPTIVE_RETRY_THRESHOLD`` and
    ``OMEGA_ADAPTIVE_RETRY_RELAXATION``. They are read here and now: a search reads its profile alone.

    Args:
        name: one of :func:`names`; what it has no part for is passed over.
        environment: variables by name; default: the process's. An empty one is as none.

    Raises:
        UnknownProfile: no profile has this name.
        ValueError: a variable is no number, or out of its range; the message names it.

    Source: docs/systems/omega.md O5, O26, O28.
    """
    import os  # noqa: PLC0415 - few ask

    from oneiros.scoring.profile_settings import with_environment  # noqa: PLC0415

    return with_environment(get(name), os.environ if environment is None else environment)


def _preset_of(name: str, preset: object) -> Profile:
    presets = _presets.get(name, {})
    if not isinstance(preset, str) or preset not in presets:
        known = ", ".join(presets) or "none"
        msg = f"preset: profile {name!r} has none called {preset!r}; known: {known}"
        raise UnknownProfile(msg)
    return presets[preset]
