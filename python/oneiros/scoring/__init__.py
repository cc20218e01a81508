"""Profiles and their parts: channels, fusion, factors, selection, reinforcement.

All are frozen declarations; :meth:`oneiros.scoring.profile.Profile.compile` converts them into the
core's plan.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros._lazy import door

if TYPE_CHECKING:
    from oneiros.scoring import callable_factor as callable_factor
    from oneiros.scoring import kernels as kernels
    from oneiros.scoring import profile_settings as profile_settings
else:  # few searches need one of them
    __getattr__ = door(__name__, ("callable_factor", "kernels", "profile_settings"))
