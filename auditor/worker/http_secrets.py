"""Secrets of a service: taken out of the environment, put where the spec names them, kept out of all that is told."""

from __future__ import annotations

import base64
import html.entities
import os
import re

from .trouble import StartError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List

NAMED = re.compile(r"\{env:([A-Za-z_][A-Za-z0-9_]*)\}")

#: What the parent puts before the name of a secret in our environment (`auditor/decode/service.py`).
PREFIX = "AUDITOR_SECRET_"

#: A value that holds a secret of at least so many characters is none: it would stand in every report.
LONG = 8

#: Characters of the shortest password that is looked for beside the credentials that hold it.
SHORTEST_PASSWORD = 4


class Secrets:
    """The secrets by name."""

    def __init__(self, names: "List[str]") -> None:
        self.by_name: "Dict[str, str]" = {name: os.environ.pop(PREFIX + name, "") for name in names}
        for name, secret in self.by_name.items():
            if not secret.isascii() or not secret.isprintable() or secret != secret.strip():
                seen = "%s holds a character that is not ASCII or not printable, or a blank at an end" % name
                raise StartError("send the secret %s" % name, seen, "a line feed at its end is the usual cause")
        forms = [(part, name) for name, secret in self.by_name.items() for part in parts_of(secret)]
        forms.sort(key=lambda form: -len(form[0]))
        self.names = [name for _, name in forms]
        every = "|".join("(%s)" % written_anyhow(part) for part, _ in forms)
        self.pattern = re.compile(every) if every else None

    def fill(self, text: str, encode: "Any" = str) -> str:
        """Put the secrets in their places."""
        return NAMED.sub(lambda found: encode(self.by_name[found.group(1)]), text)

    def hide(self, text: str) -> str:
        """Write the names of secrets in their places."""
        if self.pattern is None:
            return text
        return self.pattern.sub(lambda found: "{env:%s}" % self.names[(found.lastindex or 1) - 1], text)

    def held_in(self, text: str) -> str:
        """Give the name of a secret that a text holds, or nothing."""
        for found in self.pattern.finditer(text) if self.pattern is not None else ():
            name = self.names[(found.lastindex or 1) - 1]
            if len(self.by_name[name]) >= LONG:
                return name
        return ""


def parts_of(secret: str) -> "List[str]":
    """Give a secret, the parts of one such as `Basic dXNlcjpwYXNzd29yZA==`, and the password that such a part holds."""
    parts = {secret, *(part for part in secret.split() if len(part) >= LONG)} if secret else set()
    for part in [*parts]:
        try:
            decoded = base64.b64decode(part, validate=True).decode("ascii")
        except ValueError:
            continue
        password = decoded.partition(":")[2]
        if decoded.isprintable() and len(password) >= SHORTEST_PASSWORD:
            parts |= {decoded, password}
    return [*parts]


def written_anyhow(secret: str) -> str:
    """Give the pattern of a secret as JSON, a url, HTML or a program may write it: any of its characters escaped."""
    return "".join(map(one_of, secret))


def one_of(character: str) -> str:
    r"""Give the pattern of a character: itself, or as ``\/ \u002f %2f &#47; &#x2F; &amp;``, escaped twice too."""
    code = ord(character)
    named = [name for name, text in html.entities.html5.items() if text == character and name.endswith(";")]
    entities = "|".join(["#0*%d;" % code, "#[xX]0*%s;" % in_any_case(code), *map(re.escape, sorted(named))])
    forms = [
        re.escape(character),
        r"\\+" + re.escape(character),
        r"\\+(?:u00|x)" + in_any_case(code),
        "%(?:25)*" + in_any_case(code),
        "&(?:amp;)*(?:" + entities + ")",
    ]
    return "(?:" + "|".join(forms + [r"\+"] * (character == " ")) + ")"


def in_any_case(code: int) -> str:
    """Give the pattern of two hexadecimal digits."""
    return "".join("[%s%s]" % (digit, digit.upper()) if digit.isalpha() else digit for digit in "%02x" % code)
