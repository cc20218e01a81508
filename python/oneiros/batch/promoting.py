"""``oneiros.promote``: which rows of a table are to be promoted. Source: docs/systems/ciar.md A4."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oneiros.argument_checks import require_choice, require_flag
from oneiros.batch.reading import MISSING
from oneiros.batch.rescoring import chosen_profiles, moment_of, tracked
from oneiros.batch.scorer import Scorer
from oneiros.batch.tables import open_table
from oneiros.batch.validity import CHOICES
from oneiros.fields import ENUMS
from oneiros.ranking.promotion import promoted, threshold_of
from oneiros.ranking.threads import checked_threads

if TYPE_CHECKING:
    from oneiros.clock import Time
    from oneiros.ranking.profile import Profile

__all__ = ["promote"]

_STAGED = ENUMS["status"].index("staged")


def promote(
    table: object,
    profile: Profile | str = "ciar",
    threshold: float | None = None,
    now: Time | None = None,
    threads: int | None = None,
    progress: bool = False,
    invalid: str = "raise",
    missing: str = "raise",
) -> Any:
    """Tell which rows of a table are staged and score high enough to be consolidated.

    Args:
        table: as :func:`oneiros.rescore` takes it; without ``status`` every row is staged.
        profile: by name or as a ``Profile``.
        threshold: in (0, 1]; default: the profile's.
        now: as in :func:`oneiros.rescore`.
        threads: 1 to 256; default: one a core.
        progress: show a bar on the error stream.
        invalid: as in :func:`oneiros.rescore`.
        missing: as in :func:`oneiros.rescore`.

    Returns:
        A table of the same family: ``id``, where the table has it, ``score`` and ``promote``. A
        score of NaN promotes nothing.

    Raises:
        TypeError, ValueError: as :func:`oneiros.rescore`; a threshold out of its range, or none
            where the profile has none.
    """
    chosen = chosen_profiles([profile])
    least = threshold_of(chosen[0], threshold)
    require_choice("invalid", invalid, CHOICES)
    require_choice("missing", missing, MISSING)
    require_flag("progress", progress)
    scorer = Scorer(
        chosen,
        now=moment_of(now),
        threads=checked_threads(threads),
        invalid=invalid,
        extra=("status",),
    )
    opened = open_table(table)
    if opened.size:
        scorer.require_columns(opened, missing)
    with tracked(opened.size if progress else None) as advance:
        (scores,), extra = scorer.score(opened, None, advance)
    is_promoted = (extra["status"] == _STAGED) & promoted(scores, least)
    return opened.result({"score": scores, "promote": is_promoted})
