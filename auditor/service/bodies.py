"""What a request carries, up to a limit: nobody fills our memory."""

from __future__ import annotations

from typing import Final

from starlette.requests import Request

from auditor.service.problems import Refusal

#: Bytes of a form, or of a document that says a thing or two.
MOST: Final = 64 * 1024


async def read_body(request: Request, most: int = MOST) -> bytes:
    """Give the body of a request; a refusal where it is longer."""
    found = bytearray()
    async for part in request.stream():
        found += part
        if len(found) > most:
            raise too_long(most)
    return bytes(found)


def too_long(most: int) -> Refusal:
    """Refuse a body that is longer than so many bytes."""
    return Refusal(413, f"the body is longer than {most:,} bytes")
