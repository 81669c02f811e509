"""What is started for a consumer: command, process environment, configuration."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from auditor.decode.emulation import emulation_config
from auditor.decode.locales import locale_variables
from auditor.decode.payload_rows import PayloadKeys
from auditor.decode.records import record_config
from auditor.decode.service import secrets_of, service_config
from auditor.errors import ConsumerError
from auditor.model.environment import BASE, Environment
from auditor.spec.models import AuditSpec, ConsumerSpec, FieldSpec
from auditor.worker_start import inherited, worker_command

#: The working folder and HOME, below the worker's folder, of an environment that is elsewhere.
ELSEWHERE = "another place"

LOCALE_VARIABLES = ("LANG", "LC_ALL", "LC_CTYPE", "LC_TIME", "LC_NUMERIC", "LC_MONETARY", "LC_COLLATE", "LC_MESSAGES")


@dataclass(frozen=True)
class Plan:
    """How to start a worker, and what its canary must see; `zone`, `locale` and `hash_seed` are what is in force.

    `clock_by` names the way in which its clock is fixed, one of `clock.CLOCKS`, empty where it is not.
    """

    consumer: str
    program: str
    command: tuple[str, ...]
    variables: dict[str, str] = field(repr=False)  # a service's secrets are among them
    config: dict[str, Any]
    clock: float
    clock_iso: str
    zone: str
    locale: str | None
    hash_seed: str
    clock_by: str = ""
    network: bool = True
    elsewhere: bool = False

    @property
    def timeout(self) -> float:
        """Seconds that one string may take."""
        return float(self.config["timeout"])


def make_plan(
    spec: AuditSpec,
    consumer: ConsumerSpec,
    environment: Environment,
    fields: Mapping[str, FieldSpec],
    carried: frozenset[str] | None,
    keys: PayloadKeys | None = None,
) -> Plan:
    """Derive a plan, clock and network as they are; ConsumerError where the interpreter or the root is not there."""
    root = spec.folder / (consumer.root or ".")
    program = interpreter_of(spec, consumer)
    if not root.is_dir():
        hint = "correct `root`"
        raise ConsumerError(consumer.name, f"use {root} as the import root", "there is no such folder", hint)
    instant = datetime.fromisoformat(environment.clock)
    clock = (instant if instant.tzinfo else instant.replace(tzinfo=UTC)).timestamp()
    variables = with_locale(variables_of(spec, consumer, environment)) | secrets_of(consumer)
    return Plan(
        consumer=consumer.name,
        program=program,
        command=tuple(worker_command(program)),
        variables=variables,
        config={
            **config_of(spec, consumer, fields, carried, keys, root, clock),
            "network": environment.network,
            "catalogue": environment.name == BASE,
        },
        clock=clock,
        clock_iso=environment.clock,
        zone=variables["TZ"],
        locale=locale_of(variables),
        hash_seed=variables["PYTHONHASHSEED"],
        network=environment.network,
        elsewhere=environment.elsewhere,
    )


def interpreter_of(spec: AuditSpec, consumer: ConsumerSpec) -> str:
    """Give the consumer's interpreter, not resolved: a virtual environment is known by the path it is called by."""
    if consumer.interpreter is None:
        return sys.executable
    path = Path(os.path.abspath(spec.folder / Path(consumer.interpreter).expanduser()))
    hint = "correct `interpreter`, or create the virtual environment that it names"
    if not path.is_file():
        raise ConsumerError(consumer.name, f"start {path}", "there is no such file", hint)
    if not os.access(path, os.X_OK):
        raise ConsumerError(consumer.name, f"start {path}", "the file cannot be executed", hint)
    return str(path)


def variables_of(spec: AuditSpec, consumer: ConsumerSpec, environment: Environment) -> dict[str, str]:
    """Give the process environment: an allow-list, the consumer's own, and what is under test.

    The consumer's `env` is how it runs in production and so overrides the base environment; a part that a probe
    varies overrides both.
    """
    base = spec.environment
    variables = inherited()
    if environment.locale != base.locale or not any(name in consumer.env for name in LOCALE_VARIABLES):
        own = {name: value for name, value in consumer.env.items() if name not in LOCALE_VARIABLES}
        variables |= own | {"LANG": environment.locale, "LC_ALL": environment.locale}
    else:
        variables |= consumer.env
    if environment.zone != base.zone or "TZ" not in consumer.env:
        variables["TZ"] = environment.zone
    if environment.hash_seed != base.hash_seed or "PYTHONHASHSEED" not in consumer.env:
        variables["PYTHONHASHSEED"] = str(environment.hash_seed)
    return variables


def with_locale(variables: dict[str, str]) -> dict[str, str]:
    """Add what the locale in force needs, where it is built and not installed."""
    name = locale_of(variables)
    more = {} if name is None else locale_variables(name) or {}
    if "LOCPATH" in more and "LOCPATH" in variables:
        more = {"LOCPATH": f"{more['LOCPATH']}:{variables['LOCPATH']}"}
    return variables | more


def locale_of(variables: Mapping[str, str]) -> str | None:
    """Give the one locale in force, None where the consumer mixes several."""
    named = {variables[name] for name in LOCALE_VARIABLES if name in variables}
    return variables.get("LC_ALL") or (named.pop() if len(named) == 1 and "LANG" in variables else None)


def config_of(
    spec: AuditSpec,
    consumer: ConsumerSpec,
    fields: Mapping[str, FieldSpec],
    carried: frozenset[str] | None,
    keys: PayloadKeys | None,
    root: Path,
    clock: float,
) -> dict[str, Any]:
    """Give the worker's configuration: the door of `auditor/worker/main.py` says what each key means."""
    return {
        "consumer": consumer.name,
        "adapter": consumer.adapter,
        "root": os.path.abspath(root),
        "folder": os.path.abspath(spec.folder),
        "fields": {name: field.type for name, field in fields.items()},
        "paths": {name: field.prediction_path.choices for name, field in fields.items()},
        "reads": {name: target for name, target in consumer.reads.items() if name in fields},
        "receives": consumer.receives,
        "batch": consumer.batch,
        "batch_size": consumer.batch_size,
        "scope": consumer.scope,
        "carried": None if carried is None else sorted(carried),
        "model": consumer.model,
        "engine": consumer.engine,
        "settings": consumer.settings,
        "statement": consumer.statement,
        "connection": connection_of(consumer),
        "server": consumer.server and os.path.abspath(spec.folder / Path(consumer.server).expanduser()),
        "compiled": googlesql_code(consumer),
        "command": list(consumer.command),
        "record": record_config(spec, consumer),
        "service": service_config(spec, consumer),
        "plan": sql_plan(spec, consumer, fields, keys),
        "env": consumer.env,
        "memory": consumer.memory,
        "timeout": consumer.timeout,
        "watch": None,
        "travel": False,
        "children": {},
        "launcher": [],
        # Where zones are compared: now, and in two seasons of the clock's year.
        "instants": [clock, clock - 90 * 86400.0, clock + 90 * 86400.0],
        **emulation_config(consumer),
    }


def connection_of(consumer: ConsumerSpec) -> str | None:
    """Give the URL of a server that runs, from the variable that the spec names; it is a secret, and stored nowhere."""
    if consumer.connection is None:
        return None
    variable = consumer.connection.removeprefix("env:")
    if not os.environ.get(variable):
        tried, seen = f"connect to {consumer.engine}", f"the environment variable {variable} is not set"
        raise ConsumerError(consumer.name, tried, seen, f"export {variable} with the URL of the server")
    return os.environ[variable]


def googlesql_code(consumer: ConsumerSpec) -> str | None:
    """Give the compiled code of an engine that comes as WebAssembly."""
    if consumer.engine != "googlesql":
        return None
    from auditor.decode.googlesql import compiled_module  # most consumers have no use for it

    try:
        path = compiled_module()
    except OSError as error:
        raise ConsumerError(consumer.name, "compile GoogleSQL", str(error), "set XDG_CACHE_HOME") from error
    return None if path is None else str(path)


def sql_plan(
    spec: AuditSpec, consumer: ConsumerSpec, fields: Mapping[str, FieldSpec], keys: PayloadKeys | None
) -> dict[str, Any] | None:
    """Locate the columns of a warehouse's model."""
    if consumer.adapter != "sql" or consumer.model is None:
        return None
    from auditor.decode.sql_model import model_plan  # sqlglot takes 0.1 s, and most consumers have no use for it

    return model_plan(spec, consumer, fields, keys)
