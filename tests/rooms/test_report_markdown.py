"""The pull-request comment: fits, folds its bugs, and no data becomes markup, a mention or a link."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from html import unescape

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from auditor.model.run import Finding, Run
from auditor.report.markdown import markdown_text
from tests.rooms.report_samples import BROKEN, CLEAN, DISTINCT_RUN, EMPTY, FINDINGS, HOSTILE, SAMPLE, hostile

MORE = {
    "list": "1. one",
    "dash": "- one",
    "heading": "# one",
    "rule": "---",
    "code": "    four",
    "quote": "> one",
    "tail": "end\\",
}


def tokens(text: str) -> list[Token]:
    found: list[Token] = []
    for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text):
        found += [token, *(token.children or [])]
    return found


def read(text: str) -> str:
    """What a reader sees, spaces collapsed."""
    shown = (token.content for token in tokens(text) if token.type in ("text", "code_inline", "html_block"))
    return " ".join(" ".join(shown).split())


@pytest.mark.parametrize("name", [*HOSTILE, *MORE])
def test_data_adds_no_element(name: str) -> None:
    text, plain = (markdown_text(hostile(data)) for data in ((HOSTILE | MORE)[name], "plain words"))

    def elements(document: str) -> Counter[str]:
        kinds = Counter(token.type for token in tokens(document))
        for quiet in ("text", "text_special"):  # an escaped character is a token of its own, and no element
            kinds.pop(quiet, None)
        return kinds

    assert elements(text) == elements(plain)
    assert not {"link_open", "image", "fence", "code_block", "blockquote_open"} & set(elements(text))


@pytest.mark.parametrize("name", [*HOSTILE, *MORE])
def test_only_our_own_tags_are_html(name: str) -> None:
    found = [token.content for token in tokens(markdown_text(hostile((HOSTILE | MORE)[name]))) if "html" in token.type]
    tags = {tag for content in found for tag in re.findall(r"<[^>]*>", content)}
    assert tags <= {"<details>", "</details>", "<summary>", "</summary>", "<b>", "</b>", "<sub>", "</sub>"}


def test_outside_code_nothing_is_mentioned_or_linked() -> None:
    text = markdown_text(hostile("@octocat fixes #1 GH-1 see http://evil.example www.evil.example a@b.example"))
    outside = [unescape(token.content) for token in tokens(text) if token.type in ("text", "html_block")]
    assert [said for said in outside if re.search(r"@\w|#\d|GH-\d|://|www\.", said)] == []


def test_control_characters_do_not_reach_the_comment() -> None:
    for data in HOSTILE.values():
        text = markdown_text(hostile(data))
        assert not re.search(
            "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]", text
        )


def test_a_pipe_or_a_backtick_keeps_its_cell() -> None:
    cells = [token.content for token in tokens(markdown_text(hostile("a|b`c``d"))) if token.type == "code_inline"]
    assert "a|b`c``d" in cells


def test_every_column_and_bug_is_there() -> None:
    text = read(markdown_text(SAMPLE))
    for said in (
        "91.0 %",
        "212/233",
        "86.6–94.0",
        "98.3 %",
        "78 (63 recoverable)",
        "62.1 % of 240",
        "usable everywhere",
    ):
        assert said in text, said
    assert all(finding.title in text and finding.code in text for finding in FINDINGS)
    assert "7 blocked (missing 2, transport 1, truncated 2, refused 1, malformed 1)" in text


def test_every_number_of_a_column_is_there() -> None:
    text = read(markdown_text(DISTINCT_RUN))
    counts = "70,001 60,013 9,988 1,009 1,013 1,019 1,021 1,031 4,895 40,009 11,003 2,003 2,011 2,017 701 709 757 803"
    assert [n for n in [*counts.split(), "331", "337", "347", "5,003", "7,441"] if n not in text] == []
    assert [n for n in ("66.7", "57.2", "85.0", "66.3–67.0") if n not in text] == []


def test_an_untrusted_rate_is_struck_through() -> None:
    assert "~~55.8 %~~" in markdown_text(SAMPLE) and "untrusted" in markdown_text(SAMPLE)
    assert sum(token.type == "s_open" for token in tokens(markdown_text(SAMPLE))) == 1


def test_broken_references_come_first_and_rates_are_withheld() -> None:
    text = markdown_text(BROKEN)
    table = text[: text.index("<details>")]
    assert not re.search(r"\d/\d", table) and "recoverable" not in table
    assert text.index("30 broken references") < text.index("| field | consumer |")
    assert text.count("contract-0") >= 30 and "Rates are withheld" in text
    assert not re.search(r"\d\.\d % \|", text)


def test_a_clean_run_says_what_that_does_not_prove() -> None:
    assert "does not prove the parsers right" in markdown_text(CLEAN)
    assert "No case was judged" in markdown_text(EMPTY)


def many_bugs() -> Run:
    bugs = tuple(replace(FINDINGS[0], title=f"bug number {n}", severity="low", affected=n) for n in range(2000))
    return replace(SAMPLE, findings=(*FINDINGS, *bugs))


@pytest.mark.parametrize(
    "run",
    [
        many_bugs(),
        replace(BROKEN, columns=BROKEN.columns * 300, broken_references=BROKEN.broken_references * 1000),
        hostile("x" * 10_000_000),
        hostile("\U000e0001" * 5000),
        replace(hostile("|`*_" * 5000), findings=hostile("|`*_" * 5000).findings * 50),
    ],
    ids=["bugs", "columns", "long", "invisible", "escaped"],
)
def test_it_always_fits_one_comment(run: Run) -> None:
    text = markdown_text(run)
    assert len(text.encode("utf-16-le")) // 2 < 65_536


def test_the_worst_bugs_are_kept_whole_and_the_rest_counted() -> None:
    text = markdown_text(many_bugs())
    worst: list[Finding] = [finding for finding in FINDINGS if finding.severity == "high"]
    assert all(f"<b>{finding.code}</b>: " in text for finding in worst)
    counted = re.search(r"([\d,]+) more bugs in the json and html reports", text)
    assert counted is not None
    shown = text.count("<details>") + len(re.findall(r"^- \S+ \w+ \*\*", text, re.MULTILINE))
    assert shown + int(counted[1].replace(",", "")) == 2007
