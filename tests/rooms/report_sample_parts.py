"""What the sample runs of the report tests are made of: columns, shapes and fields with counts that add up."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

from auditor.model.run import Column, Disagreement, FieldSummary, Interval, ShapeRow, Share
from auditor.model.verdicts import FIELD_VERDICTS

SUPPORT, BLOCKED_BY = 240, {"missing": 2, "transport": 1, "truncated": 2, "refused": 1, "malformed": 1, "unknown": 0}
BLOCKED = 7
JUDGED = 233


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
        "X/X", '"N/A"', 3, 1, {"billing": 0, "warehouse": 0, "api": 0}, {"billing": 0, "warehouse": 0, "api": 0}, False
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
