"""Pages of memories in any order, and counts by value, from the columns of the read model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from pyroaring import BitMap

from oneiros import display, filters
from oneiros._lazy import needed, np
from oneiros.display.escaping import LONGEST_NAMED, shortened
from oneiros.errors import UnknownMemory
from oneiros.filters import set_of
from oneiros.filters.fields import NAMED, WORDS
from oneiros.filters.metadata_paths import read_key
from oneiros.index.stored_rows import CODE_COLUMNS
from oneiros.model.calls import nearest
from oneiros.model.fields import ENUMS, FIELDS
from oneiros.model.memory import Memory
from oneiros.model.validation import count, require_flag, require_text, require_utf8
from oneiros.search.response import readable
from oneiros.write import unknown

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    from oneiros.engine.scope import Scope
    from oneiros.filters import Where
    from oneiros.index.columns import Lifecycle

    Keys = npt.NDArray[Any]

__all__ = ["Page", "each", "latest", "matching", "page", "value_counts"]

_SHOWN: Final = 3  # memories in the repr of a page
_AT_ONCE: Final = 500
_NEVER: Final = ("deleted_at",)  # listed memories are not deleted
_WORDS: Final = ("oldest", "newest")
_ORDERABLE: Final = (
    "id",
    *(name for name, field in FIELDS.items() if field.column is not None and name not in _NEVER),
    *(name for name in CODE_COLUMNS if name != "kind"),
    "occurred_at",
)
_COUNTABLE: Final = tuple(
    name
    for name, field in FIELDS.items()
    if name in ENUMS or field.kind in {"int", "bool"} or (name in NAMED and name != "id")
)
_METADATA: Final = "metadata."


class Page(list[Memory]):
    """A list of memories, one page of a listing."""

    total: int | None = None
    """Number of all memories that match; None unless ``with_total=True``."""

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas data frame with one row per memory and a column per field but the vector.

        Raises:
            ImportError: pandas is not installed.

        >>> import oneiros
        >>> with oneiros.Engine(":memory:") as engine:
        ...     id = engine.add("Ada likes coffee", id="coffee")
        ...     frame = engine.list().to_frame()
        >>> frame.loc[0, "text"]
        'Ada likes coffee'
        """
        pandas = needed("pandas", "pandas")
        names = [name for name in FIELDS if name != "embedding"]
        rows = [[getattr(memory, name) for name in names] for memory in self]
        frame = pandas.DataFrame(rows, columns=names)
        for name in names:
            if FIELDS[name].kind == "time":
                frame[name] = pandas.to_datetime(frame[name], unit="s", utc=True, errors="coerce")
        return frame

    def _repr_html_(self) -> str:
        return display.notebook.memories_html(self, self.total)

    def __repr__(self) -> str:
        more = len(self) - _SHOWN
        shown = ", ".join(map(repr, self[:_SHOWN]))
        return f"[{shown}, ... {more} more]" if more > 0 else f"[{shown}]"


def matching(scope: Scope, where: Where | None, *, include_expired: bool = True) -> BitMap:
    """Return the rows of the live memories of the scope that pass a filter."""
    scope = scope.at_once()
    rows = scope.matching(where)
    if require_flag("include_expired", include_expired):
        return rows
    selection = scope.services.profile.selection
    expired, _ = scope.read_model.row_sets.out_of_time(scope.now(None), selection)
    return rows - expired


def page(
    scope: Scope,
    where: Where | None,
    *,
    order: str | None,
    after: str | None,
    limit: int,
    offset: int,
    with_total: bool,
    include_expired: bool,
) -> Page:
    """Return one page of memories; see :meth:`oneiros.Engine.list`."""
    scope.follow_others()
    scope = scope.at_once()
    limit, offset = count("limit", limit), count("offset", offset)
    has_total = require_flag("with_total", with_total)
    if order is not None:
        _require_order(order)
    cursor = None if after is None else _cursor(scope, after)
    rows = matching(scope, where, include_expired=include_expired)
    total = len(rows)
    ordered: BitMap | Sequence[int]
    if order is None:
        ordered, start = rows, 0 if cursor is None else rows.rank(cursor)
    else:
        if cursor is not None:
            rows = rows | set_of([cursor])
        ordered = _ordered(scope.read_model.lifecycle, rows, order)
        start = 0 if cursor is None else ordered.index(cursor) + 1
    found = Page(_loaded(scope, ordered, start + offset, limit))
    found.total = total if has_total else None
    return found


def each(scope: Scope, where: Where | None = None) -> Iterator[Memory]:
    """Yield the memories of a scope that pass a filter; see :meth:`oneiros.Engine.__iter__`."""
    scope.follow_others()
    present = scope.at_once()
    ids = present.read_model.lifecycle.ids
    every = [id for row in present.matching(where) if (id := ids[row])]
    for start in range(0, len(every), _AT_ONCE):
        for memory in readable(scope.load_live, every[start : start + _AT_ONCE]):
            if memory is not None:
                yield memory


def latest(
    scope: Scope, n: int, session: str | None, where: Where | None, *, include_expired: bool
) -> list[Memory]:
    """Return the newest memories, oldest first; see :meth:`oneiros.Engine.last`."""
    scope.follow_others()
    scope = scope.at_once()
    n = count("n", n)
    rows = matching(scope, where, include_expired=include_expired)
    if session is not None:
        FIELDS["session"].check(session)
        rows &= scope.matching(filters.where(session=session))
    ordered = _ordered(scope.read_model.lifecycle, rows, "newest")
    return list(_loaded(scope, ordered, 0, n))[::-1]


def value_counts(
    scope: Scope, field: str, where: Where | None, *, include_expired: bool
) -> dict[Any, int]:
    """Return the numbers of memories by value of a field; see :meth:`oneiros.Engine.values`."""
    scope.follow_others()
    scope = scope.at_once()
    _require_countable(field)
    rows = matching(scope, where, include_expired=include_expired)
    lifecycle = scope.read_model.lifecycle
    attributes = scope.read_model.row_sets.attributes.index
    if field.startswith(_METADATA):
        counts = attributes.metadata_counts(read_key(field.removeprefix(_METADATA)), rows)
    elif field in WORDS:
        counts = attributes.word_counts(field, rows)
    else:
        codes = lifecycle.column(CODE_COLUMNS.get(field, field))[_numbers(rows)]
        words = _words_of(lifecycle, field)
        distinct, times = np.unique(codes, return_counts=True)
        pairs = zip(distinct.tolist(), times.tolist(), strict=True)
        counts = [
            (words(code), number) for code, number in pairs if code or field not in CODE_COLUMNS
        ]
    found: dict[Any, int] = {}
    for value, number in counts:
        found[value] = found.get(value, 0) + number
    return dict(sorted(found.items(), key=lambda item: (-item[1], str(item[0]))))


def _words_of(lifecycle: Lifecycle, field: str) -> Callable[[int], object]:
    """Return the function from the codes of a column to values of the field."""
    if field in CODE_COLUMNS:
        return lifecycle.words_of(field).__getitem__
    if field in ENUMS:
        return ENUMS[field].__getitem__
    return bool if FIELDS[field].kind == "bool" else int


def _cursor(scope: Scope, after: str) -> int:
    require_utf8("after", after)
    row = scope.read_model.lifecycle.row_of.get(after)
    if row is None or scope.loader([after])[0] is None:
        raise UnknownMemory(unknown(after))
    return row


def _loaded(scope: Scope, rows: BitMap | Sequence[int], start: int, limit: int) -> Iterator[Memory]:
    """Yield the memories of rows from a place on, at most ``limit``; damaged ones are left out."""
    ids = scope.read_model.lifecycle.ids
    left = limit
    while left > 0 and start < len(rows):
        chunk = rows[start : start + left]
        start += len(chunk)
        for memory in readable(scope.load_live, [ids[row] for row in chunk]):
            if memory is not None:
                left -= 1
                yield memory


# -- order -----------------------------------------------------------------------------------------


def _ordered(lifecycle: Lifecycle, rows: BitMap, order: str) -> list[int]:
    """Return rows in an order; memories without the field come last.

    Ties are in order of insertion; "newest" is the reverse of "oldest".
    """
    numbers = _numbers(rows)
    if order in _WORDS:
        created = lifecycle.column("created_at")[numbers]
        places = np.lexsort((numbers, created))
        found: list[int] = numbers[places if order == "oldest" else places[::-1]].tolist()
        return found
    is_descending = order.startswith("-")
    name = order.removeprefix("-")
    if name == "id":
        ids = lifecycle.ids
        return sorted(numbers.tolist(), key=ids.__getitem__, reverse=is_descending)
    keys, is_missing = _keys(lifecycle, name, numbers)
    if is_descending:
        keys = -keys.astype(np.float64)
    ordered: list[int] = numbers[np.lexsort((numbers, keys, is_missing))].tolist()
    return ordered


def _keys(lifecycle: Lifecycle, name: str, rows: Keys) -> tuple[Keys, Keys]:
    """Return the sort keys of rows, and which rows lack the field."""
    if name == "occurred_at":
        event, created = (lifecycle.column(each)[rows] for each in ("event_at", "created_at"))
        keys = np.where(np.isnan(event), created, event)
    else:
        keys = lifecycle.column(CODE_COLUMNS.get(name, name))[rows]
    if name in CODE_COLUMNS:
        words = lifecycle.words_of(name)
        ranks = np.empty(len(words), np.int64)
        ranks[np.array(sorted(range(len(words)), key=words.__getitem__))] = range(len(words))
        return ranks[keys], keys == 0
    if keys.dtype.kind != "f":
        return keys, np.zeros(len(keys), np.bool_)
    is_missing = np.isnan(keys)
    return np.where(is_missing, 0.0, keys), is_missing


def _numbers(rows: BitMap) -> Keys:
    return np.array(rows.to_array(), np.uint32)


def _require_order(order: object) -> None:
    require_text("order", order)
    given = str(order)
    name = given.removeprefix("-")
    if given in _WORDS or name in _ORDERABLE:
        return
    rule = "one of newest, oldest or a field"
    if name in _WORDS:
        other = _WORDS[1 - _WORDS.index(name)]
        msg = f"order: must be {rule}, got {given!r}; the reverse of {name!r} is {other!r}"
        raise ValueError(msg)
    known = [f"-{each}" for each in _ORDERABLE] if name != given else (*_WORDS, *_ORDERABLE)
    error = _unknown_name("order", rule, given, known)
    raise error


def _require_countable(field: object) -> None:
    require_text("field", field)
    if str(field).startswith(_METADATA) and field != _METADATA:
        return
    if field not in _COUNTABLE:
        error = _unknown_name("field", "a field with few values", str(field), _COUNTABLE)
        raise error


def _unknown_name(argument: str, rule: str, name: str, known: Sequence[str]) -> ValueError:
    near = nearest(name, known)
    hint = f"did you mean {near!r}?" if near else f"known: {', '.join(known)}"
    return ValueError(
        f"{argument}: must be {rule}, got {shortened(repr(name), LONGEST_NAMED)}; {hint}"
    )
