"""What a worker is told of a service: templates, and the names of the secrets, never the secrets.

Those go to the worker in its process environment, from where it takes them out before anything else.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from auditor.errors import ConsumerError
from auditor.spec.http_kinds import SECRET
from auditor.spec.models import AuditSpec, ConsumerSpec

#: What a secret's name starts with in the worker's environment, see `auditor/worker/http_secrets.py`.
PREFIX = "AUDITOR_SECRET_"


def service_config(spec: AuditSpec, consumer: ConsumerSpec) -> dict[str, Any] | None:
    """Give the part of the worker's configuration that is about a service; None for any other consumer."""
    if consumer.adapter != "http" or consumer.url is None:
        return None
    version = consumer.version or ""
    return {
        "url": consumer.url,
        "method": consumer.method,
        "headers": consumer.headers,
        "request": consumer.request,
        "value": consumer.value,
        "rejected": list(consumer.rejected),
        "message": consumer.message,
        "concurrency": consumer.concurrency,
        "retries": consumer.retries,
        "redirects": consumer.redirects,
        "ca": consumer.ca and os.path.abspath(spec.folder / Path(consumer.ca).expanduser()),
        "version": urljoin(consumer.url, version) if "/" in version else version,
        "secrets": secret_names(consumer),
    }


def secret_names(consumer: ConsumerSpec) -> list[str]:
    """Name the environment variables that hold the secrets of a service."""
    texts = [consumer.url or "", consumer.request or "", *consumer.headers.values()]
    return sorted({name for text in texts for name in SECRET.findall(text)})


def secrets_of(consumer: ConsumerSpec) -> dict[str, str]:
    """Take a service's secrets from our environment, as variables for its worker; ConsumerError where one lacks."""
    if consumer.adapter != "http":
        return {}
    for name in secret_names(consumer):
        if not os.environ.get(name):
            seen = "it is empty" if name in os.environ else "it is not set"
            hint = f"set it before the audit: export {name}=…; it is neither stored nor shown"
            raise ConsumerError(consumer.name, f"take the secret {name} from the environment", seen, hint)
    return {PREFIX + name: os.environ[name] for name in secret_names(consumer)}
