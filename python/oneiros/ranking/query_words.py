"""What counts as a word of the query, where a profile looks for words in texts: a declaration."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from oneiros.dataclasses_on_use import dataclass
from oneiros.ranking.declaration import require_int, settle, settle_flags
from oneiros.ranking.fusion_checks import require_word
from oneiros.ranking.tables import require_words

__all__ = ["QueryCut", "QueryWords"]

QueryCut: TypeAlias = Literal["runs", "white_space", "joined"]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryWords:
    """How a query is cut into the words that are looked for in texts.

    At most 1,024 words count. The lexical channel is not affected: the engine's analyzer cuts its
    terms.

    Source: docs/systems/omega.md O3, mnemosyne.md M8, house.md H7.
    """

    cut: QueryCut = "runs"
    """"runs": runs of letters, digits and underscores. "white_space": what white space separates,
    with its punctuation. "joined": runs as above that begin with a letter or digit, and several of
    them joined by any of ``_ . : / + -``."""

    least_characters: int = 3
    """A shorter word does not count, 1 to 64."""

    counts_each: bool = False
    """Count a word as often as it stands in the query, also one that consists of marks and is empty in
    canonical form, which every text holds. False: each word counts once, and such a word does not."""

    counts_numbers: bool = True
    """Whether words of digits alone count."""

    stop_words: tuple[str, ...] = ()
    """Words that do not count, in lower case."""

    def __post_init__(self) -> None:
        require_word("cut", self.cut, get_args(QueryCut))
        require_int("least_characters", self.least_characters, low=1, high=64)
        settle_flags(self, "counts_each", "counts_numbers")
        settle(self, "stop_words", require_words("stop_words", self.stop_words))
