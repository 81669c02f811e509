"""Freezes an audit before it is run: loads the cases and starts each consumer once."""

from __future__ import annotations

from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

from auditor.audit.lock import make_lock
from auditor.audit.replies import reply_reader
from auditor.audit.starting import Starting, wants_payload
from auditor.audit.units import payload_keys
from auditor.database import connect
from auditor.decode.folders import open_spill
from auditor.load import load

if TYPE_CHECKING:
    from auditor.model.lock import Lock
    from auditor.spec.models import AuditSpec


def freeze_audit(spec: AuditSpec) -> Lock:
    """Give the lock of a spec's cases, consumers and keys as they are now.

    Raises AuditorError where the cases cannot be read whole or a consumer cannot be started.
    """
    payloads = any(wants_payload(consumer) for consumer in spec.consumers.values())
    with (
        Starting(spec, list(spec.consumers.values())) as workers,
        ExitStack() as folders,
        closing(connect(open_spill(folders))) as connection,
    ):
        with reply_reader(spec) as reader:
            loaded = load(spec, connection, payloads=payloads, reader=None if reader is None else reader.read)
        keys = payload_keys(connection, loaded.carried) if payloads else None
        workers.tell(loaded.carried, keys)
        return make_lock(connection, spec, loaded, workers.ready(), reader)
