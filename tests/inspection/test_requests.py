"""Which requests the server answers: the token, the host, the origin, broken requests, the files."""

from __future__ import annotations

import http.client
import json
import re
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path

import pytest

import oneiros
from oneiros.inspection import InspectionServer, server
from tests.inspection.conftest import HOSTILE_ID, TOKEN, Client, Serve


def raw(client: Client, data: bytes) -> bytes:
    """Send bytes, and return all that comes back until the server closes the connection."""
    with socket.create_connection(("127.0.0.1", client.server.port), timeout=60) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        parts = []
        while part := connection.recv(1 << 16):
            parts.append(part)
        return b"".join(parts)


# -- who may ask -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/api/store",
        "/inspect.js",
        f"/{TOKEN}x/api/store",
        f"/{TOKEN[:-1]}/api/store",
        f"/x/{TOKEN}/api/store",
        f"/?token={TOKEN}",
        f"/{TOKEN.upper()}/",
        "//" + TOKEN + "x/",
        "/%66or-tests_0123456789/api/store",
        "/\u00e4/",
    ],
)
def test_a_request_without_the_token_gets_nothing(client: Client, path: str) -> None:
    line = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{client.server.port}\r\n\r\n"
    head, _, body = raw(client, line.encode("latin-1")).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 401 ")
    assert "token" in json.loads(body)["error"]
    assert b"agent.db" not in body


def test_a_post_without_the_token_changes_nothing(writer: Client) -> None:
    headers = {"Origin": writer.origin, "Content-Type": "application/json"}
    refused = writer.send("POST", "/wrong-token-000000/api/delete", b'{"id":"coffee"}', **headers)
    assert refused.status == 401
    assert writer.get("memory", id="coffee").value["deleted_at"] is None


@pytest.mark.parametrize(
    "host",
    [
        None,
        "",
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1.evil.example:{port}",
        "127.0.0.1",
        "127.0.0.1:{other}",
        "localhost",
        "0.0.0.0:{port}",
        "user@127.0.0.1:{port}",
    ],
)
def test_another_host_is_refused_before_the_token_is_looked_at(
    client: Client, host: str | None
) -> None:
    port = client.server.port
    name = None if host is None else host.format(port=port, other=port % 65_535 + 1)
    for path in (f"/{TOKEN}/api/store", "/wrong/"):
        refused = client.send("GET", path, Host=name)
        assert refused.status == 421
        assert "Host" in refused.error


def test_names_of_loopback_are_served(client: Client) -> None:
    for name in ("localhost", "LOCALHOST", "[::1]", "127.0.0.1"):
        assert client.send("GET", f"/{TOKEN}/", Host=f"{name}:{client.server.port}").status == 200


def test_two_hosts_are_refused(client: Client) -> None:
    host = f"Host: 127.0.0.1:{client.server.port}\r\n"
    answer = raw(client, f"GET /{TOKEN}/ HTTP/1.1\r\n{host}{host}\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 421 ")


@pytest.mark.parametrize(
    "origin",
    [
        *(
            None,
            "",
            "null",
            "http://evil.example",
            "{own}.evil.example",
            "{own}/",
            "http://127.0.0.1",
        ),
        *("127.0.0.1:{port}", "https://127.0.0.1:{port}", "http://user@127.0.0.1:{port}"),
    ],
)
def test_a_change_needs_the_origin_of_the_page(writer: Client, origin: str | None) -> None:
    given = None if origin is None else origin.format(own=writer.origin, port=writer.server.port)
    refused = writer.post("pin", {"id": "coffee", "pinned": True}, Origin=given)
    assert refused.status == 403
    assert "Origin" in refused.error
    assert writer.get("memory", id="coffee").value["pinned"] is False


def test_a_change_is_a_post_of_json(writer: Client) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", None):
        refused = writer.post("delete", {"id": "coffee"}, Content_Type=kind)
        assert refused.status == 415
    for name in ("pin", "delete", "restore", "feedback", "undo"):
        refused = writer.get(name, id="coffee")
        assert (refused.status, refused.headers["allow"]) == (405, "POST")
    assert writer.get("memory", id="coffee").value["deleted_at"] is None


def test_only_reading_refuses_every_change(client: Client, filled: Path) -> None:
    before = filled.read_bytes()
    changes = {
        "pin": {"id": "coffee", "pinned": True},
        "delete": {"id": "coffee"},
        "restore": {"id": "pool"},
        "feedback": {"id": "coffee", "verdict": "helpful"},
        "undo": {"id": "x"},
    }
    for name, value in changes.items():
        refused = client.post(name, value)
        assert refused.status == 403
        assert "--write" in refused.error
    client.get("search", q="coffee")
    client.get("plan", profile="reverie")
    assert filled.read_bytes() == before
    assert [file.name for file in filled.parent.iterdir()] == ["agent.db"]


def test_writes_need_an_engine_that_writes(filled: Path) -> None:
    with (
        oneiros.Engine(filled, read_only=True) as engine,
        pytest.raises(ValueError, match="writes: must be False with a read-only engine"),
    ):
        InspectionServer(engine, writes=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"port": -1}, "port: must be"),
        ({"port": 65_536}, "port: must be"),
        ({"token": "short"}, "token: must have at least 16"),
        ({"token": "0123456789/0123456789"}, "token: must not have any of"),
        ({"token": "0123456789%41123456789"}, "token: must not have any of"),
    ],
)
def test_wrong_arguments_are_named(options: dict[str, object], message: str) -> None:
    with oneiros.Engine(":memory:") as engine, pytest.raises(ValueError, match=message):
        InspectionServer(engine, **options)  # type: ignore[arg-type]


def test_tokens_are_new_and_not_shown_by_repr() -> None:
    with (
        oneiros.Engine(":memory:") as engine,
        InspectionServer(engine) as one,
        InspectionServer(engine) as other,
    ):
        assert one.url.startswith(f"http://127.0.0.1:{one.port}/")
        tokens = [each.url.split("/")[3] for each in (one, other)]
        assert tokens[0] != tokens[1]
        assert all(len(token) == 43 for token in tokens)
        assert tokens[0] not in repr(one)


# -- broken requests -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"nonsense\r\n\r\n", b"400"),
        (b"GET\r\n\r\n", b"400"),
        (b"GET / HTTP/9.9\r\n\r\n", b"505"),
        (b"GET /" + b"x" * 70_000 + b" HTTP/1.1\r\n\r\n", b"414"),
        (b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 200 + b"\r\n", b"431"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", b"400"),
    ],
)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_broken_request_is_answered_as_json_and_stops_nothing(
    client: Client, data: bytes, status: bytes
) -> None:
    answer = raw(client, data)
    assert re.match(rb"HTTP/1.1 " + status, answer) or b'"status": ' + status in answer
    assert json.loads(answer.partition(b"\r\n\r\n")[2] or answer)["status"] == int(status)
    assert client.get("store").status == 200


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"])
def test_other_methods_are_refused(client: Client, method: str) -> None:
    assert client.send(method, f"/{TOKEN}/api/memory?id=coffee").status == 405


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"", {}, 400),
        (b"{", {}, 400),
        (b"[]", {}, 400),
        (b'"coffee"', {}, 400),
        (b"null", {}, 400),
        (b"\xff\xfe", {}, 400),
        (b"[" * 60_000, {}, 400),
        (b'{"id": "coffee", "pinned": 1}', {}, 400),
        (b'{"id": "coffee"}', {}, 400),
        (b'{"id": 3, "pinned": true}', {}, 400),
        (b'{"id": ["coffee"], "pinned": true}', {}, 400),
        (b'{"id": "coffee", "pinned": true, "now": 0}', {}, 400),
        (b'{"id": "\\ud800", "pinned": true}', {}, 400),
        (b'{"id": "nobody", "pinned": true}', {}, 404),
        (b"x" * 65_537, {}, 413),
        (b"{}", {"Content_Length": "999999999999999"}, 413),
        (b"{}", {"Content_Length": "-2"}, 400),
        (b"{}", {"Content_Length": "two"}, 400),
        (None, {}, 411),
        (b"{}", {"Transfer_Encoding": "chunked"}, 411),
    ],
)
def test_a_wrong_body_is_refused_and_stops_nothing(
    writer: Client, body: bytes | None, headers: dict[str, str], status: int
) -> None:
    usual = {"Origin": writer.origin, "Content-Type": "application/json"}
    refused = writer.send("POST", f"/{TOKEN}/api/pin", body, **usual | headers)
    assert refused.status == status
    assert refused.error
    assert writer.get("memory", id="coffee").value["pinned"] is False


@pytest.mark.parametrize(
    ("path", "status", "message"),
    [
        ("api/search", 400, "q: is required"),
        ("api/search?q=a&q=b", 400, "q: must be given once"),
        ("api/search?q=a&k=0", 400, "k: must be a whole number from 1 to 100, got '0'"),
        ("api/search?q=a&k=1e9", 400, "k: must be a whole number"),
        ("api/search?q=a&k=%D9%A3", 400, "k: must be a whole number"),
        ("api/search?q=a&reinforce=1", 400, "reinforce: unknown parameter"),
        ("api/search?q=a&profile=none", 400, "none"),
        ("api/search?q=a&status=none", 400, "status"),
        ("api/search?q=a&deep_recall=yes", 400, "deep_recall: must be 1 or 0"),
        ("api/search?q=%FF", 400, "utf-8"),
        ("api/search?q=" + "a%20" * 20_000, 414, HTTPStatus(414).phrase),
        ("api/memory", 400, "id: is required"),
        ("api/memory?id=nobody", 404, "no memory 'nobody'"),
        ("api/memory?id=%ED%A0%80", 400, "utf-8"),
        ("api/text?id=nobody", 404, "no memory 'nobody'"),
        ("api/history?id=nobody", 404, "no memory 'nobody'"),
        ("api/graph?id=nobody", 404, "no memory 'nobody'"),
        ("api/fate?id=nobody", 404, "no memory 'nobody'"),
        ("api/cycle?id=nobody", 404, "no dream cycle 'nobody'"),
        ("api/why_not?q=a&id=" + "n" * 3_000, 200, ""),
        ("api/plan?keep=much", 400, "keep: must be a share as 0.5 or a number"),
        ("api/plan?keep=nan", 400, "keep"),
        ("api/plan?keep=7.5", 400, "keep"),
        ("api/plan?" + "&".join(f"a{n}=1" for n in range(60)), 400, "fields"),
        ("api/impact", 400, "q: is required"),
        ("api/nothing", 404, "nothing is at"),
        ("api/../inspect.js", 404, "nothing is at"),
        ("../../etc/passwd", 404, "nothing is at"),
        ("page/inspect.js", 404, "nothing is at"),
        ("<script>", 404, "nothing is at"),
    ],
)
def test_a_wrong_question_is_answered_with_field_and_rule(
    client: Client, path: str, status: int, message: str
) -> None:
    answer = client.send("GET", f"/{TOKEN}/{path}")
    assert answer.status == status
    if status != 200:
        assert message in answer.error
        assert len(answer.body) < 2_000


def test_an_internal_error_says_nothing_of_itself(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object, **__: object) -> None:
        msg = "a secret of the program"
        raise KeyError(msg)

    route = server.READING["store"]._replace(call=broken)  # type: ignore[arg-type]
    monkeypatch.setattr(server, "READING", {"store": route})
    answer = client.get("store")
    assert answer.status == 500
    assert "secret" not in answer.error
    assert "a secret of the program" in caplog.text
    monkeypatch.undo()
    assert client.get("store").status == 200


@pytest.mark.parametrize(("busy", "status"), [(1, 200), (2, 200), (3, 503)])
def test_a_read_that_a_commit_disturbs_is_tried_again(
    writer: Client, monkeypatch: pytest.MonkeyPatch, busy: int, status: int
) -> None:
    left = {"store": busy, "pin": 1}

    def disturbed(name: str, call: Callable[..., dict[str, object]]) -> Callable[..., object]:
        def run(*given: object, **named: object) -> dict[str, object]:
            left[name] -= 1
            if left[name] >= 0:
                msg = "another process changed the file"
                raise oneiros.StoreBusy(msg)
            return call(*given, **named)

        return run

    for table, name in (("READING", "store"), ("WRITING", "pin")):
        route = getattr(server, table)[name]
        changed = route._replace(call=disturbed(name, route.call))
        monkeypatch.setattr(server, table, {name: changed})
    assert writer.get("store").status == status
    assert writer.post("pin", {"id": "coffee", "pinned": True}).status == 503
    assert writer.post("pin", {"id": "coffee", "pinned": True}).status == 200


def test_the_token_is_in_no_log(
    client: Client, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    client.get("memory", id="nobody")
    client.get("store")
    assert TOKEN not in caplog.text
    assert capfd.readouterr() == ("", "")


# -- the files -------------------------------------------------------------------------------------


def test_every_answer_has_the_headers_of_safety(client: Client) -> None:
    answers = [client.send("GET", f"/{TOKEN}/{name}") for name in ("", "inspect.js", "api/store")]
    answers += [client.send("GET", "/"), client.get("memory", id="nobody")]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert not any(name.startswith("access-control") for name in answer.headers)
        assert "python" not in answer.headers["server"].lower()
    assert client.get("store").headers["cache-control"] == "no-store"


@pytest.mark.parametrize("name", ["", "inspect.css", "inspect.js"])
def test_files_have_tags(client: Client, name: str) -> None:
    path = f"/{TOKEN}/{name}"
    whole = client.send("GET", path)
    assert (whole.status, len(whole.body) > 1_000) == (200, True)
    tag = whole.headers["etag"]
    again = client.send("GET", path, If_None_Match=f'"other", {tag}')
    assert (again.status, again.body, again.headers["etag"]) == (304, b"", tag)
    assert client.send("GET", path, If_None_Match='"other"').status == 200
    head = client.send("HEAD", path)
    assert (head.status, head.body) == (200, b"")
    assert head.headers["content-length"] == str(len(whole.body))


def test_the_page_names_no_other_machine_and_holds_no_script(client: Client) -> None:
    page = client.send("GET", f"/{TOKEN}/").body.decode()
    script = client.send("GET", f"/{TOKEN}/inspect.js").body.decode()
    style = client.send("GET", f"/{TOKEN}/inspect.css").body.decode()
    assert re.findall(r"<script[^>]*>", page) == ['<script src="inspect.js" defer>']
    assert not re.search(r"<[^>]*\s(on\w+|style)=", page)
    for text in (page, style, script.replace("http://www.w3.org/2000/svg", "")):
        assert not re.search(r"(https?:)?//[\w-]+\.\w", text)
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b", script)


# -- many at once, and the end ---------------------------------------------------------------------


def test_a_connection_is_used_again(client: Client) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", client.server.port, timeout=60)
    for _ in range(3):
        connection.request("GET", f"/{TOKEN}/api/memory?id=coffee")
        response = connection.getresponse()
        assert response.status == 200
        assert json.loads(response.read())["id"] == "coffee"
    connection.close()


def test_a_body_left_unread_is_not_the_next_request(writer: Client) -> None:
    inner = f"DELETE /{TOKEN}/ HTTP/1.1\r\nHost: x\r\n\r\n".encode()
    host = f"Host: 127.0.0.1:{writer.server.port}\r\n"
    outer = f"GET /{TOKEN}/api/store HTTP/1.1\r\n{host}Content-Length: {len(inner)}\r\n\r\n"
    answer = raw(writer, outer.encode() + inner)
    assert answer.count(b"HTTP/1.1 ") == 1


def test_many_requests_at_once(writer: Client) -> None:
    def work(number: int) -> list[int]:
        return [
            writer.get("search", q="coffee deploys").status,
            writer.get("plan", profile="reverie", fresh=1).status,
            writer.post("pin", {"id": "coffee", "pinned": number % 2 == 0}).status,
            writer.get("memory", id=HOSTILE_ID).status,
            writer.post("feedback", {"id": "coffee", "verdict": "helpful"}).status,
            writer.get("fate", id="coffee").status,
            writer.get("memory", id="nobody").status,
        ]

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(work, range(24)))
    assert {tuple(statuses) for statuses in found} == {(200,) * 6 + (404,)}
    assert writer.get("memory", id="coffee").value["feedback"] == 24


def test_connections_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_MOST_CONNECTIONS", 3)
    with oneiros.Engine(":memory:") as engine, InspectionServer(engine, token=TOKEN) as page:
        address = ("127.0.0.1", page.port)
        idle = [socket.create_connection(address, timeout=30) for _ in range(3)]
        for connection in idle:
            connection.sendall(b"GET /wrong/ HTTP/1.1\r\n")  # and nothing more
        with socket.create_connection(address, timeout=10) as refused:
            assert refused.recv(1) == b""
        for connection in idle:
            connection.close()
        patient = Client(page)
        for _ in range(100):
            with suppress(ConnectionError, http.client.HTTPException):
                assert patient.get("store").status == 200
                break
            time.sleep(0.05)
        else:
            pytest.fail("the places of closed connections are not free")


def test_closing_lets_a_running_request_end(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Event(), threading.Event()
    route = server.READING["store"]

    def slow(inspector: object) -> dict[str, object]:
        begun.set()
        assert go_on.wait(30)
        return route.call(inspector)

    monkeypatch.setattr(server, "READING", {"store": route._replace(call=slow)})
    with oneiros.Engine(store) as engine, ThreadPoolExecutor(2) as pool:
        page = InspectionServer(engine, token=TOKEN)
        page.start()
        answer = pool.submit(Client(page).get, "store")
        assert begun.wait(30)
        closing = pool.submit(page.close)
        go_on.set()
        assert answer.result(30).status == 200
        closing.result(30)
        page.close()
        with pytest.raises(ConnectionError):
            Client(page).get("store")


def test_a_closed_server_does_not_start_again() -> None:
    with oneiros.Engine(":memory:") as engine:
        page = InspectionServer(engine)
        with page:
            page.start()
        with pytest.raises(RuntimeError, match="the server is closed"), page:
            pass
        page.close()


def test_a_closed_engine_is_said_to_be_closed(serve: Serve, store: Path) -> None:
    client = serve(store, writes=True)
    client.server._inspector._engine.close()
    for answer in (client.get("store"), client.get("search", q="coffee")):
        assert answer.status == 503
        assert "closed" in answer.error


def test_a_moved_deleted_or_replaced_store_is_said_to_be(
    serve: Serve, store: Path, tmp_path: Path
) -> None:
    client = serve(store)
    assert client.get("store").status == 200
    store.rename(tmp_path / "elsewhere.db")
    gone = client.get("search", q="coffee")
    assert (gone.status, "gone" in gone.error) == (410, True)
    store.write_bytes((tmp_path / "elsewhere.db").read_bytes())
    other = client.get("memory", id="coffee")
    assert (other.status, "another file" in other.error) == (410, True)
    store.unlink()
    (tmp_path / "elsewhere.db").rename(store)
    assert client.get("memory", id="coffee").status == 200
