"""Whether the process lives, and whether it can read the folder of runs."""

from __future__ import annotations

from fastapi import APIRouter

from auditor.service.api.asking import Asked
from auditor.service.api.models import Health
from auditor.service.problems import documented

router = APIRouter(tags=["health"])


@router.get("/healthz", responses=documented())
def healthz() -> Health:
    """Say that the process answers."""
    return Health(status="ok")


@router.get("/readyz", responses=documented())
def readyz(asked: Asked) -> Health:
    """Say that the runs have been read; 503 where their folder cannot be."""
    asked.runs.look()
    return Health(status="ok")
