"""Every formula on its own, over scalars or arrays. See :mod:`oneiros.scoring.kernels`."""

from __future__ import annotations

import sys

from oneiros.scoring import kernels

sys.modules[__name__] = kernels  # one module under both names
