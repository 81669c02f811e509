"""A service that fails: what it fails on is `crashed` or `timed_out`, and one that is gone ends the audit, soon."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from auditor.decode import service as decode_service
from auditor.decode import session as session_module
from auditor.decode import supervise
from auditor.decode.exchange import Limits, open_exchange
from auditor.decode.frames import Job, Told, pack
from auditor.decode.stop import Stop
from auditor.errors import ConsumerError
from tests.services.test_http_values import open_service
from tests.services.validator import Service, serving
from tests.sessions import quoted, shown

SECRET = "tok-9f8e7d6c5b4a"
BEARER = {"Authorization": "Bearer {env:API_TOKEN}"}


@pytest.fixture
def service() -> Iterator[Service]:
    with serving() as server:
        yield server


#: What the service does with a string, and what that string is then.
FAILURES = {
    "#500": "crashed: the service failed: HTTP 500 Internal Server Error",
    "#503": "crashed: the service failed: HTTP 503 Service Unavailable: no upstream",
    "#404": "crashed: HTTP 404 Not Found",
    "#302": "crashed: HTTP 302 Found",
    "#204": "crashed: HTTP 204 No Content, which is no JSON",
    "#html": "crashed: HTTP 200 OK: <html>login</html>, which is no JSON",
    "#html422": "crashed: HTTP 422 ",
    "#bytes": "crashed: HTTP 200 OK: ",
    "#deep": "crashed: HTTP 200 OK: [[[",
    "#other": 'crashed: HTTP 200 OK: {"result": 1}, which has no value at value',
    "#huge": "crashed: HTTP 200 OK: an answer of more than 10 MiB",
    "#gzip": "crashed: HTTP 200 OK: its body is compressed",
    "#cut": "crashed: the service closed the connection without a whole answer, 3 times",
    "#half": "crashed: the service closed the connection without a whole answer, 3 times",
    "#slow": "timed_out: no answer within 0.5 s",
    "#drip": "timed_out: no answer within 0.5 s",
}


def test_each_failure_costs_its_own_string_and_no_other(service: Service) -> None:
    texts = [text for number, habit in enumerate(FAILURES) for text in (f"order {number}", habit)]
    began = time.monotonic()
    with open_service(service, timeout=0.5) as session:
        found = shown(session.decode("f", quoted(texts)))
    assert time.monotonic() - began < 20
    assert found[::2] == [f"text:{text}" for text in texts[::2]]
    assert {habit: found[1::2][number][: len(FAILURES[habit])] for number, habit in enumerate(FAILURES)} == FAILURES


def test_a_request_is_sent_again_only_where_no_answer_came(service: Service) -> None:
    with open_service(service, retries=2, timeout=0.5) as session:
        found = shown(session.decode("f", quoted(["a", "#first", "#cut", "#500", "#slow", "#404", "bad"])))
    assert found[1] == "text:at last"
    asked = {habit: service.asked[habit] for habit in ("#first", "#cut", "#500", "#slow", "#404", "bad")}
    assert asked == {"#first": 2, "#cut": 3, "#500": 1, "#slow": 1, "#404": 1, "bad": 1}


def test_without_retries_a_request_is_sent_once(service: Service) -> None:
    with open_service(service, retries=0) as session:
        found = shown(session.decode("f", quoted(["#first"])))
    assert found[0].startswith("crashed: the service closed the connection without a whole answer, once")
    assert service.asked["#first"] == 1


def failing(server: Service, texts: list[str], **others: Any) -> str:
    """Decode strings that end the audit, and give the error."""
    began = time.monotonic()
    with pytest.raises(ConsumerError) as caught, open_service(server, **others) as session:
        session.decode("f", quoted(texts))
    assert time.monotonic() - began < 20
    return str(caught.value)


def test_nobody_there_at_the_start() -> None:
    with serving() as gone:
        pass
    said = failing(gone, ["a"])
    assert "could not be started" in said
    assert "no connection, tried 3 times: [Errno 111] Connection refused" in said
    assert "start the service, or correct `url`" in said


def test_a_service_that_dies_in_the_middle_ends_the_audit() -> None:
    with serving() as server:
        server.dies_after = 500
        said = failing(server, [f"order {number}" for number in range(3000)])
    assert "its service is not there" in said or "its service has failed" in said
    assert "Connection refused" in said
    assert "ask POST http://127.0.0.1:" in said


def test_a_service_whose_proxy_is_all_that_is_left_ends_the_audit(service: Service) -> None:
    with open_service(service) as session:
        session.decode("f", quoted(["a"]))
        service.version = "gone"
        service.delay = 3.0
        began = time.monotonic()
        with pytest.raises(ConsumerError) as caught:
            session.decode("f", quoted([f"order {number}" for number in range(8)]))
    assert "its service has failed" in str(caught.value)
    assert "for a string that it has answered before: no answer within 2 s" in str(caught.value)
    assert time.monotonic() - began < 25


def test_a_service_that_fails_on_everything_ends_the_audit(service: Service) -> None:
    service.broken = True
    said = failing(service, [f"order {number}" for number in range(400)])
    assert "its service has failed" in said
    assert "no answer to any of 64 strings, the last: the service failed: HTTP 500" in said
    assert service.asked.total() == 65


def test_what_has_failed_is_asked_for_nothing_that_was_already_sent(service: Service) -> None:
    with open_service(service) as session:
        plan = session.plan
    jobs = [Job("f", "value", quoted([f"{name} {number}" for number in range(64)])) for name in ("first", "second")]
    frames = iter([jobs[0].frame(range(64), 0), jobs[1].frame(range(64), 65)])
    with closing(Stop()) as stop, closing(open_exchange(plan, stop, Told())) as exchange:
        exchange.greet(pack(plan.config, b""), 20)
        service.broken = True
        replies = exchange.run(lambda: next(frames, None), Limits(20, 20))
        assert next(replies)[1].header.broken[3] == "its service has failed"
        assert exchange.process.wait_dead(10)
    assert not [text for text in service.asked if "second" in text]


def test_one_that_begins_to_fail_ends_the_audit(service: Service) -> None:
    with open_service(service) as session:
        session.decode("f", quoted(["a"]))
        service.broken = True
        with pytest.raises(ConsumerError, match="its service has failed"):
            session.decode("f", quoted([f"order {number}" for number in range(4000)]))
    assert service.asked.total() < 100


def test_a_service_that_hangs_ends_the_audit_long_before_every_string_has_timed_out(service: Service) -> None:
    with open_service(service, timeout=0.3) as session:
        session.decode("f", quoted(["a"]))
        service.delay = 1.0
        began = time.monotonic()
        with pytest.raises(ConsumerError, match="for a string that it has answered before: no answer within"):
            session.decode("f", quoted([f"order {number}" for number in range(4000)]))
    assert time.monotonic() - began < 15


def test_headers_without_an_end_are_no_answer(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "FIRST_STRING", 0.5)
    monkeypatch.setattr(supervise, "SLOW", 1.5)
    with open_service(service, timeout=0.2, retries=0) as session:
        found = shown(session.decode("f", quoted(["a", "#headers", "b"])))
    assert (found[0], found[2]) == ("text:a", "text:b")
    assert found[1].startswith("timed_out: no answer within")


@pytest.mark.parametrize(
    ("habit", "says"),
    [
        ("#401", "it refuses the credentials: headers = "),
        ("#403", "it refuses the credentials: headers = "),
        ("#429", "lower `concurrency`"),
    ],
)
def test_credentials_that_are_refused_and_too_many_requests_end_the_audit(
    service: Service, habit: str, says: str
) -> None:
    said = failing(service, ["a", habit, "b"])
    assert "its service refuses to be asked" in said
    assert says in said
    assert f"HTTP {habit[1:]}" in said


def test_wrong_credentials_are_said_at_the_start_and_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_TOKEN", "wrong-" + SECRET)
    with serving(SECRET) as server:
        said = failing(server, ["a"], headers=BEARER)
    assert "could not be started" in said
    assert "HTTP 401 Unauthorized" in said
    assert "check the value of API_TOKEN" in said
    assert "no such token: Bearer {env:API_TOKEN}" in said  # the service repeats it, the audit does not
    assert SECRET not in said


@pytest.mark.parametrize(
    ("value", "seen"),
    [(None, "it is not set"), ("", "it is empty"), ("abc\n", "a line feed at its end"), ("é", "ASCII")],
)
def test_a_secret_that_lacks_or_cannot_be_sent_is_named_and_not_shown(
    service: Service, monkeypatch: pytest.MonkeyPatch, value: str | None, seen: str
) -> None:
    if value is None:
        monkeypatch.delenv("API_TOKEN", raising=False)
    else:
        monkeypatch.setenv("API_TOKEN", value)
    said = failing(service, ["a"], headers=BEARER)
    assert "API_TOKEN" in said
    assert seen in said
    assert service.asked.total() == 0


def test_a_secret_that_the_service_repeats_is_neither_in_an_error_nor_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_TOKEN", SECRET)
    with serving(SECRET) as server, open_service(server, headers=BEARER) as session:
        found = shown(session.decode("f", quoted(["fine", "#leak", "#echo"])))
        assert SECRET not in repr(session.plan)
        assert SECRET not in repr(session.readiness)
    assert found == [
        "text:fine",
        "rejected: bad for Bearer {env:API_TOKEN}",
        "crashed: the answer holds the secret {env:API_TOKEN}",
    ]


def test_of_a_secret_where_an_error_is_cut_nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_TOKEN", SECRET)
    texts = [f"#long {number}" for number in range(130, 156)]
    with serving(SECRET) as server, open_service(server, headers=BEARER) as session:
        found = shown(session.decode("f", quoted(texts)))
    assert all("HTTP 500" in one for one in found)
    assert any("{env:API_TOKEN}" in one for one in found)
    assert [one for one in found if SECRET[:4] in one] == []


def test_a_secret_goes_where_the_spec_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_TOKEN", "a b&c=d/é".encode("ascii", "ignore").decode())
    url = "/validate/{field}?key={env:API_TOKEN}&value={value}"
    with serving() as server, open_service(server, url=server.url + url, method="GET", request=None) as session:
        assert shown(session.decode("f", quoted(["x"]))) == ["text:x"]
        assert session.readiness.reads["f"] == f"GET {server.url}/validate/name?key={{env:API_TOKEN}}&value={{value}}"


def test_a_redirect_is_not_followed_unless_the_spec_says_so(service: Service) -> None:
    here = service.url + "/moved/here"
    said = failing(service, ["a"], url=here)
    assert "HTTP 307 Temporary Redirect to /validate/name: redirects are not followed; correct `url`" in said
    with open_service(service, url=here, redirects=True) as session:
        assert shown(session.decode("f", quoted(["a"]))) == ["text:a"]
    said = failing(service, ["a"], url=service.url + "/moved/elsewhere", redirects=True)
    assert "nothing is sent to another host, secrets least of all" in said


def test_a_wrong_path_is_said_at_the_start(service: Service) -> None:
    said = failing(service, ["a"], url=service.url + "/nowhere")
    assert "could not be started" in said
    assert "HTTP 404 Not Found" in said
    said = failing(service, ["a"], value="result")
    assert "which has no value at result (there is no 'result')" in said


def test_a_service_that_is_deployed_anew_in_the_middle_ends_the_audit(service: Service) -> None:
    with open_service(service, version="X-Version") as session:
        session.decode("f", quoted(["a"]))
        service.version = "1.5.0"
        with pytest.raises(ConsumerError, match=r"X-Version was 1\.4\.2 and is 1\.5\.0"):
            session.decode("f", quoted(["b"]))


def test_proxies_of_the_environment_are_not_used(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with open_service(service) as session:
        assert shown(session.decode("f", quoted(["a"]))) == ["text:a"]


def test_no_string_is_asked_in_the_session_of_another(service: Service) -> None:
    with open_service(service) as session:
        session.decode("f", quoted(["a", "b", "c"]))
    assert [headers for headers in service.headers_seen if "Cookie" in headers] == []


def test_a_service_without_tls_is_no_https_service(service: Service) -> None:
    said = failing(service, ["a"], url=service.url.replace("http:", "https:") + "/validate/{field}")
    assert "SSL" in said
    assert "is it http://" in said


def test_where_httpx_is_not_installed_the_error_names_the_extra(
    service: Service, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    # An interpreter's own way to have a package that is not there: one that cannot be imported comes first.
    (tmp_path / "httpx.py").write_text("raise ImportError(\"No module named 'httpx'\")\n")
    real = decode_service.secrets_of
    monkeypatch.setattr("auditor.decode.plan.secrets_of", lambda one: real(one) | {"PYTHONPATH": str(tmp_path)})
    said = failing(service, ["a"])
    assert "No module named 'httpx'" in said
    assert "pip install 'fidelity-auditor[http]'" in said
