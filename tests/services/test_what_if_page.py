"""A column as it would read with another one's parser, on a page; the figures are worked out by hand."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from urllib.parse import quote

import pytest

from tests.services.serving import MARKUP, Served, audit, make_workspace, served

AUDIT, PAID, BILLING = (quote(f"{name} {MARKUP}") for name in ("payments", "paid", "billing"))


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve a run, and a later one whose gate is closed."""
    folder = make_workspace(tmp_path_factory.mktemp("whatif") / "workspace")
    audit(folder, 1)
    audit(make_workspace(folder, blocked=20), 2)
    with served(folder) as found:
        yield found


def first_run(service: Served) -> str:
    return str(service.get("/api/v1/runs").json["runs"][1]["run_id"])


def words(service: Served, path: str) -> str:
    answer = service.get(path)
    assert answer.status == 200, answer.text
    assert "<img" not in answer.text
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", answer.text)).split())


def test_billing_with_the_parser_of_ledger(service: Served) -> None:
    """Six payments are markup, which billing rejects, and ledger takes for true: three of them are true.

    Three discordant pairs, all for the other parser: p is 2 × ⅛, and mid-p ⅛.
    """
    shown = words(
        service, f"/what-if?run={first_run(service)}&audit={AUDIT}&field={PAID}&consumer={BILLING}&parser=ledger"
    )
    assert "+10.0 points" in shown
    assert "3 would be right that are not, 0 would be right no more" in shown
    assert "McNemar exact p 0.25, mid-p 0.12. 6 verdicts would change" in shown
    assert "its own, as it is 80.0 % 24 of 30" in shown
    assert "of ledger 90.0 % 27 of 30" in shown
    assert "rejected ok 3 15, 25, 5" in shown
    assert "rejected wrong 3 10, 20, 30" in shown
    assert f"ValueError: {MARKUP}: no <img" in shown
    assert "no consumer is started" in shown


def test_every_consumer_with_one_parser(service: Served) -> None:
    shown = words(service, f"/what-if?run={first_run(service)}&audit={AUDIT}&field=due&parser=ledger")
    assert f"billing {MARKUP} 66.7 % 100.0 % 66.7 % 100.0 % +33.3" in shown


def test_where_the_gate_is_closed_it_says_so(service: Served) -> None:
    shown = words(service, f"/what-if?audit={AUDIT}&field=due&consumer={BILLING}&parser=ledger")
    assert "The rates are not compared: 20 of 30 blocked, more than 20 %" in shown
    assert "McNemar" not in shown


@pytest.mark.parametrize("more", ["", "&field=due", f"&field=due&consumer={BILLING}&parser={BILLING}"])
def test_fields_and_consumers_are_offered(service: Served, more: str) -> None:
    shown = service.get(f"/what-if?audit={AUDIT}{more}")
    assert (shown.status, "uses, for" in shown.text, "McNemar" in shown.text) == (200, True, False)


@pytest.mark.parametrize(
    "query",
    ["audit=another", f"audit={AUDIT}&field=no", f"audit={AUDIT}&field=due&consumer=no&parser=ledger", "run=nothing"],
)
def test_what_is_not_there_is_not_found(service: Served, query: str) -> None:
    assert service.get(f"/what-if?{query}").status == 404
