"""The C++ core. Strict: nothing is cast unasked, every argument goes by keyword."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.uint32]

unicode_version: str
"""Of the character tables: the Unicode version of the Python that built the core."""

class Analyzer:
    def __init__(
        self,
        *,
        stop_words: bool,
        identifiers: bool,
        stem: Callable[[list[str]], list[str]] | None,
    ) -> None: ...
    def tokens(self, *, text: str | bytes) -> list[tuple[str, int]]: ...
    @property
    def vocabulary_size(self) -> int: ...
