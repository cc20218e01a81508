"""Puts a copy of a store back to the state after an earlier commit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from oneiros.store.checksums import insert_of
from oneiros.store.erased import digest_of
from oneiros.store.history import (
    KEEP_SETTING,
    LINK_ROW,
    STATE_ROW,
    TABLES,
    VERDICT_ROW,
    unavailable,
)
from oneiros.store.reading import SNAPSHOT_SETTING, USES_SETTING
from oneiros.store.row_writing import update_of
from oneiros.store.rows import current_again

if TYPE_CHECKING:
    from oneiros.store.transaction import Transaction

__all__ = ["rewind"]

_ADD_LINK: Final = insert_of("link", "INSERT OR REPLACE")
_REPLACED_BY_UNKNOWN: Final = """
SELECT id, superseded_by, metadata, tier, cold_since FROM memory
LEFT JOIN lifecycle USING (sequence)
WHERE superseded_by NOT NULL AND superseded_by NOT IN (SELECT id FROM memory)"""
_LATER: Final = "(SELECT sequence FROM memory WHERE revision > ?1)"
# Memories last, which the others are found by.
_REMOVE_LATER: Final = (
    f"DELETE FROM link WHERE first IN {_LATER} OR second IN {_LATER}",
    f"DELETE FROM feedback_event WHERE sequence IN {_LATER}",
    f"DELETE FROM lifecycle WHERE sequence IN {_LATER}",
    "DELETE FROM memory WHERE revision > ?1",
)


def rewind(transaction: Transaction, revision: int) -> None:
    """Put memories, states, links and verdicts back to what they were after a commit.

    Settings stay, but the copy keeps no history, and erased memories stay erased.

    Args:
        transaction: of a copy.
        revision: of the commit.

    Raises:
        HistoryUnavailable: states and links are not kept since then, a limit removed a part, or the
            vectors of that time were another embedder's.
    """
    _require_kept(transaction, revision)
    rows: dict[tuple[int, int], dict[str, Any]] = {}
    links: dict[tuple[int, int], Mapping[str, Any]] = {}
    verdicts: list[tuple[int]] = []
    for change in transaction.history.changes_after(revision):
        if change.cells is None:
            reason = "a limit removed a part of it, or another embedder made its vectors"
            raise unavailable(reason, transaction.history.moment_of(change.revision))
        if change.kind <= STATE_ROW:
            # The change before, which is read later, has the older cells.
            rows.setdefault((change.kind, change.sequence), {}).update(change.cells)
        elif change.kind == LINK_ROW:
            links[change.sequence, change.cells["second"]] = change.cells
        elif change.kind == VERDICT_ROW:
            verdicts.append((change.cells["number"],))
    _set_rows(transaction, rows)
    transaction.run_each("DELETE FROM feedback_event WHERE number = ?", verdicts)
    transaction.run_each("DELETE FROM link WHERE first = ? AND second = ?", list(links))
    names = ("revision", "kind", "weight", "created_at", "co_retrieved_at")
    states = [
        (*ends, *(cells[name] for name in names))
        for ends, cells in links.items()
        if "revision" in cells
    ]
    transaction.run_each(_ADD_LINK, states)
    for sql in _REMOVE_LATER:
        transaction.run(sql, (revision,))
    _bring_back(transaction, revision)
    for table in ("past", "moment"):
        transaction.run(f"DELETE FROM {table}")
    for key in (SNAPSHOT_SETTING, USES_SETTING):
        transaction.run("DELETE FROM setting WHERE key = ?", (key,))
    transaction.set_setting(KEEP_SETTING, "off")


def _bring_back(transaction: Transaction, revision: int) -> None:
    """Make what an erased memory had replaced current again, as the erasure did."""
    # Of memories that were erased since, also by taking back a dream cycle.
    gone = {erased.digest for erased in transaction.erased(revision)}
    is_sure, salt = transaction.lists_erased(revision), transaction.erased_salt()
    transaction.update_columns(
        (id, current_again(*state))
        for id, successor, *state in transaction.rows(_REPLACED_BY_UNKNOWN)
        if not is_sure or successor in gone or digest_of(successor, salt) in gone
    )


def _require_kept(transaction: Transaction, revision: int) -> None:
    since = transaction.history.keeping().since
    if since is None:
        reason = "it keeps no states and links, as history='all' does"
        raise unavailable(reason, None)
    if 0 < revision < since:
        reason = "it keeps states and links only since"
        raise unavailable(reason, transaction.history.moment_of(since))


def _set_rows(transaction: Transaction, rows: Mapping[tuple[int, int], Mapping[str, Any]]) -> None:
    """Set the cells of rows by (kind, sequence number)."""
    alike: dict[tuple[int, tuple[str, ...]], list[tuple[Any, ...]]] = {}
    for (kind, sequence), cells in rows.items():
        names = tuple(name for name in cells if name != "revision")
        values = (*(cells[name] for name in names), cells["revision"], sequence)
        alike.setdefault((kind, names), []).append(values)
    for (kind, names), members in alike.items():
        sql = update_of(TABLES[kind], tuple((name, "?") for name in names))
        transaction.run_each(sql, members)
