"""``oneiros.factors``: what each factor of a profile makes of memories, without a query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oneiros.argument_checks import require_choice
from oneiros.batch.rescoring import chosen_profiles, moment_of
from oneiros.batch.scorer import Scorer
from oneiros.batch.tables import open_table
from oneiros.batch.validity import CHOICES
from oneiros.ranking.threads import checked_threads

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from oneiros.clock import Time
    from oneiros.ranking.profile import Profile

__all__ = ["factors"]


def factors(
    rows: Any,
    profile: Profile | str = "oneiros",
    now: Time | None = None,
    threads: int | None = 1,
    invalid: str = "raise",
) -> dict[str, npt.NDArray[np.float64]]:
    """Return the value of each factor of a profile, row by row; no query is needed.

    Multiplied, or added where a factor adds, over a relevance of 1 they are the score that
    :func:`oneiros.rescore` gives. Factors of the query are 1.

    Args:
        rows: a dict of arrays by field name, a list of dicts or ``Memory``, or any other table that
            :func:`oneiros.rescore` takes, read the same way; an absent field has its default.
        profile: by name or as a ``Profile``.
        now: the clock; seconds UTC, an aware ``datetime`` or ISO 8601 with an offset; default: the
            system's.
        threads: 1 to 256; None: one a core.
        invalid: "raise", "nan" or "clamp", as in :func:`oneiros.rescore`.

    Returns:
        Factor name to float64 of shape (rows,), in the order of the profile.

    Raises:
        TypeError: no table, or a column of another type than its field's.
        ValueError: a value out of range (the message names field, row, value and rule), times
            without a time zone.
        UnknownProfile: no profile has this name.

    Source: docs/systems/README.md, "Scoring without a query".
    """
    require_choice("invalid", invalid, CHOICES)
    chosen = chosen_profiles([profile])
    scorer = Scorer(chosen, now=moment_of(now), threads=checked_threads(threads), invalid=invalid)
    (found,) = scorer.factors(open_table(rows))
    return found
