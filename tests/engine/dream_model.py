"""What a store must hold once a cycle was applied or undone, told in plain Python."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oneiros.dream.report import DreamReport, FieldChange
from oneiros.model.fields import ENUMS
from oneiros.scoring.profile import Profile
from oneiros.scoring.safety_limits import SafetyRails
from tests.dream.worlds import DAY
from tests.engine.dream_stores import as_held, memories_and_links
from tests.oracles.ieee import as_float32

__all__ = [
    "State",
    "after_cycle",
    "after_undoing",
    "as_json",
    "within_rails",
    "without_supersession",
]

Row = dict[str, Any]
_RESISTS = {ENUMS["importance_tag"].index(tag) for tag in ("explicit", "schema_violation")}
_SUPERSESSION = {"superseded_at", "superseded_reason"}
_FOLLOW = {"text_digest", "metadata"}  # what stands beside a text or a superseded_by


@dataclass(frozen=True)
class State:
    """Memories by id and links by the ids of both ends, as a file holds them."""

    memories: dict[str, Row]
    links: dict[frozenset[str], Row]

    @classmethod
    def of(cls, path: Path) -> State:
        """Return what the file holds now."""
        held, links = memories_and_links(path)
        named = {row["sequence"]: id for id, row in held.items()}
        found = {
            frozenset((named[one], named[other])): _said(row) for (one, other), row in links.items()
        }
        return cls(held, found)

    @property
    def live(self) -> dict[str, Row]:
        """The memories that are not deleted."""
        return {id: row for id, row in self.memories.items() if row["deleted_at"] is None}


def _said(link: Row) -> Row:
    return {name: link[name] for name in ("kind", "weight", "created_at", "co_retrieved_at")}


def as_json(metadata: Mapping[str, Any]) -> str | None:
    """Return metadata as a file holds them."""
    text = json.dumps(metadata, ensure_ascii=False, separators=(",", ":"))
    return text if metadata else None


def without_supersession(metadata: str | None) -> str | None:
    """Return metadata, as a file holds them, once no other memory replaces theirs."""
    held = json.loads(metadata or "{}")
    return as_json({name: held[name] for name in held if name not in _SUPERSESSION})


def _is_protected(row: Row) -> bool:
    """Return whether no cycle takes a memory away (docs/systems/reverie.md R13)."""
    return bool(row["pinned"] or row["core"] or row["importance_tag"] in _RESISTS)


def _takes(change: FieldChange) -> bool:
    """Return whether a change takes its memory away: deleted, archived, or a stub."""
    if change.field in {"status", "tier"}:
        return change.after in {"archived", "stub"}
    return change.field == "deleted_at" or change.rule == "C20"


def _told(changes: Iterable[FieldChange]) -> dict[str, Row]:
    """Return what changes of fields leave, by memory, as a file holds it."""
    steps: dict[tuple[str, str], list[FieldChange]] = {}
    for change in changes:
        if change.field not in {"link", "memory"}:
            steps.setdefault((change.id, change.field), []).append(change)
    found: dict[str, Row] = {}
    for (id, field), of_field in steps.items():
        found.setdefault(id, {})[field] = _cell(field, _last(of_field).after)
    return found


def _last(steps: Sequence[FieldChange]) -> FieldChange:
    """Return the last change of one field of one memory.

    A report names what takes away before all else, whenever it was done, and no cycle brings that
    back: it is the last.
    """
    return next((step for step in steps if step.removal), steps[-1])


def _cell(field: str, value: Any) -> Any:
    if field in ENUMS:
        return ENUMS[field].index(value)
    return as_held(field, int(value) if isinstance(value, bool) else value)


def after_cycle(
    before: State, after: State, changes: Iterable[FieldChange], report: DreamReport
) -> None:
    """Assert that a cycle did to memories and links what it told, and nothing else.

    Args:
        before: that it was applied to.
        after: what it left.
        changes: what the plan told.
        report: of the cycle; what it names as changed since stays as it was.
    """
    changes = list(changes)
    stays = set(report.changed_since)
    leaves = {id: fields for id, fields in _told(changes).items() if id not in stays}
    added = {change.id for change in changes if change.field == "memory"}
    made = {row["superseded_by"] for id, row in after.memories.items() if id in leaves} & added
    assert after.memories.keys() == before.memories.keys() | made
    for id, was in before.memories.items():
        wanted, is_now = was | leaves.get(id, {}), after.memories[id]
        follows = {
            name for name in _FOLLOW if {"text", "superseded_by"} & leaves.get(id, {}).keys()
        }
        for name, value in wanted.items():
            held = as_held(name, is_now[name]) if name in leaves.get(id, {}) else is_now[name]
            assert name in follows or held == value, (id, name)
    pairs = {frozenset((one.id, one.after["to"])) for one in changes if one.field == "link"}
    linked = before.links.keys() | after.links.keys()
    assert all(pair in pairs or before.links.get(pair) == after.links.get(pair) for pair in linked)
    assert not any(
        pair & stays for pair in pairs if before.links.get(pair) != after.links.get(pair)
    )


def _changed_fields(before: State, after: State) -> dict[str, set[str]]:
    """Return which fields of which memories a cycle changed."""
    return {
        id: {
            name
            for name in was
            if as_held(name, was[name]) != as_held(name, after.memories[id][name])
        }
        for id, was in before.memories.items()
    }


def within_rails(
    profile: Profile, now: float, before: State, changes: Sequence[FieldChange]
) -> None:
    """Assert that a cycle took and changed no more than its profile's rails allow.

    Args:
        profile: with the phases and the rails.
        now: the cycle's clock.
        before: that it was applied to.
        changes: all that it did.
    """
    rails = profile.rails or SafetyRails()
    taken = {change.id for change in changes if _takes(change)}
    for id in taken:
        assert not _is_protected(before.memories[id])
        age = now - before.memories[id]["created_at"]
        assert age >= rails.youngest_days * DAY
    assert len(taken) <= rails.most_pruned * len(before.live)
    free = {"R12", "C20"}
    changed = {
        change.id
        for change in changes
        if not (_takes(change) or change.rule in free or change.field in {"link", "memory"})
    }
    assert len(changed) <= rails.most_changed * len(before.live)
    floors = [as_float32(getattr(phase, "floor", 1.0)) for phase in profile.phases]
    for change in changes:
        if change.field == "strength":
            assert min(*floors, before.memories[change.id]["strength"]) <= change.after <= 1.0


def after_undoing(
    cycle: tuple[State, State], before: State, after: State, report: DreamReport
) -> None:
    """Assert that an undoing gave back what nobody changed since, told the rest, and did no more.

    Args:
        cycle: what it was applied to, and what it left.
        before: that it was undone on.
        after: what the undoing left.
        report: of the undoing.
    """
    was, left = cycle
    listed = {(one.id, one.field) for one in report.not_restored}
    wanted = set()
    changed = _changed_fields(was, left)
    for id, row in before.memories.items():
        if id not in was.memories and id in left.memories:
            continue  # the cycle added it
        fields = changed.get(id, set())
        stood = left.memories.get(id, row)  # what came after the cycle has no changed fields
        stays = {name for name in fields if as_held(name, row[name]) != as_held(name, stood[name])}
        if any(row[name] != stood[name] for name in ("title", "text")):
            stays |= fields & {"embedding"}  # it is of other words
        given_back = {name: was.memories[id][name] for name in fields - stays}
        if "superseded_by" in given_back and "metadata" in stays:
            given_back["metadata"] = without_supersession(row["metadata"])
        assert after.memories[id] == row | given_back, id
        unsaid = {"text_digest"}
        if stood["superseded_by"] not in {None, *before.memories}:
            unsaid.add("superseded_by")  # erasing a memory takes its id out of the log
        wanted |= {(id, name) for name in stays - unsaid}
    _added_are_gone(left.memories.keys() - was.memories.keys(), cycle, before, after, listed)
    assert {one for one in listed if one[1] not in {"link", "memory"}} == wanted
    _links_are_back(cycle, before, after, listed)


def _added_are_gone(
    added: Iterable[str],
    cycle: tuple[State, State],
    before: State,
    after: State,
    listed: set[tuple[str, str]],
) -> None:
    for id in set(added) & before.memories.keys():
        row = before.memories[id]
        if (id, "memory") in listed:  # it was used or changed since
            assert after.memories[id]["deleted_at"] is not None
        else:
            assert row == cycle[1].memories[id]
            assert id not in after.memories


def _links_are_back(
    cycle: tuple[State, State], before: State, after: State, listed: set[tuple[str, str]]
) -> None:
    was, left = cycle[0].links, cycle[1].links
    wanted: dict[frozenset[str], Mapping[str, Any]] = dict(before.links)
    for pair in was.keys() | left.keys():
        if was.get(pair) == left.get(pair) or not pair <= before.memories.keys():
            continue
        if before.links.get(pair) != left.get(pair):
            assert any((id, "link") in listed for id in pair)
        elif pair in was:
            wanted[pair] = was[pair]
        else:
            wanted.pop(pair)
    there = after.memories.keys()
    assert after.links == {pair: link for pair, link in wanted.items() if pair <= there}
