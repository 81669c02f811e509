"""Secrets of a service: taken out of the environment, put where the spec names them, kept out of all that is told."""

from __future__ import annotations

import json
import os
import re
from urllib.parse import quote, quote_plus

from .trouble import StartError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Iterator, List

NAMED = re.compile(r"\{env:([A-Za-z_][A-Za-z0-9_]*)\}")

#: What the parent puts before the name of a secret in our environment (`auditor/decode/service.py`).
PREFIX = "AUDITOR_SECRET_"

#: A value that holds a secret of at least so many characters is none: it would stand in every report.
LONG = 8


class Secrets:
    """The secrets by name."""

    def __init__(self, names: "List[str]") -> None:
        self.by_name: "Dict[str, str]" = {name: os.environ.pop(PREFIX + name, "") for name in names}
        for name, secret in self.by_name.items():
            if not secret.isascii() or not secret.isprintable() or secret != secret.strip():
                seen = "%s holds a character that is not ASCII or not printable, or a blank at an end" % name
                raise StartError("send the secret %s" % name, seen, "a line feed at its end is the usual cause")
        forms = {form: name for name, secret in self.by_name.items() for form in forms_of(secret)}
        every = "|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True))
        self.forms, self.pattern = forms, re.compile(every) if every else None

    def fill(self, text: str, encode: "Any" = str) -> str:
        """Put the secrets in their places."""
        return NAMED.sub(lambda found: encode(self.by_name[found.group(1)]), text)

    def hide(self, text: str) -> str:
        """Write the names of secrets in their places."""
        if self.pattern is None:
            return text
        return self.pattern.sub(lambda found: "{env:%s}" % self.forms[found.group()], text)

    def held_in(self, text: str) -> str:
        """Give the name of a secret that a text holds, or nothing."""
        for name, secret in self.by_name.items():
            if len(secret) >= LONG and any(form in text for form in forms_of(secret)):
                return name
        return ""


def forms_of(secret: str) -> "Iterator[str]":
    """Give a secret as texts may hold it: as it is, in JSON, in a url, and the parts of `Basic dXNlcjpwYXNz`."""
    for text in [secret, *(part for part in secret.split() if len(part) >= LONG)]:
        if text:
            yield from (text, json.dumps(text)[1:-1], quote(text, safe=""), quote(text), quote_plus(text))
