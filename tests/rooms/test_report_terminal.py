"""The terminal: every column and bug at any width, plain text where it is none, and no data that acts."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console

from auditor.model.run import Run
from auditor.report import render_text, write_terminal
from auditor.report.view import owner_counts
from tests.rooms.report_samples import BROKEN, CLEAN, DISTINCT_RUN, EMPTY, FINDINGS, HOSTILE, SAMPLE, hostile


def printed(run: Run, width: int = 120, encoding: str = "utf-8", terminal: bool = False) -> str:
    data = io.BytesIO()
    file = io.TextIOWrapper(data, encoding=encoding, write_through=True, newline="\n")
    colour = "truecolor" if terminal else None
    write_terminal(run, Console(file=file, width=width, force_terminal=terminal, color_system=colour))
    return data.getvalue().decode(encoding)


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("run", [SAMPLE, BROKEN, CLEAN, EMPTY])
def test_no_line_is_longer_than_the_terminal(run: Run, width: int) -> None:
    lines = printed(run, width).split("\n")
    assert [line for line in lines if cell_len(line) > width] == []
    assert [line for line in lines if line != line.rstrip()] == []


@pytest.mark.parametrize("width", [40, 80, 120, 200])
def test_every_column_and_every_bug_is_there(width: int) -> None:
    text = words(printed(SAMPLE, width))
    for said in ("billing", "warehouse", "api", "91.0 %", "212/233", "86.6–94.0", "98.3 %", "78 (63 recoverable)"):
        assert said in text, said
    for finding in FINDINGS:
        assert finding.code in text and finding.title in text and f"#{finding.fingerprint[:8]}" in text
        assert all(witness.raw in text for witness in finding.witnesses)
        assert all(fix in text for fix in finding.fixes)
    assert "untrusted: constant-output, sentinel-collapse" in text
    assert "7 blocked: missing 2, transport 1, truncated 2, refused 1, malformed 1" in text


@pytest.mark.parametrize("width", [80, 120])
def test_every_number_of_a_column_is_there(width: int) -> None:
    text = words(printed(DISTINCT_RUN, width))
    counts = "70,001 60,013 9,988 1,009 1,013 1,019 1,021 1,031 4,895 40,009 11,003 2,003 2,011 2,017 701 709 757 803"
    assert [n for n in [*counts.split(), "331", "337", "347", "5,003", "7,441"] if n not in text] == []
    assert [n for n in ("85.7", "66.7", "57.2", "85.0", "66.3–67.0") if n not in text] == []


def test_the_bar_shows_the_rate_and_the_ceiling() -> None:
    lines = printed(SAMPLE, 120).splitlines()
    warehouse = next(line for line in lines if line.startswith("  warehouse"))
    # 149 of 233 is 12.8 of 20 cells, 155 of 233 is 13.3
    assert "█" * 13 + "│" + "·" * 7 in warehouse
    plain = next(line for line in printed(SAMPLE, 120, "ascii").splitlines() if line.startswith("  warehouse"))
    assert "#" * 13 + "|" + "." * 7 in plain


def test_an_untrusted_rate_is_struck_through() -> None:
    coloured = printed(SAMPLE, 120, terminal=True)
    struck = re.findall(r"\x1b\[([\d;]*)m55\.8 %", coloured)
    assert struck and all("9" in style.split(";") for style in struck)
    assert not re.search(r"\x1b\[(?:\d+;)*9(?:;\d+)*m63\.9 %", coloured)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
@pytest.mark.parametrize("name", HOSTILE)
def test_any_encoding_takes_any_data(name: str, encoding: str) -> None:
    assert "11.1 %" in printed(hostile(HOSTILE[name] + " é 漢"), 100, encoding)


@pytest.mark.parametrize("width", [60, 120])
@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_in_the_data_acts(name: str, width: int) -> None:
    text = printed(hostile(HOSTILE[name]), width)
    assert not re.search(
        "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]", text
    )


def test_data_is_neither_markup_nor_an_escape_sequence() -> None:
    assert "[red]x[/red] [link=file:///etc/passwd]y[/link] [/]" in words(printed(hostile(HOSTILE["markup"]), 400))
    ansi = printed(hostile(HOSTILE["ansi"]), 200, terminal=True)
    assert "\x1b[2J" not in ansi and "\x1b[31mred" not in ansi and r"\x1b[2J\x1b[31mred\x1b[0m\x9b31m" in ansi
    assert ":tada:" in printed(hostile(":tada:"), 200, terminal=True)


def test_ten_megabytes_are_shortened_and_counted() -> None:
    text = printed(hostile("x" * 10_000_000), 120)
    assert "(10,000,000 characters)" in words(text) and len(text) < 100_000


def test_broken_references_come_first_all_of_them_and_rates_are_withheld() -> None:
    text = printed(BROKEN, 100)
    assert text.index("BROKEN REFERENCES  30") < text.index("Rates are withheld") < text.index("BUGS")
    assert [n for n in range(1, 31) if f"contract-{n:03}" not in text] == []
    columns = text[text.index("Rates are withheld") : text.index("BUGS")]
    assert "—" in columns and not re.search(r"\d\.\d %", columns)
    for width in (60, 100, 200):
        text = printed(BROKEN, width)
        columns = text[text.index("Rates are withheld") : text.index("BUGS")]
        right = {str(column.verdicts["ok"]) for column in BROKEN.columns}
        assert not re.search(r"\d/\d", columns) and right.isdisjoint(re.findall(r"\d+", columns))


def test_of_many_broken_references_the_first_are_listed_and_the_rest_is_counted() -> None:
    broken = tuple(replace(item, raw=f'"{n}"') for n, item in enumerate(BROKEN.broken_references * 4))
    text = words(printed(replace(BROKEN, broken_references=broken), 100))
    assert "BROKEN REFERENCES 120" in text
    assert "70 more are in the html and json reports: 70 of effective_date for billing" in text
    text = words(printed(replace(BROKEN, broken_references=broken[:51]), 100))
    assert "1 more is in the html and json reports: 1 of effective_date for billing" in text


def test_broken_references_of_one_value_are_one_entry_with_all_their_ids() -> None:
    """Thirty times "perpetual" is one thing to mend."""
    first = replace(BROKEN.broken_references[0], raw='"perpetual"')
    broken = (
        replace(first, case_id="alone", raw='"[]/[]/2019"'),
        *(replace(first, case_id=f"c-{number}") for number in range(40)),
        replace(first, case_id="other", error="another error"),
        replace(first, case_id="elsewhere", field="expiration_date"),
    )
    run = replace(BROKEN, broken_references=broken)
    text = words(printed(run, 100))
    assert 'effective_date "perpetual" 40 cases billing: rejected: ' in text
    assert text.index('"perpetual" 40 cases') < text.index('"[]/[]/2019" 1 case ')
    assert "c-0, c-1, c-2" in text and "c-29 and 10 more" in text
    assert text.count('"perpetual"') == 3
    page, comment = render_text(run, ".html"), render_text(run, ".md")
    assert all(f"c-{number}" in page for number in range(40))
    assert "| 40 |" in comment and "c-29 and 10 more" in comment
    assert comment.count('`"perpetual"`') == page.count("&#34;perpetual&#34;") == 3


def test_a_clean_run_says_what_that_does_not_prove() -> None:
    text = words(printed(CLEAN, 80))
    assert "No bugs found on these strings." in text and "does not prove the parsers right" in text


def test_an_empty_run_says_that_nothing_was_judged() -> None:
    assert "No case was judged" in printed(EMPTY, 80)


@pytest.mark.parametrize("width", [80, 120, 200])
def test_classes_are_said_with_every_column(width: int) -> None:
    other = replace(SAMPLE.columns[0], blocked=9, blocked_by={"missing": 4, "refused": 5})
    text = words(printed(replace(SAMPLE, columns=(other, *SAMPLE.columns[1:])), width))
    assert "blocked 9 (missing 4, refused 5)" in text
    alike = words(printed(SAMPLE, width))
    said = "blocked 7 (missing 2, transport 1, truncated 2, refused 1, malformed 1)"
    assert alike.count(said) == len(SAMPLE.columns)


def test_a_summary_ends_the_report() -> None:
    text = printed(SAMPLE, 100)
    summary = words(text[text.index("SUMMARY") :])
    assert summary.startswith(
        "SUMMARY 7 bugs: 4 high, 2 medium, 1 info data-platform 3 high, 1 info billing 1 high, 1 medium, 1 info "
    )
    assert list(owner_counts(FINDINGS).items())[:2] == [
        ("data-platform", {"high": 3, "info": 1}),
        ("billing", {"high": 1, "medium": 1, "info": 1}),
    ]
    assert "A bug between several owners counts for each of them." in summary
    assert f"auditor report {SAMPLE.run_id} -o report.html -o report.json" in summary
    assert "SUMMARY" not in printed(CLEAN, 100)


def test_alike_bugs_under_one_heading_are_said_to_be() -> None:
    pairs = (("billing", "warehouse"), ("billing", "api"), ("api", "warehouse"))
    alike = tuple(
        replace(FINDINGS[1], consumers=pair, fingerprint=f"{number}" * 16) for number, pair in enumerate(pairs)
    )
    text = words(printed(replace(SAMPLE, findings=(*alike, FINDINGS[0], FINDINGS[4])), 100))
    assert "BUGS 4 high (2 entries: alike ones are listed together), 1 medium" in text
    assert text.count("HIGH ") == 2


def test_a_label_without_shapes_is_not_printed() -> None:
    shapes = {"accepted": {}, "rejected": {"dd/dd/dddd": 22}, "read by nobody": {}}
    run = replace(SAMPLE, findings=(replace(FINDINGS[0], shapes=shapes),))
    for name, text in {
        "terminal": printed(run),
        ".md": render_text(run, ".md"),
        ".html": render_text(run, ".html"),
    }.items():
        assert "read by nobody" not in text and "dd/dd/dddd" in text, name


def test_a_bug_of_nobody_in_particular_has_no_loose_ends() -> None:
    nobody = replace(FINDINGS[0], consumers=(), owners=())
    text = printed(replace(SAMPLE, findings=(nobody,)), 120)
    assert "HIGH    format-ceiling  effective_date  #3f9c1b7a" in text
