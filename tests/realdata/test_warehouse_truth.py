"""What real engines made of strings, measured one string at a time, against the engine adapters."""

from __future__ import annotations

import collections
import json
import re
from decimal import Decimal

import pytest

from tests.engines.adapters import adapter_of, decode, need
from tests.realdata.plain import FOLDER, needs_real_data

pytestmark = needs_real_data

#: Names of the engines in the file, and the folder of a server that is not the first that is found.
MEASURED = {
    "sqlite": "sqlite",
    "postgres": "postgres",
    "mariadb": "mariadb",
    "clickhouse": "clickhouse(chdb-core)",
    "datafusion": "datafusion",
    "spark": "spark",
    "googlesql": "googlesql-reference(zetasql)",
}
SERVERS = {("postgres", "15.18"): "/usr/lib/postgresql/15/bin"}

KINDS = {
    "DATE": "date",
    "TIMESTAMP": "datetime",
    "TIMESTAMPTZ": "datetime",
    "DECIMAL(18,2)": "decimal",
    "DOUBLE": "decimal",
    "BIGINT": "integer",
    "BOOLEAN": "boolean",
}

#: The clock decides what these are, and it was another one when they were measured.
CLOCK_WORDS = re.compile(r"now|today|tomorrow|yesterday|current_date|allballs|\d\d:\d\d(:\d\d)?", re.IGNORECASE)
NO_YEAR = re.compile(r"parseDateTimeBestEffort")

TRUTH = {"t": "true", "f": "false", "1": "true", "0": "false"}
UNESCAPED = {"\\\\": "\\", "\\t": "\t", "\\n": "\n", "\\r": "\r"}
LOAD = re.compile(r"(INSERT INTO|COPY) t\(v (.*?)\)( STRICT)? (?:VALUES|FROM) .*")


def groups(name):
    """Give the rows of an engine, by version, expression and type."""
    with (FOLDER / "warehouse_truth.tsv").open(encoding="utf-8", newline="\n") as file:
        head, *lines = [line.rstrip("\n").split("\t") for line in file]
    found = collections.defaultdict(list)
    for line in lines:
        row = dict(zip(head, line, strict=True))
        if row["engine"] == MEASURED[name]:
            found[row["version"], row["expression"], row["sql_type"]].append(row)
    return dict(found)


def consumer(engine, version, expression):
    """Write a measured expression with its settings as a consumer."""
    number, _, said = version.partition(";")
    settings = {}
    for part in said.split(";"):
        name, _, value = part.partition("=")
        if name == "sql_mode":
            value = {"(empty)": "", "default(STRICT_TRANS_TABLES)": None}.get(value, value)
        if engine == "spark":
            name = {"ansi": "spark.sql.ansi.enabled", "timeZone": "spark.sql.session.timeZone"}.get(
                name, "spark.sql.legacy.timeParserPolicy"
            )
        if name and value is not None and engine in ("postgres", "mariadb", "spark"):
            settings[name] = value
    config = {"settings": settings, "server": SERVERS.get((engine, number))}
    load = LOAD.fullmatch(expression)
    if load is None:
        return {**config, "target": expression.replace("{col}", "{value}")}
    if load[3]:
        settings["STRICT"] = "on"
    return {**config, "target": load[2], "statement": "insert" if load[1] == "INSERT INTO" else "copy"}


def plain(text):
    """Write a value in one way: what the ISO form and a number's own form add or leave out is no difference."""
    content = text.partition(":")[2] if re.match("[a-z]+:", text) else text
    number = content.replace("$", "").replace(",", "")
    if re.fullmatch(r"-?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?", number, re.IGNORECASE):
        return Decimal(number)
    moment = content.replace("T", " ").removesuffix("Z").removesuffix(" UTC")
    moment = re.sub(r"(\.\d*?)0+(?=$|[+-])", r"\1", moment).replace(". ", " ").rstrip(".")
    moment = re.sub(r" ?([+-]\d\d)(:?00)?$", r"\1", moment) if ":" in moment else moment
    moment = moment.removesuffix("+00")
    return re.sub(r" 00:00:00$", "", moment)


def differs(row, found):
    """Say how a decoding differs from what was measured; nothing where it does not."""
    status, text, _ = found
    expected = re.sub(r"\\[\\tnr]", lambda match: UNESCAPED[match.group()], row["value"])
    if row["outcome"] == "accepted":
        if expected.lower() == "nan" and "typeof=text" not in row["error"]:
            return status != "null"
        if status == "rejected":  # a value that no field of the type holds: the engine's text stands in the message
            said = re.fullmatch("unexpected type: (?:text:|float:)?(.*) of type .*", text, re.DOTALL)
            iso = re.sub(r"[+-]00:00(?=$| BC)", "+00", said[1].replace("T", " ")) if said else None
            return said is None or expected not in (said[1], iso)
        if text.startswith("bool:"):
            return text != "bool:" + TRUTH.get(expected.lower(), expected)
        same = text.partition(":")[2] == expected or plain(text) == plain(expected)
        return status != "value" or not same
    return status != {"null": "null", "rejected": "rejected"}[row["outcome"]]


def depends_on_the_clock(row):
    raw = json.loads(row["raw"])
    no_year = NO_YEAR.search(row["expression"]) and (not re.search(r"\d{4}", raw) or ":" in raw[:5])
    return bool(CLOCK_WORDS.fullmatch(raw.strip())) or bool(no_year)


def opened(engine, group):
    """Open one engine for all expressions with the same settings and statement."""
    config = {key: value for key, value in group[0][1].items() if key != "target"}
    reads = {f"f{number}": asked["target"] for number, (_, asked) in enumerate(group)}
    kinds = {f"f{number}": KINDS[key[2]] for number, (key, _) in enumerate(group)}
    return adapter_of(engine, reads, kinds, **config)


@pytest.mark.parametrize("engine", MEASURED)
def test_each_cell_is_what_the_engine_gave(engine):
    need(engine)
    compared, wrong, others = 0, [], set()
    measured = groups(engine)
    alike = collections.defaultdict(list)
    for key in measured:
        asked = consumer(engine, key[0], key[1])
        alike[key[0], asked.get("statement"), "STRICT" in asked["settings"]].append((key, asked))
    for (version, *_), group in alike.items():
        number = version.partition(";")[0].replace("zetasql-py ", "")
        adapter = opened(engine, group)
        if number not in adapter.engine.name:
            others.add(f"measured with {number}, installed is {adapter.engine.name}")
            continue
        for position, (key, _) in enumerate(group):
            rows = [row for row in measured[key] if not depends_on_the_clock(row)]
            answers = decode(adapter, f"f{position}", [json.loads(row["raw"]) for row in rows])
            compared += len(rows)
            wrong += [
                (*key, row["raw"], row["outcome"], row["value"], row["error"], found)
                for row, found in zip(rows, answers, strict=True)
                if differs(row, found)
            ]
        adapter.close()
    assert not wrong, f"{len(wrong)} of {compared} differ:\n" + "\n".join(map(str, wrong[:60]))
    if not compared:
        pytest.skip("; ".join(sorted(others)))
