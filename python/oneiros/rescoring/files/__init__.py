"""Score and compare files larger than memory; outputs are written completely or not at all."""

from __future__ import annotations

from oneiros.rescoring.files.compare import ScoreColumn, compare_file
from oneiros.rescoring.files.folder import (
    PartTask,
    RunParts,
    require_new_folder,
    rescore_folder,
    row_count,
    score_part,
    score_parts,
)
from oneiros.rescoring.files.rescore import (
    FileReport,
    require_kept,
    require_target,
    rescore_file,
)
from oneiros.rescoring.files.sources import RowSource, open_source

__all__ = [
    "FileReport",
    "PartTask",
    "RowSource",
    "RunParts",
    "ScoreColumn",
    "compare_file",
    "open_source",
    "require_kept",
    "require_new_folder",
    "require_target",
    "rescore_file",
    "rescore_folder",
    "row_count",
    "score_part",
    "score_parts",
]
