"""Paths of the API that take a short document: nobody fills our memory."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request
from fastapi.routing import APIRoute
from starlette.responses import Response
from starlette.types import Message

from auditor.service.bodies import MOST, too_long


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
                    raise too_long(self.most)
                return message

            return await handle(Request(request.scope, receive))

        return bounded
