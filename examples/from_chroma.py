"""Copy the collections of a Chroma folder into a store.

    python examples/from_chroma.py chroma_folder agent.db

Needs ``pip install chromadb``. Run it again whenever you like: records that were copied are updated.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chromadb

import oneiros

PAGE = 500  # records read at once


def records(
    folder: str, collection: str, *, user_key: str | None = None, with_vectors: bool = False
) -> Iterator[dict[str, Any]]:
    """Yield a collection's records as memories; those without a document are left out.

    Args:
        folder: the folder of a ``chromadb.PersistentClient``.
        collection: its name, which becomes the namespace of the memories.
        user_key: the metadata key with the owner of a record; it becomes the field ``user``.
        with_vectors: take Chroma's vectors along.
    """
    source = chromadb.PersistentClient(folder).get_collection(collection, embedding_function=None)
    include = ["documents", "metadatas", *(["embeddings"] if with_vectors else [])]
    for start in range(0, source.count(), PAGE):
        page = source.get(limit=PAGE, offset=start, include=include)
        for place, id in enumerate(page["ids"]):
            text = page["documents"][place]
            if not text:
                continue
            metadata = dict(page["metadatas"][place] or {})
            record = {
                "id": f"{collection}/{id}",
                "text": text,
                "namespace": collection,
                "source_ref": f"chroma:{collection}/{id}",
                "metadata": metadata,
            }
            if (owner := str(metadata.get(user_key, ""))) != "":
                record["user"] = owner
            if with_vectors:
                record["embedding"] = page["embeddings"][place]
            yield record


def collections(folder: str) -> list[str]:
    """Return the names of the collections in a folder, sorted."""
    return sorted(entry.name for entry in chromadb.PersistentClient(folder).list_collections())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="folder of a chromadb.PersistentClient")
    parser.add_argument("store", help="file of the store; made if it does not exist")
    parser.add_argument("--collection", action="append", help="name; may be repeated; default: all")
    parser.add_argument("--user-key", help="metadata key with the owner of a record")
    parser.add_argument(
        "--vectors", action="store_true", help="take the vectors along; later, open with that model"
    )
    options = parser.parse_args()
    if not Path(options.folder, "chroma.sqlite3").is_file():  # Chroma would make an empty one
        parser.error(f"no folder of a chromadb.PersistentClient: {options.folder}")
    with oneiros.Engine(options.store) as engine:
        for name in options.collection or collections(options.folder):
            found = records(
                options.folder, name, user_key=options.user_key, with_vectors=options.vectors
            )
            report = engine.add_many(found, on_conflict="update")
            new = len(report.ids) - len(report.updated)
            print(f"{name}: {new} new, {len(report.updated)} updated")


if __name__ == "__main__":
    main()
