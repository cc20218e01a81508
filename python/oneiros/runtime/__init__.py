"""Files, locks, threads, hashes, warnings and dataclasses, on top of the standard library."""

from __future__ import annotations
