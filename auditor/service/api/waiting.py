"""Waits for a job, within bounds and off the event loop."""

from __future__ import annotations

import time
from typing import Annotated, Final

from anyio import sleep, to_thread
from fastapi import Query

from auditor.service.jobs.job import Job, Standing, standing

#: Seconds that a client may wait in one request, and those between two looks.
LONGEST: Final = 60
LOOK: Final = 0.1

Wait = Annotated[
    int, Query(ge=0, le=LONGEST, description="Seconds to wait for the end of the job before the answer.", examples=[0])
]


async def ended_within(job: Job, seconds: float) -> Standing:
    """Give how a job stands once it has ended, or after so many seconds."""
    until = time.monotonic() + seconds
    while True:
        found = await to_thread.run_sync(standing, job)
        if found.result is not None or time.monotonic() >= until:
            return found
        await sleep(LOOK)
