"""What a consumer is made of, in words: one line for each thing that its version is derived from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

#: Longer texts, such as a model file, are named by a digest.
LONGEST: Final = 120

#: Digits of a digest: it names what moved, and nothing rests on it.
DIGITS: Final = 16

#: Settings that say again what the distributions and `python` say.
_SAID: Final = ("python", "distributions")

#: How a part of a version is named where its key says too little.
_NAMES: Final = {
    "sources": "source",
    "distributions": "distribution",
    "settings": "setting",
    "reads": "text of",
}


def made_of(
    parts: Any, reads: Mapping[str, str], settings: Mapping[str, str], scope: str, receives: str
) -> dict[str, str]:
    """Name everything that a version is derived from: two versions differ only where one of these does.

    >>> made_of({"sources": {"a.py": "f" * 64}, "python": "cpython 3.11.7"}, {"day": "a:day"}, {}, "", "text")
    {'python': 'cpython 3.11.7', 'reads.day': 'a:day', 'receives': 'text', 'source a.py': 'ffffffffffffffff'}
    """
    named: dict[str, str] = {}
    for name, value in (parts or {}).items():
        named.update(_flat(_NAMES.get(name, name), name == "sources", value))
    for field, target in reads.items():
        named[f"reads.{field}"] = _short(target)
        if named.get(f"text of {field}") == named[f"reads.{field}"]:
            del named[f"text of {field}"]
    for name, text in settings.items():
        if name not in _SAID or "distributions" not in (parts or {}):
            named[f"setting {name}"] = _short(text)
            if named.get(name) == _short(text):
                del named[f"setting {name}"]
    named["receives"] = receives
    if scope:
        named["scope"] = scope
    return dict(sorted(named.items()))


def _flat(name: str, are_digests: bool, value: Any) -> Iterator[tuple[str, str]]:
    """Give a part and what is in it; sources come as {path: sha256} or as [path, sha256] of each."""
    if are_digests:
        for path, digest in dict(value).items():
            yield f"{name} {path}", digest[:DIGITS]
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield f"{name} {key}", _short(item)
    else:
        yield name, _short(value)


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    if len(text) <= LONGEST and text.isprintable():
        return text
    return f"sha256 {hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:DIGITS]}"
