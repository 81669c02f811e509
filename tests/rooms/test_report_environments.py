"""Every report shows the range of a column over environments, what moved where, and what was not varied."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from html import unescape

import pytest
from rich.console import Console

from auditor.model.decoding import Decoding
from auditor.model.dependence import ProbedEnvironment, ProbeSummary
from auditor.model.document import from_document, to_document
from auditor.model.run import Column, Finding, Run, Witness
from auditor.report import environments, render_text, view, write_terminal
from auditor.report.notebook import notebook_html
from auditor.report.witnesses import witness_views
from tests.rooms.report_samples import CLEAN, CONSUMERS, SAMPLE, environment_entry

LOCALES = tuple(
    f"locale {name}.UTF-8: it could not be set on this machine" for name in ("de_DE", "tr_TR", "fr_FR", "en_GB")
)


def entry(clock: str, ok: int, flips: int) -> dict[str, object]:
    varied = [] if clock == "2024-03-08T09:05:07+00:00" else ["clock"]
    name = f"clock {clock[:10]} {clock[11:16]}" if varied else "base"
    return {**environment_entry(name, varied, ok, 200, clock=clock), "flips": flips}


#: 91 % on the day of the base, 93 % on the 1st and 85 % on the 31st: 182, 186 and 170 of 200.
MOVING = replace(
    SAMPLE.columns[0],
    judged=200,
    verdicts={**SAMPLE.columns[0].verdicts, "ok": 182, "wrong": 14},
    content_rate=182 / 200,
    by_environment=(
        entry("2024-03-08T09:05:07+00:00", 182, 0),
        entry("2031-08-31T18:45:07+00:00", 170, 12),
        entry("2024-03-01T09:05:07+00:00", 186, 4),
    ),
    flips={"clock": 14},
)

CLOCK = Finding(
    "clock-dependent",
    "high",
    "effective_date",
    ("billing",),
    ("billing",),
    "billing reads a month by the clock",
    "detail",
    "cause",
    (),
    14,
    0.07,
    "c10c4c10c4c10c4c",
    (
        Witness(
            '"March 2024"', {"warehouse": Decoding("null"), "billing": Decoding("value", "date:2024-03-08")}, "C-7"
        ),
        Witness('"Feb 29"', {"billing": Decoding("value", "date:2024-02-29")}, "C-8"),
        Witness('"March 2024"', {"billing": Decoding("value", "date:2024-03-31", None, "clock 2031-08-31 18:45")}),
        Witness('"Feb 29"', {"billing": Decoding("rejected", None, "ParserError: day", "clock 2031-08-31 18:45")}),
    ),
)


def probed(name: str, consumers: tuple[str, ...], **parts: object) -> ProbedEnvironment:
    base: dict[str, object] = {"clock": "2024-03-08T09:05:07+00:00", "zone": "UTC", "locale": "C.UTF-8"}
    base |= {"hash_seed": 0, "order": "given", "network": True, "elsewhere": False}
    return ProbedEnvironment(name=name, varied=tuple(parts), consumers=consumers, **(base | parts))  # type: ignore[arg-type]


TESTED = (
    probed("everything 1", ("billing", "api"), clock="2000-02-29T06:06:07+00:00", zone="Etc/GMT+12", hash_seed=1),
    probed("everything 1", ("warehouse",), clock="2000-02-29T06:06:07+00:00", hash_seed=1),
    probed("everything 2", ("billing", "api"), clock="2031-08-31T18:45:07+00:00", zone="Europe/Berlin", hash_seed=2),
    probed("everything 2", ("warehouse",), clock="2031-08-31T18:45:07+00:00", hash_seed=2),
    probed("clock 2024-03-01 09:05", ("billing",), clock="2024-03-01T09:05:07+00:00"),
)

CONSUMERS_PROBED = (
    replace(CONSUMERS[0], not_varied=LOCALES),
    replace(CONSUMERS[1], not_varied=("zone: the consumer's env sets it", *LOCALES)),
    replace(CONSUMERS[2], not_varied=LOCALES),
)

RUN = replace(
    SAMPLE,
    columns=(MOVING, *SAMPLE.columns[1:]),
    findings=(CLOCK, *SAMPLE.findings),
    consumers=CONSUMERS_PROBED,
    probe=ProbeSummary("full", TESTED),
)

OFF = replace(CLEAN, probe=ProbeSummary("off"))
QUICK = replace(CLEAN, probe=ProbeSummary("quick", TESTED))
OLD = replace(CLEAN, probe=None)


def printed(run: Run) -> str:
    file = io.StringIO()
    write_terminal(run, Console(file=file, width=400))
    return file.getvalue()


def texts(run: Run) -> dict[str, str]:
    """Give every report that a person reads, as plain text on one line."""
    reports = {"terminal": printed(run), "md": render_text(run, ".md"), "html": render_text(run, ".html")}
    reports["notebook"] = notebook_html(run)
    plain = {name: re.sub(r"<style>.*?</style>|<[^>]+>", " ", text, flags=re.DOTALL) for name, text in reports.items()}
    return {name: " ".join(unescape(text).replace("\\", "").split()) for name, text in plain.items()}


def row(run: Run) -> dict[str, str]:
    return next(csv.DictReader(io.StringIO(render_text(run, ".csv"))))


def test_the_range_stands_beside_the_rate_in_every_report() -> None:
    for name, text in texts(RUN).items():
        assert re.search(r"91\.0 ?%", text), name
        assert "85.0–93.0 % over 3 clocks, 14 verdicts flip" in text, name
    assert "91.0 % (85.0–93.0)" in texts(RUN)["terminal"]
    assert "91.0 % (85.0–93.0 % over 3 clocks, 14 verdicts flip)" in texts(RUN)["md"]
    cells = row(RUN)
    assert (cells["range_low"], cells["range_high"], cells["range_flips"]) == ("0.85", "0.93", "14")


def test_a_column_that_does_not_move_has_no_range() -> None:
    assert environments.range_text(SAMPLE, SAMPLE.columns[1]) == environments.widest_range(SAMPLE.columns[1]) == ""
    assert all("verdicts flip" not in text.split("Bugs")[0] for text in texts(SAMPLE).values())


def test_values_that_move_without_a_verdict_are_said_to_move() -> None:
    still = tuple({**one, "ok": 182, "content_rate": 0.91, "flips": 0} for one in MOVING.by_environment)
    column = replace(MOVING, by_environment=still, flips={"clock": 0})
    assert environments.range_text(RUN, column) == "no verdict flips over 3 clocks, though values move"


REFERENCES_MOVE = replace(
    MOVING,
    consumer="warehouse",
    by_environment=tuple({**one, "ok": 182, "content_rate": 0.91, "flips": 0} for one in MOVING.by_environment),
    flips={"clock": 0},
)


def test_the_reader_of_the_references_is_named_where_its_values_alone_move() -> None:
    """The warehouse reads every string alike on every day; what moves is what billing makes of the references."""
    run = replace(RUN, columns=(MOVING, REFERENCES_MOVE))
    assert CLOCK.consumers == ("billing",) and run.fields[0].reference == "billing"
    said = "billing's reading of the references moves over 3 clocks; no verdict flips"
    assert environments.range_text(run, REFERENCES_MOVE) == said
    for name, text in texts(run).items():
        assert said in text and "though values move" not in text, name
    flips = replace(REFERENCES_MOVE, flips={"clock": 2})
    assert environments.range_text(run, flips).endswith(
        "over 3 clocks, 2 verdicts flip, as billing's reading of the references moves"
    )


def test_who_moves_itself_is_not_said_to_follow_the_references() -> None:
    own = replace(CLOCK, consumers=("warehouse",), fingerprint="ab" * 8)
    said = "no verdict flips over 3 clocks, though values move"
    assert environments.range_text(replace(RUN, findings=(CLOCK, own)), REFERENCES_MOVE) == said
    # With the zone alone it has no part in what the clock moves.
    zone = replace(own, code="timezone-dependent")
    assert environments.range_text(replace(RUN, findings=(CLOCK, zone)), REFERENCES_MOVE).startswith(
        "billing's reading"
    )
    assert environments.range_text(replace(RUN, findings=(zone,)), REFERENCES_MOVE) == said


def test_without_rates_the_flips_are_still_said() -> None:
    entries = tuple({**one, "content_rate": None} for one in MOVING.by_environment)
    assert environments.range_text(RUN, replace(MOVING, by_environment=entries)) == "14 verdicts flip over 3 clocks"


def test_where_rates_are_withheld_no_count_behind_one_is_given() -> None:
    entries = tuple({**one, "content_rate": None} for one in MOVING.by_environment)
    column = replace(MOVING, content_rate=None, by_environment=entries)
    run = replace(RUN, columns=(column,), fields=(), findings=(), rates_withheld=True)
    for name, text in texts(run).items():
        assert not re.search(r"\b(182|186|170)\b", text), name
        assert "14 verdicts flip over 3 clocks" in text, name
    cells = row(run)
    assert (cells["range_low"], cells["range_high"], cells["ok"]) == ("", "", "")
    assert [one["flips"] for one in json.loads(cells["by_environment"])] == [0, 12, 4]
    assert not any("ok" in one for one in json.loads(cells["by_environment"]))


def test_the_calendar_is_a_table_in_the_page_in_the_order_of_days() -> None:
    page = texts(RUN)["html"]
    calendar = page[page.index("billing by the day it runs") :][:600]
    days = [
        "2024-03-01 09:05 93.0 % 186 of 200 4",
        "2024-03-08 09:05 base 91.0 % 182 of 200",
        "2031-08-31 18:45 85.0 %",
    ]
    assert [calendar.index(day) for day in days] == sorted(calendar.index(day) for day in days)


def test_the_entries_of_the_table_are_whole_json_in_csv() -> None:
    entries = json.loads(row(RUN)["by_environment"])
    assert [(one["clock"][:10], one["ok"]) for one in entries] == [
        ("2024-03-08", 182),
        ("2031-08-31", 170),
        ("2024-03-01", 186),
    ]


def test_a_dependence_is_a_badge_of_its_column_alone() -> None:
    assert "clock-dependent" in view.badges(MOVING, RUN)
    assert not any("dependent" in badge for column in RUN.columns[1:] for badge in view.badges(column, RUN))
    assert row(RUN)["depends"] == "clock-dependent"


def test_what_was_not_varied_is_one_readable_text() -> None:
    locale = "locale not varied (de_DE, tr_TR, fr_FR, en_GB could not be set on this machine)"
    assert environments.not_varied(RUN, CONSUMERS_PROBED[0]) == (locale,)
    assert environments.not_varied(RUN, CONSUMERS_PROBED[1]) == (
        "time zone not varied (the consumer's env sets it)",
        locale,
    )
    assert "locale not varied" in view.badges(MOVING, RUN)
    for name, text in texts(RUN).items():
        assert locale in text, name
        assert "warehouse: time zone not varied" in text, name
    assert row(RUN)["not_varied"] == locale


def test_a_part_that_was_varied_in_part_is_not_called_not_varied() -> None:
    late = replace(CONSUMERS[0], not_varied=("clock 2021-12-31T23:59:07+00:00: no answer within 20 s",))
    run = replace(RUN, consumers=(late, *CONSUMERS_PROBED[1:]))
    assert environments.not_varied(run, late) == ("clock partly not varied (2021-12-31 23:59 no answer within 20 s)",)
    unknown = replace(CONSUMERS[0], not_varied=("everything 3: no answer within 20 s",))
    assert environments.not_varied(run, unknown) == (
        "everything changed at once (3) not varied (no answer within 20 s)",
    )


@pytest.mark.parametrize("run", [OFF, OLD], ids=["off", "old"])
def test_a_run_that_was_not_probed_says_so_in_every_report(run: Run) -> None:
    for name, text in texts(run).items():
        assert "not probed" in text, name
        assert "not known whether a value depends on the clock" in text, name
        assert "observed to depend" not in text, name
    assert row(OFF)["probe"] == "off"
    assert row(OLD)["probe"] == "not probed"


def test_a_quick_run_says_that_it_looked_in_fewer_places() -> None:
    for name, text in texts(QUICK).items():
        assert "quick" in text and "--probe full" in text, name
    assert row(QUICK)["probe"] == "quick"


def test_a_clean_run_names_what_it_was_tested_in() -> None:
    clean = replace(QUICK, probe=ProbeSummary("full", TESTED[:4]), consumers=CONSUMERS_PROBED[:2])
    tested = "clocks 2000-02-29 06:06, 2031-08-31 18:45; time zones Etc/GMT+12, Europe/Berlin (not for warehouse); "
    tested += "hash seeds 1, 2"
    assert environments.tested(clean) == tested
    for name, text in texts(clean).items():
        assert "no value was observed to depend on more than its string" in text, name
        assert tested in text, name
        assert "That does not prove the parsers right" in text, name


def test_only_what_every_consumer_was_asked_in_is_called_tested() -> None:
    assert "2024-03-01" not in environments.tested(RUN), "billing alone was asked on that day"


def test_a_zone_that_the_strings_of_some_chose_is_called_theirs() -> None:
    shared = probed("zone Etc/GMT+12", ("billing", "warehouse"), zone="Etc/GMT+12")
    own = probed("zone Asia/Tokyo", ("billing",), zone="Asia/Tokyo")
    of_two = replace(RUN, probe=ProbeSummary("full", (shared, own)), consumers=CONSUMERS_PROBED[:2])
    assert environments.tested(of_two) == "time zones Etc/GMT+12 (for some Asia/Tokyo)"


def test_a_string_stands_with_its_values_in_two_environments() -> None:
    march, leap = witness_views(RUN, CLOCK)
    assert [(one.consumer, one.decoding.value, one.where) for one in march.readings] == [
        ("billing", "date:2024-03-08", "base: clock 2024-03-08 09:05"),
        ("billing", "date:2024-03-31", "clock 2031-08-31 18:45"),
        ("warehouse", None, ""),
    ]
    assert march.place.startswith("prediction, case C-7")
    assert [one.decoding.status for one in leap.readings] == ["value", "rejected"]


def test_one_string_as_prediction_and_as_reference_is_two_witnesses() -> None:
    """Batches of predictions and of references have other neighbours: each role has its own proof."""
    day = {"loader": Decoding("value", "date:2024-02-01")}
    month = {"loader": Decoding("value", "date:2024-01-02")}
    witnesses = (
        Witness('"01/02/2024"', day, "C-1", "prediction", 1, "alone: date:2024-01-02"),
        Witness('"01/02/2024"', month, "C-2", "reference", 1, "after N/A: null"),
    )
    finding = replace(CLOCK, code="neighbour-dependent", consumers=("loader",), witnesses=witnesses)
    assert [(one.place, one.readings[0].decoding.value) for one in witness_views(RUN, finding)] == [
        ("prediction, case C-1, 1 case, alone: date:2024-01-02", "date:2024-02-01"),
        ("reference, case C-2, 1 case, after N/A: null", "date:2024-01-02"),
    ]
    for name, text in texts(replace(RUN, findings=(finding,))).items():
        if name != "notebook":
            assert "alone: date:2024-01-02" in text and "after N/A: null" in text, name


def test_every_report_shows_both_values_together() -> None:
    reports = texts(RUN)
    both = (
        r"date:2024-03-08\S* .{0,12}base: clock 2024-03-08 09:05\S* .{0,30}date:2024-03-31\S* .{0,12}clock 2031-08-31"
    )
    for name in ("terminal", "md", "html"):
        assert re.search(both, reports[name]), name
        assert reports[name].count('"March 2024"') == 1, name
    witnesses = to_document(RUN)["findings"][0]["witnesses"]
    assert [(one["raw"], one["decodings"]["billing"]["environment"]) for one in witnesses] == [
        ('"March 2024"', "base"),
        ('"Feb 29"', "base"),
        ('"March 2024"', "clock 2031-08-31 18:45"),
        ('"Feb 29"', "clock 2031-08-31 18:45"),
    ]


def test_a_run_of_before_the_probes_is_read_and_a_probed_one_comes_back_as_it_was() -> None:
    document = json.loads(json.dumps(to_document(RUN)))
    assert document["probe"]["level"] == "full"
    assert document["probe"]["environments"][0]["consumers"] == ["billing", "api"]
    assert from_document(document) == RUN
    del document["probe"]
    for column in document["columns"]:
        del column["flips"], column["hints"]
    old = from_document(document)
    assert old.probe is None
    assert isinstance(old.columns[0], Column) and old.columns[0].flips == {}
