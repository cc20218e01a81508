"""Generations: copies of all shards in an object store, and stores made of them again.

A generation is a folder ``URL/ID`` with a file per shard and ``manifest.json``, which is written last: a
generation without it does not exist. Files are copied by fsspec, so the URL may name any store that
it knows: ``s3://bucket/prefix``, ``gs://``, ``file:///``.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from oneiros.clock import system_clock
from oneiros.errors import StoreCorrupt
from oneiros.model.ids import new_ulid
from oneiros.model.validation import count, file_name, moment, require_instance, require_utf8
from oneiros.ray.actors import ShardCall
from oneiros.ray.copies import ShardCopy, download, opened
from oneiros.ray.failures import ScopeBusy
from oneiros.ray.routing import Layout
from oneiros.ray.shard import layout_file, store_file, write_layout
from oneiros.ray.sharded import ShardedEngine, missing_shards
from oneiros.runtime.dataclasses import asdict, dataclass
from oneiros.store.connections import sync_folder

if TYPE_CHECKING:
    from oneiros.clock import Time

__all__ = ["Generation", "back_up", "list_generations", "open_replica", "restore", "write_manifest"]


_MANIFEST: Final = "manifest.json"
_FORMAT: Final = 1
_ATTEMPTS: Final = 3  # of a copy, if scopes are moved meanwhile


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """A complete copy of a store in an object store."""

    id: str
    """Name of its folder; ids sort by time."""
    began_at: float
    """Seconds UTC. Each shard has at least what was committed before."""
    finished_at: float
    """Seconds UTC. No shard has anything that was committed after."""
    shards: int
    key: str
    copies: tuple[ShardCopy, ...]

    @property
    def layout(self) -> Layout:
        """The number of shards and the key."""
        return Layout(self.shards, self.key)


def back_up(
    engine: ShardedEngine,
    url: str,
    *,
    at_once: int = 1,
    storage_options: Mapping[str, Any] | None = None,
) -> Generation:
    """Copy all shards to an object store while they are in use.

    Each actor makes a consistent copy on its disk and uploads it. Shards are independent, so that
    they are copied at different moments makes no memory contradict another. If a scope is moved
    meanwhile, which would be in both copies or in none, all are copied again.

    Args:
        engine: the store.
        url: a folder that fsspec can write to.
        at_once: how many shards copy at the same time, >= 1.
        storage_options: options of fsspec's file system, such as ``endpoint_url`` or credentials.

    Returns:
        The generation.

    Raises:
        ShardUnavailable: a shard does not respond. The generation is not complete, and does not
            count.
        ScopeBusy: scopes were moved between shards during each of three attempts.
        OSError: a copy cannot be written.
        ImportError: fsspec, or the package for this kind of URL, is not installed.

    Examples:
        >>> import oneiros.ray
        >>> with oneiros.ray.ShardedEngine("memories", shards=2) as engine:
        ...     id = engine.add("tea", user="ada")
        ...     generation = oneiros.ray.back_up(engine, "backups")
        >>> oneiros.ray.restore("backups", "restored") == generation
        True
    """
    require_instance("engine", engine, (ShardedEngine,), "a ShardedEngine")
    count("at_once", at_once, low=1)
    options = dict(storage_options or {})
    url, layout = _absolute(url), engine.layout
    for _ in range(_ATTEMPTS):
        began_at = system_clock()
        id = new_ulid(began_at)
        places = engine.actors.places()
        calls = [
            ShardCall(shard, "back_up", (f"{url}/{id}", options), is_repeatable=True)
            for shard in range(layout.shards)
        ]
        copies, failures = engine.actors.ask_each(calls, at_once=at_once)
        missing_shards(failures, allow_partial=False)
        if engine.actors.places() == places:
            break
    else:
        msg = "scopes were moved between shards during the copy; call again when none is"
        raise ScopeBusy(msg)
    generation = Generation(
        id=id,
        began_at=began_at,
        finished_at=system_clock(),
        shards=layout.shards,
        key=layout.key,
        copies=tuple(ShardCopy(**copies[place]) for place in sorted(copies)),
    )
    write_manifest(generation, url, options)
    return generation


def write_manifest(generation: Generation, url: str, options: Mapping[str, Any]) -> None:
    """Make a generation, whose files are all there, complete."""
    system, root = opened(url, options)
    document = {"format": _FORMAT, **asdict(generation)}
    system.pipe_file(f"{root}/{generation.id}/{_MANIFEST}", json.dumps(document).encode())


def list_generations(
    url: str, *, storage_options: Mapping[str, Any] | None = None
) -> list[Generation]:
    """Return the complete generations of a folder, the oldest first.

    Args:
        url: the folder that :func:`back_up` was given.
        storage_options: as in :func:`back_up`.

    Raises:
        StoreCorrupt: a manifest is damaged, or of a newer version.
        OSError: the folder cannot be read.
    """
    system, root = opened(_absolute(url), storage_options or {})
    system.invalidate_cache()
    found = []
    for path in system.glob(f"{root}/*/{_MANIFEST}"):
        document = _manifest(str(path), system.cat_file(path))
        if document is not None:
            found.append(document)
    return sorted(found, key=lambda each: each.id)


def restore(
    url: str,
    folder: str | os.PathLike[str],
    *,
    generation: str | None = None,
    at: Time | None = None,
    shards: Sequence[int] | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Generation:
    """Make a folder of stores from a generation, on this machine.

    All copies are checked against the manifest before anything appears. Open the folder with
    :class:`ShardedEngine`.

    Args:
        url: the folder that :func:`back_up` was given.
        folder: a folder that does not exist. With ``shards``, it may, without these stores.
        generation: id of a generation. Default: the last one.
        at: a time: the last generation that was finished by then. Seconds UTC, an aware ``datetime``
            or ISO 8601 with an offset.
        shards: numbers of the shards to restore, such as the one whose disk was lost. Default: all.
        storage_options: as in :func:`back_up`.

    Returns:
        The generation.

    Raises:
        ValueError: no such generation, the folder or a file of a shard exists, or an argument breaks
            its rule.
        StoreCorrupt: a copy is damaged. Nothing is restored.
        OSError: a file cannot be read or written.

    Examples:
        See :func:`back_up`.
    """
    target = Path(file_name("folder", folder)).absolute()
    chosen = _chosen(url, generation, at, storage_options)
    numbers = list(range(chosen.shards)) if shards is None else _checked_shards(shards, chosen)
    _require_free(target, None if shards is None else numbers)
    system, root = opened(_absolute(url), storage_options or {})
    draft = target.with_name(f".{target.name}.{os.urandom(6).hex()}.part")
    draft.mkdir(mode=0o700, parents=True)
    try:
        for number in numbers:
            copy = chosen.copies[number]
            path = store_file(draft, number)
            download(system, f"{root}/{chosen.id}/{copy.file}", path, copy)
            write_layout(layout_file(draft, number), number, chosen.layout)
        sync_folder(str(draft / _MANIFEST))
        if shards is None:
            draft.rename(target)
        else:
            target.mkdir(mode=0o700, exist_ok=True)
            for number in numbers:
                for part in (store_file, layout_file):
                    part(draft, number).rename(part(target, number))
            sync_folder(str(target / _MANIFEST))
        sync_folder(str(target))
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return chosen


def open_replica(
    url: str,
    folder: str | os.PathLike[str],
    *,
    generation: str | None = None,
    at: Time | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> ShardedEngine:
    """Open a generation for reading, from a copy on this machine.

    The copy is made in ``folder/ID`` on first use. Open a newer generation to follow the original.

    Args:
        url: the folder that :func:`back_up` was given.
        folder: folder for copies of generations.
        generation: id of a generation. Default: the last one.
        at: as in :func:`restore`.
        storage_options: as in :func:`back_up`.
        **options: options of :class:`ShardedEngine` and :class:`oneiros.Engine`.

    Returns:
        A read-only :class:`ShardedEngine`: searches never reinforce, and writes raise
        :class:`oneiros.EngineReadOnly`.

    Raises:
        ValueError, StoreCorrupt, OSError: as :func:`restore`.
        ShardUnavailable: as :class:`ShardedEngine`.
    """
    chosen = _chosen(url, generation, at, storage_options)
    home = Path(file_name("folder", folder)).absolute() / chosen.id
    if not home.exists():
        restore(url, home, generation=chosen.id, storage_options=storage_options)
    return ShardedEngine(
        home, shards=chosen.shards, key=chosen.key, **{**options, "read_only": True}
    )


def _absolute(url: str) -> str:
    """Return a URL that means the same in every process."""
    require_utf8("url", url)
    if not url:
        msg = "url: must name a folder, got ''"
        raise ValueError(msg)
    is_path = "://" not in url and "::" not in url
    return os.path.abspath(url) if is_path else url.rstrip("/")  # noqa: PTH100 - "a//b" is a URL's


def _manifest(path: str, data: bytes) -> Generation | None:
    """Parse a manifest; None if it was not written whole.

    Raises:
        StoreCorrupt: it is damaged, or of a newer version.
    """
    try:
        document = json.loads(data)
    except ValueError:
        return None
    try:
        format = document.pop("format")
        if format != _FORMAT:
            msg = f"{path}: of another version of Oneiros"
            raise StoreCorrupt(msg)
        copies = tuple(ShardCopy(**copy) for copy in document.pop("copies"))
        return Generation(**document, copies=copies)
    except (AttributeError, KeyError, TypeError) as error:
        msg = f"{path}: not the manifest of a generation ({error})"
        raise StoreCorrupt(msg) from None


def _chosen(
    url: str,
    id: str | None,
    at: Time | None,
    storage_options: Mapping[str, Any] | None,
) -> Generation:
    """Return the generation of an id, or the last one, or the last one by a time."""
    if id is not None and at is not None:
        msg = "restore: give generation= or at=, not both"
        raise ValueError(msg)
    found = list_generations(url, storage_options=storage_options)
    if id is not None:
        found = [each for each in found if each.id == id]
    if at is not None:
        until = moment("at")(at)
        found = [each for each in found if each.finished_at <= until]
    if not found:
        which = f" {id!r}" if id is not None else "" if at is None else f" finished by {at}"
        msg = f"url: {url!r} has no complete generation{which}"
        raise ValueError(msg)
    return found[-1]


def _checked_shards(shards: Sequence[int], generation: Generation) -> list[int]:
    require_instance("shards", shards, (list, tuple), "a list of numbers of shards")
    for number in shards:
        if count("shards", number) >= generation.shards:
            msg = f"shards: the generation has {generation.shards}, from 0, got {number}"
            raise ValueError(msg)
    return list(dict.fromkeys(shards))


def _require_free(target: Path, numbers: Sequence[int] | None) -> None:
    """Refuse to restore over anything."""
    if numbers is None:
        if os.path.lexists(target):
            msg = f"folder: {str(target)!r} exists; name a new one"
            raise ValueError(msg)
        return
    for number in numbers:
        stem = layout_file(target, number).stem
        # The log of a lost store must not be taken for that of its copy.
        if left := sorted(path.name for path in target.glob(f"{stem}.*")):
            msg = f"folder: move {', '.join(left)} elsewhere first; restore() replaces no file"
            raise ValueError(msg)
