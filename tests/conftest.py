"""The files whose tests take longest begin first: one that begins last leaves the other processors without work."""

from __future__ import annotations

import pytest

#: Files by the seconds that they take, longest first. One that is missing here costs only time.
LONGEST = (
    "realdata/test_warehouse_truth.py",
    "services/test_service_pages.py",
    "realdata/test_environment_cases.py",
    "services/test_submissions.py",
    "runs/test_clock_table.py",
    "runs/test_reference_pipeline.py",
    "runs/test_locked.py",
    "services/test_service.py",
    "runs/test_neighbours.py",
    "runs/test_thresholds.py",
    "rooms/test_sql_adapter.py",
    "runs/test_consumer_versions.py",
    "rooms/test_sql_rows.py",
    "hostile/test_huge_values.py",
    "runs/test_probe_blame.py",
    "services/test_jobs.py",
    "runs/test_environments.py",
    "services/test_service_load.py",
    "engines/test_slow_engines.py",
    "runs/test_consumer_check.py",
    "hostile/test_poison_adapters.py",
    "runs/test_commands.py",
    "runs/test_factors.py",
    "runs/test_audit.py",
    "hostile/test_time_limits.py",
    "engines/test_postgres.py",
    "runs/test_exchange.py",
    "hostile/test_poison.py",
    "services/test_http_failures.py",
    "services/test_service_contract.py",
    "engines/test_spark_connect.py",
    "runs/test_environment_reports.py",
    "runs/test_small_and_large.py",
    "runs/test_drift.py",
    "rooms/test_attribution.py",
    "engines/test_mariadb.py",
    "rooms/test_load_manifest.py",
)


def pytest_configure(config: pytest.Config) -> None:
    """Let xdist keep our order: it would begin with the files of most tests, which are the quickest."""
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first, and leave all else as it is."""
    places = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get("/".join(item.path.parts[-2:]), len(places)))
