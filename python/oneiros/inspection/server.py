"""The HTTP server of the page: on loopback, for clients that know the address with its token.

A request passes these checks in order, before anything of it is read: the ``Host`` names loopback
(against DNS rebinding), and the first part of the path is the token. A request that changes
something is a POST of JSON whose ``Origin`` is the server's own.
"""

from __future__ import annotations

import hashlib
import json
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import TCPServer
from typing import TYPE_CHECKING, Any, Final, Self
from urllib.parse import parse_qs, urlsplit

from oneiros._lazy import logging
from oneiros.display.escaping import one_line, shortened
from oneiros.display.json_values import plain
from oneiros.errors import (
    DreamBusy,
    EngineClosed,
    EngineReadOnly,
    OneirosError,
    StoreBusy,
    StorePoisoned,
    UnknownMemory,
)
from oneiros.inspection.inspector import Inspector, StoreMoved
from oneiros.inspection.routes import READING, WRITING, Route
from oneiros.model.validation import require_int
from oneiros.runtime.dataclasses import NamedTuple
from oneiros.runtime.loopback import checked_token, is_token, local_names
from oneiros.runtime.signals import first_end_signal_passed_to

if TYPE_CHECKING:
    from oneiros.engine import Engine

__all__ = ["InspectionServer", "serve"]

_HOST: Final = "127.0.0.1"
_LARGEST_BODY: Final = 1 << 16  # bytes
_MOST_PARAMETERS: Final = 50
_MOST_MESSAGE: Final = 600
_IDLE_SECONDS: Final = 30.0
_GRACE_SECONDS: Final = 1.0
_POLL_SECONDS: Final = 0.25
_MOST_CONNECTIONS: Final = 100  # a thread and a descriptor each; anyone on the machine can connect
_TRIES: Final = 3  # of a read that another process's commit disturbed
_JSON: Final = "application/json"
_POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        *("script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src data:"),
        *("base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"),
        *("require-trusted-types-for 'script'", "trusted-types 'none'"),
    )
)
_HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",  # the address has the token
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_FILES: Final = {
    "": ("inspect.html", "text/html; charset=utf-8"),
    "inspect.css": ("inspect.css", "text/css; charset=utf-8"),
    "inspect.js": ("inspect.js", "text/javascript; charset=utf-8"),
}
_STATUSES: Final[tuple[tuple[type[Exception], HTTPStatus], ...]] = (
    (UnknownMemory, HTTPStatus.NOT_FOUND),
    (StoreMoved, HTTPStatus.GONE),
    (EngineReadOnly, HTTPStatus.FORBIDDEN),
    (StoreBusy, HTTPStatus.SERVICE_UNAVAILABLE),
    (DreamBusy, HTTPStatus.SERVICE_UNAVAILABLE),
    (EngineClosed, HTTPStatus.SERVICE_UNAVAILABLE),
    (StorePoisoned, HTTPStatus.SERVICE_UNAVAILABLE),
    (TimeoutError, HTTPStatus.REQUEST_TIMEOUT),  # of a body that does not come
    (OSError, HTTPStatus.INTERNAL_SERVER_ERROR),  # of the copies of an impact, as on a full disk
    (ValueError, HTTPStatus.BAD_REQUEST),  # also those of the engine that name field and rule
    (OneirosError, HTTPStatus.INTERNAL_SERVER_ERROR),
)


class _Refusal(Exception):
    """A request that is not answered with what it asks for."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status = status


class _Response(NamedTuple):
    status: HTTPStatus
    body: bytes
    kind: str = _JSON
    headers: Mapping[str, str] = {}


class _PageFile(NamedTuple):
    body: bytes
    kind: str
    tag: str


def _files() -> dict[str, _PageFile]:
    folder = Path(__file__).parent / "page"
    found = {}
    for name, (file, kind) in _FILES.items():
        body = (folder / file).read_bytes()
        found[name] = _PageFile(body, kind, f'"{hashlib.sha256(body).hexdigest()[:32]}"')
    return found


class InspectionServer:
    """A server of the page over an engine, on 127.0.0.1. A context manager.

    Every request needs the token, which is a part of :attr:`url`. The engine is shared by the
    threads of the server, and stays open when it ends.

    Args:
        engine: an open engine; its owner closes it.
        port: 0 takes a free one.
        token: at least 16 characters of printable ASCII without "/"; None: a new one.
        writes: whether the page can pin, delete, restore and judge memories, and undo cycles.

    Raises:
        ValueError, TypeError: an argument breaks its rule; ``writes`` with a read-only engine.
        OSError: the port is in use.

    Examples:
        >>> import json, oneiros, urllib.request
        >>> from oneiros.inspection import InspectionServer
        >>> engine = oneiros.Engine(":memory:")
        >>> id = engine.add("tea", id="tea")
        >>> with InspectionServer(engine) as server:
        ...     with urllib.request.urlopen(f"{server.url}api/memory?id=tea") as response:
        ...         json.load(response)["text"]
        'tea'
    """

    def __init__(
        self, engine: Engine, *, port: int = 0, token: str | None = None, writes: bool = False
    ) -> None:
        require_int("port", port, low=0, high=65_535)
        secret = checked_token(token)
        if not set(secret).isdisjoint("/?#%"):
            msg = "token: must not have any of / ? # %, since it is a part of an address"
            raise ValueError(msg)
        self._inspector = Inspector(engine, writes=writes)
        self._server = _Server(self._inspector, port, secret)
        self._thread: threading.Thread | None = None

    @property
    def port(self) -> int:
        """The port that the server listens on."""
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """The address of the page, with the token. Anyone who has it can read the store."""
        return f"http://{_HOST}:{self.port}/{self._server.token.decode()}/"

    def start(self) -> None:
        """Answer requests, on threads of the server's own, until :meth:`close`.

        Raises:
            RuntimeError: the server is closed.
        """
        if self._server.socket.fileno() < 0:
            msg = "the server is closed; make another InspectionServer"
            raise RuntimeError(msg)
        if self._thread is None:
            self._thread = threading.Thread(
                target=self._server.serve_forever,
                kwargs={"poll_interval": 0.05},
                name="oneiros-inspect",
                daemon=True,
            )
            self._thread.start()

    def close(self) -> None:
        """Stop, once the requests that are running have ended. A second call does nothing."""
        self._stop_listening()
        self._server.running.wait_for_none()

    def _stop_listening(self) -> None:
        if self._thread is not None:
            self._server.shutdown()
            self._thread.join()
            self._thread = None
        self._server.server_close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<InspectionServer on port {self.port}>"  # without the token


def serve(engine: Engine, *, port: int = 0, token: str | None = None, writes: bool = False) -> None:
    """Serve the page over an engine until Ctrl-C or SIGTERM. Prints its address to stderr.

    Call it on the main thread. The arguments and errors are those of :class:`InspectionServer`.
    """
    ended = threading.Event()
    with (
        first_end_signal_passed_to(lambda _: ended.set()),
        InspectionServer(engine, port=port, token=token, writes=writes) as page,
    ):
        how = "changes allowed" if writes else "read only"
        sys.stderr.write(f"serving {page.url} ({how}; Ctrl-C ends it)\n")
        sys.stderr.flush()
        # A signal that the kernel gives to another thread does not wake this one.
        while not ended.wait(_POLL_SECONDS):
            pass
        page._stop_listening()
        if not page._server.running.wait_for_none(_GRACE_SECONDS):
            sys.stderr.write("a request is running; Ctrl-C again ends it at once\n")
            sys.stderr.flush()


class _Running:
    """The number of requests that use the engine, or whose answers are sent.

    A connection that is idle, or whose request has not come as a whole, does not count.
    """

    def __init__(self) -> None:
        self._count = 0
        self._changed = threading.Condition()

    def add(self, change: int) -> None:
        """Add to the number."""
        with self._changed:
            self._count += change
            self._changed.notify_all()

    def wait_for_none(self, seconds: float | None = None) -> bool:
        """Wait until no request runs, or the time is over; return whether none runs."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._count, seconds)


class _Server(ThreadingHTTPServer):
    daemon_threads = True  # idle connections of browsers must not keep the process alive
    block_on_close = False

    def __init__(self, inspector: Inspector, port: int, token: str) -> None:
        self.inspector = inspector
        self.token = token.encode()
        self.files = _files()
        self.running = _Running()
        self._places = threading.Semaphore(_MOST_CONNECTIONS)
        super().__init__((_HOST, port), _Handler)
        self.names = local_names(int(self.server_address[1]))
        self.origins = [f"http://{name}" for name in self.names]

    def server_bind(self) -> None:
        """Bind the address, without the look-up of a name, which may take seconds."""
        try:
            TCPServer.server_bind(self)
        except OSError as error:
            name = f"{_HOST}:{self.server_address[1]}"
            raise OSError(error.errno, error.strerror, name) from error
        self.server_name, self.server_port = _HOST, int(self.server_address[1])

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection on a thread of its own, or close it where there are too many."""
        if not self._places.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve a connection until it is closed."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002
        """Log an error of a connection, unless the client left."""
        error = sys.exc_info()[1]
        if not isinstance(error, ConnectionError | TimeoutError):
            logging.getLogger(__name__).error("a connection failed", exc_info=True)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    timeout = _IDLE_SECONDS
    _is_body_read = False
    _is_running = False

    def do_GET(self) -> None:
        """Answer a request that reads."""
        self._answer(self._read)

    do_HEAD = do_GET

    def do_POST(self) -> None:
        """Answer a request that changes something."""
        self._answer(self._write)

    def _other_method(self) -> None:
        self._answer(self._refuse_method)

    do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_TRACE = do_CONNECT = _other_method

    def version_string(self) -> str:
        """Return the name of the server, without versions."""
        return "oneiros"

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: the addresses have the token."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer a request that cannot be parsed, as JSON."""
        del explain
        self.close_connection = True
        status = HTTPStatus(code)
        if status is HTTPStatus.NOT_IMPLEMENTED:
            status = HTTPStatus.METHOD_NOT_ALLOWED
        self._send(_failure(status, message or status.phrase))

    def _answer(self, method: Callable[[str, str], _Response]) -> None:
        self._is_body_read = False
        # What was not read of a body must not become the next request.
        if self.headers.get("Content-Length", "0") != "0" or "Transfer-Encoding" in self.headers:
            self.close_connection = True
        try:
            self._send(self._response(method))
        finally:
            if self._is_running:
                self._is_running = False
                self.server.running.add(-1)

    def _response(self, method: Callable[[str, str], _Response]) -> _Response:
        try:
            response = method(*self._admitted())
        except Exception as error:  # noqa: BLE001 - no request ends the server
            response = _refused(error)
        if self.close_connection:
            self._discard_body()
        if response.status >= HTTPStatus.BAD_REQUEST:
            self.close_connection = True
        return response

    def _called(self, route: Route, arguments: Mapping[str, Any]) -> _Response:
        """Return what a method of the inspector returns."""
        inspector = self.server.inspector
        self._is_running = True
        self.server.running.add(1)
        inspector.require_in_place()
        tries = _TRIES if self.command != "POST" else 1
        while True:
            tries -= 1
            try:
                return _success(route.call(inspector, **arguments))
            except StoreBusy:  # without a log, another process's commit disturbs a read
                if not tries:
                    raise

    def _discard_body(self) -> None:
        """Read a small body that is still unread: closing with unread bytes may cut the answer."""
        written = self.headers.get("Content-Length", "0")
        if self._is_body_read or not (written.isascii() and written.isdecimal()):
            return
        if len(written) < 12 and int(written) <= _LARGEST_BODY:
            with suppress(TimeoutError):
                self.rfile.read(int(written))

    def _admitted(self) -> tuple[str, str]:
        """Return the path below the token, and the query.

        Raises:
            _Refusal: the request comes from another machine's page, or lacks the token.
        """
        hosts = self.headers.get_all("Host", [])
        if len(hosts) != 1 or hosts[0].lower() not in self.server.names:
            raise _Refusal(
                HTTPStatus.MISDIRECTED_REQUEST,
                "the Host header must name this server; use the address that it printed",
            )
        given, slash, rest = self.path.removeprefix("/").partition("/")
        token = given.partition("?")[0].encode("latin-1", "replace")
        if not self.path.startswith("/") or not is_token(token, self.server.token):
            raise _Refusal(
                HTTPStatus.UNAUTHORIZED,
                "the address lacks the token, or has another one; use the one that was printed",
            )
        if not slash:
            raise _Refusal(HTTPStatus.NOT_FOUND, "the address ends with a slash")
        split = urlsplit(f"/{rest}")
        return split.path[1:], split.query

    # -- reading -----------------------------------------------------------------------------------

    def _read(self, path: str, query: str) -> _Response:
        file = self.server.files.get(path)
        if file is not None:
            return self._file(file)
        route = READING.get(path.removeprefix("api/")) if path.startswith("api/") else None
        if route is None:
            if path.removeprefix("api/") in WRITING:
                return self._refuse_method(path, query)
            raise _Refusal(HTTPStatus.NOT_FOUND, f"nothing is at {shortened(path, 80)!r}")
        arguments = route.arguments(
            parse_qs(
                query, keep_blank_values=True, errors="strict", max_num_fields=_MOST_PARAMETERS
            )
        )
        return self._called(route, arguments)

    def _file(self, file: _PageFile) -> _Response:
        headers = {"ETag": file.tag, "Cache-Control": "no-cache"}
        known = self.headers.get("If-None-Match", "")
        if file.tag in [tag.strip() for tag in known.split(",")]:
            return _Response(HTTPStatus.NOT_MODIFIED, b"", file.kind, headers)
        return _Response(HTTPStatus.OK, file.body, file.kind, headers)

    # -- writing -----------------------------------------------------------------------------------

    def _write(self, path: str, query: str) -> _Response:
        route = WRITING.get(path.removeprefix("api/")) if path.startswith("api/") else None
        if route is None:
            return self._refuse_method(path, query)
        origins = self.headers.get_all("Origin", [])
        if len(origins) != 1 or origins[0] not in self.server.origins:
            raise _Refusal(HTTPStatus.FORBIDDEN, "the Origin header must be that of this page")
        if not self.server.inspector.writes:
            raise _Refusal(
                HTTPStatus.FORBIDDEN,
                "nothing can be changed here; start oneiros inspect with --write",
            )
        arguments = route.values(self._body())
        return self._called(route, arguments)

    def _body(self) -> object:
        """Return the JSON value of the request's body.

        Raises:
            _Refusal: it is of another kind, of unknown length or too large.
            ValueError: it is not JSON.
        """
        if self.headers.get_content_type() != _JSON:
            raise _Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"the body must be {_JSON}")
        lengths = self.headers.get_all("Content-Length", [])
        if len(lengths) != 1 or "Transfer-Encoding" in self.headers:
            raise _Refusal(HTTPStatus.LENGTH_REQUIRED, "the body needs one Content-Length")
        written = lengths[0].strip()
        if not (written.isascii() and written.isdecimal()):
            raise _Refusal(HTTPStatus.BAD_REQUEST, "Content-Length: must be a number of bytes")
        if len(written) > 12 or int(written) > _LARGEST_BODY:
            raise _Refusal(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body is over {_LARGEST_BODY} bytes"
            )
        self._is_body_read = True
        body = self.rfile.read(int(written))
        self.close_connection = len(body) < int(written)
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            msg = "body: not JSON"
            raise ValueError(msg) from error

    def _refuse_method(self, path: str, _query: str) -> _Response:
        name = path.removeprefix("api/") if path.startswith("api/") else path
        allowed = "POST" if name in WRITING else "GET, HEAD"
        refused = _failure(HTTPStatus.METHOD_NOT_ALLOWED, f"the method must be {allowed}")
        return refused._replace(headers={"Allow": allowed})

    def _send(self, response: _Response) -> None:
        headers: dict[str, str] = {**_HEADERS, "Cache-Control": "no-store", **response.headers}
        headers["Content-Type"] = response.kind
        if response.status is not HTTPStatus.NOT_MODIFIED:
            headers["Content-Length"] = str(len(response.body))
        if self.close_connection:
            headers["Connection"] = "close"
        self.send_response(response.status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(response.body)


def _success(value: Mapping[str, Any]) -> _Response:
    body = json.dumps(plain(value), allow_nan=False, separators=(",", ":"))
    return _Response(HTTPStatus.OK, body.encode("ascii"))


def _failure(status: HTTPStatus, message: str) -> _Response:
    shown = shortened(one_line(message), _MOST_MESSAGE)
    return _Response(status, json.dumps({"error": shown, "status": status}).encode("ascii"))


def _refused(error: Exception) -> _Response:
    """Return the answer to a request that failed; an error of the program's own is logged."""
    if isinstance(error, _Refusal):
        return _failure(error.status, str(error))
    for kind, status in _STATUSES:
        if isinstance(error, kind):
            return _failure(status, str(error) or type(error).__name__)
    logging.getLogger(__name__).error("a request failed", exc_info=error)
    return _failure(
        HTTPStatus.INTERNAL_SERVER_ERROR, "internal error; the log of the server has the cause"
    )
