"""The API keeps to its own description, whatever is asked: schemathesis makes the requests."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.services.serving import Served, audit, auditor, environment, make_workspace, served
from tests.services.submitting import SUBMISSIONS, Client, predictions

HOOKS = Path(__file__).with_name("schemathesis_hooks.py")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, str]]:
    """Serve a run to whoever has a token."""
    folder = make_workspace(tmp_path_factory.mktemp("contract") / "workspace")
    audit(folder, 1)
    audit(folder, 2)
    secret = auditor(folder, "token", "new", "tester", "--role", "admin").stdout.strip()
    with served(folder, "--probe", "off") as found:
        yield found, secret


def test_every_answer_is_as_described(service: tuple[Served, str], tmp_path: Path) -> None:
    served_at, secret = service
    listed = served_at.get("/api/v1/runs", Authorization=f"Bearer {secret}").json["runs"]
    runs = " ".join(one["run_id"] for one in listed)
    client = Client(served_at, secret)
    jobs = " ".join(client.ended(client.submit(predictions(right)))["job_id"] for right in (30, 12))
    command = [str(Path(sys.executable).with_name("schemathesis")), "run", f"{served_at.address}/openapi.json"]
    command += ["--header", f"Authorization: Bearer {secret}", "--checks", "all", "--max-examples", "15", "--seed", "1"]
    # A path that lets consumers read takes seconds where other tests run beside it.
    command += ["--request-timeout", "120", "--max-response-time", "120"]
    done = subprocess.run(
        [*command, "--no-color", "--phases", "examples,coverage,fuzzing"],
        cwd=tmp_path,
        env=environment()
        | {"SCHEMATHESIS_HOOKS": str(HOOKS), "RUNS": runs, "JOBS": jobs, "TOKEN": secret}
        | {"SUBMISSIONS": served_at.address + SUBMISSIONS},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert "No issues found" in done.stdout, done.stdout[-6000:]


def test_every_path_and_parameter_has_an_example_or_a_choice(service: tuple[Served, str]) -> None:
    served_at, secret = service
    described = served_at.get("/openapi.json", Authorization=f"Bearer {secret}").json
    assert set(described["paths"]) == {
        "/api/v1/runs",
        "/api/v1/runs/{run_id}",
        "/api/v1/runs/{run_id}/run.json",
        "/api/v1/columns",
        "/api/v1/findings",
        "/api/v1/audits",
        "/api/v1/audits/{audit}/submissions",
        "/api/v1/audits/{audit}/read",
        "/api/v1/jobs",
        "/api/v1/jobs/{job_id}",
        "/api/v1/jobs/{job_id}/cancel",
        "/api/v1/jobs/{job_id}/events",
        "/api/v1/gates/{audit}",
        "/api/v1/drift",
        "/api/v1/findings/{fingerprint}/accept",
        "/api/v1/findings/{fingerprint}/reopen",
        "/metrics",
        "/healthz",
        "/readyz",
    }
    for path, operations in described["paths"].items():
        for operation in operations.values():
            assert operation["description"], path
            assert operation["responses"]["200"]["content"], path
            for parameter in operation.get("parameters", ()):
                schema = parameter["schema"]
                described_by = {*parameter, *schema, *(key for one in schema.get("anyOf", ()) for key in one)}
                assert described_by & {"examples", "example", "enum"}, (path, parameter["name"])


def test_every_property_of_a_document_has_an_example_or_a_choice(service: tuple[Served, str]) -> None:
    served_at, secret = service
    schemas = served_at.get("/openapi.json", Authorization=f"Bearer {secret}").json["components"]["schemas"]
    lacking = [
        f"{name}.{key}"
        for name, schema in schemas.items()
        for key, one in schema.get("properties", {}).items()
        if not set(one) & {"examples", "enum", "const", "$ref"} and "$ref" not in str(one)
    ]
    assert lacking == []


def test_every_operation_says_what_it_answers_with(service: tuple[Served, str]) -> None:
    served_at, secret = service
    described = served_at.get("/openapi.json", Authorization=f"Bearer {secret}").json
    for path, operations in described["paths"].items():
        for operation in operations.values():
            for status, answer in operation["responses"].items():
                assert answer["description"], (path, status)
                assert status == "204" or answer["content"], (path, status)
            if "parameters" in operation or "requestBody" in operation:
                assert set(operation["responses"]) & {"404", "422"}, path


def test_every_example_is_one_of_its_schema(service: tuple[Served, str]) -> None:
    served_at, secret = service
    described = served_at.get("/openapi.json", Authorization=f"Bearer {secret}").json
    found = list(_examples(described))
    assert len(found) > 150
    for example, schema in found:
        jsonschema.validate(
            example, {**schema, "components": described["components"]}, cls=jsonschema.Draft202012Validator
        )


def _examples(part: Any) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Give each example of a description with the schema that it stands beside."""
    if isinstance(part, dict):
        if isinstance(part.get("examples"), list):
            schema = {name: value for name, value in part.items() if name != "examples"}
            yield from ((one, schema.get("schema", schema)) for one in part["examples"])
        if "example" in part and "schema" in part:
            yield part["example"], part["schema"]
    for one in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from _examples(one)
