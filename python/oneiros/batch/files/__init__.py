"""Files of tables larger than memory: read in parts, scored, and written whole or not at all."""

from __future__ import annotations

from oneiros.batch.files.comparing import ScoreColumn, compare_file
from oneiros.batch.files.rescoring import FileReport, rescore_file
from oneiros.batch.files.sources import Source, open_source
from oneiros.batch.files.targets import require_target

__all__ = [
    "FileReport",
    "ScoreColumn",
    "Source",
    "compare_file",
    "open_source",
    "require_target",
    "rescore_file",
]
