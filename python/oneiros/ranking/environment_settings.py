"""Numbers of a profile that its source lets the environment set; read when asked for, never by a search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from oneiros.dataclasses_on_use import replace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oneiros.ranking.profile import Profile

__all__ = ["VARIABLES", "with_environment"]

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
