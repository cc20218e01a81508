"""``oneiros.rescore``, ``factors`` and ``promote``: whole tables scored without a query. Source: docs/systems/ciar.md A4."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from oneiros.clock import system_clock
from oneiros.model.fields import ENUMS
from oneiros.model.validation import moment as moment_check
from oneiros.model.validation import require_choice, require_flag, require_instance
from oneiros.rescoring.scorer import MISSING, Scorer, require_apart
from oneiros.rescoring.tables import open_table
from oneiros.rescoring.validity import CHOICES
from oneiros.runtime.threads import checked_threads
from oneiros.scoring.profile import Profile
from oneiros.scoring.profiles import get as get_profile
from oneiros.scoring.promotion import promoted, threshold_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.clock import Time

__all__ = ["chosen_profiles", "factors", "moment_of", "promote", "rescore", "tracked"]


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
    """Score every row of a table, as a search would where all were equally relevant.

    Only the columns that a profile reads are touched, by the names of docs/systems/fields.md; those
    without nulls are read where they lie, if the machine can read them as they are. Kinds,
    categories and other states are words (dictionary-encoded ones are read as such) or, but for
    kinds, codes. Times are seconds, or columns of a datetime type with a time zone; NumPy's
    ``datetime64`` is taken as UTC. In lists of dicts and arrays of objects they may be whatever
    ``add`` takes. A null has the field's default (of ``created_at``: ``now``); but a time that is
    null in a column is unknown, and each formula says what that means (CIAR: NaN).

    A table has a column for every field that a profile multiplies by. It may lack times that a
    memory can be without (``last_accessed_at``), ``updated_at`` where it has ``created_at``,
    ``priority`` where it has ``kind``, and the marks ``pinned``, ``core`` and ``tier``.

    Args:
        table: a dict of arrays, a NumPy structured array, a list of dicts or ``Memory``, an Arrow
            table or record batch (anything with ``__arrow_c_stream__`` or ``__arrow_c_array__``;
            needs pyarrow), a pandas or polars frame.
        profile: by name or as a ``Profile``; or several, for one pass over the table.
        now: the clock; seconds UTC, an aware ``datetime`` or ISO 8601 with an offset; default: the
            system's.
        threads: 1 to 256; default: one a core.
        progress: show a bar on the error stream.
        invalid: what a value out of its range (or, under CIAR, a creation after ``now``) does:
            "raise"; "nan", the row scores NaN; or "clamp", it counts as the nearest valid value,
            and the row scores NaN where there is none. Under other profiles a time after ``now``
            is age 0.
        dtype: what is computed in, float32 or float64; default: the widest float dtype among the
            columns read that are no times, float64 if there is none. float32 lies within
            (5 + 2 |exponent|) x 2^-23 a factor of float64, relative (docs/systems/README.md);
            float64 gives the scores of :meth:`oneiros.Engine.rescore` to the bit.
        out: an array of float32 or float64 of shape (rows,), contiguous, which shares no memory
            with the table; of several profiles, a list of one each. It says what is computed in,
            the scores are written there, and the answer holds it as it is, where its form can. Where
            the call raises, it may hold scores of rows before the one at fault.
        missing: what a table does that lacks a column it must have: "raise"; or "default", every
            row has the field's default. A table with no column that the profiles read is refused
            either way.

    Returns:
        A table of the same family: ``id``, where the table has it, and ``score``; of several
        profiles, each one's score under its name.

    Raises:
        TypeError: no table, or a column of another type than its field's.
        ValueError: a value out of range (the message names field, row, value and rule), times
            without a time zone; a column is missing (the message names it, and the nearest that the
            table has); ``out`` of another shape.
        UnknownProfile: no profile has this name.

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
    with tracked(opened.size if progress else None) as advance:
        scores, _ = scorer.score(opened, wanted, advance, results)
    is_one = isinstance(profile, str | Profile)
    names = ["score"] if is_one else [each.name for each in profiles]
    return opened.result(dict(zip(names, scores, strict=True)))


def chosen_profiles(profile: object) -> list[Profile]:
    """Return the profiles named or given.

    Raises:
        TypeError: neither names nor profiles.
        ValueError: none; two of one name; one named ``id``, where the scores bear the names.
        UnknownProfile: no profile has this name.
    """
    given = [profile] if isinstance(profile, str | Profile) else profile
    require_instance("profile", given, (list, tuple), "a name, a Profile or a list of them")
    assert isinstance(given, list | tuple)
    chosen = []
    for one in given:
        require_instance("profile", one, (str, Profile), "a name or a Profile")
        chosen.append(get_profile(one) if isinstance(one, str) else one)
    names = [one.name for one in chosen]
    if not names or len(set(names)) < len(names) or (len(names) > 1 and "id" in names):
        msg = f"profile: expected at least one, each of another name than id, got {names}"
        raise ValueError(msg)
    return chosen


def moment_of(now: Time | None) -> float:
    """Return ``now`` in seconds, the system's time where it is None.

    Raises:
        ValueError, TypeError: no time, or a naive one.
    """
    seconds: float = _check_now(system_clock() if now is None else now)
    return seconds


def tracked(
    total: int | None,
) -> AbstractContextManager[Callable[[int], object] | None]:
    """Show a bar of rows on the error stream while the block runs; of None, no bar."""
    return nullcontext() if total is None else _bar(total)


@contextmanager
def _bar(total: int) -> Iterator[Callable[[int], object]]:
    from rich.console import Console  # noqa: PLC0415 - on use only
    from rich.progress import Progress  # noqa: PLC0415

    with Progress(console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("scoring", total=total)
        yield lambda count: shown.advance(task, count)


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
