"""Answers as bytes: what no well-behaved server writes, and no string may pay for with the answer of another."""

from __future__ import annotations

import base64
import html
import json
import socket
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from auditor.decode.session import Session
from auditor.errors import ConsumerError
from auditor.worker.http_secrets import PREFIX, Secrets
from tests.services.raw import CLOSE, LATER, RawService, answer, answering, value
from tests.sessions import open_consumer, quoted, shown


def open_raw(service: RawService, type_: str = "identifier", **others: Any) -> Session:
    """Open a session on a service of bytes."""
    settings = {"adapter": "http", "url": service.url, "request": '{"value": "{value}"}', "value": "value"}
    settings |= {"message": "detail", "timeout": 2.0}
    return open_consumer(Path("/tmp"), {"f": "f"}, types={"f": type_}, **(settings | others))


@pytest.mark.parametrize("concurrency", [1, 8])
@pytest.mark.parametrize(
    "says",
    [
        [value("#") + value("nobody asked")],
        [value("#"), value("nobody asked")],
        [value("#"), LATER, value("nobody asked")],
        [value("#") + answer("500 Internal Server Error", b"failed after it had answered")],
        [value("#") + b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n", LATER, b'{"value": 1}'],
        [value("#") + b"\r\n\r\nleft over"],
    ],
)
def test_a_second_answer_to_one_string_is_not_the_next_strings(says: list[bytes], concurrency: int) -> None:
    texts = [f"order {number}" for number in range(40)]
    texts[7] = texts[23] = "#"
    with answering({"#": says}) as service, open_raw(service, concurrency=concurrency) as session:
        assert shown(session.decode("f", quoted(texts))) == [f"text:{text}" for text in texts]
        assert shown(session.decode("f", quoted(texts[::-1]))) == [f"text:{text}" for text in texts[::-1]]


def test_what_was_read_behind_the_last_answer_of_all_is_seen() -> None:
    texts = [f"order {number}" for number in range(12)]
    says = {"order 10": [value("order 10"), LATER, value("nobody asked")], "order 11": [value("order 11")]}
    with answering(says) as service, open_raw(service, concurrency=1) as session:
        assert shown(session.decode("f", quoted(texts))) == [f"text:{text}" for text in texts]


@pytest.mark.parametrize("extra", [[], [LATER]])
def test_a_string_that_is_asked_for_alone_has_its_own_answer_too(extra: list[bytes]) -> None:
    twice = [value("#") + value("nobody asked")] if not extra else [value("#"), *extra, value("nobody asked")]
    with answering({"#": twice}) as service, open_raw(service, concurrency=1) as session:
        for text in ("a", "#", "b", "c", "#", "d"):
            assert shown(session.decode("f", quoted([text]))) == [f"text:{text}"]


def test_connections_are_used_again_as_long_as_each_string_has_one_answer() -> None:
    texts = [f"order {number}" for number in range(100)]
    with answering({}) as service, open_raw(service, concurrency=4) as session:
        session.decode("f", quoted(texts))
        assert service.connections <= 1 + 4  # the first for the string of the start
        assert all(service.asked[text] == 1 for text in texts)


#: What the service writes, and what the string is then.
ANSWERS: dict[str, tuple[bytes, str]] = {
    "twice": (answer("200 OK", b'{"value": "1", "value": "2"}'), "crashed: HTTP 200 OK"),
    "twice elsewhere": (answer("200 OK", b'{"value": "1", "a": 1, "a": 1}'), "text:1"),
    "NaN": (answer("200 OK", b'{"value": NaN}'), "crashed: HTTP 200 OK"),
    "two documents": (answer("200 OK", b'{"value": "1"} {"value": "2"}'), "crashed: HTTP 200 OK"),
    "mark": (answer("200 OK", b'\xef\xbb\xbf{"value": "1"}'), "text:1"),
    "latin": (answer("200 OK", b'{"value": "\xe9"}'), "crashed: HTTP 200 OK"),
    "digits": (answer("200 OK", b'{"value": 9223372036854775809123}'), "int:9223372036854775809123"),
    "surrogate": (answer("200 OK", b'{"value": "\\ud800"}'), "text:\u241b\\ud800"),
    "lengths": (
        b'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 14\r\n\r\n{"value": "1"}',
        "crashed: the service closed the connection without a whole answer",
    ),
    "early hints": (b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + value("1"), "text:1"),
    "late": (answer("408 Request Timeout", b'{"detail": "x"}'), "crashed: HTTP 408 Request Timeout"),
    "error and value": (answer("422 No", b'{"value": "1", "detail": "no"}'), "rejected: no"),
}


def test_each_answer_means_what_it_says_or_nothing() -> None:
    with answering({name: [said] for name, (said, _) in ANSWERS.items()}) as service, open_raw(service) as session:
        found = shown(session.decode("f", quoted(ANSWERS)))
    expected = {name: meant for name, (_, meant) in ANSWERS.items()}
    assert {name: one[: len(expected[name])] for name, one in zip(ANSWERS, found, strict=True)} == expected


def test_a_refusal_that_is_cut_off_is_not_asked_for_again_until_it_is_an_acceptance() -> None:
    cut = b"HTTP/1.1 %s\r\nContent-Length: 1000\r\n\r\n{"
    says = {"422": [cut % b"422 No", CLOSE], "500": [cut % b"500 No", CLOSE], "200": [cut % b"200 OK", CLOSE]}
    with answering(says) as service, open_raw(service, retries=2) as session:
        found = shown(session.decode("f", quoted(says)))
        assert [service.asked[status] for status in says] == [1, 1, 3]
    assert found[0] == "crashed: HTTP 422 Unprocessable Entity: its body was cut off"
    assert found[1] == "crashed: HTTP 500 Internal Server Error: its body was cut off"
    assert found[2].startswith("crashed: the service closed the connection without a whole answer, 3 times")


#: Bodies of a 200 whose verdict is in the body, and whether it accepts, rejects, or says neither.
VERDICTS: dict[bytes, str] = {
    b'{"value": "1"}': "text",
    b'{"value": "1", "error": null}': "text",
    b'{"value": "1", "error": 0}': "text",
    b'{"value": "1", "error": 0.0}': "text",
    b'{"value": "1", "error": {}}': "text",
    b'{"value": "1", "error": {"text": ""}}': "text",
    b'{"value": "1", "error": {"text": "no"}}': "rejected",
    b'{"value": "1", "error": {"text": 7}}': "rejected",
    b'{"value": "1", "error": "no"}': "crashed",
    b'{"value": "1", "error": true}': "crashed",
    b'{"value": "1", "error": {"text": "", "text": "no"}}': "crashed",
    b"<html>log in</html>": "crashed",
    b"": "crashed",
    b'"maintenance"': "crashed",
}


@pytest.mark.parametrize("path", ["value", "status"])
def test_a_200_whose_verdict_cannot_be_read_is_no_acceptance(path: str) -> None:
    says = {str(number): [answer("200 OK", body)] for number, body in enumerate(VERDICTS, 1)}
    with (
        answering(says) as service,
        open_raw(service, value=path, rejected=(200, 422), message="error.text") as session,
    ):
        found = shown(session.decode("f", quoted(says)))
    statuses = {body: one.partition(":")[0] for body, one in zip(VERDICTS, found, strict=True)}
    assert statuses == VERDICTS


@pytest.mark.parametrize("status", ["202 Accepted", "206 Partial Content", "207 Multi-Status"])
def test_a_status_that_decides_nothing_accepts_nothing(status: str) -> None:
    says = {"x": [answer(status, b'{"value": "y"}')]}
    with answering(says) as service:
        with open_raw(service, value="status") as session:
            assert shown(session.decode("f", quoted(["x"])))[0].startswith(f"crashed: HTTP {status}")
        with open_raw(service) as session:
            assert shown(session.decode("f", quoted(["x"]))) == ["text:y"]


def test_a_body_that_denies_its_status_accepts_nothing() -> None:
    denied = [b'{"valid": false}', b'{"ok": false, "why": "no"}', b'{"errors": ["no"]}', b'{"error": {"code": 7}}']
    granted = [b'{"valid": true}', b'{"errors": []}', b'{"error": null, "ok": true}', b"fine", b"[false]", b"", b"7"]
    says = {str(number): [answer("200 OK", body)] for number, body in enumerate([*denied, *granted], 1)}
    with answering(says) as service, open_raw(service, value="status") as session:
        found = shown(session.decode("f", quoted(says)))
    assert [one.partition(":")[0] for one in found] == ["crashed"] * len(denied) + ["text"] * len(granted)
    assert "whose status accepts what its valid denies: add 200 to `rejected`" in found[0]


def test_what_was_accepted_is_a_value_of_its_own_and_no_answer_of_a_program() -> None:
    tokens = ['{"rejected": "x"}', '{"null": 1}', '{"error": "x"}', "[1]", "null", "5", '"a"']
    with answering({}) as service, open_raw(service, value="status", receives="json") as session:
        found = shown(session.decode("f", tokens))
    assert found[:4] == ["rejected: unexpected type: an object"] * 3 + ["rejected: unexpected type: an array"]
    assert found[4:] == ["null: null", "int:5", "text:a"]


def redirect(where: str) -> list[bytes]:
    return [answer("302 Found", b"", f"Location: {where}")]


def test_where_a_redirect_loses_the_string_nothing_is_accepted() -> None:
    says = {"bad": redirect("/login"), "a b": redirect("/to?value=a+b"), "a/b": redirect("/to?value=a%2Fb")}
    with (
        answering(says) as service,
        open_raw(
            service, url=service.url + "/f?value={value}", method="GET", request=None, value="status", redirects=True
        ) as session,
    ):
        found = shown(session.decode("f", quoted(["good", *says])))
    assert found[1].startswith("crashed: HTTP 302 Found: it redirects to /login, which has lost the value")
    assert [found[0], *found[2:]] == ["text:good", "text:a b", "text:a/b"]


def test_a_service_on_ipv6() -> None:
    with (
        answering({}, socket.AF_INET6) as service,
        open_raw(service, url=f"http://[::1]:{service.port}/") as session,
    ):
        assert shown(session.decode("f", quoted(["x"]))) == ["text:x"]


TOKEN = "aB+/c&d<e>'f\"g=h i\\j%k"

WRITINGS = {
    "as it is": TOKEN,
    "json": json.dumps(TOKEN),
    "json of PHP": json.dumps(TOKEN).replace("/", "\\/"),
    "json of .NET": "".join(c if c.isalnum() else f"\\u{ord(c):04X}" for c in TOKEN),
    "json of Go": json.dumps(TOKEN).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"),
    "json in json": json.dumps(json.dumps(TOKEN)),
    "html": html.escape(TOKEN),
    "html by numbers": "".join(f"&#{ord(c)};" for c in TOKEN),
    "html by hexadecimal numbers": "".join(f"&#x{ord(c):X};" for c in TOKEN),
    "url": quote(TOKEN, safe=""),
    "url in lower case": "".join(c if c.isalnum() else f"%{ord(c):02x}" for c in TOKEN),
    "url in a url": quote(quote(TOKEN, safe=""), safe=""),
    "python": repr(TOKEN),
}


@pytest.mark.parametrize("writing", WRITINGS)
def test_a_secret_is_hidden_however_it_is_written(writing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PREFIX + "TOKEN", TOKEN)
    secrets = Secrets(["TOKEN"])
    hidden = secrets.hide(f"bad token <{WRITINGS[writing]}>!")
    assert hidden.strip("!").strip("<>\"'\\").removeprefix("bad token ").strip("<>\"'\\") == "{env:TOKEN}"
    assert secrets.held_in(WRITINGS[writing]) == "TOKEN"


def test_the_password_in_credentials_is_hidden_too(monkeypatch: pytest.MonkeyPatch) -> None:
    credentials = base64.b64encode(b"alice:hunter2!").decode()
    for text in (credentials, "Basic " + credentials):
        monkeypatch.setenv(PREFIX + "TOKEN", text)
        secrets = Secrets(["TOKEN"])
        for told in (text, credentials, "alice:hunter2!"):
            assert secrets.hide(f"bad {told}") == "bad {env:TOKEN}"
        assert secrets.hide("alice has not the password hunter2!.") == "alice has not the password {env:TOKEN}."


def test_the_seconds_that_a_service_asks_for_are_told() -> None:
    says = {"x": [answer("429 Too Many Requests", b"slow down", "Retry-After: 30")]}
    with (
        answering(says) as service,
        open_raw(service) as session,
        pytest.raises(ConsumerError, match="it will answer again after 30 s"),
    ):
        session.decode("f", quoted(["x"]))
