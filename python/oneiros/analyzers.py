"""The analyzers of lexical indexes, by name. See :mod:`oneiros.lexical.analyzers`."""

from __future__ import annotations

import sys

from oneiros.lexical import analyzers

sys.modules[__name__] = analyzers  # one module under both names
