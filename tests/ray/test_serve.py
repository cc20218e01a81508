"""The example of a deployment behind HTTP, as its page shows it."""

from __future__ import annotations

import json
import re
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from docs.site.outside_pages import DOCS

ray = pytest.importorskip("ray", reason="needs Ray: nox -s ray")
serve = pytest.importorskip("ray.serve", reason="needs ray[serve]: nox -s ray")
from examples.ray_serve import build

pytestmark = pytest.mark.usefixtures("cluster")

SAMPLE = re.compile(r'^(\w+)(?:\{shard="(\d+)"\})? (\S+)$')


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("served") / "memories"


@pytest.fixture(scope="module")
def address(cluster: None, folder: Path) -> Iterator[str]:
    assert cluster is None
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    serve.start(http_options={"host": "127.0.0.1", "port": port})
    serve.run(build({"folder": str(folder), "shards": "2", "embedder": "hashing"}))
    yield f"http://127.0.0.1:{port}"
    serve.shutdown()


def call(url: str, body: object = None) -> tuple[int, str]:
    """Return the status and the text of a response."""
    data = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data)
    try:
        with urllib.request.urlopen(request, timeout=120) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def result(url: str, body: object) -> dict[str, Any]:
    status, text = call(url, body)
    assert status in (200, 201), text
    found: dict[str, Any] = json.loads(text)
    return found


def test_memories_are_added_and_found(address: str) -> None:
    coffee = {"text": "Ada likes her coffee black", "user": "ada", "id": "coffee"}
    for _ in range(2):  # the same addition is one memory
        assert result(f"{address}/memories", coffee) == {"id": "coffee"}
    assert result(f"{address}/memories", {"text": "Bob drinks tea", "user": "bob", "id": "tea"})
    found = result(f"{address}/search", {"query": "how does Ada take her cofee?", "user": "ada"})
    assert [each["text"] for each in found["results"]] == ["Ada likes her coffee black"]
    assert result(f"{address}/search", {"query": "coffee", "user": "bob"})["results"] == []
    found = result(f"{address}/search", {"query": "who drinks tea?", "k": 1})
    assert [each["id"] for each in found["results"]] == ["tea"]
    assert found["missing"] == {}


def test_wrong_input_is_named(address: str) -> None:
    for path, body, status, message in (
        ("/memories", {"text": "tea"}, 400, "needs user"),
        ("/memories", {"user": "ada"}, 400, "text: must be a text"),
        ("/memories", {"text": "t", "user": "ada", "importance": 7}, 400, "importance"),
        ("/memories", {"text": "t", "user": "ada", "id": "coffee"}, 409, "coffee"),
        ("/memories", b"tea", 400, "the body is no JSON"),
        ("/memories", b"[" * 100_000, 400, "the body is no JSON"),
        ("/search", {"query": "tea", "user": None}, 400, "user: must be a str"),
        ("/memories", [], 400, "must be a JSON object"),
        ("/search", {"query": "tea", "profile": "x"}, 400, "profile: a search takes query"),
        ("/search", {}, 400, "query: a search takes query"),
        ("/metrics", {}, 405, "no such call"),
        ("/", None, 404, "no such call"),
    ):
        found = call(f"{address}{path}", body)
        assert found[0] == status, found
        assert message in json.loads(found[1])["error"]


def test_health_and_metrics(address: str) -> None:
    assert call(f"{address}/health") == (200, '{"shards":2,"missing":[]}')
    status, text = call(f"{address}/metrics")
    assert status == 200
    samples = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            match = SAMPLE.match(line)
            assert match, line
            samples[match[1], match[2]] = float(match[3])
            assert f"# TYPE {match[1]} " in text
            assert f"# HELP {match[1]} " in text
    assert samples["oneiros_memories", "0"] + samples["oneiros_memories", "1"] == 2
    assert samples["oneiros_damaged", "0"] == 0
    assert (samples["oneiros_shard_up", "0"], samples["oneiros_shard_up", "1"]) == (1, 1)
    assert samples["oneiros_unavailable_total", None] == 0


def test_the_replica_opens_the_stores_again(address: str) -> None:
    """A replica that dies takes its shards along; the next one has all that was committed."""
    replicas = [
        actor
        for actor in ray.util.list_named_actors(all_namespaces=True)
        if "Memories" in actor["name"]
    ]
    assert len(replicas) == 1
    ray.kill(ray.get_actor(**replicas[0]), no_restart=True)
    deadline = time.monotonic() + 180
    status, text = 0, ""
    while status != 200 and time.monotonic() < deadline:
        time.sleep(0.5)
        status, text = call(f"{address}/search", {"query": "coffee", "user": "ada"})
    assert [each["id"] for each in json.loads(text)["results"]] == ["coffee"]


def test_the_page_names_every_call(address: str) -> None:
    page = (DOCS / "howto" / "ray_serve.md").read_text(encoding="utf-8")
    for line in ("POST /memories", "POST /search", "GET /health", "GET /metrics"):
        assert line in page
    bodies = re.findall(r"curl -d '(\{.*\})' localhost:8000(\S+)", page)
    assert len(bodies) == 2
    for body, path in bodies:
        assert result(f"{address}{path}", json.loads(body))


def test_a_replica_that_is_ended_closes_the_stores(address: str, folder: Path) -> None:
    assert call(f"{address}/health")[0] == 200
    assert list(folder.glob("*-wal"))
    serve.delete("default")
    assert not list(folder.glob("*-wal"))
