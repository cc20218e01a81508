"""The engines by name; a module is imported, and its engine needed, only when it is asked for."""

from __future__ import annotations

import importlib

from bench.peers.engines.engine import Engine

__all__ = ["ENGINES", "Engine", "engine_class"]

ENGINES = {
    "oneiros": "oneiros_index:Oneiros",
    "pisa-maxscore-8bit": "pisa:MaxScore8Bit",
    "pisa-maxscore": "pisa:MaxScore",
    "pisa-block-max": "pisa:BlockMaxMaxScore",
    "tantivy": "tantivy_index:Tantivy",
    "bm25s-numba": "bm25s_index:Bm25sNumba",
    "bm25s-numpy": "bm25s_index:Bm25sNumpy",
    "sqlite-fts5": "sqlite_fts5:SqliteFts5",
}
"""Name -> module and class, in the order of the tables."""


def engine_class(name: str) -> type[Engine]:
    """Return an engine's class.

    Raises:
        ImportError: what it stands on is not installed.
        ValueError: no engine has this name.
    """
    if name not in ENGINES:
        msg = f"engine: must be one of {', '.join(ENGINES)}, got {name!r}"
        raise ValueError(msg)
    module, _, of_class = ENGINES[name].partition(":")
    found: type[Engine] = getattr(importlib.import_module(f"{__name__}.{module}"), of_class)
    return found
