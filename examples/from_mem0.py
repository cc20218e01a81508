"""Copy the memories of mem0 into a store.

    python examples/from_mem0.py mem0.json agent.db --user ada --user bob

``mem0.json`` is the dict that you give to ``Memory.from_config``. Needs ``pip install mem0ai`` and what your
configuration names. Run it again whenever you like: memories that were copied are updated.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import mem0

import oneiros

MOST = 1_000_000  # memories of one user, agent or run
FIELDS = {"user_id": "user", "agent_id": "agent", "run_id": "session"}
DROPPED = (
    "id",
    "memory",
    "metadata",
    "hash",
    "score",
    "created_at",
    "updated_at",
    "expiration_date",
    *FIELDS,
)


def records(memory: Any, **owner: str) -> Iterator[dict[str, Any]]:
    """Yield the memories of one user, agent or run.

    Args:
        memory: a ``mem0.Memory``.
        **owner: ``user_id=``, ``agent_id=`` or ``run_id=``, as mem0 names them.
    """
    for found in memory.get_all(filters=owner, top_k=MOST, show_expired=True)["results"]:
        record = {
            "id": found["id"],
            "text": found["memory"],
            "source_ref": f"mem0:{found['id']}",
            "metadata": {
                **(found.get("metadata") or {}),
                **{key: found[key] for key in found if key not in DROPPED and found[key]},
            },
        }
        for key, field in FIELDS.items():
            if found.get(key):
                record[field] = found[key]
        for key in ("created_at", "updated_at"):
            if found.get(key):
                record[key] = found[key]
        if found.get("expiration_date"):  # the last day on which it holds, in UTC
            last = date.fromisoformat(found["expiration_date"])
            if last < date.max:  # 9999-12-31 stands for no end
                record["valid_until"] = f"{last + timedelta(days=1)}T00:00:00Z"
        yield record


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("config", help="JSON file with the configuration of mem0")
    parser.add_argument("store", help="file of the store; made if it does not exist")
    for key in ("user", "agent", "run"):
        parser.add_argument(f"--{key}", action="append", default=[], help="id; may be repeated")
    options = parser.parse_args()
    if not (options.user or options.agent or options.run):
        parser.error("give --user, --agent or --run: mem0 lists the memories of one at a time")
    memory = mem0.Memory.from_config(json.loads(Path(options.config).read_text(encoding="utf-8")))
    with oneiros.Engine(options.store, timezone="UTC") as engine:
        for key in ("user", "agent", "run"):
            for name in getattr(options, key):
                found = list(records(memory, **{f"{key}_id": name}))
                report = engine.add_many(found, on_conflict="update")
                lasting = {record["id"] for record in found if "valid_until" not in record}
                for copied in engine.get_many(lasting.intersection(report.updated)):
                    if copied is not None and copied.valid_until is not None:
                        engine.update(copied.id, valid_until=None)  # mem0 no longer ends it
                new = len(report.ids) - len(report.updated)
                print(f"{key} {name}: {new} new, {len(report.updated)} updated")


if __name__ == "__main__":
    main()
