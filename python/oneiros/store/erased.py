"""The record of erased memories in a store: their numbers, and digests of their ids.

An id may name a person, so no id outlives its memory. A digest is keyed with a salt of the store, so
that it is equal in no other store and cannot be looked up in a table of likely ids without this one.

A cell of the table ``erased`` is a sequence number (0 if an older version erased the memory), a space and
the digest. The last :data:`MOST_KEPT` are kept; those of earlier commits go, and the setting
:data:`HORIZON_SETTING` records the last commit whose rows went.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Final

from oneiros.runtime.dataclasses import NamedTuple
from oneiros.runtime.hashing import blake2b
from oneiros.store.checksums import checksum_after, insert_of
from oneiros.store.cycles import HAS_SOUND_TYPES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Run = Callable[[str, tuple[Any, ...]], Iterable[tuple[Any, ...]]]

__all__ = [
    "HORIZON_SETTING",
    "MOST_KEPT",
    "SALT_SETTING",
    "ErasedMemory",
    "cell_of",
    "digest_of",
    "erased_memory",
    "forget_names",
    "keep_digests_alone",
    "new_salt",
]

SALT_SETTING: Final = "erased_salt"
"""The setting with the key of the digests."""
HORIZON_SETTING: Final = "erased_before"
"""The setting with the last revision whose erasures are no longer listed; missing: all are."""
MOST_KEPT: Final = 10_000
"""The number of erased memories that are listed, give or take those of one commit."""

_ANOTHER: Final = "a forgotten memory"
_SHOWN: Final = 60  # characters of an id in a reason
_REASONS: Final = ("superseded by ", "same text as ")
_PARTS_WITH_IDS: Final = ("left_alone", "named", "not_restored", "changed_since", "drift")
"""Parts of a report that name memories."""
_WITHOUT_IDS: Final = frozenset(("field", "phase", "rule", "reason"))
"""Values of a change that name none."""


class ErasedMemory(NamedTuple):
    """An erased memory, as far as the store knows it."""

    sequence: int
    """Its sequence number; 0: unknown."""
    digest: str
    """The digest of its id."""


def new_salt() -> str:
    """Return the salt of a new store."""
    return os.urandom(16).hex()


def digest_of(id: str, salt: str) -> str:
    """Return the digest of an id in a store with this salt."""
    key = salt.encode("utf-8", "surrogatepass")[:64]
    data = id.encode("utf-8", "surrogatepass")
    return blake2b(data, key=key, digest_size=16).hexdigest()


def cell_of(erased: ErasedMemory) -> str:
    """Return the cell of the table ``erased``."""
    return f"{erased.sequence} {erased.digest}"


def erased_memory(cell: bytes) -> ErasedMemory:
    """Return the erased memory of a cell. A damaged cell matches no memory."""
    number, _, digest = cell.decode(errors="replace").partition(" ")
    is_number = number.isascii() and number.isdigit() and len(number) < 19
    return ErasedMemory(int(number) if is_number else 0, digest)


_REPORTS: Final = f"""
SELECT number, CAST(report AS BLOB) FROM dream_cycle
WHERE typeof(report) = 'text' AND {HAS_SOUND_TYPES}"""
_SET_REPORT: Final = (
    f"UPDATE dream_cycle SET report = ?1, checksum = {checksum_after({'report': '?1'})} "
    "WHERE number = ?2"
)
_PAST: Final = """
SELECT past.number, CAST(past.cells AS BLOB) FROM json_each(?1) AS given
CROSS JOIN past INDEXED BY past_of ON past.sequence = given.value AND past.kind = 0"""
_SET_PAST: Final = (
    f"UPDATE past SET cells = ?1, checksum = {checksum_after({'cells': '?1'})} WHERE number = ?2"
)
_FORGET_CONTENT: Final = """
DELETE FROM dream_content WHERE field = 'superseded_by' AND (
  before IN (SELECT value FROM json_each(?1)) OR after IN (SELECT value FROM json_each(?1)))"""


def forget_names(run: Run, ids: Sequence[str], salt: str, *, superseded: Sequence[int]) -> None:
    """Remove ids from the history of memories that they superseded, and from reports of cycles.

    An id becomes its digest. Which successor a cycle gave or took is no longer undone.

    Args:
        run: runs SQL with values and returns the rows.
        ids: of memories that are erased in this transaction.
        salt: of the store.
        superseded: the sequence numbers of memories that these superseded.
    """
    _forget_in_reports(run, ids, salt)
    run(_FORGET_CONTENT, (json.dumps(list(ids)),))
    known = set(ids)
    for number, text in list(run(_PAST, (json.dumps(list(superseded)),))):
        try:
            cells = json.loads(text.decode())
        except (ValueError, RecursionError):  # damaged
            continue
        if isinstance(cells, dict) and cells.get("superseded_by") in known:
            cells["superseded_by"] = digest_of(cells["superseded_by"], salt)
            run(_SET_PAST, (json.dumps(cells), number))


def _forget_in_reports(run: Run, ids: Sequence[str], salt: str) -> None:
    digests = {id: digest_of(id, salt) for id in ids}
    # One pass over a report for each id costs less than parsing it, if there are few ids.
    few = ids if len(ids) <= 16 else ()
    forms = [json.dumps(id, ensure_ascii=only)[1:-1] for id in few for only in (True, False)]
    needles = [form.encode(errors="surrogatepass") for form in forms]
    for number, report in list(run(_REPORTS, ())):
        if needles and not any(needle in report for needle in needles):
            continue
        try:
            record = json.loads(report.decode())
            found = _report_without_names(record, digests)
        except (ValueError, RecursionError):  # damaged, and no report of a memory
            continue
        if found != record:
            run(_SET_REPORT, (json.dumps(found), number))


def _report_without_names(record: Any, digests: dict[str, str]) -> Any:
    """Return a report without the ids of erased memories. Words that are no ids stay."""
    if not isinstance(record, dict):
        return record
    return {
        name: _without_names(part, digests) if name in _PARTS_WITH_IDS else part
        for name, part in record.items()
    }


def _without_names(value: Any, digests: dict[str, str]) -> Any:
    if isinstance(value, str):
        return digests.get(value) or _without_reasons(value, digests)
    if isinstance(value, list):
        return [_without_names(item, digests) for item in value]
    if not isinstance(value, dict):
        return value
    kept = _WITHOUT_IDS
    if value.get("field") != "superseded_by":  # a former or new value may be any word
        kept = kept | {name for name in ("before", "after") if isinstance(value.get(name), str)}
    return {
        name: item if name in kept else _without_names(item, digests)
        for name, item in value.items()
    }


def _without_reasons(text: str, digests: dict[str, str]) -> str:
    for reason in _REASONS:
        if reason in text:
            for id in digests:
                shown = id if len(id) <= _SHOWN else id[: _SHOWN - 1]
                start = text.find(reason + shown)
                if start >= 0:
                    end = start + len(reason + shown)
                    text = f"{text[:start]}{reason}{_ANOTHER}{text[end:]}"
    return text


_SET_SETTING: Final = insert_of("setting", "INSERT OR REPLACE")


def keep_digests_alone(run: Run) -> bool:
    """Give a store its salt, and replace the ids of erased memories by their digests.

    Returns:
        Whether there were any, whose ids may be left in the log.
    """
    salt = new_salt()
    run(_SET_SETTING, (SALT_SETTING, salt, 0))
    rows = list(run("SELECT revision, CAST(id AS BLOB) FROM erased", ()))
    run("DELETE FROM erased", ())
    ids = [id.decode(errors="replace") for _, id in rows]
    for (revision, _), id in zip(rows, ids, strict=True):
        erased = cell_of(ErasedMemory(0, digest_of(id, salt)))
        run("INSERT OR IGNORE INTO erased (revision, id) VALUES (?, ?)", (revision, erased))
    known = "SELECT value FROM json_each(?1) WHERE value NOT IN (SELECT id FROM memory)"
    gone = [str(row[0]) for row in run(known, (json.dumps(ids),))]
    if gone:
        forget_names(run, gone, salt, superseded=())
    return bool(rows)
