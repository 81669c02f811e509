"""Texts as literals of a dialect, byte for byte: in quotes what any client may be trusted with, else as hexadecimal.

Quotes, backslashes, dollar and ampersand signs, and whatever is not ASCII mean different things to different products,
their modes and their clients (sqlcmd's variables, SnowSQL's substitutions, a connection's character set). A script is
ASCII, so that no client can change what it says.
"""

from __future__ import annotations

import re

#: What every product takes for itself between plain quotes, whatever its modes and its client.
_PLAIN = re.compile(r'[A-Za-z0-9 .,/:+_()"\[\]-]*')

#: How each dialect makes a text of hexadecimal UTF-8 (of UTF-16 where so said).
_OF_BYTES = {
    "bigquery": "SAFE_CONVERT_BYTES_TO_STRING(FROM_HEX('{}'))",
    "clickhouse": "unhex('{}')",
    "databricks": "CAST(unhex('{}') AS STRING)",
    "duckdb": "decode(unhex('{}'))",
    "mariadb": "_utf8mb4 X'{}'",
    "mysql": "_utf8mb4 X'{}'",
    "postgres": "convert_from(decode('{}', 'hex'), 'UTF8')",
    "redshift": "CAST(FROM_HEX('{}') AS VARCHAR(65535))",
    "snowflake": "HEX_DECODE_STRING('{}')",
    "spark": "CAST(unhex('{}') AS STRING)",
    "sqlite": "CAST(X'{}' AS TEXT)",
    "trino": "from_utf8(from_hex('{}'))",
    "tsql": "CONVERT(NVARCHAR(MAX), 0x{})",
}

#: The longest text that a product holds, in bytes of UTF-8.
_LONGEST = {"redshift": 65535}


def literal(dialect: str, text: str) -> str:
    """Write a text as an expression of a dialect; see `why_not` for those that have none.

    >>> literal("postgres", "2024-03-01"), literal("snowflake", "it's")
    ("'2024-03-01'", "HEX_DECODE_STRING('69742773')")
    """
    prefix = "N" if dialect == "tsql" else "_utf8mb4 " if dialect in ("mariadb", "mysql") else ""
    if _PLAIN.fullmatch(text):
        return f"{prefix}'{text}'"
    return _OF_BYTES[dialect].format(text.encode("utf-16-le" if dialect == "tsql" else "utf-8").hex())


def why_not(dialect: str, text: str) -> str:
    """Say why a text cannot be asked of a product at all, or nothing where it can."""
    if "\0" in text:
        return "it holds a NUL"
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        return "it is no text: half of a character is missing (a lone surrogate)"
    longest = _LONGEST.get(dialect)
    return f"it has more than {longest:,} bytes" if longest and size > longest else ""
