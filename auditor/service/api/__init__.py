"""The API under `/api/v1`, the figures for a monitor, and whether the service is well."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from starlette.datastructures import State

from auditor.service.api import (
    audits,
    bug_states,
    columns,
    drift,
    findings,
    gates,
    health,
    jobs,
    metrics,
    reading,
    runs,
)
from auditor.service.api.documented import Problem, invalid
from auditor.service.api.job_models import SubmittedPath
from auditor.service.problems import HANDLERS
from auditor.version import VERSION


def api_of(state: State) -> FastAPI:
    """Give what programs ask: its paths, and the description of them all; `state` is that of the service."""
    app = FastAPI(
        title="fidelity-auditor",
        summary="One column per consumer: the stored runs of a workspace.",
        version=VERSION,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        separate_input_output_schemas=False,
        exception_handlers=HANDLERS | {RequestValidationError: invalid},
    )
    app.state = state
    for one in (runs, columns, findings, bug_states, audits, reading, jobs, gates, drift, metrics, health):
        app.include_router(one.router)
    app.openapi = lambda: _described(app)  # type: ignore[method-assign]
    return app


def _described(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        schema = get_openapi(title=app.title, version=app.version, summary=app.summary, routes=app.routes)
        parts = schema.setdefault("components", {})
        parts.setdefault("schemas", {})["Problem"] = Problem.model_json_schema()
        parts["schemas"]["SubmittedPath"] = SubmittedPath.model_json_schema()
        parts["securitySchemes"] = {
            "bearer": {"type": "http", "scheme": "bearer", "description": "A token of `auditor token new`."}
        }
        for path, operations in schema["paths"].items():
            if path not in ("/healthz", "/readyz"):
                for operation in operations.values():
                    operation["security"] = [{"bearer": []}]
        app.openapi_schema = schema
    return app.openapi_schema
