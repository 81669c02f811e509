"""How the description of the API has the two paths that say whether the service is well."""

from __future__ import annotations

from fastapi import APIRouter

from auditor.service import health
from auditor.service.api.documented import documented
from auditor.service.api.models import Health

router = APIRouter(tags=["health"])

for path, said in (("/healthz", health.healthz), ("/readyz", health.readyz)):
    router.add_api_route(path, said, response_model=Health, responses=documented())
