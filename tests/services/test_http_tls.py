"""Services that speak TLS: who vouches for them is what the spec says, and nothing of the environment."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme

import auditor
from auditor.errors import ConsumerError, SpecError
from tests.services.test_http_values import open_service
from tests.services.validator import Service, serving
from tests.sessions import quoted, shown


@pytest.fixture
def service() -> Iterator[Service]:
    with serving() as server:
        yield server


@pytest.fixture
def authority(tmp_path: Path) -> trustme.CA:
    made = trustme.CA()
    made.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    return made


def secured(service: Service, authority: trustme.CA, *names: str) -> dict[str, Any]:
    """Let a service speak TLS, with a certificate for some names; gives what a consumer says of it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*(names or ("localhost", "127.0.0.1"))).configure_cert(context)
    service.socket = context.wrap_socket(service.socket, server_side=True, do_handshake_on_connect=False)
    return {"url": service.url.replace("http:", "https:") + "/validate/{field}"}


def refused(service: Service, **consumer: Any) -> str:
    """Give the error of a service that is not trusted, which has been asked nothing."""
    with pytest.raises(ConsumerError) as caught, open_service(service, **consumer) as session:
        session.decode("f", quoted(["a"]))
    assert service.asked.total() == 0
    return str(caught.value)


def test_a_private_authority_vouches_for_a_service(service: Service, authority: trustme.CA, tmp_path: Path) -> None:
    consumer = secured(service, authority)
    with open_service(service, ca=str(tmp_path / "authority.pem"), **consumer) as session:
        assert shown(session.decode("f", quoted(["007", "#null"]))) == ["text:007", "null: null"]
        assert not any("authority" in text for text in session.readiness.settings.values())


def test_a_certificate_that_nobody_vouches_for_is_refused(
    service: Service, authority: trustme.CA, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))  # the environment vouches for nobody
    said = refused(service, **secured(service, authority))
    assert "CERTIFICATE_VERIFY_FAILED" in said
    assert "it is checked always" in said and "`ca`" in said


def test_another_authority_than_the_named_one_does_not_vouch(
    service: Service, authority: trustme.CA, tmp_path: Path
) -> None:
    said = refused(service, ca=str(tmp_path / "authority.pem"), **secured(service, trustme.CA()))
    assert "CERTIFICATE_VERIFY_FAILED" in said


def test_a_certificate_for_another_host_is_refused(service: Service, authority: trustme.CA, tmp_path: Path) -> None:
    said = refused(service, ca=str(tmp_path / "authority.pem"), **secured(service, authority, "other.example"))
    assert "CERTIFICATE_VERIFY_FAILED" in said


def test_a_file_without_a_certificate_is_named(service: Service, authority: trustme.CA, tmp_path: Path) -> None:
    empty = tmp_path / "empty.pem"
    empty.write_text("no certificate", encoding="utf-8")
    said = refused(service, ca=str(empty), **secured(service, authority))
    assert f"read the certificates in {empty}" in said
    assert "-----BEGIN CERTIFICATE-----" in said


@pytest.mark.parametrize(
    ("url", "ca", "seen"),
    [
        ("https://contracts.example/{field}", "nosuch.pem", "there is no file"),
        ("http://contracts.example/{field}", "authority.pem", "has no certificate"),
    ],
)
@pytest.mark.usefixtures("authority")
def test_a_mistake_with_the_authority_stands_at_its_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str, ca: str, seen: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.csv").write_text("case_id,f\n1,a\n", encoding="utf-8")
    consumer = {"adapter": "http", "url": url, "ca": ca, "value": "status", "reads": ["f"]}
    cases = {"predictions": "r.csv", "references": "r.csv"}
    spec = {"name": "s", "cases": cases, "fields": {"f": {"type": "identifier"}}, "consumers": {"portal": consumer}}
    with pytest.raises(SpecError) as caught:
        auditor.run(spec, probe="off")
    assert "consumers.portal.ca" in str(caught.value) and seen in str(caught.value)
