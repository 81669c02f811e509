"""Hand-made runs for the report tests: a realistic one, one with broken references, a hostile and an empty one."""

from __future__ import annotations

from dataclasses import replace

from auditor.model.decoding import Decoding
from auditor.model.dependence import ProbedEnvironment, ProbeSummary
from auditor.model.run import (
    BrokenReference,
    CaseCounts,
    Column,
    ConsumerSummary,
    Disagreement,
    FieldSummary,
    Finding,
    Interval,
    Location,
    Run,
    RunEnvironment,
    ShapeRow,
    Share,
    Witness,
)
from auditor.model.verdicts import FIELD_VERDICTS
from tests.rooms.report_sample_parts import COLUMNS, DATE_SHAPES, FIELDS, column, share

BACKTICK = chr(96)

HOSTILE = {
    "html": "<img src=x onerror=alert(1)>",
    "attribute": '" onmouseover="alert(1)" x=\'',
    "script": "</style></script><script>alert(2)</script>",
    "formula": '=HYPERLINK("http://evil.example";"click")',
    "plus": "+1+cmd|' /C calc'!A0",
    "markup": "[red]x[/red] [link=file:///etc/passwd]y[/link] [/]",
    "ansi": "\x1b[2J\x1b[31mred\x1b[0m\x9b31m",
    "bidi": "abc\u202efdp.exe\u2066\u200b\ufeff",
    "nul": "a\x00b",
    "surrogate": "lone\ud800end",
    "lines": "one\ntwo\r\n| three |\u2028four\x85five",
    "markdown": f"{BACKTICK}code{BACKTICK} {BACKTICK * 3} | @octocat #1 ![i](http://evil.example/i.png) <!-- -->",
    "jinja": "{{ 7*7 }}{% raw %}",
}


def value(text: str) -> Decoding:
    return Decoding("value", text)


def rejected(error: str) -> Decoding:
    return Decoding("rejected", error=error)


FINDINGS = (
    Finding(
        "format-ceiling",
        "high",
        "effective_date",
        ("warehouse",),
        ("data-platform",),
        "warehouse can be right on at most 66.5 % of effective_date",
        "78 of 233 judged predictions are null: the column measures the shape of the output. "
        "63 of them are right for another consumer.",
        "try_cast(... as date) reads ISO dates only",
        (
            "ask the model for dddd-dd-dd, which every consumer reads",
            "parse the other shapes in models/contracts.sql before the cast",
        ),
        78,
        78 / 240,
        "3f9c1b7ad2e04c55",
        (
            Witness(
                '"1 March 2024"',
                {
                    "billing": value("date:2024-03-01"),
                    "warehouse": Decoding("null"),
                    "api": rejected("ValidationError: input should be a valid date"),
                },
                "contract-017",
                "prediction",
                11,
            ),
        ),
        {
            "accepted": {"dddd-dd-dd": 146, "dddd-dd-ddTdd:dd:ddZ": 9},
            "rejected": {"Mmmmm d, dddd": 41, "dd/dd/dddd": 22, "d Mmmmm dddd": 11, "X/X": 3},
        },
        Location("consumers/warehouse/models/contracts.sql", 7),
    ),
    Finding(
        "value-disagreement",
        "high",
        "total",
        ("billing", "warehouse"),
        ("billing", "data-platform"),
        "billing and warehouse read one string as two amounts",
        "9 distinct strings are read by both, as different values.",
        "the warehouse drops the thousands separator's group",
        ("agree on one reading",),
        12,
        12 / 240,
        "a81d0be2f4477c01",
        (
            Witness(
                '"1,234"',
                {"billing": value("money:1234 EUR"), "warehouse": value("money:1.234 EUR")},
                "contract-101",
                "prediction",
                4,
                "the shortest of 9",
            ),
        ),
    ),
    Finding(
        "constant-output",
        "high",
        "auto_renew",
        ("warehouse",),
        ("data-platform",),
        "warehouse reads everything as true",
        "every string given, junk included, is true",
        "bool() of a non-empty string is True",
        ("map the words explicitly and reject the rest",),
        233,
        233 / 240,
        "77c0ffee12345678",
        (
            Witness('"false"', {"warehouse": value("bool:true")}, None, "probe", 0, "a negative word"),
            Witness('"N/A"', {"warehouse": value("bool:true")}, None, "probe", 0),
        ),
    ),
    Finding(
        "consumer-crashed",
        "high",
        "auto_renew",
        ("api",),
        ("platform",),
        "api dies on one string of auto_renew",
        "SIGSEGV while decoding",
        "unknown",
        (),
        1,
        1 / 240,
        "0ddba11c0ffee000",
        (Witness('"[x]"', {"api": Decoding("crashed", error="signal 11 (SIGSEGV)")}, "contract-200", "prediction", 1),),
    ),
    Finding(
        "ambiguous-reference",
        "medium",
        "effective_date",
        ("billing",),
        ("billing",),
        "22 references have two readings",
        "01/03/2024 is 1 March or 3 January, and nothing in the case settles it.",
        "no locale or jurisdiction column",
        ("add a locale column", "write references as ISO"),
        22,
        22 / 240,
        "5ca1ab1e00000001",
        (Witness('"01/03/2024"', {"billing": value("date:2024-01-03")}, "contract-009", "reference", 1),),
    ),
    Finding(
        "lax-coercion",
        "medium",
        "total",
        ("api",),
        ("platform",),
        "api takes true for a total",
        "a boolean is read as 1",
        "the model is lax",
        ("set strict=True",),
        0,
        0.0,
        "1ee7c0de00000002",
        (Witness("true", {"api": value("decimal:1")}, None, "probe"),),
    ),
    Finding(
        "no-common-shape",
        "info",
        "effective_date",
        ("billing", "warehouse", "api"),
        ("billing", "data-platform", "platform"),
        "dddd-dd-dd is read alike by every consumer",
        "ask the model for it",
        "",
        (),
        0,
        None,
        "0b5e55ed00000003",
    ),
)

CONSUMERS = (
    ConsumerSummary(
        "billing", "billing", "python", "native", "sha256:4b1f0c", {"root": "billing", "python-dateutil": "2.9.0"}
    ),
    ConsumerSummary(
        "warehouse",
        "data-platform",
        "sql",
        "native",
        "sha256:99aa01",
        {"engine": "duckdb 2.0.1", "model": "models/contracts.sql"},
        ("neighbours",),
        ("locale",),
    ),
    ConsumerSummary("api", "platform", "pydantic", "native", "sha256:0c0de5", {"pydantic": "2.14.0", "mode": "strict"}),
)

SAMPLE = Run(
    run_id="2024-03-08T090507-3f9c1b7a",
    name="contracts",
    manifest_sha256="9b74c9897bac770ffc029102a200c5de5f1d6c1b3e7a0e4a7d1b3c5f7e9a0b1c",
    created_at="2024-03-08T09:05:07+00:00",
    auditor_version="0.1.0",
    environment=RunEnvironment("2024-03-08T09:05:07+00:00", "UTC", "C.UTF-8", 0, ("warehouse: locale",)),
    cases=CaseCounts(240, 233, 2, 6, 1, 2, 1, 1, 0),
    finish_reasons={"stop": 234, "length": 2, "content_filter": 1, "error": 1},
    consumers=CONSUMERS,
    fields=FIELDS,
    columns=COLUMNS,
    findings=FINDINGS,
    broken_references=(),
    spec="consumers/audit.toml",
    sources=(
        {"path": "records/completions.jsonl", "role": "predictions", "sha256": "aa" * 32, "rows": "238"},
        {"path": "records/references.csv", "role": "references", "sha256": "bb" * 32, "rows": "240"},
    ),
    notes=("6 predictions have no reference and were ignored",),
)


def withheld(item: Column) -> Column:
    none = dict.fromkeys(("coverage", "content_rate", "usable_rate", "interval", "ceiling", "ceiling_interval"))
    return replace(item, **none, broken_references=2)  # type: ignore[arg-type]


BROKEN = replace(
    SAMPLE,
    columns=tuple(withheld(item) for item in COLUMNS),
    fields=tuple(
        replace(item, usable_everywhere=Share(0, 233, None, None), string_equality=Share(0, 233, None, None))
        for item in FIELDS
    ),
    broken_references=tuple(
        BrokenReference(
            f"contract-{n:03}",
            "effective_date",
            '"not stated"',
            "billing",
            "rejected",
            "ParserError: Unknown string format: not stated",
        )
        for n in range(1, 31)
    ),
    findings=(
        Finding(
            "broken-reference",
            "high",
            "effective_date",
            ("billing",),
            ("billing",),
            "30 references cannot be read",
            "billing decodes the references and rejects these",
            "the reference was never a date",
            ("correct the reference",),
            30,
            30 / 240,
            "b20ce4ee00000004",
            (Witness('"not stated"', {"billing": rejected("ParserError")}, "contract-001", "reference", 30),),
        ),
        *FINDINGS,
    ),
    rates_withheld=True,
)

CLEAN = replace(
    SAMPLE,
    findings=(),
    columns=(column("effective_date", "billing", {"ok": 233}), column("effective_date", "warehouse", {"ok": 233})),
    fields=(
        replace(
            FIELDS[0],
            usable_everywhere=share(233, 233),
            string_equality=share(233, 233),
            shapes=DATE_SHAPES[:1],
            disagreements=(),
        ),
    ),
    consumers=CONSUMERS[:2],
)

EMPTY = replace(
    SAMPLE,
    cases=CaseCounts(0, 0, 0, 0),
    finish_reasons={},
    consumers=(),
    fields=(),
    columns=(),
    findings=(),
    sources=(),
    notes=(),
)


#: Every count of this column is another number, so that a report that leaves one out is caught.
DISTINCT = Column(
    field="total",
    consumer="billing",
    label="native",
    support=70001,
    judged=60013,
    blocked=9988,
    blocked_by={
        "missing": 1009,
        "transport": 1013,
        "truncated": 1019,
        "refused": 1021,
        "malformed": 1031,
        "unknown": 4895,
    },
    verdicts={
        "ok": 40009,
        "wrong": 11003,
        "rejected": 2003,
        "null": 2011,
        "dropped": 2017,
        "crashed": 701,
        "timed_out": 709,
        "absent": 757,
        "abstained": 803,
    },
    unreferenced=331,
    unexpected=337,
    broken_references=347,
    coverage=60013 / 70001,
    content_rate=40009 / 60013,
    usable_rate=40009 / 70001,
    interval=Interval(0.6628, 0.6704),
    ceiling=51012 / 60013,
    ceiling_interval=Interval(0.8471, 0.8528),
    recoverable=5003,
)

DISTINCT_RUN = replace(SAMPLE, columns=(DISTINCT,), findings=(), consumers=CONSUMERS[:1], fields=FIELDS[1:2])


def environment_entry(name: str, varied: list[str], ok: int, judged: int = 9, **parts: object) -> dict[str, object]:
    """Give one entry of a column's `by_environment`, as a run has it."""
    base = {"clock": "2024-03-08T09:05:07+00:00", "zone": "UTC", "locale": "C.UTF-8", "hash_seed": 0, "order": "given"}
    figures = {"ok": ok, "judged": judged, "content_rate": ok / judged, "flips": 0 if not varied else 3}
    return {"environment": name, "varied": varied, **base, **parts, **figures}


def hostile(text: str) -> Run:
    """Put `text` in every place that carries data: ids, names, shapes, errors, settings, notes, paths."""
    verdicts = dict.fromkeys(FIELD_VERDICTS, 1)
    decoding = Decoding("value", "text:" + text, text, text)
    witness = Witness(text, {text: decoding, "b": Decoding("rejected", error=text)}, text, "prediction", 1, text)
    finding = Finding(
        text,
        "high",
        text,
        (text, "b"),
        (text, text),
        text,
        text,
        text,
        (text, text),
        1,
        0.5,
        text,
        (witness,),
        {text: {text: 1}},
        Location(text, 3),
    )
    one = Column(
        text,
        text,
        text,
        10,
        9,
        1,
        {"missing": 1},
        verdicts,
        0,
        0,
        0,
        0.9,
        1 / 9,
        0.1,
        Interval(0.01, 0.4),
        2 / 9,
        Interval(0.1, 0.5),
        2,
        text,
        text,
        text,
        (text,),
        (
            {text: text},
            environment_entry("base", [], 1, clock=text),
            environment_entry(text, ["clock"], 2, clock=text),
            environment_entry(text, [text], 0, **{text: text}),
        ),
        {"clock": 3},
        (text,),
    )
    field = FieldSummary(
        text,
        text,
        text,
        text,
        share(1, 9),
        share(2, 9),
        {text: share(1, 9)},
        (ShapeRow(text, text, 1, 1, {text: 1}, {text: 1}, False),),
        (Disagreement(text, "b", 5, 1, 1, 1, 1, 1),),
        5,
    )
    elsewhere = ProbedEnvironment(text, ("clock", "zone"), text, text, text, 1, text, True, False, (text, "b"))
    return replace(
        SAMPLE,
        probe=ProbeSummary(text, (elsewhere,)),
        run_id=text,
        name=text,
        manifest_sha256=text,
        created_at=text,
        auditor_version=text,
        environment=RunEnvironment(text, text, text, 0, (text,)),
        finish_reasons={text: 1},
        consumers=(
            ConsumerSummary(text, text, text, text, text, {text: text}, (text,), (text,)),
            replace(CONSUMERS[0], name="b"),
        ),
        fields=(field,),
        columns=(one, replace(one, consumer="b")),
        findings=(finding,),
        broken_references=(BrokenReference(text, text, text, text, text, text),),
        spec=text,
        sources=({"path": text, "role": text, "sha256": text, text: text},),
        notes=(text,),
    )
