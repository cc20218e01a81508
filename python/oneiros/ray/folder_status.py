"""The state of a folder of shards, read from its files: no actor is asked, and none need run."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

from oneiros.errors import OneirosError
from oneiros.index.indexes import LexicalOptions
from oneiros.model.validation import file_name
from oneiros.ray.shard import layout_file, read_layout, store_file
from oneiros.ray.shard_scopes import places_of, takes_new_scopes
from oneiros.runtime.dataclasses import dataclass, fields, replace
from oneiros.store import Store
from oneiros.write.vectors import DIMENSION_SETTING, EMBEDDER_SETTING

__all__ = ["FolderStatus", "ShardStatus", "status"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardStatus:
    """The store of one shard. Counts are None if it cannot be read."""

    shard: int
    """Number of the shard, from 0."""
    is_here: bool
    """Whether the store is on this machine."""
    memories: int | None = None
    deleted: int | None = None
    links: int | None = None
    revision: int | None = None
    """The last commit."""
    embedder: str | None = None
    """The embedder that made the vectors; None: none, or not known."""
    file_bytes: int = 0
    """Bytes of the store's file and its log."""
    moved_here: int | None = None
    """Scopes that were moved here and have not left since."""
    moved_away: int | None = None
    """Scopes that were moved to other shards, or sent there while this one is drained."""
    leaving: tuple[str, ...] = ()
    """Scopes whose move to another shard is not over. It goes on, or ends at the next opening."""
    is_drained: bool = False
    """Whether the shard takes no new scopes."""
    problem: str = ""
    """Why it cannot be read, or cannot answer together with the others; else empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderStatus:
    """The shards of a folder."""

    folder: str
    shards: int
    """Number of shards of the whole store."""
    key: str
    states: tuple[ShardStatus, ...]
    """One for each shard, in order. Those of other machines are not here."""

    @property
    def memories(self) -> int:
        """Number of memories in the stores that can be read."""
        return sum(state.memories or 0 for state in self.states)

    @property
    def problems(self) -> tuple[str, ...]:
        """The problems, each with the number of its shard."""
        return tuple(
            f"shard {state.shard}: {state.problem}" for state in self.states if state.problem
        )


def status(folder: str | os.PathLike[str]) -> FolderStatus:
    """Return the state of the shards that are in a folder of this machine.

    Stores are read without their actors, and while these run. A store that is missing here may be on
    another machine: it is a problem only if the note that it was made is here.

    Args:
        folder: the ``folder`` of :class:`oneiros.ray.ShardedEngine`.

    Raises:
        FileNotFoundError: there is no such folder, or no shard in it.
        ValueError: its notes are damaged, or of several layouts.

    Examples:
        >>> import oneiros.ray
        >>> with oneiros.ray.ShardedEngine("memories", shards=2, key="user") as engine:
        ...     id = engine.add("Ada likes her coffee black", user="ada", id="coffee")
        >>> found = oneiros.ray.status("memories")
        >>> found.shards, found.key, found.memories, found.problems
        (2, 'user', 1, ())
    """
    home = Path(file_name("folder", folder))
    notes = [read_layout(path) for path in sorted(home.glob("shard-*.json"))]
    if not notes:
        msg = f"{home}: no folder of shards"
        raise FileNotFoundError(msg)
    layouts = {(note["shards"], note["key"]) for note in notes}
    if len(layouts) > 1:
        made = ", ".join(f"{shards} by {key}" for shards, key in sorted(layouts))
        msg = f"{home}: shards of several stores ({made})"
        raise ValueError(msg)
    ((count, key),) = layouts
    states: list[ShardStatus] = []
    first: tuple[int, dict[str, str]] | None = None
    for shard in range(count):
        state, settings = _state(home, shard)
        if state.memories is not None:
            first = first or (shard, settings)
            states.append(_compared(state, settings, *first))
        else:
            states.append(state)
    return FolderStatus(folder=str(home), shards=count, key=key, states=tuple(states))


def _state(home: Path, shard: int) -> tuple[ShardStatus, dict[str, str]]:
    """Return the state of a store, and its settings."""
    path = store_file(home, shard)
    if not path.exists():
        is_known = layout_file(home, shard).exists()
        problem = "missing on this machine; restore it from a generation" if is_known else ""
        return ShardStatus(shard=shard, is_here=False, problem=problem), {}
    size = sum(part.stat().st_size for part in (path, Path(f"{path}-wal")) if part.exists())
    try:
        with closing(Store(path, read_only=True)) as store, store.read() as reading:
            live, settings = reading.live_count(), dict(reading.settings())
            places = list(places_of(settings).values())
            state = ShardStatus(
                shard=shard,
                is_here=True,
                memories=live,
                deleted=reading.count() - live,
                links=reading.link_count(),
                revision=reading.last_revision(),
                embedder=settings.get(EMBEDDER_SETTING) or None,
                file_bytes=size,
                moved_here=sum(place.state == "here" and place.shard != shard for place in places),
                moved_away=sum(place.state == "gone" for place in places),
                leaving=tuple(sorted(place.value for place in places if place.state == "leaving")),
                is_drained=not takes_new_scopes(settings),
            )
            return state, settings
    except (OneirosError, OSError) as error:
        return ShardStatus(shard=shard, is_here=True, file_bytes=size, problem=str(error)), {}


def _compared(
    state: ShardStatus, settings: dict[str, str], other: int, others: dict[str, str]
) -> ShardStatus:
    """Return the state with the first setting in which it differs from another shard."""
    default = {field.name: str(field.default) for field in fields(LexicalOptions)}
    names = {**default, EMBEDDER_SETTING: "", DIMENSION_SETTING: ""}
    for name, otherwise in names.items():
        own, its = settings.get(name) or otherwise, others.get(name) or otherwise
        if own != its and (name in default or (own and its)):
            problem = f"{name} is {own!r}, and {its!r} in shard {other}: no search over both"
            return replace(state, problem=problem)
    return state
