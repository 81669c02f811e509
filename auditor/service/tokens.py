"""Who may ask the service: bearer tokens, of which the workspace keeps hashes only; the standard library alone.

A token is 32 random bytes, so that a plain hash of it cannot be guessed back; it is shown once, where it is made.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
import threading
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal, cast

from auditor.errors import StoreError
from auditor.whole_file import write_whole

#: What a token allows; each role may do what those before it may.
Role = Literal["read", "submit", "admin"]
ROLES: Final[tuple[Role, ...]] = ("read", "submit", "admin")

NAME: Final = "service-tokens.json"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Token:
    """A token as it is kept: the name of its holder, what it allows, and its hash."""

    name: str
    role: Role
    sha256: str
    created: str = ""

    def allows(self, needed: Role) -> bool:
        """Say whether it may do what needs a role.

        >>> Token("ci", "submit", "").allows("read"), Token("ci", "submit", "").allows("admin")
        (True, False)
        """
        return ROLES.index(self.role) >= ROLES.index(needed)


def token_file(runs_folder: Path) -> Path:
    """Give the file of the workspace whose runs are in a folder."""
    return runs_folder.parent / NAME


def new_token(name: str, role: Role, created: str) -> tuple[str, Token]:
    """Make a token: the secret, which is kept nowhere, and what is kept. StoreError for a name that is none."""
    if not _NAME.fullmatch(name):
        raise StoreError(f"token name {name!r}: use up to 64 letters, digits, dots, dashes and underscores")
    secret = f"aud_{secrets.token_urlsafe(32)}"
    return secret, Token(name, role, _hash(secret), created)


def holder(secret: str, tokens: Iterable[Token]) -> Token | None:
    """Give the token that a secret is, in a time that tells nothing of the others."""
    seen, found = _hash(secret), None
    for token in tokens:
        if hmac.compare_digest(seen, token.sha256):
            found = token
    return found


def read_tokens(path: Path) -> tuple[Token, ...]:
    """Read the file; without one there are none, and StoreError says what is wrong with it."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return ()
    except (OSError, ValueError) as error:
        raise StoreError(f"{path}: no readable tokens: {error}") from error
    listed = document.get("tokens") if isinstance(document, dict) else None
    if not isinstance(listed, list) or not all(map(_is_token, listed)):
        raise StoreError(
            f"{path}: it does not hold what `auditor token new` writes; mend it, or remove it and begin anew"
        )
    return tuple(Token(one["name"], one["role"], one["sha256"], one.get("created", "")) for one in listed)


def write_tokens(path: Path, tokens: Iterable[Token]) -> None:
    """Write the file, for its owner alone; it changes whole or not at all, and StoreError says why it did not."""
    text = json.dumps({"tokens": [asdict(token) for token in tokens]}, indent=2) + "\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text.encode(), mode=0o600)
    except OSError as error:
        raise StoreError(f"{path}: could not be written: {error.strerror or error}") from error


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


def _is_token(one: object) -> bool:
    if not isinstance(one, dict):
        return False
    known = cast(dict[str, object], one)
    texts = [known.get("name"), known.get("sha256"), known.get("created", "")]
    return (
        known.get("role") in ROLES
        and all(isinstance(text, str) for text in texts)
        and bool(_HASH.fullmatch(str(known["sha256"])))
    )


class TokenFile:
    """The tokens as they are now: what is made or revoked holds from the next request on."""

    def __init__(self, path: Path, *, needed: bool) -> None:
        """Read them; `needed` says that nobody gets in without one, even where there is none."""
        self.path = path
        self._lock = threading.Lock()
        self._mark: tuple[int, int, int] | None = None
        self._tokens: tuple[Token, ...] = ()
        self._needed = needed
        self.read()

    @property
    def is_open(self) -> bool:
        """Say whether everybody may read: no token is needed, and there never was one."""
        return not self._needed

    def read(self) -> tuple[Token, ...]:
        """Give the tokens; StoreError where the file is damaged, when nobody gets in."""
        with self._lock:
            mark = self._seen()
            if mark != self._mark:
                self._needed = self._needed or mark is not None
                self._tokens = read_tokens(self.path)
                self._mark = mark
            return self._tokens

    def _seen(self) -> tuple[int, int, int] | None:
        try:
            stat = self.path.stat()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreError(f"{self.path}: no readable tokens: {error.strerror or error}") from error
        return stat.st_mtime_ns, stat.st_size, stat.st_ino
