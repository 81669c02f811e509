"""Every page in a real browser: it loads without a word, fits, can be used by everybody, and shows data as text."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from tests.services.serving import MARKUP, Served, audit, make_workspace, served

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
AUDIT, PAID, BILLING = (quote(f"{name} {MARKUP}") for name in ("payments", "paid", "billing"))

PAGES = {
    "overview": "/",
    "runs": "/runs",
    "bugs": "/bugs",
    "field": f"/field?audit={AUDIT}&field={PAID}",
    "consumer": f"/consumer?audit={AUDIT}&consumer={BILLING}",
    "bug": f"/bug?audit={AUDIT}&fingerprint=",
    "run": "/run?id=",
    "run with a broken reference": "/run?id={first}",
    "runs to compare": f"/drift?audit={AUDIT}",
    "drift": "/drift?{drift}",
    "drift with a closed gate": "/drift?{closed}",
    "refused drift": "/drift?{refused}",
    "try": f"/try?audit={AUDIT}",
    "what-if offered": f"/what-if?audit={AUDIT}",
    "what-if": f"/what-if?run={{open}}&field={PAID}&consumer={BILLING}&parser=ledger",
    "what-if of all": f"/what-if?run={{open}}&field={PAID}&parser={BILLING}",
    "error": f"/field?audit={AUDIT}&field={PAID}-{quote(MARKUP)}",
}

#: Those that a script of ours draws on.
CHARTED = ("field", "consumer")

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve one run of other references, two in which two cases of markup differ, and one whose gate is closed."""
    folder = make_workspace(tmp_path_factory.mktemp("pages") / "workspace")
    references = folder / "references.csv"
    known = references.read_text()
    references.write_text(known.replace("\n4,due,2024-03-05\n", f"\n4,due,{MARKUP}\n"))
    audit(folder, 1, "--broken-references", "report")
    references.write_text(known)
    audit(folder, 2)
    predictions = folder / "predictions.csv"
    predictions.write_text(
        predictions.read_text().replace(f'\n5,"paid {MARKUP}",{MARKUP}', f'\n5,"paid {MARKUP}",true')
    )
    audit(folder, 2, moment=3600)
    audit(make_workspace(folder, blocked=20), 3)
    (folder / ".auditor" / "runs" / "half").mkdir()
    with served(folder) as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        # Chromium starts no sandbox for root.
        options = ["--no-sandbox"] if os.geteuid() == 0 else []
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=options)
        yield found
        found.close()


@pytest.fixture(scope="module", params=["light", "dark"])
def page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[tuple[Page, list[str]]]:
    """Give a tab in one colour scheme, with all that its console says."""
    context = browser.new_context(color_scheme=request.param)
    tab, said = context.new_page(), list[str]()
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    yield tab, said
    context.close()


def address(service: Served, name: str) -> str:
    """Give the address of a page; a bug is one whose witnesses hold markup."""
    last, later, earlier, first = [one["run_id"] for one in service.get("/api/v1/runs").json["runs"]]
    found = {
        "run": lambda: last,
        "bug": lambda: service.get("/api/v1/findings?code=acceptance-disagreement").json["findings"][0]["fingerprint"],
    }
    path = PAGES[name] + (found[name]() if name in found else "")
    path = (
        path.replace("{open}", later).replace("{first}", first).replace("{drift}", f"old={earlier}&new={later}&split=1")
    )
    path = path.replace("{closed}", f"old={later}&new={last}").replace("{refused}", f"old={first}&new={later}")
    return service.address + path


def show(tab: Page, service: Served, name: str) -> None:
    """Load a page, and wait until its charts are drawn."""
    tab.goto(address(service, name))
    if name in CHARTED:
        tab.wait_for_selector("html[data-charts=drawn]")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_quiet_fits_and_is_accessible(service: Served, page: tuple[Page, list[str]], name: str) -> None:
    tab, said = page
    said.clear()
    for width in (320, 1440):
        tab.set_viewport_size({"width": width, "height": 900})
        show(tab, service, name)
        assert tab.evaluate("document.scrollingElement.scrollWidth") <= width
        assert serious(Axe().run(tab).response) == []
    assert [one for one in said if name != "error" or "status of 404" not in one] == []


def serious(response: dict[str, Any]) -> list[str]:
    """Name what axe-core finds that keeps somebody out."""
    assert response["passes"], "axe-core has looked at nothing"
    return [
        f"{one['id']}: {one['nodes'][0]['html']}"
        for one in response["violations"]
        if one["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("name", PAGES)
def test_markup_in_data_is_text_on_every_page(service: Served, page: tuple[Page, list[str]], name: str) -> None:
    tab, said = page
    said.clear()
    show(tab, service, name)
    assert tab.locator("img, [onerror]").count() == 0
    scripts = tab.locator("script").evaluate_all("all => all.map(one => [one.type, one.getAttribute('src')])")
    assert all(kind == "application/json" or source.startswith("/assets/") for kind, source in scripts)
    assert bool(scripts) == (name in CHARTED)
    assert MARKUP in tab.locator("body").inner_text()
    assert [one for one in said if name != "error" or "status of 404" not in one] == []


def test_the_figures_of_the_parsers_stand_on_the_overview(service: Served, page: tuple[Page, list[str]]) -> None:
    """Of the ten cases of the latest run, two of `paid` are markup, and three dates are written day first."""
    tab, _ = page
    tab.set_viewport_size({"width": 1440, "height": 900})
    tab.goto(service.address)
    rows = tab.locator("table.grid tbody tr")
    due, paid = (rows.filter(has_text=name).first.inner_text() for name in ("due", "paid"))
    assert "70.0 %" in due.split("\t")[1]
    assert "100.0 %" in due.split("\t")[2]
    assert "80.0 %" in paid.split("\t")[1]
    assert "ceiling 80.0, 20 blocked" in paid.split("\t")[1]
    # The run whose gate is closed is no point: the trend ends at the rate of the one before it. Of the first, one date
    # has no reference that can be read, and billing reads it right elsewhere.
    assert "80.0 → 83.3 over 3 runs, 1 incident" in paid.split("\t")[1]
    assert "65.5 → 66.7 over 3 runs, 1 incident" in due.split("\t")[1]
    assert "20 of 30 blocked, more than 20 %" in tab.locator("main").inner_text()
    drawn = rows.filter(has_text="due").first.locator("svg.trend").first
    assert (drawn.locator("path.dots").get_attribute("d") or "").count("M") == 3
    assert (drawn.locator("path.marks").get_attribute("d") or "").count("M") == 1


def test_a_bug_can_be_reached_and_copied_by_keyboard(service: Served, page: tuple[Page, list[str]]) -> None:
    tab, _ = page
    tab.goto(service.address)
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.textContent") == "Skip to the content"
    tab.goto(service.address + "/bugs")
    tab.get_by_role("link", name="due").first.focus()
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/bug?**")
    text = tab.get_by_label("Markdown to copy").input_value()
    assert text.startswith("**")
    assert "| consumer | reads it as |" in text
    assert "First seen" in tab.locator("header").inner_text()


def test_the_charts_draw_what_the_tables_hold(service: Served, page: tuple[Page, list[str]]) -> None:
    """Of three runs that are points two measure the same: a line joins these, and an upright mark is the incident."""
    tab, said = page
    said.clear()
    tab.set_viewport_size({"width": 1440, "height": 900})
    show(tab, service, "field")
    chart = tab.locator("figure[data-chart]").first
    assert chart.locator("g.mark-symbol path").count() == 3
    assert chart.locator("g.mark-rule line[stroke-dasharray]").count() == 1
    lines = chart.locator("g.mark-line path").evaluate_all("all => all.map(one => one.getAttribute('d'))")
    assert sorted(one.count("L") for one in lines) == [0, 1]
    assert chart.locator("g.mark-area path").count() == 2
    table = tab.locator("section[aria-labelledby=trend-h] table").inner_text()
    assert "83.3" in table
    assert "20 of 30 blocked" in table
    cells = tab.locator("section[aria-labelledby=heat-h] figure g.mark-text.role-mark text").all_text_contents()
    # Of the ten cases of the latest run two are markup, which ledger takes for true: one is, for billing none.
    assert sorted(cells) == sorted(["4/4", "4/4", "4/4", "4/4", "0/2", "1/2"])
    assert said == []


def test_a_change_of_the_colour_scheme_draws_anew(service: Served, browser: Browser) -> None:
    context = browser.new_context(color_scheme="light")
    tab = context.new_page()
    show(tab, service, "field")
    point = tab.locator("figure[data-chart] g.mark-symbol path").first
    light = point.get_attribute("fill")
    tab.emulate_media(color_scheme="dark")
    tab.wait_for_function(
        "light => document.querySelector('figure[data-chart] g.mark-symbol path')?.getAttribute('fill') !== light",
        arg=light,
    )
    assert light == "#2b6ca8"
    context.close()


def test_without_a_script_the_tables_stay_and_no_empty_chart(service: Served, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(address(service, "field"))
    assert not tab.locator("figure[data-chart]").first.is_visible()
    assert "83.3" in tab.locator("section[aria-labelledby=trend-h] table").inner_text()
    assert tab.locator("svg.trend").first.is_visible()
    context.close()


def test_a_script_that_comes_from_elsewhere_does_not_run(service: Served, page: tuple[Page, list[str]]) -> None:
    tab, said = page
    show(tab, service, "field")
    said.clear()
    tab.evaluate("""() => {
        const one = document.createElement("script");
        one.text = "document.title = 'run'";
        document.body.append(one);
    }""")
    assert tab.title() != "run"
    assert any("Content Security Policy" in one for one in said)
    said.clear()


def test_a_filter_needs_no_script(service: Served, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(service.address + "/bugs")
    every = tab.locator("table.index tbody tr").count()
    tab.get_by_label("severity").select_option("info")
    tab.get_by_label("audit").select_option(index=1)
    tab.get_by_role("button", name="Show").click()
    assert 0 < tab.locator("table.index tbody tr").count() < every
    context.close()


def test_a_bug_is_accepted_and_reopened_by_keyboard(service: Served, page: tuple[Page, list[str]]) -> None:
    tab, said = page
    said.clear()
    tab.goto(address(service, "bug"))
    tab.get_by_label("It is").focus()
    tab.keyboard.type("known")
    tab.keyboard.press("Tab")
    tab.keyboard.type(f"waits {MARKUP}")
    tab.keyboard.press("Tab")
    tab.keyboard.type("12312999")
    tab.get_by_role("button", name="Say so").focus()
    tab.keyboard.press("Enter")
    tab.wait_for_url("**#state-h")
    state = tab.locator("section[aria-labelledby=state-h]")
    assert "until 2999-12-31" in state.inner_text()
    assert f"waits {MARKUP}" in tab.locator("header.top").inner_text()
    assert tab.get_by_label("Reason").input_value() == f"waits {MARKUP}"
    assert serious(Axe().run(tab).response) == []
    assert tab.locator("img").count() == 0
    tab.get_by_role("button", name="Take that back").focus()
    tab.keyboard.press("Enter")
    tab.get_by_text("Nothing is said of it").wait_for()
    assert said == []


def test_a_form_without_a_reason_is_not_sent(service: Served, page: tuple[Page, list[str]]) -> None:
    tab, _ = page
    tab.goto(address(service, "bug"))
    tab.get_by_role("button", name="Say so").click()
    assert tab.evaluate("document.activeElement.name") == "reason"


def test_a_string_is_tried_by_keyboard_and_without_a_script(service: Served, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(address(service, "try"))
    tab.get_by_label("Field").focus()
    tab.keyboard.type("paid")
    tab.keyboard.press("Tab")
    tab.keyboard.type(MARKUP)
    tab.get_by_label("Tried in").select_option("off")
    tab.get_by_role("button", name="Read it").press("Enter")
    shown = tab.get_by_role("region", name="What each consumer makes of it").inner_text()
    assert f"ValueError: {MARKUP}: no <img" in shown
    assert "bool:true" in shown
    context.close()


@pytest.mark.parametrize("width", [320, 1440])
def test_the_answer_of_a_string_fits_and_is_accessible(
    service: Served, page: tuple[Page, list[str]], width: int
) -> None:
    tab, said = page
    said.clear()
    tab.set_viewport_size({"width": width, "height": 900})
    tab.goto(address(service, "try"))
    tab.get_by_label("Field").select_option("due")
    tab.get_by_label("Value, as the model writes it").fill(MARKUP * 20)
    tab.get_by_label("Tried in").select_option("off")
    tab.get_by_role("button", name="Read it").click()
    assert MARKUP in tab.get_by_role("region", name="What each consumer makes of it").inner_text()
    assert tab.evaluate("document.scrollingElement.scrollWidth") <= width
    assert serious(Axe().run(tab).response) == []
    assert tab.locator("img, script").count() == 0
    assert said == []


def test_two_runs_are_chosen_and_compared_by_a_form(service: Served, page: tuple[Page, list[str]]) -> None:
    tab, _ = page
    tab.set_viewport_size({"width": 1440, "height": 900})
    tab.goto(address(service, "runs to compare"))
    tab.get_by_label("Old run").select_option(index=2)
    tab.get_by_label("New run").select_option(index=1)
    tab.get_by_role("button", name="Compare").press("Enter")
    tab.wait_for_url("**/drift?old=**")
    assert "rejected → ok" in tab.locator("main").inner_text()


def test_a_parser_is_chosen_by_a_form(service: Served, page: tuple[Page, list[str]]) -> None:
    tab, _ = page
    tab.goto(address(service, "what-if offered"))
    tab.locator("select[name=field]").select_option("due")
    tab.get_by_role("button", name="Choose the field").press("Enter")
    tab.get_by_label("Consumer").select_option(index=1)
    tab.get_by_label("uses, for due, the parser of").select_option("ledger")
    tab.get_by_role("button", name="Show its column").press("Enter")
    tab.get_by_role("heading", name="What this assumes").wait_for()
