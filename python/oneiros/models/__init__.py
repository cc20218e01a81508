"""Embedders and rerankers, with adapters for the libraries that run models."""

from __future__ import annotations
