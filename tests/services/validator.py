"""A real validation service over real sockets: a pydantic model behind the HTTP server of the standard library.

What a string asks of it is in `HABITS`; every other string is validated as the type that the path names. It counts what
it is asked, and how much of it at one time.
"""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from pydantic import TypeAdapter, ValidationError

TYPES: dict[str, Any] = {"day": date, "total": Decimal, "count": int, "flag": bool, "name": str, "any": object}
VALIDATORS = {name: TypeAdapter(kind) for name, kind in TYPES.items()}


class Service(ThreadingHTTPServer):
    """The server; `token` is what it wants as a bearer, where it wants one."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, token: str = "") -> None:
        super().__init__(("127.0.0.1", 0), Validator)
        self.token = token
        self.asked: Counter[Any] = Counter()
        self.headers_seen: list[dict[str, str]] = []
        self.at_once = self.most_at_once = 0
        self.dies_after: int | None = None
        self.version = "1.4.2"
        self.delay = 0.0
        self.broken = False
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: clients that go away are what the tests are about."""


class Validator(BaseHTTPRequestHandler):
    """Answers one request after another of a connection."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and body in one piece
    server: Service

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if parts.path == "/version":
            return self.answer(200, self.server.version.encode())
        query = parse_qs(parts.query, keep_blank_values=True, errors="surrogatepass")
        return self.validated(parts.path.split("/")[-1], query["value"][0])

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        parts = urlsplit(self.path).path.split("/")
        if parts[1] == "moved":
            where = {"elsewhere": "http://localhost:9/validate/name", "here": "/validate/name"}[parts[2]]
            self.send_response(307)
            self.send_header("Location", where)
            self.send_header("Content-Length", "0")
            return self.end_headers()
        if parts[1] == "segment":
            return self.validated("name", unquote(parts[2]))
        if parts[1] != "validate" or parts[2] not in VALIDATORS:
            return self.answer(404, b'{"detail": "Not Found"}')
        return self.validated(parts[2], json.loads(body)["value"])

    def validated(self, kind: str, value: Any) -> None:
        """Count, do what the string asks for, or validate it."""
        server = self.server
        with server.lock:
            server.asked[value if isinstance(value, str) else json.dumps(value)] += 1
            server.headers_seen.append(dict(self.headers.items()))
            server.at_once += 1
            server.most_at_once = max(server.most_at_once, server.at_once)
            dies = server.dies_after is not None and server.asked.total() > server.dies_after
        try:
            if dies:
                threading.Thread(target=end, args=(server,)).start()
                return self.cut()
            time.sleep(server.delay)
            with server.lock:
                server.at_once -= 1
            if server.broken:
                return self.answer(500, b"no database")
            if server.token and self.headers["Authorization"] != f"Bearer {server.token}":
                said = f"no such token: {self.headers['Authorization']}"
                return self.answer(401, json.dumps({"detail": said}).encode())
            if isinstance(value, str) and value.partition(" ")[0] in HABITS:
                return HABITS[value.partition(" ")[0]](self, value)
            return self.validate(kind, value)
        except OSError:
            return None

    def validate(self, kind: str, value: Any) -> None:
        try:
            found = VALIDATORS[kind].validate_python(value)
        except ValidationError as error:
            detail = [{"msg": item["msg"], "type": item["type"]} for item in error.errors()]
            return self.answer(422, json.dumps({"detail": detail}).encode())
        if isinstance(found, date | Decimal):
            found = str(found)
        return self.answer(200, json.dumps({"value": found, "ok": True}).encode())

    def answer(self, status: int, body: bytes, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Version", self.server.version)
        self.send_header("Set-Cookie", f"session={self.server.asked.total()}; Path=/")
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(body)
            self.wfile.flush()

    def cut(self) -> None:
        """Close the connection hard, without an answer."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def cut_first(self, value: str) -> None:
        """Close the first connection that asks for a string, answer the next."""
        if self.server.asked[value] == 1:
            return self.cut()
        return self.answer(200, b'{"value": "at last"}')

    def half(self) -> None:
        """Promise more than is sent."""
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b'{"value": ')
        self.close_connection = True

    def drip_headers(self) -> None:
        """Send a header now and then, for ever."""
        with contextlib.suppress(OSError):
            self.connection.sendall(b"HTTP/1.1 200 OK\r\n")
            for number in range(600):
                self.connection.sendall(b"X-%d: 1\r\n" % number)
                time.sleep(0.05)

    def drip(self) -> None:
        """Send a byte now and then, for ever."""
        self.send_response(200)
        self.send_header("Content-Length", "1000000")
        self.end_headers()
        with contextlib.suppress(OSError):
            for _ in range(400):
                self.wfile.write(b" ")
                self.wfile.flush()
                time.sleep(0.05)

    def compressed(self) -> None:
        self.send_response(200)
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", "3")
        self.end_headers()
        self.wfile.write(b"abc")

    def slow(self) -> None:
        time.sleep(5)
        self.answer(200, b'{"value": "too late"}')


HABITS: dict[str, Any] = {
    "#500": lambda handler, _: handler.answer(500, b"Internal Server Error", "text/plain"),
    "#503": lambda handler, _: handler.answer(503, b"no upstream", "text/html"),
    "#404": lambda handler, _: handler.answer(404, b'{"detail": "Not Found"}'),
    "#401": lambda handler, _: handler.answer(401, b'{"detail": "expired"}'),
    "#403": lambda handler, _: handler.answer(403, b'{"detail": "not yours"}'),
    "#429": lambda handler, _: handler.answer(429, b'{"detail": "slow down"}'),
    "#302": lambda handler, _: handler.answer(302, b""),
    "#204": lambda handler, _: handler.answer(204, b""),
    "#null": lambda handler, _: handler.answer(200, b'{"value": null}'),
    "#html": lambda handler, _: handler.answer(200, b"<html>login</html>", "text/html"),
    "#html422": lambda handler, _: handler.answer(422, b"<html>blocked</html>", "text/html"),
    "#bytes": lambda handler, _: handler.answer(200, b'{"value": "\xff"}'),
    "#deep": lambda handler, _: handler.answer(200, b"[" * 200_000),
    "#other": lambda handler, _: handler.answer(200, b'{"result": 1}'),
    "#object": lambda handler, _: handler.answer(200, b'{"value": {"rejected": "no"}}'),
    "#digits": lambda handler, _: handler.answer(200, b'{"value": 0.10000000000000000000001}'),
    "#soft": lambda handler, _: handler.answer(200, b'{"value": "x", "error": "no such day"}'),
    "#huge": lambda handler, _: handler.answer(200, b'{"value": "' + b"x" * 11 * 1024 * 1024 + b'"}'),
    "#tag": lambda handler, _: handler.answer(200, b'{"value": "int:5"}'),
    "#echo": lambda handler, _: handler.answer(
        200, json.dumps({"value": "seen " + handler.headers["Authorization"]}).encode()
    ),
    "#long": lambda handler, value: handler.answer(
        500, b"x " * int(value.split()[1]) + handler.headers["Authorization"].encode()
    ),
    "#leak": lambda handler, _: handler.answer(
        422, json.dumps({"detail": [{"msg": "bad for " + handler.headers["Authorization"]}]}).encode()
    ),
    "#cut": lambda handler, _: handler.cut(),
    "#first": Validator.cut_first,
    "#half": lambda handler, _: handler.half(),
    "#slow": lambda handler, _: handler.slow(),
    "#headers": lambda handler, _: handler.drip_headers(),
    "#drip": lambda handler, _: handler.drip(),
    "#gzip": lambda handler, _: handler.compressed(),
}


def end(server: Service) -> None:
    """Stop listening, as a server does that died."""
    server.socket.close()
    server.shutdown()


@contextlib.contextmanager
def serving(token: str = "") -> Iterator[Service]:
    """Run a service."""
    server = Service(token)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
