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
}

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve two runs alike and one whose gate is closed."""
    folder = make_workspace(tmp_path_factory.mktemp("pages") / "workspace")
    audit(folder, 1)
    audit(folder, 2)
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
    found = {
        "run": lambda: service.get("/api/v1/runs").json["runs"][0]["run_id"],
        "bug": lambda: service.get("/api/v1/findings?code=acceptance-disagreement").json["findings"][0]["fingerprint"],
    }
    path = PAGES[name] + (found[name]() if name in found else "")
    return service.address + path


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_quiet_fits_and_is_accessible(service: Served, page: tuple[Page, list[str]], name: str) -> None:
    tab, said = page
    said.clear()
    for width in (320, 1440):
        tab.set_viewport_size({"width": width, "height": 900})
        tab.goto(address(service, name))
        assert tab.evaluate("document.scrollingElement.scrollWidth") <= width
        assert serious(Axe().run(tab).response) == []
    assert said == []


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
    tab.goto(address(service, name))
    assert tab.locator("img, script, [onerror]").count() == 0
    assert MARKUP in tab.locator("body").inner_text()
    assert said == []


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
    # The run whose gate is closed is no point: the trend ends at the rate of the second day.
    assert "80.0 → 80.0 over 2 runs, 1 incident" in paid.split("\t")[1]
    assert "66.7 → 66.7 over 2 runs, 1 incident" in due.split("\t")[1]
    assert "20 of 30 blocked, more than 20 %" in tab.locator("main").inner_text()
    drawn = rows.filter(has_text="due").first.locator("svg.trend").first
    assert (drawn.locator("path.dots").get_attribute("d") or "").count("M") == 2
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
