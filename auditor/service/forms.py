"""Forms that change something: sent from a page of ours, by whoever may.

A browser sends the password of its prompt along with whatever another site makes it send. So a form carries a seal
that only a page of ours shows, and the browser must say that it was on one.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from auditor.service.bodies import read_body
from auditor.service.problems import Refusal
from auditor.service.tokens import Role, Token

#: What may say of bugs that they are known.
CHANGES: Final[Role] = "admin"

#: What may have consumers run.
ASKS: Final[Role] = "submit"

MOST_FIELDS: Final = 20

#: A form that was sent, by the names of its fields.
Fields = dict[str, str]

_AGAIN: Final = "load the page anew, and send its form again"


class Seals:
    """What marks the forms of this process, for each holder of a token another."""

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(32)

    def seal(self, request: Request) -> str:
        """Give what a form must carry that whoever asks is shown."""
        token = holder(request)
        return hmac.new(self._secret, (token.sha256 if token else "").encode(), hashlib.sha256).hexdigest()

    def fits(self, request: Request, given: str) -> bool:
        """Say whether a form carries what its sender was shown."""
        return hmac.compare_digest(self.seal(request).encode(), given.encode())


def holder(request: Request) -> Token | None:
    """Give the token of whoever asks; None where nobody needs one."""
    found: Token | None = request.scope.get("auditor.token")
    return found


def seal(request: Request, needed: Role = CHANGES) -> str:
    """Give the seal of a form for whoever asks, nothing for who may not send it.

    Where nobody needs a token, everybody on this machine may.
    """
    token, seals = holder(request), request.app.state.seals
    assert isinstance(seals, Seals)
    return seals.seal(request) if token is None or token.allows(needed) else ""


def form_route(path: str, needed: Role, answer: Callable[[Request, Fields], Response]) -> Route:
    """Give the path to which a form of ours is sent by who has a role; `answer` is given its fields."""

    async def taken(request: Request) -> Response:
        return await run_in_threadpool(answer, request, await _sent(request, needed))

    return Route(path, taken, methods=["POST"])


async def _sent(request: Request, needed: Role) -> Fields:
    """Give the fields of a form that may be followed; a refusal says why it may not."""
    if not _is_from_here(request):
        raise Refusal(403, "this form was not sent by a page of this service; programs use the API under /api/v1")
    token = holder(request)
    if token is not None and not token.allows(needed):
        raise Refusal(403, f"the role {token.role} may not do that; it needs {needed}")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise Refusal(415, f"a form is expected, and no {kind or 'body without a type'}")
    body = await read_body(request)
    try:
        fields = dict(
            parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict")
        )
    except ValueError as error:
        raise Refusal(400, f"this is no form: {error}") from error
    seals: Seals = request.app.state.seals
    if not seals.fits(request, fields.get("seal", "")):
        raise Refusal(403, f"the form is from before the service was started, or from another holder; {_AGAIN}")
    return {name: value.replace("\r\n", "\n") for name, value in fields.items()}


def _is_from_here(request: Request) -> bool:
    """Say whether the browser says that a page of ours sends it; one that says nothing is none of today's."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site is not None and site != "same-origin":
        return False
    if origin is None:
        return site is not None
    # A proxy before us may have another scheme, and hand on another Host; then the browser's word stands.
    return site is not None or urlsplit(origin).netloc.lower() == request.headers.get("host", "").lower()
