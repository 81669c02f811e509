"""The connections to a service, which are used again, and the sign that an answer on one belongs to no question.

A service may answer twice to one request: a handler that fails after it has answered, and a framework that then says
500. On a connection that is used again the second answer is taken for the answer to the next string, whose own goes to
the one after it. So each connection tells whether an answer was there before its question was sent, and whether more
comes than was asked for; `Connections.is_muddled` keeps that. A connection for each request has no such trouble.
"""

from __future__ import annotations

import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Iterator, Optional, Set

#: Bytes that a service sent unasked are looked for so many seconds where there is something to read.
A_LOOK = 0.01


class Connections:
    """What opens connections for httpcore, and knows those that are open."""

    def __init__(self, httpcore: "Any") -> None:
        """Open them as httpcore does."""
        self.backend, self.timed_out = httpcore.SyncBackend(), httpcore.TimeoutException
        self.network_error = httpcore.NetworkError
        self.open: "Set[Stream]" = set()
        self.pool: "Any" = None
        self.is_muddled = False
        self.lock = threading.Lock()

    def connect_tcp(self, *arguments: "Any", **options: "Any") -> "Stream":
        """Connect."""
        return Stream(self.backend.connect_tcp(*arguments, **options), self)

    def sleep(self, seconds: float) -> None:
        """Wait."""
        self.backend.sleep(seconds)

    def close(self) -> None:
        """Close all connections, none of which is in use, and see whether more has come on one."""
        with self.lock:
            streams = list(self.open)
        self.is_muddled = self.is_muddled or any(map(left_over, self.pool.connections))
        for stream in streams:
            stream.get_extra_info("is_readable")
            stream.close()


def left_over(connection: "Any") -> bytes:
    """Give what was read behind the last answer on a connection of the pool, which no part of httpcore tells."""
    state = getattr(getattr(connection, "_connection", None), "_h11_state", None)
    return state.trailing_data[0] if state is not None else b""


class Stream:
    """One connection. `is_fresh`: something has been read since the last question was sent."""

    def __init__(self, inner: "Any", connections: Connections) -> None:
        self.inner, self.connections, self.is_fresh = inner, connections, True
        with connections.lock:
            connections.open.add(self)

    def read(self, most: int, timeout: "Optional[float]" = None) -> bytes:
        """Read what there is."""
        data: bytes = self.inner.read(most, timeout)
        self.is_fresh = True
        return data

    def write(self, data: bytes, timeout: "Optional[float]" = None) -> None:
        """Send all of it."""
        self.is_fresh = False
        self.inner.write(data, timeout)

    def close(self) -> None:
        """Close the connection."""
        with self.connections.lock:
            self.connections.open.discard(self)
        self.inner.close()

    def start_tls(self, *arguments: "Any", **options: "Any") -> "Stream":
        """Speak TLS from here on."""
        with self.connections.lock:
            self.connections.open.discard(self)
        return Stream(self.inner.start_tls(*arguments, **options), self.connections)

    def get_extra_info(self, name: str) -> "Any":
        """Tell of the connection; it is asked whether there is something to read before it is used again."""
        found = self.inner.get_extra_info(name)
        if name == "is_readable" and found:
            self.see_what_came()
        return found

    def see_what_came(self) -> None:
        """Tell an answer that nobody asked for from the end of a connection; it is not used again in either case."""
        try:
            if self.inner.read(1, A_LOOK):
                self.connections.is_muddled = True
        except (self.connections.timed_out, self.connections.network_error):
            return  # of TLS itself, or the end


def transport_over(connections: Connections, httpx: "Any", httpcore: "Any", most: int, trust: "Any") -> "Any":
    """Give what sends the requests of a client of httpx over these connections, at most so many, by httpcore's pool.

    `trust` is the context of TLS: which authorities vouch for the other side.
    """
    pool = httpcore.ConnectionPool(
        ssl_context=trust,
        max_connections=most,
        max_keepalive_connections=most,
        keepalive_expiry=4.0,
        network_backend=connections,
    )
    connections.pool = pool

    def as_httpx(error: Exception) -> Exception:
        """Give an error of httpcore as that of httpx, which has the same name."""
        known: "Any" = getattr(httpx, type(error).__name__, None)
        return known(str(error)) if known else error

    faults = (
        *(httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError),
        *(httpcore.ProxyError, httpcore.UnsupportedProtocol),
    )

    class Body(httpx.SyncByteStream):  # type: ignore[misc]
        def __init__(self, stream: "Any") -> None:
            self.stream = stream

        def __iter__(self) -> "Iterator[bytes]":
            try:
                yield from self.stream
            except faults as error:
                raise as_httpx(error) from error

        def close(self) -> None:
            self.stream.close()

    class Transport(httpx.BaseTransport):  # type: ignore[misc]
        def handle_request(self, request: "Any") -> "Any":
            url = request.url
            asked = httpcore.Request(
                method=request.method,
                url=httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
                headers=request.headers.raw,
                content=request.stream,
                extensions=request.extensions,
            )
            try:
                told = pool.handle_request(asked)
            except faults as error:
                raise as_httpx(error) from error
            return httpx.Response(
                told.status, headers=told.headers, stream=Body(told.stream), extensions=told.extensions
            )

    return Transport()
