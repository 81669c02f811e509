"""Raw values as tokens: the JSON text of a value, in valid UTF-8, without lone surrogates.

A string has one token however its source escaped it; every other value keeps its source text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from auditor.sql import literal

#: What a rewritten text starts with: U+241B, the picture of ESC. A text that starts with it is rewritten, too.
ESCAPED = "\u241b"

_SURROGATE = re.compile("[\ud800-\udfff]")
_UPPER_CASE_ESCAPES = (0x0B, 0x0E, 0x0F, *range(0x1A, 0x20))


def escape_surrogates(text: str) -> str:
    """Write each lone surrogate as the six characters of its JSON escape."""
    return text if text.isascii() else _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def string_token(text: str) -> str:
    """Give the token of a string."""
    return escape_surrogates(json.dumps(text, ensure_ascii=False))


def token_of(source: str) -> str:
    """Give the token of a value from its JSON source text, which is known to be valid."""
    if source[0] == '"' and "\\" in source:
        return string_token(json.loads(source))
    return escape_surrogates(source)


def content_of(token: str) -> str:
    """Give the content of a string token, or the source text of any other, so that no two strings become one."""
    if token[0] != '"':
        return token
    content = json.loads(token) if "\\" in token else token[1:-1]
    return escaped(content) if content[:1] == ESCAPED or _SURROGATE.search(content) else content


def escaped(content: str) -> str:
    """Write NUL and lone surrogates as JSON escapes, so that no two texts become one; `judge.escape` is the same."""
    if "\0" not in content and not content.startswith(ESCAPED) and _SURROGATE.search(content) is None:
        return content
    return ESCAPED + escape_surrogates(content.replace("\\", "\\\\").replace("\0", "\\u0000"))


def object_text(members: Sequence[tuple[str, str]]) -> str:
    """Give the JSON text of an object from its keys and the source texts of its values."""
    return "{" + ", ".join(f"{string_token(key)}: {escape_surrogates(source)}" for key, source in members) + "}"


def path_literal(path: Path) -> str:
    """Quote a path for DuckDB's readers, which would take `[1]` or `*` in a file's name for a pattern."""
    return literal(re.sub(r"([*?\[])", r"[\1]", str(path)))


def escaped_sql(text: str) -> str:
    """Give the SQL expression for a text that may start with ESCAPED: what `content_of` says for its token."""
    rewritten = f"replace(replace({text}, '\\', '\\\\'), chr(0), '\\u0000')"
    return f"CASE WHEN starts_with({text}, '{ESCAPED}') THEN '{ESCAPED}' || {rewritten} ELSE {text} END"


def text_token_sql(column: str) -> str:
    """Give the SQL expression for the token of the text in `column`: what `string_token` says."""
    token = f"CAST(to_json({column}) AS VARCHAR)"
    return f"CASE WHEN contains({token}, '\\u00') THEN {lower_case_escapes_sql(token)} ELSE {token} END"


def lower_case_escapes_sql(token: str) -> str:
    """Give the SQL expression that turns what `to_json` gives for a string into its token."""
    # DuckDB writes \u001F where Python writes \u001f. An escaped backslash may stand before such letters: it is put
    # aside as a control character, which no token contains.
    lowered = f"replace({token}, '\\\\', chr(1))"
    for code in _UPPER_CASE_ESCAPES:
        lowered = f"replace({lowered}, '\\u{code:04X}', '\\u{code:04x}')"
    return f"replace({lowered}, chr(1), '\\\\')"
