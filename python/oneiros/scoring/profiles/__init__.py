"""Profiles by name: the built-in scoring systems, one file each, and registered profiles.

A file defines ``PROFILES``, a tuple of profiles, and may define ``PRESETS``: profile name -> preset
name -> profile.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from functools import cache
from importlib import import_module

from oneiros import scoring
from oneiros.display.escaping import LONGEST_NAMED, shortened
from oneiros.errors import UnknownProfile
from oneiros.model.validation import require_flag, require_instance
from oneiros.scoring.profile import Profile

__all__ = ["from_environment", "get", "names", "presets_from", "register", "resolved"]

_lock = threading.RLock()  # reentrant: a signal handler may run on the thread that holds it
_profiles: dict[str, Profile] = {}
_presets: dict[str, dict[str, Profile]] = {}
_read_systems: set[str] = set()
_DEFAULT = "oneiros"  # the default profile of engines


@cache
def _load() -> None:
    """Read all files of this folder, once."""
    from pkgutil import iter_modules  # noqa: PLC0415 - not needed for the default profile

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
        for name, by_preset in presets.items():
            _presets.setdefault(name, by_preset)
        _read_systems.add(system)


def names() -> list[str]:
    """Return the names of all profiles, sorted.

    >>> from oneiros import profiles
    >>> "reverie" in profiles.names()
    True
    """
    _load()
    return sorted(_profiles)


def register(profile: Profile, *, presets: Mapping[str, Profile] | None = None) -> None:
    """Make a profile known by its name to :func:`get`, ``Engine(profile=...)`` and the CLI.

    >>> from oneiros import Profile, profiles
    >>> profiles.register(Profile(name="plain"))
    >>> profiles.get("plain").name
    'plain'

    Args:
        profile: a profile with an unused name; registering an equal profile again has no effect.
        presets: more profiles that ``get(profile.name, preset=...)`` returns, by preset name; one
            of a known name takes its place.

    Raises:
        TypeError: not a profile.
        ValueError: another profile has the name.
    """
    _require_profile(profile)
    if presets is not None:
        require_instance("presets", presets, (Mapping,), "a dict of name to Profile")
    for preset in (presets or {}).values():
        _require_profile(preset)
    _load()
    with _lock:
        if _profiles.setdefault(profile.name, profile) != profile:
            msg = f"profile: another one is called {profile.name!r}"
            raise ValueError(msg)
        if presets:
            _presets[profile.name] = {**_presets.get(profile.name, {}), **presets}


def get(name: str, *, preset: str | None = None, **switches: bool) -> Profile:
    """Return the profile of this name, optionally without some of its factors.

    >>> from oneiros import profiles
    >>> [factor.name for factor in profiles.get("reverie", lifecycle=False).factors]
    ['time_decay']

    Args:
        name: one of :func:`names`.
        preset: a preset of the profile, as in ``get("ciar", preset="customer_service")``.
        **switches: ``lifecycle=False`` removes every factor that reads lifecycle state;
            ``get("reverie", lifecycle=False)`` is docs/systems/reverie.md R1 to R4. The name of a
            factor removes that factor, as in ``get("reverie", spread=False)``.

    Raises:
        UnknownProfile: no profile or preset has this name; the message lists the known ones.
        TypeError: a switch that the profile does not have, or a value that is not a bool.
    """
    if name == _DEFAULT:
        _read(_DEFAULT)
    else:
        _load()
    key: object = name  # may be of any type at run time
    profile = _profiles.get(key) if isinstance(key, str) else None
    if profile is None:
        msg = f"name: no profile is called {shortened(repr(name), LONGEST_NAMED)}; known: {', '.join(names())}"
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
    """Return a profile given as such or by name.

    >>> from oneiros import profiles
    >>> profiles.resolved("omega") == profiles.resolved(profiles.get("omega"))
    True

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
    """Read CIAR presets from a file in the layout of its source; return profiles by preset name.

    ``default`` has the numbers outside of ``presets``; missing numbers are the published ones.
    ``register(get("ciar"), presets=presets_from(path))`` makes the presets known by name.

    >>> import pathlib, tempfile
    >>> from oneiros import profiles
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "ciar.toml")
    ...     _ = path.write_text("ciar.presets.support.promotion_threshold = 0.7")
    ...     profiles.presets_from(path)["support"].promotion
    Promotion(threshold=0.7)

    Args:
        path: a ``.toml`` file; or ``.yaml`` or ``.yml``, read by PyYAML's safe loader.

    Raises:
        TypeError, ValueError: unexpected content, or a number out of its range; the message names
            the file and the place.
        ImportError: YAML without the extra ``oneiros[yaml]``.
        OSError: the file cannot be read.

    Source: docs/systems/ciar.md A6, A9.
    """
    return scoring.profile_settings.read_presets(path, get("ciar"))


def from_environment(
    name: str = "omega", *, environment: Mapping[str, str] | None = None
) -> Profile:
    """Return a profile with numbers from environment variables.

    The variables are ``OMEGA_STRONG_SIGNAL_THRESHOLD``, ``OMEGA_STRONG_SIGNAL_GAP``,
    ``OMEGA_SEMANTIC_DEDUP_THRESHOLD``, ``OMEGA_ADAPTIVE_RETRY_THRESHOLD`` and
    ``OMEGA_ADAPTIVE_RETRY_RELAXATION``. Only this call reads them; searches do not.

    >>> from oneiros import profiles
    >>> environment = {"OMEGA_STRONG_SIGNAL_GAP": "0.2"}
    >>> profiles.from_environment(environment=environment).strong_signal.gap
    0.2

    Args:
        name: one of :func:`names`; variables of parts that it lacks are ignored.
        environment: variables by name; None: those of the process. Empty ones are ignored.

    Raises:
        UnknownProfile: no profile has this name.
        ValueError: a variable is not a number or out of its range; the message names it.

    Source: docs/systems/omega.md O5, O26, O28.
    """
    variables = os.environ if environment is None else environment
    return scoring.profile_settings.with_environment(get(name), variables)


def _preset_of(name: str, preset: object) -> Profile:
    presets = _presets.get(name, {})
    if not isinstance(preset, str) or preset not in presets:
        known = ", ".join(presets) or "none"
        msg = f"preset: profile {name!r} has none called {preset!r}; known: {known}"
        raise UnknownProfile(msg)
    return presets[preset]
