"""The page: complete, self-contained, readable, and closed to whatever the data holds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

import auditor.report
from auditor.model.run import Run
from auditor.report.html import html_text
from auditor.report.notebook import notebook_html
from auditor.report.view import EQUALITY, EVERYWHERE, consumer_names
from tests.rooms.report_samples import BROKEN, CLEAN, DISTINCT_RUN, EMPTY, FINDINGS, HOSTILE, SAMPLE, hostile

STYLE = (Path(auditor.report.__file__).parent / "templates" / "style.css").read_text()
VOID = {"meta", "br", "rect", "line", "link", "img", "input"}


class Page(HTMLParser):
    """Elements with their attributes, and text, as a browser's parser sees them."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.struck: list[str] = []
        self.words: list[str] = []
        self.comments: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" in self.open:
            return
        self.words.append(data)
        if "s" in self.open:
            self.struck.append(data)

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())

    def shape(self) -> list[tuple[str, tuple[str, ...]]]:
        """Tags and attribute names in order, without the marks around characters that do not show."""
        return [(tag, tuple(attrs)) for tag, attrs in self.elements if attrs.get("class") != "esc"]


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("renderer", [html_text, notebook_html])
def test_no_element_and_no_attribute_comes_from_data(name: str, renderer: object) -> None:
    assert callable(renderer)
    page, plain = Page(renderer(hostile(HOSTILE[name]))), Page(renderer(hostile("plain words")))
    assert page.shape() == plain.shape()
    assert page.open == [] and page.comments == []
    for _, attributes in page.elements:
        for key, value in attributes.items():
            assert not key.startswith("on") and key != "style"
            assert HOSTILE[name] not in (value or "") and not re.search(r"[<>\x00-\x1f\u202e]", value or "")


@pytest.mark.parametrize("name", HOSTILE)
def test_no_hidden_character_reaches_the_page(name: str) -> None:
    text = html_text(hostile(HOSTILE[name]))
    assert not re.search(
        "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]", text
    )
    text.encode()


def test_what_does_not_show_is_spelled_out() -> None:
    text = Page(html_text(hostile(HOSTILE["bidi"]))).text
    assert r"abc\u202efdp.exe\u2066\u200b\ufeff" in text
    assert r"a\x00b" in Page(html_text(hostile(HOSTILE["nul"]))).text
    assert r"lone\ud800end" in Page(html_text(hostile(HOSTILE["surrogate"]))).text
    assert r"\x1b[2J\x1b[31mred" in Page(html_text(hostile(HOSTILE["ansi"]))).text
    assert "{{ 7*7 }}" in Page(html_text(hostile(HOSTILE["jinja"]))).text


def test_ten_megabytes_are_shortened_and_counted() -> None:
    text = html_text(hostile("x" * 10_000_000))
    assert len(text) < 400_000
    assert "(10,000,000 characters)" in text


@pytest.mark.parametrize("run", [SAMPLE, BROKEN, CLEAN, EMPTY])
@pytest.mark.parametrize("renderer", [html_text, notebook_html])
def test_nothing_is_loaded_from_anywhere(run: Run, renderer: object) -> None:
    assert callable(renderer)
    text = renderer(run)
    assert "//" not in re.sub(r"https?://evil", "", text) and "url(" not in text and "@import" not in text
    tags = {tag for tag, _ in Page(text).elements}
    assert not tags & {"script", "img", "link", "iframe", "object", "embed", "form", "base", "video", "audio"}
    for _, attributes in Page(text).elements:
        assert not {"src", "srcset", "action", "style", "background"} & set(attributes)
        assert (attributes.get("href") or "#").startswith("#")


def test_the_policy_forbids_everything_but_inline_style() -> None:
    metas = [attributes for tag, attributes in Page(html_text(SAMPLE)).elements if tag == "meta"]
    policy = next(meta["content"] for meta in metas if meta.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'") and "script-src" not in policy


def test_links_lead_somewhere_and_ids_are_unique() -> None:
    page = Page(html_text(BROKEN))
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    targets = {(attributes.get("href") or "#")[1:] for tag, attributes in page.elements if tag == "a"}
    assert targets <= set(ids)
    assert {finding.anchor for finding in FINDINGS} <= set(ids)


def test_every_number_of_a_column_is_there() -> None:
    text = Page(html_text(DISTINCT_RUN)).text
    counts = "70,001 60,013 9,988 1,009 1,013 1,019 1,021 1,031 4,895 40,009 11,003 2,003 2,011 2,017 701 709 757 803"
    assert [n for n in [*counts.split(), "331", "337", "347", "5,003", "7,441"] if n not in text] == []
    # by hand: 60013/70001, 40009/60013, 40009/70001, 51012/60013, and the two intervals
    assert [n for n in ("85.7", "66.7", "57.2", "85.0", "66.3–67.0", "84.7–85.3") if n not in text] == []


def test_an_untrusted_rate_is_struck_through_and_named() -> None:
    page = Page(html_text(SAMPLE))
    assert page.struck.count("55.8") >= 3 and "63.9" not in page.struck
    assert "untrusted: constant-output, sentinel-collapse" in page.text
    assert "untrusted: constant-output, sentinel-collapse" in Page(notebook_html(SAMPLE)).text
    assert "55.8" in Page(notebook_html(SAMPLE)).struck


def test_broken_references_come_first_all_of_them_and_rates_are_withheld() -> None:
    page = Page(html_text(BROKEN))
    ids = [attributes["id"] for tag, attributes in page.elements if tag == "section"]
    assert ids[0] == "broken-references"
    assert [n for n in range(1, 31) if f"contract-{n:03}" not in page.text] == []
    assert "Rates are withheld" in page.text
    assert "63.9" not in page.text and "91.0" not in page.text
    assert not any(f"{column.verdicts['ok']} of 233" in page.text for column in BROKEN.columns)
    assert re.findall(r'<th scope="row">(?:ok|wrong|recoverable)</th><td class="num">([^<]*)', html_text(BROKEN)) == (
        ["—"] * 3 * len(BROKEN.fields)
    )
    assert " right</small>" not in html_text(BROKEN) and "recoverable</small>" not in html_text(BROKEN)


def test_a_clean_run_says_what_that_does_not_prove() -> None:
    text = Page(html_text(CLEAN)).text
    assert "No bugs found on these strings." in text and "does not prove the parsers right" in text


def test_witnesses_decodings_shapes_and_provenance_are_there() -> None:
    text = Page(html_text(SAMPLE)).text
    for said in (
        '"1 March 2024"',
        "date:2024-03-01",
        "rejected: ValidationError: input should be a valid date",
        "consumers/warehouse/models/contracts.sql:7",
        "Mmmmm d, dddd",
        "86 only billing",
        "duckdb 2.0.1",
        "2024-03-08T09:05:07+00:00",
        "aa" * 32,
        "content_filter 1",
        "field scope",
        "planned",
        "emulated",
        "22.7 %",  # 53 of 233 totals were sent as numbers
    ):
        assert said in text, said


def test_tables_are_named_and_headed() -> None:
    page = Page(html_text(SAMPLE))
    tags = [tag for tag, _ in page.elements]
    assert tags.count("table") == tags.count("caption")
    assert all("scope" in attributes for tag, attributes in page.elements if tag == "th")
    levels = [int(tag[1]) for tag in tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1 and all(after - before <= 1 for before, after in pairwise(levels))
    labelled = [attributes for tag, attributes in page.elements if attributes.get("role") == "region"]
    assert labelled and all(attributes["tabindex"] == "0" and attributes["aria-label"] for attributes in labelled)
    severities = re.findall(r"</span><b>(high|medium|info)</b>", html_text(SAMPLE))
    assert len(severities) == 2 * len(FINDINGS)


def _palettes() -> Iterator[dict[str, str]]:
    for block in re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL):
        yield dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one: str, other: str) -> float:
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


TEXT_ON = [(ink, ground) for ink in ("ink", "muted", "link", "wrong-ink") for ground in ("bg", "surface", "sunken")]
TEXT_ON += [("ink", f"h{n}") for n in range(5)] + [
    (level, f"{level}-bg") for level in ("high", "medium", "low", "info")
]
GRAPHICS_ON = [(mark, "surface") for mark in ("ok", "wrong", "mark", "muted")] + [("mark", "track"), ("ok", "track")]


def test_the_contrast_formula_is_the_one_of_wcag() -> None:
    assert _contrast("#ffffff", "#000000") == pytest.approx(21)
    assert _contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("number", [0, 1], ids=["light", "dark"])
def test_text_and_graphics_have_the_contrast_of_aa(number: int) -> None:
    palettes = list(_palettes())
    assert len(palettes) == 2 and palettes[0].keys() == palettes[1].keys()
    palette = palettes[number]
    weak = [
        (a, b, round(_contrast(palette[a], palette[b]), 2))
        for a, b in TEXT_ON
        if _contrast(palette[a], palette[b]) < 4.5
    ]
    weak += [
        (a, b, round(_contrast(palette[a], palette[b]), 2))
        for a, b in GRAPHICS_ON
        if _contrast(palette[a], palette[b]) < 3
    ]
    assert weak == []


def test_every_wide_table_scrolls_with_a_cue_or_wraps() -> None:
    """What is beyond the edge throws a shadow on it and has a bar; the overview, the bars and the index wrap."""
    text = html_text(SAMPLE)
    style = text[text.index("<style>") : text.index("</style>")]
    scroll = style[style.index("\n.scroll {") : style.index("}", style.index("\n.scroll {"))]
    assert "overflow-x: auto" in scroll and scroll.count("local") == scroll.count("scroll,") + 1 == 2
    assert "::-webkit-scrollbar" in style
    narrow = style[style.index("@media (max-width: 640px)") :]
    for name in ("grid", "bars", "index"):
        assert f".{name}, .{name}" in narrow and "display: block" in narrow
    outside = [
        tag for tag in re.findall(r"<div class=\"([^\"]*)\"[^>]*>\s*<table class=\"heat\"", text) if "scroll" not in tag
    ]
    assert outside == [] and 'class="block scroll"' in text


def test_a_cell_of_the_overview_names_its_consumer_where_the_heading_is_gone() -> None:
    text = html_text(SAMPLE)
    overview = text[text.index('<table class="grid"') : text.index("</table>", text.index('<table class="grid"'))]
    cells = re.findall(r'<td role="cell"[^>]*><small class="who">([^<]*)</small>', overview)
    assert cells == [*consumer_names(SAMPLE), EVERYWHERE, EQUALITY] * len(SAMPLE.fields)
    hostile_page = html_text(hostile(HOSTILE["html"]))
    assert "<img" not in hostile_page
