"""Profiles as people name them on a command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from oneiros.cli.failures import CommandError

if TYPE_CHECKING:
    from oneiros.ranking.profile import Profile

__all__ = ["PROFILE_HELP", "named_profile"]

PROFILE_HELP = "A name, NAME:PRESET, a .toml file, or FILE:PRESET."
_FILES = (".toml", ".yaml", ".yml")


def named_profile(option: str, written: str) -> Profile:
    """Return the profile of a name, of ``name:preset``, of a TOML file, or of presets in a file.

    Raises:
        CommandError: there is none; what the profile's own rules refuse, in their words.
    """
    from oneiros import profiles  # noqa: PLC0415  (--help must not pay for it)

    name, _, preset = written.rpartition(":") if ":" in written else (written, "", "")
    try:
        if name.endswith(_FILES):
            return _from_file(Path(name), preset)
        if preset:
            return profiles.get(name, preset=preset).replace(name=f"{name}-{preset}")
        return profiles.get(name)
    except (TypeError, ValueError) as error:
        msg = f"{option}: {error}"
        raise CommandError(msg) from error


def _from_file(path: Path, preset: str) -> Profile:
    from oneiros import profiles  # noqa: PLC0415
    from oneiros.ranking.profile import Profile  # noqa: PLC0415

    if not preset:
        return Profile.from_toml(path.read_text(encoding="utf-8"))
    presets = profiles.presets_from(path)
    if preset not in presets:
        msg = f"{path.name}: no preset {preset!r}; known: {', '.join(presets)}"
        raise ValueError(msg)
    return presets[preset].replace(name=f"ciar-{preset}")
