"""Score and compare files larger than memory; outputs are written completely or not at all."""

from __future__ import annotations

from oneiros.rescoring.files.compare import ScoreColumn, compare_file
from oneiros.rescoring.files.rescore import FileReport, require_target, rescore_file
from oneiros.rescoring.files.sources import RowSource, open_source

__all__ = [
    "FileReport",
    "RowSource",
    "ScoreColumn",
    "compare_file",
    "open_source",
    "require_target",
    "rescore_file",
]
