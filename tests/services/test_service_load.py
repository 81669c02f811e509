"""Many readers during jobs, and kills of the service in between: no error is seen, no run is lost, half or twice."""

from __future__ import annotations

from pathlib import Path

from tests.benchmarks.service_jobs import killed_in_between, readers_during_jobs
from tests.services.serving import make_workspace


def test_readers_see_no_error_while_jobs_run(tmp_path: Path) -> None:
    found = readers_during_jobs(make_workspace(tmp_path / "workspace"), readers=50, jobs=2)
    assert found.errors == []
    assert found.jobs == ["done", "done"]
    assert len(found.during) >= 50


def test_no_run_is_lost_or_half_or_twice_where_the_service_is_killed(tmp_path: Path) -> None:
    found = killed_in_between(make_workspace(tmp_path / "workspace"), submissions=20, kills=4)
    assert (found.lost, found.twice, found.half, found.wrong) == ([], [], [], [])
    assert (found.submitted, found.runs, found.kills) == (20, 20, 4)
