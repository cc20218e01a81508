"""The former place of ``factors``, ``fusion`` and ``channels``, now in :mod:`oneiros.scoring`. Deprecated."""

from __future__ import annotations

import sys
import warnings

from oneiros.scoring import channels, factors, fusion

warnings.warn(
    "oneiros.ranking is now oneiros.scoring; the old name goes with the next version",
    DeprecationWarning,
    stacklevel=2,
)
for _module in (channels, factors, fusion):
    sys.modules[f"{__name__}.{_module.__name__.rpartition('.')[2]}"] = _module
