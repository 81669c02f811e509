"""What stands before every request: its id, the name it was sent to, who sends it; and behind it headers and a line."""

from __future__ import annotations

import base64
import binascii
import ipaddress
import re
import time
import uuid
from collections.abc import Iterable
from typing import Any, Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from auditor.errors import StoreError
from auditor.service.logs import LOGGER, VALUES
from auditor.service.problems import answer
from auditor.service.tokens import Role, Token, TokenFile, holder

#: Names of this machine to itself.
LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")

#: What a monitor asks, which tells nothing of the data.
_HEALTH: Final = ("/healthz", "/readyz")
_ASSETS: Final = "/assets/"

#: What a page may load; one with charts adds scripts of ours.
CONTENT_POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)

_HEADERS: Final = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # without a referrer a browser names no origin of a form, either
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_ASKS: Final = {"WWW-Authenticate": 'Bearer realm="auditor", Basic realm="auditor", charset="UTF-8"'}


def is_loopback(host: str) -> bool:
    """Say whether an address can be reached from this machine alone.

    >>> is_loopback("127.0.0.1"), is_loopback("0.0.0.0"), is_loopback("localhost")
    (True, False, True)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def host_name(header: str) -> str:
    """Give the name in a Host header, without its port.

    >>> host_name("Audits.example:8765"), host_name("[::1]:8765"), host_name("127.0.0.1")
    ('audits.example', '::1', '127.0.0.1')
    """
    match = re.fullmatch(r"\[([0-9A-Fa-f:.]+)\](?::\d*)?|([^:\[\]/@\s]+)(?::\d*)?", header.strip())
    return (match[1] or match[2]).lower().rstrip(".") if match else ""


class Access:
    """The service behind its door.

    A page in a browser takes its token by the browser's own prompt: as the password of HTTP basic, with any name. A
    path that changes anything must therefore ask for more than that, as a browser sends it along by itself.
    """

    def __init__(
        self,
        app: ASGIApp,
        tokens: TokenFile,
        names: Iterable[str],
        needed: Role = "read",
        *,
        log_values: bool = False,
    ) -> None:
        self.app, self.tokens, self.needed, self._log_values = app, tokens, needed, log_values
        self.names = {name.lower() for name in (*LOOPBACK, *names)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers, start = Headers(scope=scope), time.perf_counter()
        given = headers.get("x-request-id", "")
        request_id = given if _REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
        scope["auditor.request_id"], status = request_id, 0

        async def finish(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                _complete(MutableHeaders(scope=message), request_id, scope["path"])
            await send(message)

        try:
            refusal = self._refusal(scope, headers)
            if refusal is None:
                await self.app(scope, receive, finish)
            else:
                await answer(Request(scope), *refusal)(scope, receive, finish)
        except Exception:  # noqa: BLE001 - the edge of a request, which has been told
            LOGGER.exception("failed", extra={"facts": {"request_id": request_id}})
        finally:
            values = _values(scope) if self._log_values else {}
            _log(scope, request_id, status, time.perf_counter() - start, values)

    def _refusal(self, scope: Scope, headers: Headers) -> tuple[int, str, dict[str, str] | None] | None:
        """Say why a request is not answered, or None."""
        path = scope["path"]
        if path in _HEALTH:
            return None
        if host_name(headers.get("host", "")) not in self.names:
            told = "this service does not answer to the name of the Host header; start it with --allow-host NAME"
            return 421, told, None
        if path.startswith(_ASSETS):
            return None
        try:
            tokens = self.tokens.read()
        except StoreError:
            return (
                503,
                "the file of tokens is damaged, so nobody gets in; its owner sees why by `auditor token list`",
                None,
            )
        if self.tokens.is_open:
            return None
        token = _sent(headers, tokens)
        if token is None:
            return 401, "send a token: `Authorization: Bearer TOKEN`, or in a browser as the password", dict(_ASKS)
        scope["auditor.token"] = token
        if not token.allows(self.needed):
            return 403, f"the role {token.role} may not do that; it needs {self.needed}", None
        return None


def _sent(headers: Headers, tokens: Iterable[Token]) -> Token | None:
    """Give the token of a request: as a bearer, or as the password of a browser's prompt."""
    scheme, _, sent = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return holder(sent.strip(), tokens)
    if scheme.lower() == "basic":
        try:
            _, _, password = base64.b64decode(sent.strip(), validate=True).decode().partition(":")
        except (binascii.Error, ValueError):
            return None
        return holder(password, tokens)
    return None


def _complete(headers: MutableHeaders, request_id: str, path: str) -> None:
    headers["X-Request-Id"] = request_id
    for name, value in _HEADERS.items():
        headers.setdefault(name, value)
    if "cache-control" not in headers or not path.startswith(_ASSETS):
        headers["Cache-Control"] = "no-store"


def _values(scope: Scope) -> dict[str, Any]:
    """Give what a request says of data: its path and query, and the values that consumers read for it."""
    asked = {"path": scope["path"], "query": scope["query_string"].decode("latin-1")}
    return asked | ({"values": scope[VALUES]} if VALUES in scope else {})


def _log(scope: Scope, request_id: str, status: int, seconds: float, values: dict[str, Any]) -> None:
    token, route = scope.get("auditor.token"), scope.get("route")
    facts = {
        "request_id": request_id,
        "method": scope["method"] if scope["method"].isalpha() else "?",
        "route": getattr(route, "path", "") or "none",
        "status": status,
        "ms": round(seconds * 1000, 1),
        "token": token.name if token else None,
        **values,
    }
    LOGGER.info("request", extra={"facts": facts})
