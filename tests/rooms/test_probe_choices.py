"""Which zones, locales and seeds are tried, and with which clock: what the strings at hand ask for."""

from __future__ import annotations

import calendar
import subprocess
import sys
from datetime import date, datetime
from itertools import combinations
from zoneinfo import ZoneInfo

import pytest

from auditor.model.environment import Environment
from auditor.probe.environments import CLOCKS, EVENING, ORDERS, SEEDS, course_of, matched
from auditor.probe.languages import LOCALES, locales_for
from auditor.probe.zones import ZONE_OF_ABBREVIATION, ZONES, changing_at, zones_for


def local_times(zones: tuple[str, ...]) -> list[datetime]:
    course = course_of(Environment(), {}, "full", zones)
    return [datetime.fromisoformat(one.clock).astimezone(ZoneInfo(one.zone)) for one in course.everything]


def test_a_leap_day_a_31st_and_both_ends_of_a_year_are_so_by_the_local_clock() -> None:
    days = [there.date() for there in local_times(ZONES)]
    assert days == [date(2000, 2, 29), date(2031, 8, 31), date(2021, 12, 31), date(2022, 1, 1)]


@pytest.mark.parametrize(
    "near", [("Europe/Berlin", "Asia/Kathmandu"), ("Asia/Tokyo", "Australia/Sydney"), ("America/Denver", "Asia/Tokyo")]
)
def test_the_leap_day_a_31st_and_an_evening_are_kept_whatever_zones_are_asked_for(near: tuple[str, str]) -> None:
    there = local_times((*ZONES[:2], *near))
    assert there[0].date() == date(2000, 2, 29)
    assert there[1].day == 31
    assert any(moment.hour >= EVENING for moment in there)


def test_every_zone_is_set_with_one_clock() -> None:
    course = course_of(Environment(), {}, "full")
    assert [one.clock for one in course.everything] == list(CLOCKS)
    assert {one.zone for one in course.everything} == set(ZONES)


def test_zones_that_a_machine_does_not_know_are_left_in_their_order() -> None:
    assert matched((*ZONES[:3], "Nowhere/At_All")) == (*ZONES[:3], "Nowhere/At_All")


def test_one_of_the_usual_zones_has_no_whole_hours_and_one_has_summer_time() -> None:
    offsets = [
        [datetime(2024, month, 1, tzinfo=ZoneInfo(zone)).utcoffset().total_seconds() for month in (1, 7)]  # type: ignore[union-attr]
        for zone in ZONES
    ]
    assert any(winter % 3600 for winter, _ in offsets)
    assert any(winter != summer for winter, summer in offsets)


@pytest.mark.parametrize(
    ("text", "zone"),
    [
        ("2024-03-10 02:30", "America/New_York"),  # skipped
        ("2024-03-31T02:30:00", "Europe/Berlin"),
        ("2024-03-31T01:30:00", "Europe/London"),
        ("2024-10-27 02:30:00", "Europe/Berlin"),  # there twice
        ("2024-10-27T01:30:00Z", "Europe/Berlin"),  # 02:30 for the second time
        ("2018-11-04T00:00:00", "America/Sao_Paulo"),
        ("2024-10-06T02:15:00", "Australia/Lord_Howe"),
        ("2024-04-26 00:30", "Africa/Cairo"),
    ],
)
def test_a_zone_that_skips_or_repeats_a_time_of_the_strings_is_tried(text: str, zone: str) -> None:
    assert zone in zones_for([f'"{text}"'])


@pytest.mark.parametrize("text", ["2024-03-10", "2024-03-10 12:30", "2024-03-10T02:30:00Z", "2024-02-30 02:30", "x"])
def test_a_time_that_every_zone_has_once_asks_for_none(text: str) -> None:
    assert zones_for([text]) == ZONES


def test_what_is_no_time_is_in_no_zone() -> None:
    assert changing_at(2024, 3, 10, 25, 0) == []
    assert changing_at(1800, 3, 10, 2, 30) == []


@pytest.mark.parametrize("word", ["NZDT", "IST", "HST", "MSK"])
def test_an_abbreviation_is_tried_where_it_is_known(word: str) -> None:
    assert ZONE_OF_ABBREVIATION[word] in zones_for([f'"2024-03-01 10:00 {word}"'])


def test_a_word_without_a_time_of_day_is_no_zone() -> None:
    assert zones_for(['"CAT-00123"', '"CAT 00123"', '"EST"']) == ZONES


@pytest.mark.parametrize("words", [["IST"], ["CAT", "EAT"]])
def test_one_zone_with_summer_time_is_always_tried(words: list[str]) -> None:
    chosen = zones_for([f'"2024-03-01 10:00 {word}"' for word in words])
    offsets = [{datetime(2024, month, 1, tzinfo=ZoneInfo(zone)).utcoffset() for month in (1, 7)} for zone in chosen]
    assert any(len(one) > 1 for one in offsets)
    assert ZONE_OF_ABBREVIATION[words[0]] in chosen


def test_every_abbreviation_is_one_of_its_zone() -> None:
    for word, zone in ZONE_OF_ABBREVIATION.items():
        names = {datetime(2024, month, 15, tzinfo=ZoneInfo(zone)).tzname() for month in (1, 7)}
        assert word in names, zone


@pytest.mark.parametrize(
    ("text", "locale"),
    [
        ("1. März 2024", "de_DE"),
        ("14 juillet 2024", "fr_FR"),
        ("1\u202f234,56", "fr_FR"),
        ("14 de julio de 2024", "es_ES"),
        ("3 gennaio 2024", "it_IT"),
        ("3 maart 2024", "nl_NL"),
        ("3 marca 2024", "pl_PL"),
        ("3 марта 2024", "ru_RU"),
        ("٣", "ar_EG"),
        ("३", "hi_IN"),
        ("๑", "th_TH"),
        ("1'234.50", "de_CH"),
    ],
)
def test_the_language_of_the_strings_is_tried(text: str, locale: str) -> None:
    assert f"{locale}.UTF-8" in locales_for([f'"{text}"'])


def test_english_asks_for_no_other_language_and_turkish_is_always_there() -> None:
    months = [f'"1 {name} 2024"' for name in (*calendar.month_name, *calendar.month_abbr)]
    assert locales_for([*months, '"1,234.50"']) == LOCALES
    several = locales_for(['"3 marca 2024"', '"3 maart 2024"', '"3 марта 2024"'])
    assert {"tr_TR.UTF-8", "en_GB.UTF-8"} < set(several)
    assert len(several) == len(LOCALES)


def test_a_language_that_the_strings_are_written_in_never_gives_way() -> None:
    chosen = locales_for(['"1. März 2024"', '"3 maart 2024"', '"3 марта 2024"', '"4 maart 2024"'])
    assert {"de_DE.UTF-8", "nl_NL.UTF-8"} < set(chosen)


@pytest.mark.parametrize("count", range(3, 8))
def test_few_strings_each_come_after_any_two_others(count: int) -> None:
    orders = [list(Environment(order=order).ordered(count)) for order in ("given", *ORDERS)]
    for three in combinations(range(count), 3):
        assert {max(three, key=order.index) for order in orders} == set(three)


def first_of(formats: tuple[str, ...], seed: int) -> str:
    code = f"print(next(iter({{{', '.join(map(repr, formats))}}})))"
    command = [sys.executable, "-S", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": str(seed)})
    return done.stdout.strip()


@pytest.mark.skipif(sys.version_info < (3, 11), reason="the seeds were chosen for the hash of newer versions")
@pytest.mark.parametrize(
    "formats",
    [
        ("%d/%m/%Y", "%m/%d/%Y"),
        ("%d-%m-%Y", "%m-%d-%Y"),
        ("%d/%m/%y", "%m/%d/%y"),
        ("%y-%m-%d", "%d-%m-%y"),
        ("USD", "CAD"),
        (",", "."),
        ("lb", "oz"),
    ],
)
def test_two_formats_in_a_set_come_in_both_orders(formats: tuple[str, ...]) -> None:
    assert len({first_of(formats, seed) for seed in (0, *SEEDS)}) == 2
