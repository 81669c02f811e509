"""A payload that one field spoils: the other fields lose the case, and none of their shapes is to blame."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import auditor
from auditor.model.run import Finding, Run

MODELS = """
import os
from datetime import date
from decimal import Decimal
from pydantic import BaseModel, field_validator, model_validator

class Shipment(BaseModel):
    weight: Decimal

class Contract(BaseModel):
    effective_date: date
    total: Decimal

    @field_validator("total", mode="before")
    @classmethod
    def no_poison(cls, value):
        if value == "poison":
            os._exit(7)
        return value

class Bounded(Contract):
    @model_validator(mode="after")
    def not_both(self):
        if self.effective_date.year == 2023 and self.total == 13:
            raise ValueError("a total of 13 in 2023")
        return self

class Shipped(Contract):
    shipment: Shipment

class Dying(Contract):
    @model_validator(mode="after")
    def dies(self):
        if self.total == 13:
            os._exit(7)
        return self
"""

PARSERS = """
from datetime import date
from decimal import Decimal

def day(text):
    return date.fromisoformat(text)

def amount(text):
    return Decimal(text.replace(",", ""))
"""

SPEC = """
name = "siblings"
[cases]
predictions = "completions.jsonl"
references = "references.jsonl"
completion = "completion"
assume_finish = "stop"
[fields.effective_date]
type = "date"
[fields.total]
type = "decimal"
[consumers.billing]
adapter = "python"
reads.effective_date = "parsers:day"
reads.total = "parsers:amount"
[consumers.api]
adapter = "pydantic"
model = "models:{model}"
"""

REFERENCE = {"effective_date": "2024-03-01", "total": "1234.50"}


def audited(
    folder: Path,
    payloads: Sequence[Mapping[str, Any]],
    model: str = "Contract",
    more: str = "",
    probe: Literal["quick", "off"] = "off",
) -> Run:
    """Audit payloads against one reference each."""
    (folder / "models.py").write_text(MODELS)
    (folder / "parsers.py").write_text(PARSERS)
    (folder / "audit.toml").write_text(SPEC.format(model=model) + more)
    lines = [json.dumps({"case_id": f"c{i}", "completion": json.dumps(one)}) for i, one in enumerate(payloads)]
    (folder / "completions.jsonl").write_text("\n".join(lines))
    lines = [json.dumps({"case_id": f"c{i}", **REFERENCE}) for i in range(len(payloads))]
    (folder / "references.jsonl").write_text("\n".join(lines))
    return auditor.run(folder, store=False, probe=probe).run


def of(run: Run, field: str) -> list[Finding]:
    """Give the findings of a field, but for the whole numbers that pydantic takes for dates whatever the payload is."""
    return [finding for finding in run.findings if finding.field == field and finding.code != "lax-coercion"]


def payload(day: str = "2024-03-01", total: str = "1234.50") -> dict[str, str]:
    """Give a payload of both fields."""
    return {"effective_date": day, "total": total}


def test_a_sibling_costs_the_case_and_blames_no_shape_of_this_field(tmp_path: Path) -> None:
    """Pydantic refuses 1,234.50 for a Decimal, and with it the payload; its dates are ISO, which it reads."""
    run = audited(tmp_path, [payload(), *[payload(total="1,234.50")] * 2, payload()], probe="quick")
    column = run.column("effective_date", "api")
    assert (column.verdicts["ok"], column.verdicts["rejected"], column.recoverable) == (2, 2, 2)
    [finding] = of(run, "effective_date")
    assert (finding.code, finding.consumers, finding.severity, finding.affected) == (
        "format-ceiling",
        ("api",),
        "high",
        2,
    )
    assert finding.shapes == {"rejected because of a sibling": {"total": 2}}
    assert "rejected because of a sibling" in finding.title
    assert "1,234.50" not in finding.title
    [witness] = finding.witnesses
    assert witness.decodings["api"].status == "rejected"
    assert "total" in str(witness.decodings["api"].error)
    [shape] = run.fields[0].shapes
    assert (shape.alike, shape.accepted) == (True, {"billing": 4, "api": 4})
    [pair] = run.fields[0].disagreements
    assert (pair.strings, pair.same, pair.only_left) == (1, 1, 0)
    # The field that is at fault has the findings of its shape, as before.
    codes = {one.code: one for one in of(run, "total")}
    assert set(codes) == {"format-ceiling", "acceptance-disagreement", "common-shape"}
    assert codes["format-ceiling"].shapes["rejected"] == {"d,d.d": 2}


def test_the_report_says_what_read_says(tmp_path: Path) -> None:
    """Every string that `auditor read` accepts with a consumer stands under no rejected shape of it."""
    run = audited(tmp_path, [payload(total="x"), payload(total="y")])
    [reading] = auditor.read("effective_date", "2024-03-01", spec=tmp_path, probe="off")
    assert reading.agree
    assert {one.code for one in of(run, "effective_date")} == {"format-ceiling"}
    assert [list(one.shapes) for one in of(run, "effective_date")] == [["rejected because of a sibling"]]


def test_a_string_at_fault_and_beside_a_fault_is_rejected_for_itself(tmp_path: Path) -> None:
    """Both fields bad in one payload: each shape is rejected for itself, and no sibling is named."""
    run = audited(tmp_path, [payload("March 1, 2024", "x"), payload("March 1, 2024"), payload(), payload()])
    codes = [one.code for one in of(run, "effective_date")]
    assert codes == []  # nobody reads March 1, 2024
    sibling = [one for one in of(run, "total") if "sibling" in one.title]
    assert [one.shapes for one in sibling] == [{"rejected because of a sibling": {"effective_date": 1}}]


def test_a_rule_of_the_whole_model_is_no_shape_of_any_field(tmp_path: Path) -> None:
    """A model validator refuses two good strings together: neither shape is refused."""
    run = audited(tmp_path, [payload("2023-01-01", "13"), payload(), payload()], "Bounded")
    for field in ("effective_date", "total"):
        [finding] = of(run, field)
        assert (finding.code, finding.shapes) == (
            "format-ceiling", {"rejected because of a sibling": {"the model": 1}}
        )  # fmt: skip


def test_a_nested_field_cannot_be_read_alone_and_is_not_blamed(tmp_path: Path) -> None:
    """A nested attribute is read in its payload only: a sibling's fault says nothing about it."""
    more = """
        reads.weight = "shipment.weight"
        [fields.weight]
        type = "decimal"
        path = "shipment.weight"
        reference_path = "total"
        [consumers.ledger]
        adapter = "python"
        reads.weight = "parsers:amount"
        """
    whole = [{**payload(day), "shipment": {"weight": "1234.50"}} for day in ("2024-03-01", "soon")]
    run = audited(tmp_path, whole, "Shipped", more)
    [finding] = of(run, "weight")
    assert (finding.code, finding.shapes) == (
        "format-ceiling", {"rejected because of a sibling": {"effective_date": 1}}
    )  # fmt: skip


def test_a_crash_is_named_on_the_field_that_crashes_alone(tmp_path: Path) -> None:
    """One field kills the process, its sibling does not; a rule of the whole model that kills is named on both."""
    run = audited(tmp_path, [payload(), payload(total="poison")], probe="quick")
    assert {one.field for one in run.findings if one.code == "consumer-crashed"} == {"total"}
    assert run.column("effective_date", "api").verdicts["crashed"] == 1
    run = audited(tmp_path, [payload(), payload(total="13")], "Dying")
    assert {one.field for one in run.findings if one.code == "consumer-crashed"} == {"effective_date", "total"}
