"""The rules that look into the texts of candidates, and the texts they read."""

from __future__ import annotations
