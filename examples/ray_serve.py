"""A store of shards behind HTTP, by Ray Serve.

In an environment with ``pip install 'oneiros[ray]' 'ray[serve]'``::

    serve run examples.ray_serve:build folder=memories shards=2 key=user

Then ``POST /memories``, ``POST /search``, ``GET /health`` and ``GET /metrics`` on port 8000. The page
docs/howto/ray_serve.md shows calls.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ray import serve
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

import oneiros
from oneiros.ray import ShardedEngine, ShardUnavailable

LARGEST = 16 * 2**20  # bytes of a request
GAUGES = {
    "memories": "Live memories.",
    "deleted": "Soft-deleted memories.",
    "damaged": "Memories whose checksum did not hold.",
    "links": "Links between memories.",
    "vectors": "Memories with a vector.",
    "without_vector": "Memories that lack a vector.",
    "file_bytes": "Bytes of the store.",
}
SEARCHES = ("k", "scope", "allow_partial", "reinforce")


@serve.deployment(num_replicas=1, max_ongoing_requests=32)
class Memories:
    """The HTTP face. It alone has the shards open, so it has one replica: the shards do the work."""

    def __init__(self, folder: str, shards: int, key: str, options: Mapping[str, Any]) -> None:
        self.engine = ShardedEngine(folder, shards=shards, key=key, **options)
        self.failures = 0
        self.routes: dict[tuple[str, str], Callable[[dict[str, Any]], Response]] = {
            ("POST", "/memories"): self.add,
            ("POST", "/search"): self.search,
            ("GET", "/health"): self.health,
            ("GET", "/metrics"): self.metrics,
        }

    def __del__(self) -> None:
        """Close the shards, which writes the last uses; Serve calls it when it ends the replica."""
        if "engine" in vars(self):  # it could be opened
            self.engine.close()

    async def __call__(self, request: Request) -> Response:
        path = request.url.path.rstrip("/") or "/"
        route = self.routes.get((request.method, path))
        if route is None:
            known = {known for _, known in self.routes}
            return _error(405 if path in known else 404, f"{request.method} {path}: no such call")
        body: dict[str, Any] = {}
        if request.method == "POST":
            data = await request.body()
            if len(data) > LARGEST:
                return _error(413, f"the body is larger than {LARGEST} bytes")
            try:
                body = json.loads(data)
            except (ValueError, RecursionError) as error:
                return _error(400, f"the body is no JSON: {error}")
            if not isinstance(body, dict):
                return _error(400, "the body must be a JSON object")
        # The engine waits for shards, so it runs on a thread.
        return await asyncio.get_running_loop().run_in_executor(
            None, partial(self.run, route, body)
        )

    def run(self, route: Callable[[dict[str, Any]], Response], body: dict[str, Any]) -> Response:
        try:
            return route(body)
        except oneiros.DuplicateId as error:
            return _error(409, str(error))
        except ShardUnavailable as error:
            self.failures += 1
            return _error(503, str(error), may_have_happened=error.may_have_happened)
        except (ValueError, TypeError) as error:
            return _error(400, str(error))

    def add(self, body: dict[str, Any]) -> Response:
        """Add a memory: the fields of :meth:`oneiros.Engine.add`, among them the key."""
        if not isinstance(body.get("text"), str):
            return _error(400, "text: must be a text")
        return JSONResponse({"id": self.engine.add(**body)}, 201)

    def search(self, body: dict[str, Any]) -> Response:
        """Search: ``query``, and the key for one scope; without it, all shards."""
        query = body.pop("query", None)
        unknown = body.keys() - {*SEARCHES, self.engine.layout.key}
        if not isinstance(query, str) or unknown:
            wrong = ", ".join(sorted(unknown)) or "query"
            return _error(400, f"{wrong}: a search takes query, {', '.join(SEARCHES)} and the key")
        response = self.engine.search(query, **body)
        return JSONResponse(
            {
                "results": [
                    {"id": each.id, "score": each.score, "text": each.text}
                    for each in response.results
                ],
                "abstained": response.abstained,
                "missing": {str(n): why for n, why in getattr(response, "missing", {}).items()},
            }
        )

    def health(self, _: dict[str, Any]) -> Response:
        """Return 200 if all shards respond, else 503 with those that do not."""
        missing = self.engine.stats(allow_partial=True)["missing"]
        return JSONResponse(
            {"shards": self.engine.layout.shards, "missing": sorted(missing)},
            503 if missing else 200,
        )

    def metrics(self, _: dict[str, Any]) -> Response:
        """Return the numbers of each shard in Prometheus' text format."""
        stats = self.engine.stats(allow_partial=True)
        lines = []
        for name, words in GAUGES.items():
            lines += [f"# HELP oneiros_{name} {words}", f"# TYPE oneiros_{name} gauge"]
            lines += [
                f'oneiros_{name}{{shard="{shard}"}} {own[name]}'
                for shard, own in sorted(stats["shards"].items())
            ]
        lines += [
            "# HELP oneiros_shard_up Whether a shard responds.",
            "# TYPE oneiros_shard_up gauge",
        ]
        lines += [
            f'oneiros_shard_up{{shard="{shard}"}} {int(shard not in stats["missing"])}'
            for shard in range(self.engine.layout.shards)
        ]
        lines += [
            "# HELP oneiros_unavailable_total Calls that a shard did not answer.",
            "# TYPE oneiros_unavailable_total counter",
            f"oneiros_unavailable_total {self.failures}",
        ]
        return PlainTextResponse("\n".join(lines) + "\n", media_type="text/plain; version=0.0.4")


def _error(code: int, message: str, **more: object) -> JSONResponse:
    return JSONResponse({"error": message, **more}, code)


def build(given: Mapping[str, str]) -> serve.Application:
    """Return the application of ``serve run``.

    Args:
        given: ``folder``, ``shards``, ``key`` and options of :class:`oneiros.Engine`, such as
            ``embedder``.
    """
    options = dict(given)
    return Memories.bind(
        options.pop("folder"), int(options.pop("shards")), options.pop("key", "user"), options
    )
