"""Embedders and rerankers, and adapters for the libraries that run models."""

from __future__ import annotations
