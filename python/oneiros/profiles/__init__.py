"""The scoring systems by name."""

from __future__ import annotations

from oneiros.errors import UnknownProfile
from oneiros.profiles.reverie import REVERIE, REVERIE_CAPPED
from oneiros.ranking.declaration import require_flag
from oneiros.ranking.profile import Profile

__all__ = ["get", "names"]

_PROFILES = {profile.name: profile for profile in (REVERIE, REVERIE_CAPPED)}


def names() -> list[str]:
    """Return the names that :func:`get` knows, sorted."""
    return sorted(_PROFILES)


def get(name: str, **options: bool) -> Profile:
    """Return the profile of this name, with switches.

    Args:
        name: one of :func:`names`.
        **options: ``lifecycle=False`` leaves out every factor that reads lifecycle state, so that
            ``get("reverie", lifecycle=False)`` is docs/systems/reverie.md R1 to R4; a factor's own
            name leaves out that factor, as in ``get("reverie", spread=False)``.

    Raises:
        UnknownProfile: no profile has this name; the message lists those there are.
        TypeError: an option that the profile does not have, or whose value is no bool.
    """
    profile = _PROFILES.get(name)
    if profile is None:
        msg = f"name: no profile is called {name!r}; known: {', '.join(names())}"
        raise UnknownProfile(msg)
    switches = ["lifecycle", *(factor.name for factor in profile.factors)]
    for option, value in options.items():
        if option not in switches:
            msg = f"{option}: no option of profile {name!r}; known: {', '.join(switches)}"
            raise TypeError(msg)
        require_flag(option, value)
    kept = tuple(
        factor
        for factor in profile.factors
        if options.get(factor.name, True)
        and (options.get("lifecycle", True) or not factor.is_lifecycle)
    )
    return profile if kept == profile.factors else profile.replace(factors=kept)
