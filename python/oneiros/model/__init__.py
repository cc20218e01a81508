"""The memory: its record, its fields and their validation."""

from __future__ import annotations
