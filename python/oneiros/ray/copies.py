"""Copies of stores in an object store, through fsspec."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from oneiros._lazy import needed
from oneiros.errors import StoreCorrupt, StoreIOError
from oneiros.runtime.dataclasses import asdict, dataclass

__all__ = ["ShardCopy", "download", "opened", "upload"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardCopy:
    """The copy of one shard."""

    shard: int
    file: str
    bytes: int
    sha256: str
    copied_at: float
    """When the copy was begun; what was committed before is in it. Seconds UTC."""


def opened(url: str, options: Mapping[str, Any]) -> tuple[Any, str]:
    """Return the file system of a URL, and the path in it."""
    system, root = needed("fsspec.core", "ray").url_to_fs(url, **options)
    return system, str(root).rstrip("/")


def upload(
    store: Path, name: str, number: int, url: str, options: Mapping[str, Any], copied_at: float
) -> dict[str, Any]:
    """Upload the copy of a store and return its entry in the manifest.

    Args:
        store: the copy.
        name: its name in the generation.
        number: number of the shard.
        url: URL of the generation.
        options: options of fsspec's file system.
        copied_at: when the copy was begun, seconds UTC.

    Raises:
        OSError: it cannot be written, or arrived with another size.
    """
    system, root = opened(url, options)
    system.makedirs(root, exist_ok=True)
    target = f"{root}/{name}"
    system.put_file(str(store), target)
    system.invalidate_cache()
    size = store.stat().st_size
    if (arrived := system.info(target)["size"]) != size:
        msg = f"{name}: {arrived} of {size} bytes were uploaded"
        raise StoreIOError(msg)
    copy = ShardCopy(shard=number, file=name, bytes=size, sha256=digest(store), copied_at=copied_at)
    return asdict(copy)


def download(system: Any, source: str, target: Path, copy: ShardCopy) -> None:
    """Download a copy and check it.

    Raises:
        StoreCorrupt: it is missing or damaged.
        OSError: it cannot be read or written.
    """
    try:
        system.get_file(source, str(target))
    except FileNotFoundError as error:
        msg = f"{copy.file}: missing in the generation"
        raise StoreCorrupt(msg) from error
    if target.stat().st_size != copy.bytes or digest(target) != copy.sha256:
        msg = f"{copy.file}: differs from its checksum in the manifest"
        raise StoreCorrupt(msg)
    target.chmod(0o600)
    with target.open("rb") as file:
        os.fsync(file.fileno())


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
