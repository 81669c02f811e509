"""What a request carries, up to a limit: nobody fills our memory."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Final

from fastapi import Request
from fastapi.routing import APIRoute
from starlette.responses import Response
from starlette.types import Message

from auditor.service.problems import Refusal

#: Bytes of a form, or of a document that says a thing or two.
MOST: Final = 64 * 1024


async def read_body(request: Request, most: int = MOST) -> bytes:
    """Give the body of a request; a refusal where it is longer."""
    found = bytearray()
    async for part in request.stream():
        found += part
        if len(found) > most:
            raise _too_long(most)
    return bytes(found)


class BoundedRoute(APIRoute):
    """A path of the API that takes a short document."""

    most = MOST

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Give the handler, which stops to read a body that is too long."""
        handle = super().get_route_handler()

        async def bounded(request: Request) -> Response:
            taken = 0

            async def receive() -> Message:
                nonlocal taken
                message = await request.receive()
                taken += len(message.get("body", b""))
                if taken > self.most:
                    raise _too_long(self.most)
                return message

            return await handle(Request(request.scope, receive))

        return bounded


def _too_long(most: int) -> Refusal:
    return Refusal(413, f"the body is longer than {most:,} bytes")
