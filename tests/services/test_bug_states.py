"""What is said of a bug by a form or by the API stands in the team's file as the command writes it, and nobody else
says it."""

from __future__ import annotations

import base64
import fcntl
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.services.serving import MARKUP, Served, audit, auditor, environment, make_workspace, served

AUDIT = f"payments {MARKUP}"
NAME = "auditor-baseline.toml"
FORM = "application/x-www-form-urlencoded"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = make_workspace(tmp_path_factory.mktemp("states") / "workspace")
    audit(folder, 1)
    return folder


@pytest.fixture
def file(workspace: Path) -> Path:
    """Forget what another test has said."""
    (workspace / NAME).unlink(missing_ok=True)
    return workspace / NAME


@pytest.fixture(scope="module")
def service(workspace: Path) -> Iterator[Served]:
    """Serve to this machine, without a token."""
    with served(workspace) as found:
        yield found


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, dict[str, str], Path]]:
    """Serve to holders of tokens: give the secrets by role."""
    folder = make_workspace(tmp_path_factory.mktemp("guarded") / "workspace")
    audit(folder, 1)
    secrets = {
        role: auditor(folder, "token", "new", role, "--role", role).stdout.strip()
        for role in ("read", "submit", "admin")
    }
    with served(folder) as found:
        yield found, secrets, folder


def bug_of(service: Served, **headers: str) -> str:
    return str(service.get("/api/v1/findings", **headers).json["findings"][0]["fingerprint"])


def seal_of(service: Served, fingerprint: str, **headers: str) -> str:
    shown = service.get(f"/bug?audit={quote(AUDIT)}&fingerprint={fingerprint}", **headers).text
    found = re.search(r'name="seal" value="([0-9a-f]{64})"', shown)
    return found[1] if found else ""


def fields(service: Served, fingerprint: str, **more: str) -> dict[str, str]:
    """Fill in the form of a bug's page."""
    return {
        "seal": seal_of(service, fingerprint),
        "audit": AUDIT,
        "fingerprint": fingerprint,
        "state": "accepted",
        "reason": "waits for release 12",
        "until": "2999-12-31",
        **more,
    }


def send(service: Served, what: str, form: dict[str, str], **headers: str):
    from_here = {"Origin": service.address, "Sec_Fetch_Site": "same-origin"}
    return service.post(f"/bug/{what}", form, Content_Type=FORM, **(from_here | headers))


def test_a_form_writes_what_the_command_writes(service: Served, workspace: Path, file: Path) -> None:
    fingerprint = bug_of(service)
    answer = send(service, "accept", fields(service, fingerprint))
    assert answer.status == 303, answer.text
    assert answer.headers["location"].startswith("/bug?audit=payments+")
    by_form = file.read_bytes()
    file.unlink()
    words = ("--reason", "waits for release 12", "--until", "2999-12-31")
    assert auditor(workspace, "findings", "accept", fingerprint, *words).returncode == 0
    assert by_form == file.read_bytes()
    shown = service.get(f"/bug?audit={quote(AUDIT)}&fingerprint={fingerprint}").text
    assert "waits for release 12" in shown
    assert "until 2999-12-31" in shown
    assert send(service, "reopen", fields(service, fingerprint)).status == 303
    assert tomllib.loads(file.read_text()) == {}
    assert "Nothing is said of it" in service.get(f"/bug?audit={quote(AUDIT)}&fingerprint={fingerprint}").text


@pytest.mark.parametrize(
    ("more", "status", "said"),
    [
        ({"reason": " \n"}, 422, "the reason is empty"),
        ({"reason": "x" * 2001}, 422, "2,000 are the most"),
        ({"reason": "x" * 70_000}, 413, "longer than 65,536 bytes"),
        ({"until": "2020-01-01"}, 409, "that day is over"),
        ({"until": "31.12.2030"}, 422, "write it as 2030-12-31"),
        ({"state": "new"}, 422, "choose known, accepted, fixed"),
        ({"fingerprint": "0000"}, 404, "has a bug with the fingerprint 0000"),
        ({"audit": "another"}, 404, "no run of another has a bug"),
        ({"seal": "0" * 64}, 403, "load the page anew"),
        ({"seal": ""}, 403, "load the page anew"),
        ({"seal": "é"}, 403, "load the page anew"),
    ],
)
def test_a_form_that_says_nothing_sound_changes_nothing(
    service: Served, file: Path, more: dict[str, str], status: int, said: str
) -> None:
    answer = send(service, "accept", fields(service, bug_of(service)) | more)
    assert answer.status == status
    assert said in answer.text
    assert not file.exists()


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example", "Sec_Fetch_Site": "cross-site"},
        {"Origin": "https://evil.example", "Sec_Fetch_Site": ""},
        {"Sec_Fetch_Site": "same-site"},
        {"Sec_Fetch_Site": "none"},
        {"Origin": "null", "Sec_Fetch_Site": ""},
    ],
    ids=lambda headers: " ".join(headers.values()),
)
def test_a_form_of_another_site_changes_nothing(service: Served, file: Path, headers: dict[str, str]) -> None:
    answer = send(service, "accept", fields(service, bug_of(service)), **headers)
    assert (answer.status, file.exists()) == (403, False)


def test_a_form_from_nowhere_changes_nothing(service: Served, file: Path) -> None:
    form = fields(service, bug_of(service))
    assert service.post("/bug/accept", form, Content_Type=FORM).status == 403
    assert service.post("/bug/accept", form, Content_Type=FORM, Origin="http://127.0.0.1:1").status == 403
    assert not file.exists()
    # A browser that knows no Sec-Fetch-Site says the origin, and that is ours.
    assert service.post("/bug/accept", form, Content_Type=FORM, Origin=service.address).status == 303


def test_a_form_is_sent_by_post(service: Served, file: Path) -> None:
    form = "&".join(f"{name}={quote(value)}" for name, value in fields(service, bug_of(service)).items())
    assert service.get(f"/bug/accept?{form}").status == 405
    assert not file.exists()


def basic(secret: str) -> str:
    return "Basic " + base64.b64encode(f"anybody:{secret}".encode()).decode()


def test_a_form_needs_the_role_and_the_seal_of_its_holder(guarded: tuple[Served, dict[str, str], Path]) -> None:
    service, secrets, folder = guarded
    fingerprint = bug_of(service, Authorization=f"Bearer {secrets['read']}")
    for role in ("read", "submit"):
        assert seal_of(service, fingerprint, Authorization=basic(secrets[role])) == ""
    seal = seal_of(service, fingerprint, Authorization=basic(secrets["admin"]))
    form = fields(service, fingerprint) | {"seal": seal}
    for role in ("read", "submit"):
        answer = send(service, "accept", form, Authorization=basic(secrets[role]))
        assert (answer.status, f"the role {role} may not do that; it needs admin" in answer.text) == (403, True)
    assert send(service, "accept", form).status == 401
    assert not (folder / NAME).exists()
    auditor(folder, "token", "new", "another", "--role", "admin")
    assert send(service, "accept", form, Authorization=basic(secrets["admin"])).status == 303
    assert tomllib.loads((folder / NAME).read_text())[fingerprint]["reason"] == "waits for release 12"


def test_the_seal_of_another_holder_does_not_fit(guarded: tuple[Served, dict[str, str], Path]) -> None:
    service, secrets, folder = guarded
    (folder / NAME).unlink(missing_ok=True)
    second = auditor(folder, "token", "new", "second", "--role", "admin").stdout.strip()
    fingerprint = bug_of(service, Authorization=f"Bearer {secrets['read']}")
    seal = seal_of(service, fingerprint, Authorization=basic(second))
    form = fields(service, fingerprint) | {"seal": seal}
    assert send(service, "accept", form, Authorization=basic(secrets["admin"])).status == 403
    assert not (folder / NAME).exists()


def test_the_api_takes_a_bearer_of_the_role_alone(guarded: tuple[Served, dict[str, str], Path]) -> None:
    service, secrets, folder = guarded
    (folder / NAME).unlink(missing_ok=True)
    fingerprint = bug_of(service, Authorization=f"Bearer {secrets['read']}")
    path, body = f"/api/v1/findings/{fingerprint}/accept", {"reason": "known", "state": "known", "until": "2999-01-31"}
    assert service.post(path, body).status == 401
    assert service.post(path, body, Authorization=basic(secrets["admin"])).status == 401
    assert service.post(path, body, Authorization=f"Bearer {secrets['submit']}").status == 403
    assert not (folder / NAME).exists()
    bearer = f"Bearer {secrets['admin']}"
    said = service.post(path, body, Authorization=bearer)
    assert (said.status, said.json["state"], said.json["until"]) == (200, "known", "2999-01-31")
    [found] = [
        one
        for one in service.get("/api/v1/findings", Authorization=bearer).json["findings"]
        if one["fingerprint"] == fingerprint
    ]
    assert (found["state"], found["reason"]) == ("known", "known")
    reopened = service.post(f"/api/v1/findings/{fingerprint}/reopen", Authorization=bearer)
    assert (reopened.status, reopened.json["state"]) == (200, None)
    again = service.post(f"/api/v1/findings/{fingerprint}/reopen", Authorization=bearer)
    assert (again.status, "nothing is said of a bug" in again.json["detail"]) == (404, True)
    long = service.post(path, {"reason": "x" * 70_000}, Authorization=bearer)
    assert (long.status, long.headers["content-type"]) == (413, "application/problem+json")
    lines = [line for line in service.log.read_text().splitlines() if '"event": "bug known"' in line]
    assert len(lines) == 1
    assert '"token": "admin"' in lines[0]


def test_without_tokens_the_api_changes_nothing(service: Served, file: Path) -> None:
    answer = service.post(f"/api/v1/findings/{bug_of(service)}/accept", {"reason": "x"})
    assert (answer.status, "--role admin" in answer.json["detail"], file.exists()) == (401, True, False)


def test_writers_at_once_lose_nothing(workspace: Path, file: Path, service: Served) -> None:
    """Two bugs are said to be known again and again by six commands, and others by the service: all stand there."""
    found = service.get("/api/v1/findings").json["findings"]
    fingerprints = [one["fingerprint"] for one in found]
    assert len(fingerprints) >= 3
    commands = [
        [sys.executable, "-m", "auditor", "findings", "accept", one, "--reason", f"by command {number}"]
        for number in range(3)
        for one in fingerprints[:2]
    ]
    running = [
        subprocess.Popen(command, cwd=workspace, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for command in commands
    ]
    forms = [fields(service, one, reason=f"by form of {one}") for one in fingerprints[2:]]
    while any(one.poll() is None for one in running):
        for form in forms:
            assert send(service, "accept", form).status == 303
    said = [one.communicate()[0] for one in running]
    assert [one.returncode for one in running] == [0] * len(running), said
    entries = tomllib.loads(file.read_text())
    assert set(entries) == set(fingerprints)
    assert {entries[one]["reason"] for one in fingerprints[2:]} == {form["reason"] for form in forms}


def test_a_damaged_file_is_told_and_kept(service: Served, file: Path) -> None:
    form = fields(service, bug_of(service))
    file.write_text("[broken\n")
    answer = send(service, "accept", form)
    assert (answer.status, "is no TOML" in answer.text, file.read_text()) == (503, True, "[broken\n")
    file.unlink()


def test_a_locked_folder_is_told_with_what_to_do(service: Served, workspace: Path, file: Path) -> None:
    form = fields(service, bug_of(service))
    holder = os.open(workspace, os.O_RDONLY)
    try:
        fcntl.flock(holder, fcntl.LOCK_EX)
        answer = send(service, "accept", form)
    finally:
        os.close(holder)
    assert (answer.status, file.exists()) == (503, False)
    assert "another process has held the lock of its folder" in answer.text
    assert "fuser" in answer.text
    assert send(service, "accept", form).status == 303


def test_a_file_that_cannot_be_written_is_told_with_what_to_do(service: Served, workspace: Path, file: Path) -> None:
    form = fields(service, bug_of(service))
    file.symlink_to(workspace / "gone" / NAME)  # whoever we are, nothing can be written there
    try:
        answer = send(service, "accept", form)
    finally:
        file.unlink()
    assert answer.status == 503
    assert "could not be written" in answer.text


def test_a_day_that_is_over_stands_against_today_and_a_reason_has_a_letter(
    guarded: tuple[Served, dict[str, str], Path],
) -> None:
    """A program that keeps to the description is told by 409 what no description can say."""
    service, secrets, _ = guarded
    headers = {"Authorization": f"Bearer {secrets['admin']}"}
    path = f"/api/v1/findings/{bug_of(service, **headers)}/accept"
    over = service.post(path, {"reason": "known", "until": "2020-01-01"}, **headers)
    assert (over.status, over.json["detail"]) == (409, "until 2020-01-01: that day is over")
    assert service.post(path, {"reason": "known", "until": "soon"}, **headers).status == 422
    assert service.post(path, {"reason": " \n"}, **headers).status == 422
    described = service.get("/openapi.json", **headers).json
    accept = described["paths"]["/api/v1/findings/{fingerprint}/accept"]["post"]["responses"]
    assert {"409", "422"} <= set(accept)
