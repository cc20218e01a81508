"""Searches from query to response. The core runs the stages; this package prepares and wraps them."""

from __future__ import annotations
