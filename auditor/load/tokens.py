"""Raw values as tokens: the JSON text of a value, in valid UTF-8, without lone surrogates.

A string has one token however its source escaped it; every other value keeps its source text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

_SURROGATE = re.compile("[\ud800-\udfff]")
_SHORT_ESCAPES = {8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r"}


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
    """Give the content of a string token, or the source text of any other."""
    if token[0] != '"':
        return token
    return escape_surrogates(json.loads(token)) if "\\" in token else token[1:-1]


def object_text(members: Sequence[tuple[str, str]]) -> str:
    """Give the JSON text of an object from its keys and the source texts of its values."""
    return "{" + ", ".join(f"{string_token(key)}: {escape_surrogates(source)}" for key, source in members) + "}"


def identifier(name: str) -> str:
    """Quote a name for SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Quote a text for SQL."""
    return "'" + text.replace("'", "''") + "'"


def text_token_sql(column: str) -> str:
    """Give the SQL expression for the token of the text in `column`: what `string_token` says."""
    # DuckDB writes \u001F where Python writes \u001f, so the few texts with such characters are escaped here.
    token = f"CAST(to_json({column}) AS VARCHAR)"
    return f"CASE WHEN contains({token}, '\\u00') THEN {_escaped_sql(column)} ELSE {token} END"


def _escaped_sql(column: str) -> str:
    expression = f"replace(replace({column}, '\\', '\\\\'), '\"', '\\\"')"
    for code in range(32):
        escaped = _SHORT_ESCAPES.get(code, "\\u" + format(code, "04x"))
        expression = f"replace({expression}, chr({code}), '{escaped}')"
    return f"'\"' || {expression} || '\"'"
