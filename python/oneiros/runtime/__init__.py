"""What the interpreter and the operating system give: files, locks, threads, warnings."""

from __future__ import annotations
