"""What the keys of an http consumer may hold. No message shows a header's value, nor more of a url than its host."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from auditor.spec.kinds import Kind
from auditor.spec.mistakes import Complain, shown

#: A secret of the environment, as a text names it.
SECRET = re.compile(r"\{env:([A-Za-z_][A-Za-z0-9_]*)\}")

#: A whole value that is a secret, as the shorter way to write it.
WHOLE_SECRET = re.compile(r"env:([A-Za-z_][A-Za-z0-9_]*)")

#: Names of headers and of parameters that hold secrets.
SECRET_NAME = re.compile(
    r"auth|cookie|token|secret|passw|pwd|credential|signature|api-?_?key|access-?_?key|^key$", re.I
)

_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")

#: Statuses that say nothing about the value: who asks is not let in, asks too fast, too slowly, or in the wrong place.
NEVER_REJECTED = (401, 403, 407, 408, 421, 425, 426, 429)

MOST_CONCURRENT = 64
MOST_RETRIES = 10


def _url(value: object, complain: Complain) -> str | None:
    hint = 'such as "https://contracts.example/validate/{field}"'
    if not isinstance(value, str):
        complain(f"must be text in quotes, not {shown(value)}", hint)
        return None
    what = wrong_with_url(value)
    if what:
        complain(what, hint if "password" not in what else "name the secret in a header: headers.Authorization")
        return None
    return value


def wrong_with_url(url: str) -> str:
    """Say what is wrong with a url; nothing where nothing is. The url itself is not shown: it may hold a secret."""
    bare = re.sub(r"\{(?:value|field|env:[A-Za-z_][A-Za-z0-9_]*)\}", "x", url)
    if not bare.isascii() or not bare.isprintable() or " " in bare:
        return "must be written in ASCII, without blanks: percent-encode the others"
    if "{" in bare or "}" in bare:
        return "has a brace that is none of {value}, {field} and {env:NAME}"
    try:
        parts = urlsplit(bare)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        return f"is no url: {str(error) if 'port' in str(error).lower() else 'its host cannot be read'}"
    if parts.scheme not in ("http", "https") or not host:
        return "must start with http:// or https:// and a host"
    if "@" in parts.netloc:
        return "holds a user or a password"
    if "{" in url.partition("://")[2].partition("/")[0].partition("?")[0]:
        return "must name its host in full: nothing stands for it"
    return "is no url: port 0" if port == 0 else ""


def _headers(value: object, complain: Complain) -> dict[str, str] | None:
    if not isinstance(value, Mapping):
        complain(f"must be a table, not {shown(value)}", 'such as { Authorization = "Bearer {env:API_TOKEN}" }')
        return None
    read = {name: _header(name, text, complain) for name, text in value.items()}
    return {name: text for name, text in read.items() if text is not None} if None not in read.values() else None


def _header(name: str, value: object, complain: Complain) -> str | None:
    """Read one header; a secret written out is a mistake, and the message does not repeat it."""
    if not _HEADER.fullmatch(name):
        complain("is no name of a header", "letters, digits and dashes", name)
    elif name.lower() in (
        "host",
        "content-length",
        "transfer-encoding",
        "content-type",
        "accept-encoding",
        "connection",
    ):
        complain("is set by the audit itself", "remove it", name)
    elif not isinstance(value, str) or not value.isascii() or not value.isprintable() or value != value.strip():
        complain("must be text in ASCII without blanks around it", "", name)
    else:
        text = WHOLE_SECRET.sub(r"{env:\1}", value) if WHOLE_SECRET.fullmatch(value) else value
        if "{env:" in SECRET.sub("", text):
            complain("names a variable that cannot be one", 'such as "env:API_TOKEN"', name)
        elif SECRET_NAME.search(name) and not SECRET.search(text):
            hint = f'put it in the environment and write {name} = "env:API_TOKEN", or "Bearer {{env:API_TOKEN}}"'
            complain("is a secret and must not stand in the spec", hint, name)
        else:
            return text
    return None


def _request(value: object, complain: Complain) -> str | None:
    """Read the body as JSON text."""
    if not isinstance(value, Mapping) or not value:
        complain(f"must be a table, not {shown(value)}", 'such as { field = "{field}", value = "{value}" }')
        return None
    wrong = _wrong_in_request(value)
    if wrong:
        complain(wrong, 'the body is JSON; such as { field = "{field}", value = "{value}" }')
        return None
    return json.dumps(value, default=_number)


def _wrong_in_request(value: Any) -> str:
    if isinstance(value, Mapping):
        if any("{value}" in name or "{env:" in name for name in value):
            return "has a key with {value} or a secret in it; a key can hold {field} only"
        if any(SECRET_NAME.search(name) and _is_written_out(one) for name, one in value.items()):
            return "holds a secret, which must not stand in the spec: write {env:NAME}"
        return next(filter(None, map(_wrong_in_request, value.values())), "")
    if isinstance(value, list):
        return next(filter(None, map(_wrong_in_request, value)), "")
    return "" if isinstance(value, str | int | Decimal | float) else f"holds {shown(value)}, which JSON does not have"


def _is_written_out(value: object) -> bool:
    return isinstance(value, str) and bool(value) and not SECRET.search(value) and value not in ("{value}", "{field}")


def _number(value: Any) -> float:
    return float(value)


def _answer_path(value: object, complain: Complain) -> str | None:
    if isinstance(value, str) and (value == "." or (value and all(value.removeprefix(".").split(".")))):
        return value
    complain(f"must be a dotted path, not {shown(value)}", 'such as "value" or "detail.0.msg"; "." is the whole answer')
    return None


def _statuses(value: object, complain: Complain) -> tuple[int, ...] | None:
    statuses = [value] if type(value) is int else value
    if not isinstance(statuses, list | tuple) or not all(type(one) is int and 200 <= one < 500 for one in statuses):
        complain(f"must list statuses from 200 to 499, not {shown(value)}", "such as [400, 422]")
        return None
    if barred := [one for one in statuses if one in NEVER_REJECTED or 300 <= one < 400]:
        what = f"{barred[0]} says nothing about a value: it asks for credentials, for another try or elsewhere"
        complain(what, "such as [400, 422]")
        return None
    return tuple(statuses)


def _between(least: int, most: int) -> Kind:
    def read(value: object, complain: Complain) -> int | None:
        if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
            return value
        complain(f"must be a whole number from {least} to {most}, not {shown(value)}")
        return None

    return Kind(read, {"type": "integer", "minimum": least, "maximum": most})


_TEXT = {"type": "string", "minLength": 1}
URL = Kind(_url, {**_TEXT, "pattern": "^https?://", "examples": ["https://contracts.example/validate/{field}"]})
HEADERS = Kind(_headers, {"type": "object", "additionalProperties": {"type": "string"}})
REQUEST = Kind(_request, {"type": "object", "minProperties": 1, "examples": [{"field": "{field}", "value": "{value}"}]})
ANSWER_PATH = Kind(_answer_path, {**_TEXT, "examples": ["value", "detail.0.msg"]})
STATUSES = Kind(
    _statuses,
    {
        "anyOf": [
            {"type": "integer", "minimum": 200, "maximum": 499},
            {"type": "array", "items": {"type": "integer", "minimum": 200, "maximum": 499}},
        ]
    },
)
CONCURRENCY = _between(1, MOST_CONCURRENT)
RETRIES = _between(0, MOST_RETRIES)
