"""Oneiros: storage, retrieval and lifecycle of agent memories.

Public names load their modules on first use, which keeps ``import oneiros`` fast.

    >>> import oneiros
    >>> with oneiros.Engine(":memory:") as engine:
    ...     id = engine.add("Ada likes coffee")
    ...     engine.search("coffee").texts
    ['Ada likes coffee']
"""

from __future__ import annotations

# True for type checkers. Importing it from typing would take longer than the rest of this module.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from oneiros.dream.drift import drift_over as drift_over
    from oneiros.dream.schedule import DreamSchedule as DreamSchedule
    from oneiros.engine import Engine as Engine
    from oneiros.engine.async_engine import AsyncEngine as AsyncEngine
    from oneiros.engine.feed import ChangeFeed as ChangeFeed
    from oneiros.engine.feed import MemoryChange as MemoryChange
    from oneiros.engine.history import Revision as Revision
    from oneiros.engine.observers import Event as Event
    from oneiros.errors import DamagedMemoriesWarning as DamagedMemoriesWarning
    from oneiros.errors import DreamBusy as DreamBusy
    from oneiros.errors import DuplicateId as DuplicateId
    from oneiros.errors import EmbedderMismatch as EmbedderMismatch
    from oneiros.errors import EngineClosed as EngineClosed
    from oneiros.errors import EngineReadOnly as EngineReadOnly
    from oneiros.errors import HistoryUnavailable as HistoryUnavailable
    from oneiros.errors import MissingEmbedderWarning as MissingEmbedderWarning
    from oneiros.errors import OneirosError as OneirosError
    from oneiros.errors import QueryTooLarge as QueryTooLarge
    from oneiros.errors import StoreBusy as StoreBusy
    from oneiros.errors import StoreCorrupt as StoreCorrupt
    from oneiros.errors import StoreFull as StoreFull
    from oneiros.errors import StoreIOError as StoreIOError
    from oneiros.errors import StorePoisoned as StorePoisoned
    from oneiros.errors import StoreVersionError as StoreVersionError
    from oneiros.errors import TextEncodingError as TextEncodingError
    from oneiros.errors import UnknownMemory as UnknownMemory
    from oneiros.errors import UnknownProfile as UnknownProfile
    from oneiros.explain.explanation import Explanation as Explanation
    from oneiros.explain.why_not import WhyNot as WhyNot
    from oneiros.filters import meta as meta
    from oneiros.filters import where as where
    from oneiros.graph import Link as Link
    from oneiros.lexical import analyzers as analyzers
    from oneiros.lexical.index import LexicalIndex as LexicalIndex
    from oneiros.lexical.statistics import QueryStatistics as QueryStatistics
    from oneiros.model.memory import Memory as Memory
    from oneiros.rescoring.rescore import factors as factors
    from oneiros.rescoring.rescore import promote as promote
    from oneiros.rescoring.rescore import rescore as rescore
    from oneiros.scoring import kernels as kernels
    from oneiros.scoring import profiles as profiles
    from oneiros.scoring.callable_factor import CallableFactor as CallableFactor
    from oneiros.scoring.expression import Expression as Expression
    from oneiros.scoring.profile import Profile as Profile
    from oneiros.scoring.rrf import rrf as rrf
    from oneiros.search.query.context import Context as Context
    from oneiros.search.response import SearchResponse as SearchResponse
    from oneiros.search.response import SearchResult as SearchResult
    from oneiros.search.response import SearchTrace as SearchTrace
    from oneiros.write.erase import Erasure as Erasure

__version__ = "0.1.0"

_HOME = {  # public name -> the module it lives in
    "AsyncEngine": "engine.async_engine",
    "CallableFactor": "scoring.callable_factor",
    "ChangeFeed": "engine.feed",
    "Context": "search.query.context",
    "DreamBusy": "errors",
    "DreamSchedule": "dream.schedule",
    "DuplicateId": "errors",
    "EmbedderMismatch": "errors",
    "Engine": "engine",
    "EngineClosed": "errors",
    "HistoryUnavailable": "errors",
    "EngineReadOnly": "errors",
    "Erasure": "write.erase",
    "Event": "engine.observers",
    "Explanation": "explain.explanation",
    "Expression": "scoring.expression",
    "LexicalIndex": "lexical.index",
    "Link": "graph",
    "Memory": "model.memory",
    "DamagedMemoriesWarning": "errors",
    "MemoryChange": "engine.feed",
    "MissingEmbedderWarning": "errors",
    "OneirosError": "errors",
    "Profile": "scoring.profile",
    "QueryStatistics": "lexical.statistics",
    "QueryTooLarge": "errors",
    "Revision": "engine.history",
    "SearchResponse": "search.response",
    "SearchResult": "search.response",
    "SearchTrace": "search.response",
    "StoreBusy": "errors",
    "StoreCorrupt": "errors",
    "StoreFull": "errors",
    "StoreIOError": "errors",
    "StorePoisoned": "errors",
    "StoreVersionError": "errors",
    "TextEncodingError": "errors",
    "UnknownMemory": "errors",
    "UnknownProfile": "errors",
    "WhyNot": "explain.why_not",
    "drift_over": "dream.drift",
    "factors": "rescoring.rescore",
    "meta": "filters",
    "promote": "rescoring.rescore",
    "rescore": "rescoring.rescore",
    "rrf": "scoring.rrf",
    "where": "filters",
}
_MODULES = ("analyzers", "kernels", "profiles")

__all__ = [
    "AsyncEngine",
    "CallableFactor",
    "ChangeFeed",
    "Context",
    "DamagedMemoriesWarning",
    "DreamBusy",
    "DreamSchedule",
    "DuplicateId",
    "EmbedderMismatch",
    "Engine",
    "EngineClosed",
    "EngineReadOnly",
    "Erasure",
    "Event",
    "Explanation",
    "Expression",
    "HistoryUnavailable",
    "LexicalIndex",
    "Link",
    "Memory",
    "MemoryChange",
    "MissingEmbedderWarning",
    "OneirosError",
    "Profile",
    "QueryStatistics",
    "QueryTooLarge",
    "Revision",
    "SearchResponse",
    "SearchResult",
    "SearchTrace",
    "StoreBusy",
    "StoreCorrupt",
    "StoreFull",
    "StoreIOError",
    "StorePoisoned",
    "StoreVersionError",
    "TextEncodingError",
    "UnknownMemory",
    "UnknownProfile",
    "WhyNot",
    "__version__",
    "analyzers",
    "drift_over",
    "factors",
    "kernels",
    "meta",
    "profiles",
    "promote",
    "rescore",
    "rrf",
    "where",
]


def __getattr__(name: str) -> object:
    import importlib

    if name in _MODULES:
        module = importlib.import_module(f"oneiros.{name}")
        globals()[name] = module
        return module
    home = _HOME.get(name)
    if home is None:
        msg = f"module 'oneiros' has no attribute {name!r}"
        raise AttributeError(msg)
    import gc

    # Imports create no garbage, and collecting takes a sixth of their time.
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        value: object = getattr(importlib.import_module(f"oneiros.{home}"), name)
    finally:
        if not gc.get_freeze_count():  # unfreeze() would undo the application's own freeze()
            gc.freeze()
            gc.unfreeze()  # moves all objects to the oldest generation, which is collected last
        if was_enabled:
            gc.enable()
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
