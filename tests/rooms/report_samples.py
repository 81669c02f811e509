"""Hand-made runs for the report tests: a realistic one, one with broken references, a hostile and an empty one."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

from auditor.model.decoding import Decoding
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

SUPPORT, BLOCKED_BY = 240, {"missing": 2, "transport": 1, "truncated": 2, "refused": 1, "malformed": 1, "unknown": 0}
BLOCKED = 7
JUDGED = 233

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


def wilson(count: int, of: int) -> Interval | None:
    if not of:
        return None
    z, p = 1.959963984540054, count / of
    middle, half = p + z * z / (2 * of), z * sqrt(p * (1 - p) / of + z * z / (4 * of * of))
    return Interval((middle - half) / (1 + z * z / of), (middle + half) / (1 + z * z / of))


def share(count: int, of: int) -> Share:
    return Share(count, of, count / of if of else None, wilson(count, of))


def column(field: str, consumer: str, counts: dict[str, int], recoverable: int = 0, **extra: object) -> Column:
    verdicts = {name: counts.get(name, 0) for name in FIELD_VERDICTS}
    judged = sum(verdicts.values())
    assert judged == JUDGED, (field, consumer, judged)
    ok, accepted = verdicts["ok"], verdicts["ok"] + verdicts["wrong"]
    base = Column(
        field=field,
        consumer=consumer,
        label="native",
        support=SUPPORT,
        judged=judged,
        blocked=BLOCKED,
        blocked_by=dict(BLOCKED_BY),
        verdicts=verdicts,
        unreferenced=3,
        unexpected=1,
        broken_references=0,
        coverage=judged / SUPPORT,
        content_rate=ok / judged,
        usable_rate=ok / SUPPORT,
        interval=wilson(ok, judged),
        ceiling=accepted / judged,
        ceiling_interval=wilson(accepted, judged),
        recoverable=recoverable,
    )
    return replace(base, **extra)  # type: ignore[arg-type]


def value(text: str) -> Decoding:
    return Decoding("value", text)


def rejected(error: str) -> Decoding:
    return Decoding("rejected", error=error)


COLUMNS = (
    column("effective_date", "billing", {"ok": 212, "wrong": 17, "rejected": 4}),
    column("effective_date", "warehouse", {"ok": 149, "wrong": 6, "null": 78}, recoverable=63),
    column(
        "effective_date",
        "api",
        {"ok": 141, "wrong": 5, "rejected": 86, "absent": 1},
        recoverable=71,
        scope="field",
        scope_note="the model requires the key 'parties', which no prediction carries",
    ),
    column("total", "billing", {"ok": 219, "wrong": 11, "rejected": 3}),
    column("total", "warehouse", {"ok": 171, "wrong": 9, "null": 53}, recoverable=44),
    column("total", "api", {"ok": 166, "wrong": 8, "rejected": 58, "timed_out": 1}, recoverable=49),
    column("auto_renew", "billing", {"ok": 224, "wrong": 4, "rejected": 4, "abstained": 1}),
    column("auto_renew", "warehouse", {"ok": 130, "wrong": 103}, untrusted=("constant-output", "sentinel-collapse")),
    column("auto_renew", "api", {"ok": 205, "wrong": 3, "rejected": 24, "crashed": 1}, recoverable=18),
    column("po_number", "billing", {"ok": 230, "wrong": 3}),
    column("po_number", "warehouse", {"ok": 188, "wrong": 40, "null": 5}, recoverable=4),
    column("po_number", "api", {"ok": 229, "wrong": 3, "rejected": 1}, label="planned"),
    column("net_weight", "billing", {"ok": 220, "wrong": 8, "rejected": 5}),
    column("net_weight", "warehouse", {"ok": 96, "wrong": 21, "null": 116}, recoverable=108, label="emulated"),
)

DATE_SHAPES = (
    ShapeRow(
        "dddd-dd-dd",
        '"2024-03-01"',
        146,
        131,
        {"billing": 146, "warehouse": 146, "api": 146},
        {"billing": 141, "warehouse": 141, "api": 141},
        True,
    ),
    ShapeRow(
        "Mmmmm d, dddd",
        '"March 1, 2024"',
        41,
        37,
        {"billing": 41, "warehouse": 0, "api": 0},
        {"billing": 38, "warehouse": 0, "api": 0},
        False,
    ),
    ShapeRow(
        "dd/dd/dddd",
        '"01/03/2024"',
        22,
        22,
        {"billing": 22, "warehouse": 0, "api": 0},
        {"billing": 14, "warehouse": 0, "api": 0},
        False,
    ),
    ShapeRow(
        "d Mmmmm dddd",
        '"1 March 2024"',
        11,
        11,
        {"billing": 11, "warehouse": 0, "api": 0},
        {"billing": 11, "warehouse": 0, "api": 0},
        False,
    ),
    ShapeRow(
        "dddd-dd-ddTdd:dd:ddZ",
        '"2024-03-01T00:00:00Z"',
        9,
        8,
        {"billing": 9, "warehouse": 9, "api": 0},
        {"billing": 8, "warehouse": 8, "api": 0},
        False,
    ),
    ShapeRow(
        "X/X", '"N/A"', 3, 1, {"billing": 0, "warehouse": 0, "api": 0}, {"billing": 0, "warehouse": 0, "api": 0}, True
    ),
)

FIELDS = (
    FieldSummary(
        "effective_date",
        "date",
        "day",
        "billing",
        share(141, 233),
        share(149, 233),
        {"string": share(231, 232), "null": share(1, 232)},
        DATE_SHAPES,
        (
            Disagreement("billing", "warehouse", 263, 171, 2, 86, 0, 4),
            Disagreement("billing", "api", 263, 163, 0, 96, 0, 4),
            Disagreement("warehouse", "api", 263, 163, 0, 10, 0, 90),
        ),
        263,
    ),
    FieldSummary(
        "total",
        "money",
        "0.01",
        "billing",
        share(160, 233),
        share(152, 233),
        {"string": share(180, 233), "number": share(53, 233)},
        (
            ShapeRow(
                "dddd.dd",
                "1234.50",
                170,
                166,
                {"billing": 170, "warehouse": 170, "api": 168},
                {"billing": 163, "warehouse": 163, "api": 161},
                True,
            ),
            ShapeRow(
                "d,ddd.dd",
                '"1,234.50"',
                60,
                58,
                {"billing": 60, "warehouse": 8, "api": 6},
                {"billing": 56, "warehouse": 8, "api": 5},
                False,
            ),
        ),
        (Disagreement("billing", "warehouse", 301, 228, 9, 61, 0, 3),),
        301,
    ),
    FieldSummary(
        "auto_renew",
        "boolean",
        "",
        "billing",
        share(128, 233),
        share(190, 233),
        {"boolean": share(170, 233), "string": share(60, 233), "number": share(3, 233)},
        (
            ShapeRow(
                "true",
                "true",
                97,
                1,
                {"billing": 97, "warehouse": 97, "api": 97},
                {"billing": 96, "warehouse": 96, "api": 96},
                True,
            ),
        ),
        (Disagreement("billing", "warehouse", 14, 5, 6, 0, 3, 0), Disagreement("billing", "api", 14, 6, 0, 5, 0, 3)),
        14,
    ),
    FieldSummary(
        "po_number",
        "identifier",
        "",
        "typed",
        share(186, 233),
        share(230, 233),
        {"string": share(228, 233), "number": share(5, 233)},
        (),
        (),
        238,
    ),
    FieldSummary(
        "net_weight",
        "quantity",
        "1 g",
        "billing",
        share(92, 233),
        share(88, 233),
        {"string": share(233, 233)},
        (),
        (Disagreement("billing", "warehouse", 240, 101, 17, 122, 0, 0),),
        240,
    ),
)

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


def hostile(text: str) -> Run:
    """Put `text` in every place that carries data: ids, names, shapes, errors, settings, notes, paths."""
    verdicts = dict.fromkeys(FIELD_VERDICTS, 1)
    decoding = Decoding("value", "text:" + text, text, text)
    witness = Witness(text, {text: decoding, "b": Decoding("rejected", error=text)}, text, "prediction", 1, text)
    finding = Finding(
        "value-disagreement",
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
        "f" * 16,
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
        ({text: text},),
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
    return replace(
        SAMPLE,
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
