"""A validation service as a consumer: what it answers becomes values, nulls and rejections, and nothing is lost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from auditor.decode.session import Session
from tests.services.validator import Service, serving
from tests.sessions import open_consumer, quoted, shown


@pytest.fixture
def service() -> Iterator[Service]:
    with serving() as server:
        yield server


def open_service(server: Service, kind: str = "name", type_: str = "identifier", **others: Any) -> Session:
    """Open a session on a service that reads one field."""
    settings = {
        "adapter": "http",
        "url": server.url + "/validate/{field}",
        "request": '{"value": "{value}"}',
        "value": "value",
        "message": "detail.0.msg",
        "timeout": 2.0,
    }
    return open_consumer(Path("/tmp"), {"f": kind}, types={"f": type_}, **(settings | others))


@pytest.mark.parametrize(
    ("kind", "type_", "text", "found"),
    [
        ("day", "date", "2024-03-01", "date:2024-03-01"),
        ("day", "date", "2024-02-30", "rejected: Input should be a valid date or datetime, day value is outside"),
        ("total", "decimal", "12.50", "decimal:12.50"),
        ("total", "decimal", "12,50", "rejected: Input should be a valid decimal"),
        ("total", "decimal", "#digits", "decimal:0.10000000000000000000001"),
        ("count", "integer", " 24 ", "int:24"),
        ("count", "integer", "24.5", "rejected: Input should be a valid integer, unable to parse string as an integer"),
        ("flag", "boolean", "off", "bool:false"),
        ("name", "identifier", "007", "text:007"),
        ("name", "identifier", "#null", "null: null"),
        ("name", "identifier", "#object", "rejected: unexpected type: an object"),
        ("name", "identifier", "#tag", "text:int:5"),
        ("count", "integer", "#tag", "text:int:5"),
    ],
)
def test_an_answer_is_a_value_a_null_or_a_rejection(
    service: Service, kind: str, type_: str, text: str, found: str
) -> None:
    with open_service(service, kind, type_) as session:
        assert shown(session.decode("f", quoted([text])))[0].startswith(found)


HOSTILE = [
    "",
    " ",
    "\ud800",
    "a\udfffb",
    "\0",
    "a\0b",
    "\u202eevil\u202c",
    '"}{"value": "x',
    "{value}{field}{env:HOME}",
    "..",
    "../../version",
    "a/b?c=d#e%41&value=2",
    "\r\nX-Injected: 1",
    "null",
    "é\u0301🧾",
    "x" * 1_000_000,
]


def test_hostile_strings_arrive_intact_in_a_body(service: Service) -> None:
    with open_service(service, "any") as session:
        found = session.decode("f", quoted(HOSTILE))
    assert set(service.asked) - {"0"} == set(HOSTILE)
    assert found.faults == {}
    assert all("X-Injected" not in headers for headers in service.headers_seen)


def test_hostile_strings_arrive_intact_in_a_url_or_are_rejected_with_the_reason(service: Service) -> None:
    with open_service(
        service, url=service.url + "/validate/{field}?value={value}", method="GET", request=None
    ) as session:
        found = shown(session.decode("f", quoted(HOSTILE)))
    sendable = [text for text in HOSTILE if len(text) < 60_000 and not any("\ud800" <= c <= "\udfff" for c in text)]
    assert set(service.asked) - {"0"} == set(sendable)
    why = {text: outcome for text, outcome in zip(HOSTILE, found, strict=True) if text not in sendable}
    assert why["\ud800"] == why["a\udfffb"]
    assert why["\ud800"].startswith("rejected: cannot be sent in a url: it holds a lone surrogate")
    assert why["x" * 1_000_000].startswith("rejected: cannot be sent in a url: URL too long")


@pytest.mark.parametrize("text", ["..", ".", "a/b", "%2e%2e", "%41", "?", "#", "a b", "é"])
def test_a_string_is_one_segment_of_a_path(service: Service, text: str) -> None:
    with open_service(service, url=service.url + "/segment/{value}", request=None) as session:
        assert shown(session.decode("f", quoted([text]))) == [f"text:{text}"]


def test_a_status_alone_accepts_the_string_as_it_was_sent(service: Service) -> None:
    with open_service(service, "day", "date", value="status") as session:
        found = shown(session.decode("f", quoted(["2024-03-01", "1709251200", "May", "#204", "#html"])))
    assert found[0] == "date:2024-03-01"
    assert found[1] == "text:1709251200"  # pydantic takes it; the string itself is no date yet
    assert found[2].startswith("rejected: Input should be a valid date")
    assert found[3:] == ["text:#204", "text:#html"]


def test_json_values_are_sent_as_they_came(service: Service) -> None:
    with open_service(service, "count", "integer", receives="json") as session:
        found = shown(session.decode("f", ["24", '"24"', "24.0", "true", "null", "24.5"]))
    assert found[:4] == ["int:24", "int:24", "int:24", "int:1"]
    assert all(one.startswith("rejected: Input should be a valid integer") for one in found[4:])


def test_a_2xx_with_an_error_in_it_is_a_rejection_where_the_spec_says_so(service: Service) -> None:
    with open_service(service, rejected=(200, 422), message="error") as session:
        assert shown(session.decode("f", quoted(["#soft", "fine"]))) == ["rejected: no such day", "text:fine"]
    with open_service(service) as session:
        assert shown(session.decode("f", quoted(["#soft"]))) == ["text:x"]


def test_without_a_path_of_the_message_the_body_is_the_message(service: Service) -> None:
    with open_service(service, "flag", "boolean", message=None) as session:
        (found,) = shown(session.decode("f", quoted(["maybe"])))
    assert found.startswith("rejected: HTTP 422 ")
    assert "unable to interpret input" in found


def test_answers_keep_their_order_and_so_many_requests_are_under_way_at_most(service: Service) -> None:
    service.delay = 0.03
    texts = [f"order {number}" for number in range(300)]
    with open_service(service, concurrency=5) as session:
        found = shown(session.decode("f", quoted(texts)))
    assert found == [f"text:{text}" for text in texts]
    assert service.most_at_once == 5


def test_a_slow_service_is_no_hanging_one_however_many_strings_there_are(service: Service) -> None:
    service.delay = 0.05
    texts = [f"order {number}" for number in range(100)]
    with open_service(service, concurrency=1, timeout=0.4) as session:
        found = session.decode("f", quoted(texts))
    assert (found.faults, found.warnings) == ({}, {})
    assert all(service.asked[text] == 1 for text in texts)


def test_the_version_is_what_the_service_says(service: Service) -> None:
    def version(**others: Any) -> tuple[str, str]:
        with open_service(service, **others) as session:
            return session.readiness.version, session.readiness.settings["service"]

    silent, by_header, by_url = version(), version(version="X-Version"), version(version="/version")
    assert silent[1].startswith("not told")
    assert (by_header[1], by_url[1]) == ("1.4.2", "1.4.2")
    assert by_header == version(version="X-Version")
    service.version = "1.5.0"
    assert version(version="X-Version")[1] == "1.5.0"
    assert version(version="X-Version")[0] != by_header[0]
    assert version() == silent


def test_the_clock_and_what_else_is_the_services_own_is_said_to_be_not_fixed(service: Service) -> None:
    with open_service(service) as session:
        assert session.readiness.not_fixed == ("clock", "zone", "locale", "hash seed")
        assert session.readiness.clock_by == ""


def test_field_and_value_stand_where_the_request_has_them(service: Service) -> None:
    request = json.dumps({"rules": ["{field}"], "value": "{value}", "n": 1.5})
    with open_service(service, 'na"me', url=service.url + "/validate/any", request=request) as session:
        assert shown(session.decode("f", quoted(["x"]))) == ["text:x"]
        assert session.readiness.reads["f"].endswith('/validate/any na"me')
