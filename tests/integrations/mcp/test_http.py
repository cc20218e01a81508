"""The official client over HTTP: the token, the headers, two clients, and how a server ends."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import oneiros

mcp = pytest.importorskip("mcp", reason="needs mcp: pip install 'oneiros[mcp]'")

import httpx2

from oneiros.integrations import mcp as integration
from oneiros.integrations.mcp import make_server, serve_http
from oneiros.integrations.mcp_tools import MemoryTools
from tests.integrations.mcp.conftest import COMMAND, TOKEN, Serving, environment, servers

Http = Callable[..., Serving]
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
HEADERS = {
    "accept": "application/json, text/event-stream",
    "content-type": "application/json",
    "authorization": f"Bearer {TOKEN}",
}


def post(serving: Serving, content: str | None = None, **headers: str | None) -> Any:
    """Send one request with the usual headers but for those given; None leaves one out."""
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    sent = {name: value for name, value in (HEADERS | given).items() if value is not None}
    body = json.dumps(PING) if content is None else content
    with httpx2.Client() as client:
        return client.post(serving.url, content=body, headers=sent)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A server of its own store for tests of single requests."""
    with servers() as serve:
        yield serve(tmp_path_factory.mktemp("running") / "agent.db")


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_clients_share_a_server(http: Http, store: Path, mode: str) -> None:
    serving = http(store, "--user", "ada")
    assert serving.url.startswith("http://127.0.0.1:")

    async def fill(client: Any, name: str) -> None:
        for number in range(10):
            arguments = {"text": f"{name} tea {number}"}
            assert not (await client.call_tool("memory_remember", arguments)).is_error

    async def talk() -> None:
        async with serving.client(mode=mode) as one, serving.client(mode=mode) as other:
            await asyncio.gather(fill(one, "oolong"), fill(other, "sencha"))
            for client in (one, other):
                assert len((await client.list_tools()).tools) == 8
                query = {"query": "tea", "limit": 50}
                found = await client.call_tool("memory_recall", query)
                assert len(found.structured_content["memories"]) == 20
                id = found.structured_content["memories"][0]["id"]
                read = await client.read_resource(f"memory://{id}")
                assert json.loads(read.contents[0].text)["memory"]["id"] == id

    asyncio.run(talk())
    assert serving.end() == 0
    with oneiros.Engine(store) as engine:
        assert {memory.user for memory in engine.list()} == {"ada"}
        assert engine.count() == 20


@pytest.mark.parametrize(
    "authorization",
    [
        None,
        "",
        "Bearer",
        "Bearer wrong",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        f"Basic {TOKEN}",
        TOKEN,
        f"Bearer  {TOKEN}",
        "Bearer \u00e4".encode("latin-1").decode("latin-1"),
    ],
)
def test_a_wrong_token_is_refused(running: Serving, authorization: str | None) -> None:
    for content in (None, "not json"):
        value = authorization if authorization is None else authorization.encode("latin-1")
        refused = post(running, content, authorization=value)  # type: ignore[arg-type]
        assert (refused.status_code, refused.text) == (401, "")
        assert refused.headers["www-authenticate"] == "Bearer"
    with httpx2.Client() as client:
        assert client.get(running.url.replace("/mcp", "/")).status_code == 401
    good = post(running).status_code
    assert good != 401
    assert post(running, authorization=f"bearer {TOKEN}").status_code == good


def test_a_client_without_the_token_gets_nothing(http: Http, store: Path) -> None:
    serving = http(store)

    async def talk(token: str | None) -> None:
        async with serving.client(token) as client:
            await client.call_tool("memory_remember", {"text": "tea"})

    for token in (None, "wrong"):
        with pytest.raises(BaseException):  # noqa: B017, PT011 - a group of the transport's errors
            asyncio.run(talk(token))
    asyncio.run(talk(TOKEN))
    assert serving.end() == 0
    with oneiros.Engine(store) as engine:
        assert engine.count() == 1


def test_a_token_is_made_and_printed_once(http: Http, store: Path) -> None:
    serving = http(store, token=None)
    name, token = serving.next_line().split()
    assert (name, len(token)) == ("token:", 43)
    assert post(serving).status_code == 401
    assert post(serving, authorization=f"Bearer {token}").status_code != 401
    other = http(store, token=None)
    assert other.next_line().split()[1] != token


def test_pages_of_other_machines_are_refused(running: Serving) -> None:
    port = running.url.split(":")[2].split("/")[0]
    good = post(running).status_code
    assert good not in (401, 403, 421)
    assert post(running, host="evil.example").status_code == 421
    assert post(running, host=f"evil.example:{port}").status_code == 421
    assert post(running, host=f"127.0.0.1.evil.example:{port}").status_code == 421
    assert post(running, origin="https://evil.example").status_code == 403
    assert post(running, origin="null").status_code == 403
    assert post(running, origin=f"http://localhost:{port}").status_code == good
    assert post(running, host=f"localhost:{port}").status_code == good


def test_a_large_body_is_refused(running: Serving) -> None:
    assert post(running, "x" * (1 << 20) + "x").status_code == 413
    assert post(running, "x").status_code == 400


def test_connections_without_a_request_are_bounded_and_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(integration, "_MOST_CONNECTIONS", 3)
    monkeypatch.setattr(integration, "_IDLE_SECONDS", 1.0)
    with (
        oneiros.Engine(":memory:") as engine,
        socket.create_server(("127.0.0.1", 0)) as listening,
    ):
        application = integration._application(make_server(MemoryTools(engine)), TOKEN, ())
        running = integration._web_server(application)
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            address = listening.getsockname()[:2]
            idle = [socket.create_connection(address, timeout=10) for _ in range(3)]
            for connection in idle:
                connection.sendall(b"POST /mcp HTTP/1.1\r\n")  # and nothing more
            time.sleep(0.2)
            with socket.create_connection(address, timeout=0.5) as refused:
                assert is_closed(refused)
            assert all(map(is_closed, idle))
            again = socket.create_connection(address, timeout=10)
            again.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\nGET / HT")
            assert again.recv(1 << 16).startswith(b"HTTP/1.1 401 ")
            assert is_closed(again)
            for connection in (*idle, again):
                connection.close()
        finally:
            running.should_exit = True
            thread.join(30)


def is_closed(connection: socket.socket) -> bool:
    """Return whether the other side closes a connection, without another byte."""
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


def test_half_a_character_is_replaced_as_over_stdio(http: Http, store: Path) -> None:
    serving = http(store)
    start = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "half \ud83d", "version": "1"},
        },
    }
    answer = post(serving, json.dumps(start))
    assert answer.status_code == 200, answer.text
    session = answer.headers["mcp-session-id"]
    call = {"name": "memory_get", "arguments": {"id": "half \ud83d"}}
    message = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}
    answer = post(serving, json.dumps(message), mcp_session_id=session)
    assert (answer.status_code, "no memory 'half \ufffd'" in answer.text) == (200, True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_signal_ends_it_cleanly_with_a_client_connected(
    http: Http, store: Path, number: int, mode: str
) -> None:
    serving = http(store)

    async def talk() -> int:
        code = -1
        try:
            async with serving.client(mode=mode) as client:
                await client.call_tool("memory_remember", {"text": "tea"})
                code = await asyncio.to_thread(serving.end, number)
        except BaseException:  # noqa: BLE001 - the connection is gone
            assert code == 0
        return code

    assert asyncio.run(talk()) == 0
    assert serving.next_line() == ""
    with oneiros.Engine(store) as engine:
        assert engine.count() == 1


def test_an_address_in_use_is_named(running: Serving, store: Path) -> None:
    port = running.url.split(":")[2].split("/")[0]
    done = subprocess.run(
        [*COMMAND, "--store", str(store), "--http", "--port", port],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "in use" in done.stderr


def test_another_host_needs_a_name() -> None:
    with oneiros.Engine(":memory:") as engine:
        server = make_server(MemoryTools(engine))
        with pytest.raises(ValueError, match=r"host: 'example\.org' is not loopback"):
            serve_http(server, host="example.org")
    with pytest.raises(TypeError, match="tools: "):
        make_server(engine)  # type: ignore[arg-type]


def test_a_named_host_is_served(http: Http, store: Path) -> None:
    serving = http(store, "--host", "0.0.0.0", "--allow-host", "memory.example")
    serving.url = serving.url.replace("0.0.0.0", "127.0.0.1")
    good = post(serving).status_code
    assert post(serving, host="memory.example").status_code == good
    assert post(serving, host="other.example").status_code == 421
