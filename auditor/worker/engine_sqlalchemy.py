"""Any other warehouse, over the user's own connection by SQLAlchemy; how values are read says `bound_rows`."""

from __future__ import annotations

import os

from .bound_rows import Expression
from .engine_common import OutOfTime, Refused, known_name, required, setting_error, shortened
from .trouble import Ended, StartError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Optional, Sequence

#: Characters of a text, where an engine knows none without a length.
LONGEST = 4000


#: SQLSTATEs and codes of a statement that took too long, and the classes of errors that no value is to blame for.
TOO_LATE = ("57014", "1969", "3024", "1317")
OF_THE_MACHINE = ("53", "58")


def code_of(error: "Any") -> str:
    """Give the SQLSTATE of a driver's error, or the number with which drivers of MySQL begin; empty where none is."""
    state = getattr(error, "sqlstate", None) or getattr(error, "pgcode", None)
    if state:
        return str(state)
    number = error.args[0] if getattr(error, "args", ()) else ""
    return str(number) if isinstance(number, int) and number >= 1000 and str(number)[:2] not in OF_THE_MACHINE else ""


class Engine:
    """One connection."""

    gone = ()
    server = None
    moved: "Optional[Callable[[int], None]]" = None

    def __init__(self, config: "Dict[str, Any]") -> None:
        self.module = required("sqlalchemy", "sqlalchemy")
        self.errors = required("sqlalchemy.exc", "sqlalchemy")
        self.connection = self._connect(config["connection"])
        self.dialect = self.connection.dialect
        for name, value in config["settings"].items():
            self._set(name, value)
        self.settings: "Dict[str, str]" = dict(config["settings"])
        version = ".".join(map(str, self.dialect.server_version_info or ("of unknown version",)))
        self.name = "%s %s (by sqlalchemy %s, %s)" % (
            self.dialect.name,
            version,
            self.module.__version__,
            self.dialect.driver,
        )
        self.longest, self.text_type = self._text_type()
        self.dual = " FROM dual" if self.dialect.name == "oracle" else ""

    def _text_type(self) -> "tuple[int, str]":
        """Give the longest text that a cast makes, 0 where it may be of any length, and its type."""
        if self.dialect.name in ("mysql", "mariadb"):
            return 0, "CHAR"
        write = self.dialect.type_compiler_instance.process
        try:
            return 0, write(self.module.Unicode())
        except self.errors.CompileError:
            return LONGEST, write(self.module.Unicode(LONGEST))

    def _connect(self, url: str) -> "Any":
        tried = "connect to the warehouse"
        hint = "look at the variable that `connection` names, and whether the warehouse takes connections"
        secrets = [url]
        try:
            parsed = self.module.make_url(url)
            secrets.append(str(parsed.password or ""))
            return self.module.create_engine(parsed, isolation_level="AUTOCOMMIT").connect()
        except (self.errors.SQLAlchemyError, ImportError, ValueError, TypeError) as error:
            seen = self.said(error)
            for secret in filter(None, secrets):
                seen = seen.replace(secret, "…")
            raise StartError(tried, seen, hint) from None

    def _set(self, name: str, value: str) -> None:
        sql = "SET %s = '%s'" % (known_name(name), value.replace("'", "''").replace(":", "\\:"))
        try:
            self.connection.execute(self.module.text(sql))
        except self.errors.SQLAlchemyError as error:
            raise setting_error(name, value, self.said(error)) from error

    def place(self, at: int) -> str:
        """Give the place of a value in a statement."""
        return ":v%d" % at

    def as_it_is(self, sql: str) -> str:
        """Protect colons, each of which would begin the name of a parameter."""
        return sql.replace(":", "\\:")

    def rows(self, sql: str, values: "Sequence[str]") -> "List[Any]":
        """Give the rows of a query; Refused where it raises, Ended where the connection is lost."""
        parameters = {"v%d" % at: value for at, value in enumerate(values)}
        try:
            return list(self.connection.execute(self.module.text(sql), parameters).fetchall())
        except self.errors.DBAPIError as error:
            if error.connection_invalidated:
                raise Ended("the connection to %s was lost: %s" % (self.dialect.name, self.said(error))) from error
            code = code_of(error.orig)
            if code[:2] in OF_THE_MACHINE:
                message = "%s could not do its work: %s" % (self.dialect.name, self.said(error))
                raise Ended(message) from error
            raise (OutOfTime if code in TOO_LATE else Refused)(self.said(error)) from error
        except self.errors.SQLAlchemyError as error:
            raise Refused(self.said(error)) from error

    def said(self, error: BaseException) -> str:
        """Give the driver's own message, without our statement."""
        return shortened(str(getattr(error, "orig", None) or error).split("\n[SQL")[0])

    def reader(self, field: str, target: str, kind: str) -> "Expression":
        """Give what reads a field."""
        return Expression(self, field, target, kind)

    def canary(self) -> "Dict[str, Any]":
        """Say that nothing of the environment reaches a warehouse that runs elsewhere."""
        return {"clock": None, "offsets": None, "locale": ""}


def open_engine(config: "Dict[str, Any]") -> Engine:
    """Connect to the warehouse."""
    os.environ.setdefault("PGCONNECT_TIMEOUT", "10")  # a driver that reads it gives up before we are given up
    return Engine(config)
