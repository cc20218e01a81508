"""The scoring systems by name: ``oneiros.profiles.get("reverie")``. See :mod:`oneiros.scoring.profiles`."""

from __future__ import annotations

import sys

from oneiros.scoring import profiles

sys.modules[__name__] = profiles  # one module under both names
