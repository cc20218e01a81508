"""Searches from query to response. The core runs the stages; this package wraps them."""

from __future__ import annotations
