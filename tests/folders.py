"""Where tests make files that need no disk of their own."""

from __future__ import annotations

from pathlib import Path

__all__ = ["IN_MEMORY"]

IN_MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""A folder whose files cost no disk's time; None: the machine's own temporary one."""
