"""``oneiros.rescore``, ``factors`` and ``promote``: score whole tables without a query.

Source: docs/systems/ciar.md A4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from oneiros.clock import system_clock
from oneiros.display.tables import progress_bar
from oneiros.model.fields import ENUMS
from oneiros.model.validation import checked_threads, require_choice, require_flag, require_instance
from oneiros.model.validation import moment as moment_check
from oneiros.rescoring.scorer import MISSING, Scorer, require_apart
from oneiros.rescoring.tables import open_table
from oneiros.rescoring.validity import CHOICES
from oneiros.scoring.profile import Profile
from oneiros.scoring.profiles import get as get_profile
from oneiros.scoring.promotion import promoted, threshold_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.clock import Time

__all__ = ["chosen_profiles", "factors", "moment_of", "promote", "rescore"]


_check_now = moment_check("now")


def rescore(
    table: object,
    profile: Profile | str | Sequence[Profile | str] = "ciar",
    now: Time | None = None,
    threads: int | None = None,
    progress: bool = False,
    invalid: str = "raise",
    dtype: npt.DTypeLike | None = None,
    out: npt.NDArray[Any] | Sequence[npt.NDArray[Any]] | None = None,
    missing: str = "raise",
) -> Any:
    """Score every row of a table without a query, as if all rows were equally relevant.

    Reads only the columns that the profile uses, by the names of docs/systems/fields.md. Columns
    without nulls are not copied if the machine can read them unchanged. Kinds, categories and other
    states are words (also dictionary-encoded) or, except for kinds, codes. Times are seconds or a
    datetime type with a time zone; NumPy's ``datetime64`` is taken as UTC. In lists of dicts and
    arrays of objects, times have any form that ``add`` takes. A null counts as the field's default
    (``created_at``: ``now``), but a null time in a column is unknown, and each formula defines what
    that means (CIAR: NaN).

    A table needs a column for every field that the profile multiplies by. These may be absent:
    times that a memory may lack (``last_accessed_at``), ``updated_at`` if there is ``created_at``,
    ``priority`` if there is ``kind``, and ``pinned``, ``core``, ``tier`` and ``trust``.

    Args:
        table: a dict of arrays, a NumPy structured array, a list of dicts or ``Memory``, an Arrow
            table or record batch (anything with ``__arrow_c_stream__`` or ``__arrow_c_array__``;
            needs pyarrow), a pandas or polars frame.
        profile: a name or a ``Profile``; or a list of them, for one pass over the table.
        now: the clock: seconds UTC, an aware ``datetime`` or ISO 8601 with an offset; default: the
            system's.
        threads: 1 to 256; default: one per core.
        progress: show a progress bar on stderr (needs ``oneiros[cli]``).
        invalid: how to treat a value out of range (or, under CIAR, a creation after ``now``):
            "raise"; "nan", the row scores NaN; or "clamp", the nearest valid value counts, and the
            row scores NaN if there is none. Under other profiles a time after ``now`` is age 0.
        dtype: the dtype of the computation, float32 or float64; default: the widest float dtype
            among the columns read that are not times, float64 if there is none. float32 lies within
            (5 + 2 abs(exponent)) x 2^-23 per factor of float64, relative (docs/systems/README.md);
            float64 over columns of float32 gives exactly the scores of
            :meth:`oneiros.Engine.rescore`, which rounds fields such as ``importance`` to float32.
        out: a contiguous array of float32 or float64, shape (rows,), that shares no memory with the
            table; for several profiles, a list with one each. Its dtype is that of the computation.
            The scores are written to it, and the result contains it uncopied if its form allows. If
            the call raises, it may contain scores of rows before the invalid one.
        missing: how to treat the absence of a required column: "raise"; or "default", every row
            has the field's default. A table without any column that the profiles read is refused
            either way.

    Returns:
        A table of the same family with ``id``, if the table has it, and ``score``; for several
        profiles, one column of scores per profile, under its name.

    Raises:
        TypeError: not a table, or a column of a type that its field does not take.
        ValueError: a value out of range (the message names field, row, value and rule); times
            without a time zone; a missing column (the message names it and the nearest existing
            one); ``out`` of another shape.
        UnknownProfile: no profile has this name.

    >>> import oneiros
    >>> table = {"certainty": [0.9], "impact": [0.8], "created_at": [0], "access_count": [3]}
    >>> oneiros.rescore(table, now=86_400)["score"].round(3)
    array([0.915])

    Source: docs/systems/README.md, "Scoring without a query"; docs/systems/ciar.md A6, A11.
    """
    profiles = chosen_profiles(profile)
    require_choice("invalid", invalid, CHOICES)
    require_choice("missing", missing, MISSING)
    require_flag("progress", progress)
    wanted = _float_dtype(dtype)
    scorer = Scorer(profiles, now=moment_of(now), threads=checked_threads(threads), invalid=invalid)
    opened = open_table(table)
    if opened.size:
        scorer.require_columns(opened, missing)
    results = None if out is None else _checked_out(out, len(profiles), opened.size, wanted)
    for array in results or ():
        require_apart(array, table if isinstance(table, Mapping) else {"table": table})
    with progress_bar("scoring", opened.size if progress else None) as advance:
        scores, _ = scorer.score(opened, wanted, advance, results)
    is_one = isinstance(profile, str | Profile)
    names = ["score"] if is_one else [chosen.name for chosen in profiles]
    return opened.result(dict(zip(names, scores, strict=True)))


def chosen_profiles(profile: object) -> list[Profile]:
    """Return profiles given by name or as ``Profile``, one or a list.

    Raises:
        TypeError: neither names nor profiles.
        ValueError: an empty list; two of the same name; several, one of them named ``id``, since
            the names become columns next to ``id``.
        UnknownProfile: no profile has this name.
    """
    given = [profile] if isinstance(profile, str | Profile) else profile
    require_instance("profile", given, (list, tuple), "a name, a Profile or a list of them")
    assert isinstance(given, list | tuple)
    chosen = []
    for each in given:
        require_instance("profile", each, (str, Profile), "a name or a Profile")
        chosen.append(get_profile(each) if isinstance(each, str) else each)
    names = [each.name for each in chosen]
    if not names or len(set(names)) < len(names) or (len(names) > 1 and "id" in names):
        msg = f"profile: expected at least one, each of another name than id, got {names}"
        raise ValueError(msg)
    return chosen


def moment_of(now: Time | None) -> float:
    """Return ``now`` in seconds; None is the system's time.

    Raises:
        ValueError, TypeError: not a time, or a naive one.
    """
    seconds: float = _check_now(system_clock() if now is None else now)
    return seconds


def _float_dtype(dtype: npt.DTypeLike | None) -> np.dtype[Any] | None:
    if dtype is None:
        return None
    try:
        found = np.dtype(dtype)
    except (TypeError, ValueError) as error:
        msg = f"dtype: expected float32 or float64, got {dtype!r}"
        raise TypeError(msg) from error
    if found not in (np.float32, np.float64):
        msg = f"dtype: expected float32 or float64, got {found}"
        raise TypeError(msg)
    return found


def _checked_out(
    out: object, count: int, size: int, wanted: np.dtype[Any] | None
) -> list[npt.NDArray[Any]]:
    arrays = [out] if isinstance(out, np.ndarray) else out
    require_instance("out", arrays, (list, tuple), "an array, or a list of them")
    assert isinstance(arrays, list | tuple)
    if len(arrays) != count:
        msg = f"out: expected one array a profile, {count}, got {len(arrays)}"
        raise ValueError(msg)
    for place, array in enumerate(arrays):
        require_instance("out", array, (np.ndarray,), "an array, or a list of them")
        if array.dtype not in (np.float32, np.float64) or wanted not in (None, array.dtype):
            msg = f"out: expected {wanted or 'float32 or float64'}, got {array.dtype}"
            raise TypeError(msg)
        flags = array.flags
        if array.shape != (size,) or not (flags.c_contiguous and flags.aligned and flags.writeable):
            msg = f"out: expected shape ({size},), contiguous and writeable, got {array.shape}"
            raise ValueError(msg)
        if array.dtype != arrays[0].dtype:
            msg = f"out: expected arrays of one dtype, got {arrays[0].dtype} and {array.dtype}"
            raise TypeError(msg)
        if any(np.may_share_memory(array, other) for other in arrays[:place]):
            msg = f"out[{place}]: must share no memory with the arrays before it"
            raise ValueError(msg)
    return list(arrays)


def factors(
    rows: Any,
    profile: Profile | str = "oneiros",
    now: Time | None = None,
    threads: int | None = 1,
    invalid: str = "raise",
) -> dict[str, npt.NDArray[np.float64]]:
    """Return the value of each factor of a profile for every row, without a query.

    Multiplied (or added, for additive factors) over a relevance of 1 they give the score of
    :func:`oneiros.rescore`. Factors that depend on the query are 1.

    Args:
        rows: any table that :func:`oneiros.rescore` takes; an absent field has its default.
        profile: a name or a ``Profile``.
        now: the clock: seconds UTC, an aware ``datetime`` or ISO 8601 with an offset; default: the
            system's.
        threads: 1 to 256; None: one per core.
        invalid: "raise", "nan" or "clamp", as in :func:`oneiros.rescore`.

    Returns:
        Factor name to float64 of shape (rows,), in the order of the profile.

    Raises:
        TypeError: not a table, or a column of a type that its field does not take.
        ValueError: a value out of range (the message names field, row, value and rule), times
            without a time zone.
        UnknownProfile: no profile has this name.

    >>> import oneiros
    >>> table = {"certainty": [0.9], "impact": [0.8], "created_at": [0], "access_count": [3]}
    >>> oneiros.factors(table, "ciar", now=86_400)["significance"].round(2)
    array([0.72])

    Source: docs/systems/README.md, "Scoring without a query".
    """
    require_choice("invalid", invalid, CHOICES)
    chosen = chosen_profiles([profile])
    scorer = Scorer(chosen, now=moment_of(now), threads=checked_threads(threads), invalid=invalid)
    (found,) = scorer.factors(open_table(rows))
    return found


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
    """Mark the rows of a table that are staged and score high enough to be consolidated.

    Args:
        table: as in :func:`oneiros.rescore`; without ``status`` every row is staged.
        profile: a name or a ``Profile``.
        threshold: in (0, 1]; default: the profile's.
        now: as in :func:`oneiros.rescore`.
        threads: 1 to 256; default: one per core.
        progress: show a progress bar on stderr (needs ``oneiros[cli]``).
        invalid: as in :func:`oneiros.rescore`.
        missing: as in :func:`oneiros.rescore`.

    Returns:
        A table of the same family: ``id``, if the table has it, ``score`` and ``promote`` (bool). A
        row that scores NaN is not promoted.

    Raises:
        TypeError, ValueError: as in :func:`oneiros.rescore`; a threshold out of range, or none
            given and none in the profile.

    >>> import oneiros
    >>> table = {"certainty": [0.9], "impact": [0.8], "created_at": [0], "access_count": [3]}
    >>> oneiros.promote(table, now=86_400)["promote"]
    array([ True])
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
    with progress_bar("scoring", opened.size if progress else None) as advance:
        (scores,), extra = scorer.score(opened, None, advance)
    is_promoted = (extra["status"] == _STAGED) & promoted(scores, least)
    return opened.result({"score": scores, "promote": is_promoted})
