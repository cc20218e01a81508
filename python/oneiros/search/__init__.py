"""One search, from its query to its response. The stages run in the core; this is around them."""

from __future__ import annotations
