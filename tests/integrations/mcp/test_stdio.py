"""The official client over real stdio: tools, resources, two processes, and how a server ends."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import oneiros

mcp = pytest.importorskip("mcp", reason="needs mcp: pip install 'oneiros[mcp]'")

from tests.integrations.mcp.conftest import COMMAND, environment

Stdio = Callable[..., Any]


def value(result: Any) -> dict[str, Any]:
    """Return what a tool returned, which its text must state as well."""
    assert not result.is_error, result.content
    assert json.loads(result.content[0].text) == result.structured_content
    found: dict[str, Any] = result.structured_content
    return found


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_remembers_recalls_and_forgets(stdio: Stdio, store: Path, mode: str) -> None:
    async def talk() -> None:
        async with stdio(store, "--user", "ada", "--project", "atlas", mode=mode) as client:
            call = client.call_tool
            old = value(await call("memory_remember", {"text": "Deploys happen on Tuesdays"}))
            new = value(await call("memory_remember", {"text": "Deploys happen on Fridays"}))
            pair = {"old": old["id"], "new": new["id"]}
            assert value(await call("memory_supersede", pair)) == pair
            found = value(await call("memory_recall", {"query": "when are deploys?"}))
            assert [memory["id"] for memory in found["memories"]] == [new["id"]]
            text = {"id": new["id"], "text": "Deploys are daily", "tags": ["ci"]}
            assert value(await call("memory_update", text))["revision_count"] == 1
            got = value(await call("memory_get", {"id": new["id"]}))["memory"]
            assert (got["text"], got["tags"]) == ("Deploys are daily", ["ci"])
            rated = {"id": new["id"], "verdict": "helpful"}
            assert value(await call("memory_feedback", rated))["feedback"] == 1
            missing = {"query": "deploys", "id": old["id"]}
            assert value(await call("memory_why_not", missing))["verdict"] == "hidden: superseded"
            erased = value(await call("memory_forget", {"id": old["id"], "for_good": True}))
            assert erased == {"ids": [old["id"]], "erased": True}

    asyncio.run(talk())
    with oneiros.Engine(store) as engine:
        (memory,) = engine.list()
        assert (memory.user, memory.project) == ("ada", "atlas")
        assert memory.access_count == 1


def test_the_list_of_tools_is_below_six_kilobytes(stdio: Stdio, store: Path) -> None:
    async def talk() -> Any:
        async with stdio(store) as client:
            return await client.list_tools()

    listed = asyncio.run(talk())
    assert len(listed.tools) == 9
    wire = listed.model_dump_json(by_alias=True, exclude_none=True)
    assert len(wire.encode()) <= 5_950  # with room for a longer version
    for tool in listed.tools:
        assert tool.output_schema["type"] == "object"
        assert tool.annotations.read_only_hint is not None
        assert len(tool.description) > 20
        if not tool.annotations.read_only_hint:
            assert tool.annotations.destructive_hint is not None
            assert tool.annotations.idempotent_hint is not None
    destructive = {tool.name for tool in listed.tools if tool.annotations.destructive_hint}
    assert destructive == {
        *("memory_update", "memory_supersede", "memory_forget", "memory_dream"),
    }


def test_a_memory_is_a_resource(stdio: Stdio, store: Path) -> None:
    id = "notes/Tea & cake"
    with oneiros.Engine(store) as engine:
        engine.add("Ada likes tea", id=id, user="ada")
        engine.add("Bob likes tea", id="Bob", user="bob")

    async def talk() -> None:
        async with stdio(store, "--user", "ada") as client:
            (template,) = (await client.list_resource_templates()).resource_templates
            assert template.uri_template == "memory://{id}"
            assert (await client.list_resources()).resources == []
            read = await client.read_resource("memory://notes%2FTea%20%26%20cake")
            memory = json.loads(read.contents[0].text)["memory"]
            assert (memory["id"], memory["text"]) == (id, "Ada likes tea")
            messages = set()
            for uri in ("memory://Bob", "memory://Eve"):
                with pytest.raises(mcp.MCPError) as failure:
                    await client.read_resource(uri)
                assert failure.value.code == -32602
                messages.add(failure.value.message.replace(uri.removeprefix("memory://"), "ID"))
            assert messages == {"id: no memory 'ID'"}
            with pytest.raises(mcp.MCPError, match="uri: must be"):
                await client.read_resource("file:///etc/passwd")

    asyncio.run(talk())


def test_two_clients_share_a_store(stdio: Stdio, store: Path) -> None:
    async def fill(client: Any, name: str) -> None:
        for number in range(15):
            value(await client.call_tool("memory_remember", {"text": f"{name} tea {number}"}))

    async def talk() -> None:
        async with stdio(store) as one, stdio(store) as other:
            await asyncio.gather(fill(one, "oolong"), fill(other, "sencha"))
            for client in (one, other):
                for name in ("oolong", "sencha"):
                    query = {"query": f"{name} tea", "limit": 50}
                    found = value(await client.call_tool("memory_recall", query))["memories"]
                    assert sum(name in memory["text"] for memory in found) == 15

    asyncio.run(talk())
    with oneiros.Engine(store) as engine:
        assert engine.count() == 30


def test_read_only_leaves_out_the_tools_that_write(stdio: Stdio, store: Path) -> None:
    with oneiros.Engine(store) as engine:
        engine.add("tea", id="tea")
    before = store.read_bytes()

    async def talk() -> None:
        async with stdio(store, "--read-only") as client:
            tools = (await client.list_tools()).tools
            assert {tool.name for tool in tools} == {
                *("memory_recall", "memory_get", "memory_why_not"),
            }
            assert all(tool.annotations.read_only_hint for tool in tools)
            found = value(await client.call_tool("memory_recall", {"query": "tea"}))
            assert found["memories"][0]["id"] == "tea"
            with pytest.raises(mcp.MCPError, match="unknown tool"):
                await client.call_tool("memory_remember", {"text": "cake"})

    asyncio.run(talk())
    assert store.read_bytes() == before
    assert sorted(path.name for path in store.parent.iterdir()) == ["agent.db"]


def test_the_budget_bounds_what_goes_over_the_wire(stdio: Stdio, store: Path) -> None:
    long = "".join(f"tea {number}\n" for number in range(3_000))
    with oneiros.Engine(store) as engine:
        engine.add(long, id="long")
        engine.add_many([{"id": str(number), "text": f"tea {number}"} for number in range(20)])

    async def talk() -> tuple[set[str], str]:
        seen: set[str] = set()
        async with stdio(store, "--budget", "4000") as client:
            offset: int | None = 0
            while offset is not None:
                query = {"query": "tea", "limit": 50, "offset": offset}
                page = await client.call_tool("memory_recall", query)
                assert len(page.content[0].text) <= 4_000
                seen |= {memory["id"] for memory in value(page)["memories"]}
                offset = value(page)["next_offset"]
            read, offset = "", 0
            while offset is not None:
                part = await client.call_tool("memory_get", {"id": "long", "offset": offset})
                assert len(part.content[0].text) <= 4_000
                read += value(part)["memory"]["text"]
                offset = value(part)["memory"].get("rest")
        return seen, read

    seen, read = asyncio.run(talk())
    assert len(seen) == 21
    assert read == long


def test_dreams_are_of_the_whole_store(stdio: Stdio, store: Path) -> None:
    async def names(*options: str) -> set[str]:
        async with stdio(store, *options) as client:
            return {tool.name for tool in (await client.list_tools()).tools}

    assert "memory_dream" in asyncio.run(names())
    assert "memory_dream" not in asyncio.run(names("--user", "ada"))
    assert "memory_dream" in asyncio.run(names("--user", "ada", "--dream"))
    assert "memory_dream" not in asyncio.run(names("--no-dream"))


def test_what_a_model_prints_does_not_reach_the_client(stdio: Stdio, store: Path) -> None:
    (store.parent / "chatty.py").write_text(
        "import numpy, os, sys\n"
        "class Chatty:\n"
        "    name = 'chatty'\n"
        "    def __call__(self, texts):\n"
        "        print('{not json')\n"
        "        os.write(1, b'nor this\\n')\n"
        "        assert sys.stdin.read() == ''\n"
        "        return numpy.ones((len(texts), 2), numpy.float32)\n"
    )

    async def talk() -> None:
        async with stdio(store, "--embedder", "chatty:Chatty") as client:
            value(await client.call_tool("memory_remember", {"text": "tea"}))
            found = value(await client.call_tool("memory_recall", {"query": "cake"}))
            assert [memory["text"] for memory in found["memories"]] == ["tea"]

    asyncio.run(talk())


# -- the end -----------------------------------------------------------------------------------------

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def calling(number: int, name: str, /, **arguments: object) -> dict[str, Any]:
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


class Raw:
    """A process of which the test writes every line itself."""

    def __init__(self, store: Path, *options: str) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, "--store", str(store), *options],
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=store.parent,
        )

    def send(self, *messages: dict[str, Any] | str) -> None:
        assert self.process.stdin is not None
        for message in messages:
            line = message if isinstance(message, str) else json.dumps(message)
            self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        found: dict[str, Any] = json.loads(self.process.stdout.readline())
        return found

    def end(self) -> tuple[int, str, str]:
        """Return exit code, the rest of stdout, and stderr."""
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, out, err


@pytest.fixture
def raw(store: Path) -> Any:
    with oneiros.Engine(store) as engine:
        engine.add("tea", id="tea")
    started = Raw(store)
    started.send(HELLO, READY)
    assert started.receive()["result"]["serverInfo"]["name"] == "oneiros"
    yield started
    if started.process.poll() is None:
        started.process.kill()
        started.end()


def test_a_closed_stdin_ends_it_cleanly(raw: Raw, store: Path) -> None:
    raw.send(calling(2, "memory_remember", text="cake"))
    assert not raw.receive()["result"].get("isError", False)
    raw.send(calling(3, "memory_recall", query="cake"))
    raw.receive()
    assert raw.end() == (0, "", "")
    with oneiros.Engine(store) as engine:
        (cake,) = engine.list(oneiros.where(kind="note"), order="newest", limit=1)
        assert (cake.text, cake.access_count) == ("cake", 1)  # use that was pending is written
    assert not store.with_name("agent.db-wal").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_cleanly(raw: Raw, store: Path, number: int) -> None:
    raw.send(calling(2, "memory_remember", text="cake"))
    raw.receive()
    raw.process.send_signal(number)
    assert raw.process.wait(20) == 0  # while stdin stays open
    assert raw.end()[1:] == ("", "")
    with oneiros.Engine(store) as engine:
        assert engine.count() == 2


@pytest.mark.parametrize("closes_stdin", [True, False])
def test_a_client_that_stops_reading_ends_it(raw: Raw, closes_stdin: bool) -> None:
    assert raw.process.stdout is not None
    assert raw.process.stdin is not None
    raw.process.stdout.close()
    raw.send(*(calling(number, "memory_recall", query="tea") for number in range(2, 9)))
    if closes_stdin:
        raw.process.stdin.close()
    assert raw.process.wait(20) == 0
    assert raw.process.stderr is not None
    assert raw.process.stderr.read() == ""
    raw.process.stderr.close()
    with contextlib.suppress(BrokenPipeError):
        raw.process.stdin.close()


def test_a_call_in_progress_is_completed(store: Path) -> None:
    (store.parent / "patient.py").write_text(
        "import numpy, pathlib, time\n"
        "class Patient:\n"
        "    name = 'patient'\n"
        "    def __call__(self, texts):\n"
        "        pathlib.Path('begun').touch()\n"
        "        time.sleep(1)\n"
        "        return numpy.ones((len(texts), 2), numpy.float32)\n"
    )
    started = Raw(store, "--embedder", "patient:Patient")
    started.send(HELLO, READY)
    started.receive()
    started.send(calling(2, "memory_remember", text="tea"))
    end = time.monotonic() + 20
    while not (store.parent / "begun").exists():
        assert time.monotonic() < end
        time.sleep(0.01)
    started.process.send_signal(signal.SIGINT)
    code, _, err = started.end()
    assert (code, err) == (0, f"new store: {store}\n")
    with oneiros.Engine(store, embedder=Ones()) as engine:
        assert [memory.text for memory in engine.list()] == ["tea"]
        assert engine.stats()["vectors"] == 1


class Ones:
    name = "patient"

    def __call__(self, texts: list[str]) -> Any:
        return np.ones((len(texts), 2), np.float32)


def test_lines_that_are_no_messages_are_passed_over(raw: Raw) -> None:
    raw.send("", "{", '"text"', "[]", "null", "\ufffd\x00", "[" * 10_000, '{"jsonrpc": "1.0"}')
    raw.send({"jsonrpc": "2.0", "id": 7, "method": "no/such"})
    answers = [raw.receive()]
    raw.send(calling(8, "memory_get", id="tea"))
    while answers[-1].get("id") != 8:
        answers.append(raw.receive())
    errors = {answer["id"]: answer["error"]["code"] for answer in answers if "error" in answer}
    assert errors[7] == -32601
    assert answers[-1]["result"]["structuredContent"]["memory"]["text"] == "tea"
    assert raw.end()[0] == 0


def test_half_a_character_is_replaced(raw: Raw) -> None:
    line = json.dumps(calling(2, "memory_remember", text="TEXT"))
    for escaped, text in (
        (r"tea \ud83d", "tea \ufffd"),
        (r"\uDE00\uD83D tea \n", "\ufffd\ufffd tea \n"),
        (r"\ud83d\ude00\ud83d", "\U0001f600\ufffd"),
        (r"\\ud83d \\\ud83d", "\\ud83d \\\ufffd"),
    ):
        raw.send(line.replace("TEXT", escaped), calling(3, "no_such_tool"))
        answers = {answer["id"]: answer for answer in (raw.receive(), raw.receive())}
        id = answers[2]["result"]["structuredContent"]["id"]
        raw.send(calling(4, "memory_get", id=id))
        assert raw.receive()["result"]["structuredContent"]["memory"]["text"] == text
    assert raw.end()[0] == 0


def test_huge_and_deep_arguments_are_refused(raw: Raw) -> None:
    deep: list[Any] = []
    for _ in range(150):
        deep = [deep]
    raw.send(calling(2, "memory_remember", text="x" * 5_000_000))
    assert "at most 65536 characters" in raw.receive()["result"]["content"][0]["text"]
    raw.send(calling(3, "memory_recall", query="tea", tags=deep))
    assert "must be of type string" in raw.receive()["result"]["content"][0]["text"]
    raw.send('{"jsonrpc":"2.0","id":4,"method":"tools/call","params":' + "[" * 100_000)
    raw.send(calling(5, "memory_get", id="tea"))
    answers = [raw.receive()]
    while answers[-1].get("id") != 5:
        answers.append(raw.receive())
    assert answers[-1]["result"]["structuredContent"]["memory"]["text"] == "tea"
    assert raw.end()[0] == 0


def test_many_calls_at_once_are_all_answered(raw: Raw) -> None:
    raw.send(*(calling(number, "memory_get", id="tea") for number in range(100, 200)))
    answered = {raw.receive()["id"] for _ in range(100)}
    assert answered == set(range(100, 200))
    assert raw.end() == (0, "", "")
