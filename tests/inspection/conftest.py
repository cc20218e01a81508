"""A store with harmless and hostile memories, a server over it, and requests as bytes."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import pytest

from oneiros.engine import Engine, QuietEngine
from oneiros.inspection import InspectionServer

TOKEN = "for-tests_0123456789"
DAY = 86_400.0
NOW = 1_750_000_000.0
HOSTILE_ID = "\"'><b>&../?#%2F <script>window.hacked=1</script>\u202e id"
HOSTILE = (
    "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>"
    "<a href=javascript:window.hacked=1>x</a><svg onload=window.hacked=1>"
    "{{ 7*7 }} ${7*7} \u202egnp.exe\u202c \x1b[2J\x9b31m \x00\x07\u2028 tea"
)


class Answer(NamedTuple):
    """What the server answered."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def value(self) -> dict[str, Any]:
        """The body as the JSON object it must be."""
        assert self.headers["content-type"] == "application/json"
        found = json.loads(self.body)
        assert isinstance(found, dict)
        return found

    @property
    def error(self) -> str:
        """The message of a refusal, which names the status, too."""
        assert self.value["status"] == self.status >= 400
        return str(self.value["error"])


class Client:
    """Requests to one server, each over a connection of its own."""

    def __init__(self, server: InspectionServer) -> None:
        self.server = server
        self.origin = f"http://127.0.0.1:{server.port}"

    def send(
        self, method: str, path: str, body: bytes | None = None, **headers: str | None
    ) -> Answer:
        """Send a request for a path from the root; a header of None is left out."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {"Host": f"127.0.0.1:{self.server.port}"} | given
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in sent.items():
                if value is not None:
                    connection.putheader(name, value)
            if body is not None and "Content-Length" not in given:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, found, response.read())
        finally:
            connection.close()

    def get(self, name: str, **parameters: object) -> Answer:
        """Ask the API."""
        query = f"?{urlencode(parameters, doseq=True)}" if parameters else ""
        return self.send("GET", f"/{TOKEN}/api/{name}{query}")

    def post(self, name: str, value: object, **headers: str | None) -> Answer:
        """Change something by the API, as the page does."""
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        usual = {"Origin": self.origin, "Content-Type": "application/json"}
        return self.send("POST", f"/{TOKEN}/api/{name}", body, **usual | headers)


Serve = Callable[..., Client]


def fill(engine: Engine) -> None:
    """Add memories of several ages, links, former texts, and hostile texts."""
    engine.add(
        "Ada likes her coffee black",
        id="coffee",
        kind="user_preference",
        session="s1",
        user="ada",
        project="atlas",
        created_at=NOW - 40 * DAY,
    )
    engine.add("Deploys happen on Tuesdays", id="deploy", kind="fact", created_at=NOW - 90 * DAY)
    engine.add("Deploys happen on Fridays", id="fridays", kind="fact", created_at=NOW - 3 * DAY)
    engine.add("The pool runs dry under load", id="pool", kind="lesson", created_at=NOW - 20 * DAY)
    engine.add(
        HOSTILE,
        id=HOSTILE_ID,
        title=HOSTILE,
        project=HOSTILE,
        session=HOSTILE,
        user=HOSTILE,
        kind="<img src=x onerror=window.hacked=1>",
        tags=[HOSTILE],
        metadata={HOSTILE: HOSTILE},
        created_at=NOW - DAY,
    )
    engine.add("word " * 200_000, id="big", created_at=NOW - 2 * DAY)
    engine.update("coffee", text="Ada likes her coffee with oat milk", importance=0.6)
    engine.update(HOSTILE_ID, text=HOSTILE + " <b>again</b>")
    engine.link("coffee", "deploy", 0.8)
    engine.link("deploy", "fridays", 0.4, kind="relation")
    engine.link("coffee", HOSTILE_ID, 0.9)
    engine.supersede("deploy", "fridays", "moved")
    engine.delete("pool")


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store that no test may change."""
    path = tmp_path_factory.mktemp("inspection") / "agent.db"
    with Engine(path, clock=lambda: NOW) as engine:
        fill(engine)
    return path


@pytest.fixture
def store(filled: Path, tmp_path: Path) -> Path:
    """Return a copy of the store, which a test may change."""
    path = tmp_path / "agent.db"
    path.write_bytes(filled.read_bytes())
    return path


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Serve stores; read only unless ``writes``."""
    with ExitStack() as stack:

        def start(path: Path, *, writes: bool = False, **options: Any) -> Client:
            engine = QuietEngine(path, read_only=not writes, clock=lambda: NOW, **options)
            stack.enter_context(engine)
            server = InspectionServer(engine, token=TOKEN, writes=writes)
            return Client(stack.enter_context(server))

        yield start


@pytest.fixture
def client(serve: Serve, filled: Path) -> Client:
    """Return a client of a server that only reads."""
    return serve(filled)


@pytest.fixture
def writer(serve: Serve, store: Path) -> Client:
    """Return a client of a server that changes a store of its own."""
    return serve(store, writes=True)
