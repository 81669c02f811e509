"""What is sent to a service for one string: a url and a body, made of the templates of the spec."""

from __future__ import annotations

import json
from urllib.parse import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Optional, Tuple

    from .http_secrets import Secrets

SURROGATE = "cannot be sent in a url: it holds a lone surrogate, which has no bytes in UTF-8"


class Unsendable(Exception):
    """A string that no request can carry; the text says why."""


class Template:
    """The requests of one field: `name` is the service's name for it; `as_json` where values are JSON texts."""

    def __init__(self, service: "Dict[str, Any]", name: str, secrets: "Secrets", as_json: bool) -> None:
        self.as_json = as_json
        self.shown = service["url"].replace("{field}", url_part(name))
        self.url = [secrets.fill(part, url_part) for part in self.shown.split("{value}")]
        self.body: "Optional[list[list[bytes]]]" = None
        if service["request"] is not None:
            whole = service["request"].replace("{field}", json_content(name)).split('"{value}"')
            parts = [[secrets.fill(text, json_content).encode() for text in one.split("{value}")] for one in whole]
            self.body = parts

    def request(self, value: str) -> "Tuple[str, Optional[bytes]]":
        """Give url and body for a value; Unsendable where it cannot be sent."""
        url = self.url[0]
        if len(self.url) > 1:
            try:
                url = url_part(value).join(self.url)
            except UnicodeEncodeError:
                raise Unsendable(SURROGATE) from None
        if self.body is None:
            return url, None
        whole = value.encode("utf-8") if self.as_json else json.dumps(value).encode()
        inner = whole[1:-1]  # of a string; the spec has no JSON value in a longer text
        return url, whole.join(inner.join(parts) for parts in self.body)


def url_part(text: str) -> str:
    """Percent-encode all that is not plain in a url; a segment of dots alone would be taken for a step up."""
    return text.replace(".", "%2E") if text in (".", "..") else quote(text.encode("utf-8"), safe="")


def json_content(text: str) -> str:
    """Give the content of a JSON string."""
    return json.dumps(text)[1:-1]
