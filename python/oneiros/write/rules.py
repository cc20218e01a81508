"""The scope and rules of a write, the messages of refused writes, and the invariants of a record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from oneiros.display.escaping import LONGEST_NAMED, shortened
from oneiros.errors import UnknownMemory
from oneiros.model.fields import COLUMN_DEFAULTS, ENUMS, FIELDS
from oneiros.model.memory import Memory, checked_values, named_fields
from oneiros.runtime.dataclasses import NamedTuple, dataclass
from oneiros.store.rows import SUPERSESSION, WARM, is_cooled_since

if TYPE_CHECKING:
    from oneiros.scoring.ingest import IngestAssociation, InitialStability
    from oneiros.store import Reading, StoredMemory, Transaction

    Seen = Callable[[StoredMemory | Memory], bool]

__all__ = [
    "AddRules",
    "Bounds",
    "brings_count",
    "drops_own_vector",
    "end_supersession",
    "exists",
    "held_in",
    "is_rewritten",
    "keep_spread",
    "leads_to",
    "merge_metadata",
    "replacing",
    "require_no_circle",
    "restage",
    "settle_status",
    "unknown",
    "warm",
]

_CONSOLIDATED: Final = ENUMS["status"].index("consolidated")
_HOT, _COLD = (ENUMS["tier"].index(tier) for tier in ("hot", "cold"))
_NO_NAMES: Final[Mapping[str, str | None]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Bounds:
    """The scope of a write."""

    fields: Mapping[str, str]
    """Field to value; empty for all memories."""
    inside: Callable[[object], object]
    """Adds these fields to a record, or refuses it."""
    seen: Seen
    """Returns whether a memory lies within the scope."""


class AddRules(NamedTuple):
    """The arguments of a call that adds records, but for the records."""

    now: float
    """The time for fields that records leave out."""
    bounds: Bounds
    """The scope of the caller."""
    initial_stability: InitialStability | None
    """Sets the stability of records without one; None: the field's default."""
    ingest: IngestAssociation | None
    """Links new memories and raises similar ones; None: neither."""
    on_conflict: str
    """One of "raise", "update" and "replace"."""
    on_error: str = "raise"
    """One of "raise", "skip" and "collect"."""
    merges_metadata: bool = False
    """Whether an update merges the metadata given into that of the memory."""
    links: bool | None = None
    """False: do not apply ``ingest``; True: apply it to batches above its size, too."""

    @property
    def takes_existing(self) -> bool:
        """Whether a record may have the id of an existing memory."""
        return self.on_conflict != "raise"

    def checked(self, record: object) -> tuple[dict[str, Any], Mapping[str, object]]:
        """Check a record; return its values, and the fields that the caller named.

        Raises:
            ValueError, TypeError: as ``Memory.from_record``, or the record lies outside the scope.
        """
        record = self.bounds.inside(record)
        values = checked_values(record, now=self.now)
        values["learned_at"] = self.now  # when this store learned it, not the one that exported it
        given: Any = _given_fields(record) if isinstance(record, Memory) else record
        has_own = given.get("stability") is not None or _is_complete(record)
        if self.initial_stability is not None and not has_own:
            importance = values.get("importance", COLUMN_DEFAULTS["importance"])
            values["stability"] = self.initial_stability.of(importance)
        return values, given


def _given_fields(memory: Memory) -> dict[str, object]:
    """Return the fields of a memory that differ from their defaults."""
    return {
        name: value
        for name, value in named_fields(memory).items()
        if name == "text" or repr(value) != repr(_BLANK[name])
    }


def brings_count(record: Any) -> bool:
    """Return whether a record has ``duplicate_count``, as lines of an export and memories of a store do.

    It is not counted as a repeat of an older memory: the store that it comes from did that.
    """
    if type(record) is dict or isinstance(record, Mapping):  # the first is far quicker
        return record.get("duplicate_count") is not None
    return _is_complete(record)


def _is_complete(record: object) -> bool:
    """Return whether a record is a memory that a store or ``Memory.from_record`` filled in.

    Its state is its own, also where it equals a default. One made by hand has no ``learned_at``.
    """
    return isinstance(record, Memory) and record.learned_at == record.learned_at


def held_in(transaction: Transaction, id: str) -> StoredMemory:
    """Return the memory of an id, and check that the index of ids leads to it.

    Raises:
        UnknownMemory: no memory has the id.
        StoreCorrupt: the index leads to another memory.
    """
    transaction.require_indexed([id])
    held = transaction.load_stored([id])[0]
    if held is None:
        raise UnknownMemory(unknown(id))
    return held


def unknown(memory_id: str) -> str:
    """Return the message of UnknownMemory, equal for absent, deleted and out-of-scope memories."""
    return f"id: no memory {shortened(repr(memory_id), LONGEST_NAMED)}"


def exists(memory: StoredMemory, *, is_seen: bool) -> str:
    """Return the message of DuplicateId."""
    if not is_seen:  # reveals nothing about memories outside the scope
        return f"id: {memory.id!r} is taken"
    if memory.deleted_at is not None:  # an update of it is a new memory in its place
        return (
            f"id: {memory.id!r} exists, soft-deleted; restore it, "
            "or pass on_conflict='update' to replace it for good"
        )
    return f"id: {memory.id!r} exists; pass on_conflict='update' to change it"


def is_rewritten(memory: StoredMemory, changes: Mapping[str, object]) -> bool:
    """Return whether the embedded text changes."""
    return any(
        name in changes and changes[name] != getattr(memory, name) for name in ("text", "title")
    )


def drops_own_vector(memory: StoredMemory, recorded_name: str | None) -> bool:
    """Return whether a memory has a vector without a recorded embedder.

    If one is recorded, an engine without it has warned when it was opened.
    """
    return memory.embedding is not None and recorded_name is None


def keep_spread(memory: StoredMemory, changes: dict[str, object]) -> None:
    """Keep ``session_spread`` at least at the number of sessions."""
    sessions = changes.get("sessions", memory.sessions)
    least = len(sessions) if isinstance(sessions, frozenset) else 0
    spread = changes.get("session_spread", memory.session_spread)
    if isinstance(spread, int) and spread < least:
        if "session_spread" in changes:
            msg = f"session_spread: must be at least the number of sessions, {least}, got {spread}"
            raise ValueError(msg)
        changes["session_spread"] = least


_BLANK: Final = {name: getattr(Memory(text=""), name) for name in FIELDS}


def replacing(values: dict[str, Any]) -> dict[str, object]:
    """Return every field of a memory that a record replaces, but for its id and embedding.

    Fields that the record leaves out get their defaults. Only the sum of the verdicts on the
    memory stays unless the record has one.
    """
    changes = _BLANK | values
    for name in ("id", "embedding", *(() if "feedback" in values else ("feedback",))):
        del changes[name]
    return changes


def merge_metadata(memory: StoredMemory, changes: dict[str, object]) -> None:
    """Merge new metadata into that of the memory.

    Raises:
        ValueError: the result is too long or too deep.

    Source: RFC 7396 (JSON merge patch).
    """
    patch = changes.get("metadata")
    if isinstance(patch, Mapping):
        changes["metadata"] = FIELDS["metadata"].check(_patched(memory.metadata, patch))


def _patched(target: object, patch: Mapping[str, object]) -> dict[str, object]:
    merged = dict(target) if isinstance(target, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, Mapping):
            merged[key] = _patched(merged.get(key), value)
        else:
            merged[key] = value
    return merged


def end_supersession(
    memory: StoredMemory, changes: dict[str, object], *, merges_metadata: bool
) -> None:
    """Remove time and reason of a supersession that an update ends, as erasing the newer memory does.

    Metadata that replace those of the memory are stored as given.

    Source: docs/systems/fields.md.
    """
    if not _is_ended(memory, changes) or memory.metadata.keys().isdisjoint(SUPERSESSION):
        return
    given = changes.get("metadata")
    if merges_metadata:
        patch = given if isinstance(given, Mapping) else {}
        changes["metadata"] = dict.fromkeys(SUPERSESSION) | dict(patch)
    elif given is None:
        left = memory.metadata.items()
        changes["metadata"] = {name: value for name, value in left if name not in SUPERSESSION}


def warm(memory: StoredMemory, changes: dict[str, object]) -> None:
    """Make a cold memory hot that an update makes current or gives another text.

    Current is one whose supersession the update ends, if it was cooled since that began.

    Source: docs/systems/fields.md; docs/systems/cognitive.md C19.
    """
    is_superseded = changes.get("superseded_by", memory.superseded_by) is not None
    is_rewritten = memory.tier == _COLD and _is_revised(memory, changes) and not is_superseded
    is_current = _is_ended(memory, changes) and is_cooled_since(
        memory.metadata, memory.tier, memory.cold_since
    )
    if is_rewritten or is_current:
        for name, value in WARM.items():
            changes.setdefault(name, value)
    if is_rewritten:
        changes.setdefault("at_floor_since", None)


def _is_ended(memory: StoredMemory, changes: Mapping[str, object]) -> bool:
    """Return whether changes end the supersession of a memory."""
    return memory.superseded_by is not None and changes.get("superseded_by", "") is None


def _is_revised(memory: StoredMemory, changes: Mapping[str, object]) -> bool:
    """Return whether changes give a memory another text."""
    return "text" in changes and changes["text"] != memory.text


def restage(memory: StoredMemory, changes: dict[str, object]) -> None:
    """Schedule a recalled memory for another consolidation if its text changes.

    Source: docs/systems/reverie.md R14.
    """
    if _is_revised(memory, changes) and memory.access_count > 0 and memory.status == _CONSOLIDATED:
        changes.setdefault("status", "staged")


def settle_status(memory: StoredMemory, changes: dict[str, object]) -> None:
    """Clear the date of a hot memory's archiving by a budget if its status is set by hand.

    A later cycle would take the memory for one that the budget archived, and bring it back.

    Source: docs/systems/house.md H15.
    """
    if "status" in changes and memory.cold_since is not None and memory.tier == _HOT:
        changes.setdefault("cold_since", None)


def leads_to(
    reading: Reading,
    successor: str,
    memory_id: str,
    named: Mapping[str, str | None] = _NO_NAMES,
) -> bool:
    """Return whether a successor is the memory of the id, or is superseded by it, also through others.

    Deleted memories and those outside a scope are followed too: a cycle would hide all of its members
    in every scope. A cycle made by ``add`` ends the search.

    Args:
        reading: a state of the store.
        successor: an id.
        memory_id: an id.
        named: the successors that the same write gives to memories, by their ids.
    """
    passed: set[str] = set()
    by: str | None = successor
    while by is not None and by not in passed:
        if by == memory_id:
            return True
        passed.add(by)
        if by in named:
            by = named[by]
        else:
            held = reading.load_stored([by])[0]
            by = None if held is None else held.superseded_by
    return False


def require_no_circle(
    reading: Reading,
    memory: StoredMemory,
    by: object,
    named: Mapping[str, str | None] = _NO_NAMES,
) -> None:
    """Refuse an update by which a memory would supersede itself.

    Args:
        reading: a state of the store.
        memory: before the update.
        by: its successor after the update; None: it gets none.
        named: as of :func:`leads_to`.

    Raises:
        ValueError: it would.
    """
    if not isinstance(by, str) or by == memory.superseded_by:
        return
    if leads_to(reading, by, memory.id, named):
        rule = f"must not be {memory.id!r} itself, or superseded by it"
        msg = f"superseded_by: {rule}, got {by!r}"
        raise ValueError(msg)
