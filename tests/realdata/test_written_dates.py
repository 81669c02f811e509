"""Dates as people write them, in seventeen languages, read by dateutil: which of them depend on the clock?

dateutil takes what a string leaves out from a day that a caller may name, and the century of a year of two digits from
the year of a clock, which a caller may set, too. So the strings that move are found by a plain script that names both,
and the audit, which knows neither, has to find the same ones, each and no other.
"""

from __future__ import annotations

import datetime
import json

import pytest
from dateutil.parser import parser, parserinfo

import auditor
from tests.realdata.plain import needs_real_data, records

pytestmark = needs_real_data

SOURCE = "from dateutil.parser import parse\n\n\ndef day(text):\n    return parse(text).date()\n"

#: Each month and each day of it are there, both kinds of year, and years with another century 50 years ahead.
FIRST = datetime.datetime(1999, 1, 31)  # noqa: DTZ001 - dateutil fills in from a day without a zone
CLOCKS = [FIRST + datetime.timedelta(days=days) for days in range(0, 15_000, 397)]


def written_dates():
    """Give the distinct strings of two files."""
    rows = [*records("date_parsers.jsonl"), *records("recognizers_text.jsonl")]
    wanted = {row["raw"]: None for row in rows if row["type"] in ("date", "datetime") and row["raw"].strip()}
    return list(wanted)


def day_at(clock, text):
    """Read a string as dateutil does on a day."""
    info = parserinfo()
    info._year, info._century = clock.year, clock.year // 100 * 100
    try:
        return parser(info).parse(text, default=clock).date()
    except (ValueError, OverflowError):
        return None


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    folder = tmp_path_factory.mktemp("written")
    (folder / "parsers.py").write_text(SOURCE)
    texts = written_dates()
    for name, value in (("predictions", None), ("references", "2024-01-02")):
        rows = [json.dumps({"case_id": str(number), "d": value or text}) for number, text in enumerate(texts)]
        (folder / f"{name}.jsonl").write_text("\n".join(rows))
    spec = {
        "name": "written-dates",
        "cases": {"predictions": "predictions.jsonl", "references": "references.jsonl"},
        "fields": {"d": {"type": "date", "reference": "typed"}},
        "consumers": {"billing": {"adapter": "python", "root": ".", "reads": {"d": "parsers:day"}}},
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return texts, auditor.run(spec)


def test_each_string_that_another_clock_moves_is_found_and_no_other(audited):
    texts, done = audited
    moved = {json.loads(raw) for (raw,) in done.moves().select("raw").distinct().fetchall()}
    expected = {text for text in texts if len({day_at(clock, text) for clock in CLOCKS}) > 1}
    assert len(expected) > 50
    assert moved == expected
