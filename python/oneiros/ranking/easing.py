"""Profiles as a second search asks them. Source: docs/systems/omega.md O28."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from oneiros.ranking.channels import ChannelDeclaration
from oneiros.ranking.finishing import eased

if TYPE_CHECKING:
    from oneiros.ranking.finishing import AdaptiveRetry
    from oneiros.ranking.profile import Profile

__all__ = ["eased_profile"]


@lru_cache(maxsize=512)
def eased_profile(profile: Profile, rule: AdaptiveRetry) -> Profile:
    """Return the profile with less asked of a result, and no retry."""
    abstention = profile.abstention
    return profile.replace(
        channels=tuple(_eased(channel, rule) for channel in profile.channels),
        abstention=None if abstention is None else abstention.eased(rule),
        retry=None,
    )


def _eased(channel: ChannelDeclaration, rule: AdaptiveRetry) -> ChannelDeclaration:
    if channel.least is None:
        return channel
    return channel.with_least(eased(channel.least, rule.relaxation))
