"""A service of bytes: what it answers to a string is written to the socket as it stands, right or wrong."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

CLOSE = b"\0close"
#: What is sent later: the client has read what came before.
LATER = b"\0later"


def answer(status: str, body: bytes, *headers: str) -> bytes:
    """Write a whole answer."""
    lines = [f"HTTP/1.1 {status}", "Content-Type: application/json", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def value(text: str) -> bytes:
    """Write an answer that accepts a string and gives it back."""
    return answer("200 OK", json.dumps({"value": text}).encode())


class RawService:
    """Listens on loopback; `says` has the pieces of the answer to each string, others come back as they are."""

    def __init__(self, says: dict[str, list[bytes]], family: socket.AddressFamily = socket.AF_INET) -> None:
        self.says, self.asked, self.connections = says, Counter[str](), 0
        self.listener = socket.create_server(
            ("::1" if family == socket.AF_INET6 else "127.0.0.1", 0), family=family, backlog=128
        )
        self.port = self.listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.connections += 1
                threading.Thread(target=self.converse, args=(connection,), daemon=True).start()

    def converse(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as stream, contextlib.suppress(OSError):
            while line := stream.readline():
                query = parse_qs(urlsplit(line.split()[1].decode()).query, keep_blank_values=True)
                is_moved = line.split()[1].startswith(b"/to")
                size = 0
                while (line := stream.readline().strip()) != b"":
                    name, _, text = line.partition(b":")
                    size = int(text) if name.lower() == b"content-length" else size
                told = json.loads(stream.read(size))["value"] if size else query.get("value", ["(none)"])[0]
                asked = told if isinstance(told, str) else json.dumps(told)
                self.asked[asked] += 1
                for piece in [value(asked)] if is_moved else self.says.get(asked, [value(asked)]):
                    if piece == CLOSE:
                        return
                    if piece == LATER:
                        time.sleep(0.05)
                    else:
                        connection.sendall(piece)


@contextlib.contextmanager
def answering(says: dict[str, list[bytes]], family: socket.AddressFamily = socket.AF_INET) -> Iterator[RawService]:
    """Run a service of bytes."""
    service = RawService(says, family)
    threading.Thread(target=service.serve, daemon=True).start()
    try:
        yield service
    finally:
        service.listener.shutdown(socket.SHUT_RDWR)
        service.listener.close()
