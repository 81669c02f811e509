"""Any other warehouse, over the user's own connection by ADBC; how values are read says `bound_rows`.

`connection` is the driver and what it connects to: ``adbc_driver_postgresql:postgresql://me:secret@host/db``, or a JSON
object of the driver's options in the place of the URI. The driver is a Python package, or what ADBC's driver manager
takes: the path of a shared library, or the name of an installed manifest.
"""

from __future__ import annotations

import importlib.util
import json
import os

from .bound_rows import Expression
from .engine_common import OutOfTime, Refused, known_name, required, setting_error, shortened
from .trouble import Ended, StartError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Optional, Sequence

#: The SQLSTATE of a statement that took too long, and the classes of errors that no value is to blame for.
TOO_LATE = "57014"
OF_THE_MACHINE = ("08", "53", "57", "58", "XX")

#: A text of any length, where the product's own name of it is not VARCHAR.
TEXT_TYPES = {"postgresql": "TEXT", "sqlite": "TEXT", "bigquery": "STRING", "databricks": "STRING", "spark": "STRING"}

#: Products that number the places of values.
NUMBERED = ("postgresql", "redshift", "cockroachdb")

#: The options of a driver that are no secrets.
SHOWN = ("driver", "entrypoint")

HINT = "write the driver and the URI, such as adbc_driver_postgresql:postgresql://me:secret@host/db"


class Engine:
    """One connection."""

    gone = ()
    server = None
    dual = ""
    longest = 0
    moved: "Optional[Callable[[int], None]]" = None

    def __init__(self, config: "Dict[str, Any]") -> None:
        self.module = required("adbc_driver_manager.dbapi", "adbc")
        required("pyarrow", "adbc")
        self.connection = self._connect(config["connection"])
        about = self.connection.adbc_get_info()
        self.product = str(about.get("vendor_name") or "unknown product").lower()
        self.text_type = TEXT_TYPES.get(self.product, "VARCHAR")
        for name, value in config["settings"].items():
            self._set(name, value)
        self.settings: "Dict[str, str]" = dict(config["settings"])
        version = about.get("vendor_version") or "of unknown version"
        driver = "%s %s" % (about.get("driver_name"), about.get("driver_version"))
        self.name = "%s %s (by adbc, %s)" % (self.product, version, driver)

    def _connect(self, connection: str) -> "Any":
        driver, colon, rest = connection.partition(":")
        if not colon:
            raise StartError("connect to the warehouse by ADBC", "the connection names no driver", HINT)
        options, secrets = options_of(rest), [rest]
        secrets += [value for name, value in options.items() if name not in SHOWN]
        try:
            return self.module.connect(db_kwargs=options, autocommit=True, **driver_of(driver))
        except (self.module.Error, ImportError, OSError, ValueError, TypeError) as error:
            seen = self.said(error)
            for secret in sorted(filter(None, [*secrets, *passwords_in(rest)]), key=len, reverse=True):
                seen = seen.replace(secret, "…")
            hint = "look at the variable that `connection` names, and whether the warehouse takes connections; " + HINT
            raise StartError("connect to the warehouse by " + (driver or "ADBC"), seen, hint) from None

    def _set(self, name: str, value: str) -> None:
        try:
            self._run("SET %s = '%s'" % (known_name(name), value.replace("'", "''")))
        except self.module.Error as error:
            raise setting_error(name, value, self.said(error)) from error

    def _run(self, sql: str, values: "Sequence[str]" = ()) -> "List[Any]":
        """Run a statement of its own: what is bound once stays bound."""
        with self.connection.cursor() as cursor:
            cursor.execute(sql, tuple(values) or None)
            return list(cursor.fetchall()) if cursor.description else []

    def place(self, at: int) -> str:
        """Give the place of a value in a statement."""
        return "$%d" % (at + 1) if self.product in NUMBERED else "?"

    def as_it_is(self, sql: str) -> str:
        """Leave the consumer's text alone: a driver does not look into it."""
        return sql

    def rows(self, sql: str, values: "Sequence[str]") -> "List[Any]":
        """Give the rows of a query; Refused where it raises, Ended where the connection is lost."""
        try:
            return self._run(sql, values)
        except self.module.Error as error:
            self._see_whether_gone(error)
            late = error.sqlstate == TOO_LATE or error.status_code.name == "TIMEOUT"
            raise (OutOfTime if late else Refused)(self.said(error)) from error

    def _see_whether_gone(self, error: "Any") -> None:
        """Raise Ended where the warehouse answers nothing more, or says itself that no value is to blame."""
        state = error.sqlstate or ""
        if state.startswith(OF_THE_MACHINE) and state != TOO_LATE:
            raise Ended("%s could not do its work: %s" % (self.product, self.said(error))) from error
        try:
            self._run("SELECT 1")
        except self.module.Error as lost:
            raise Ended("the connection to %s was lost: %s" % (self.product, self.said(lost))) from error

    def said(self, error: BaseException) -> str:
        """Give the driver's own message."""
        return shortened(str(error).split("\nLINE ")[0])

    def reader(self, field: str, target: str, kind: str) -> Expression:
        """Give what reads a field."""
        return Expression(self, field, target, kind)

    def canary(self) -> "Dict[str, Any]":
        """Say that nothing of the environment reaches a warehouse that runs elsewhere."""
        return {"clock": None, "offsets": None, "locale": ""}


def options_of(text: str) -> "Dict[str, str]":
    """Give the options of a driver: those of a JSON object, else its URI."""
    if not text.startswith("{"):
        return {"uri": text}
    try:
        found = json.loads(text)
    except ValueError as error:
        raise StartError("read the options of the ADBC driver", "no JSON: %s" % error, HINT) from None
    return {str(name): str(value) for name, value in found.items()}


def passwords_in(uri: str) -> "List[str]":
    """Give what a message could repeat of a URI without all of it."""
    user, at, _ = uri.partition("://")[2].partition("@")
    return [user, user.partition(":")[2]] if at else []


def driver_of(name: str) -> "Dict[str, str]":
    """Give the driver as the manager takes it: a Python package knows the path of its own."""
    if not name.isidentifier() or importlib.util.find_spec(name) is None:
        return {"driver": name}
    package = importlib.import_module(name)
    if hasattr(package, "driver_path"):  # DuckDB's, whose library is more than a driver
        return {"driver": str(package.driver_path()), "entrypoint": "duckdb_adbc_init"}
    if not hasattr(package, "_driver_path"):
        raise ImportError("the package %s has no ADBC driver" % name)
    return {"driver": str(package._driver_path())}


def open_engine(config: "Dict[str, Any]") -> Engine:
    """Connect to the warehouse."""
    os.environ.setdefault("PGCONNECT_TIMEOUT", "10")  # a driver that reads it gives up before we are given up
    return Engine(config)
