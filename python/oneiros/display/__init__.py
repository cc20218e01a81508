"""Scores and stored text shown to people: tables, trees, HTML."""

from __future__ import annotations
