"""Display of scores and stored text: tables, trees, HTML."""

from __future__ import annotations
