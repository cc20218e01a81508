"""Memory that was freed and that the C library keeps."""

from __future__ import annotations

__all__ = ["give_back"]


def give_back() -> None:
    """Return freed memory to the system where glibc would keep it; this takes some milliseconds."""
    import ctypes  # noqa: PLC0415 - slow to load, and rarely needed

    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
