"""MariaDB, and MySQL by `connection`: a private server unless a URL names one that runs.

A cast of it never fails: it gives NULL or a number made of what the text begins with, and a warning, which stands
beside the value. In strict mode an insert refuses what a cast would mend.
"""

from __future__ import annotations

import os
import re
import urllib.parse

from .engine_common import known_name, no_room, required, setting_error, shortened, stage_class
from .mariadb_readers import Expression, Insert, without_place
from .server import Programs, Server, folders_on_path, server_variables
from .trouble import Ended, StartError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional, Sequence

#: What is recorded of a session beside what the consumer sets.
RECORDED = ("sql_mode", "old_mode", "time_zone", "lc_time_names", "collation_connection")

#: Codes of a connection that is lost.
LOST = (2006, 2013, 2055, 4031)

#: Codes of a full disk or table; and those of a file that fails, with the system's own number of the error.
NO_ROOM = (1021, 1114)
FILES = (3, 20, 1026, 1030)
ERRNO = re.compile(r"(?:error|errno|Errcode):? (?:28|122)\b", re.IGNORECASE)

#: Codes of a server that cannot go on, whatever the value: its memory is full, it shuts down, a file is broken.
FAILING = (3, 126, 127, 134, 144, 145, 1026, 1030, 1037, 1041, 1053, 1194, 1195)

#: Codes of a statement that took too long.
TOO_LATE = (1969, 3024, 1317)

#: Where the clock stands in the past, threads that wait until an instant do not wait: InnoDB's and Aria's checkpoints
#: are left out. A server without InnoDB is made in half the time, too.
OPTIONS = (
    "--skip-innodb",
    "--default-storage-engine=Aria",
    "--skip-networking",
    "--skip-log-bin",
    "--aria-pagecache-buffer-size=8M",
    "--aria-checkpoint-interval=0",
    "--key-buffer-size=1M",
    "--performance-schema=OFF",
    "--max-connections=10",
    "--character-set-server=utf8mb4",
)

HINT = "install it (apt-get install mariadb-server), or name its folder with `server`"


class Engine:
    """One session."""

    gone = ()

    def __init__(self, config: "Dict[str, Any]") -> None:
        self.config = config
        self.module = required("pymysql", "mariadb")
        self.server: "Optional[Server]" = None
        self.name = "mariadb"
        self.connection = self._connect()
        self.settings: "Dict[str, str]" = {}
        self.run("SET SESSION max_error_count = 65535")
        given = {name.lower() for name in config["settings"]}
        self.zone_is_open = "time_zone" not in given
        if self.zone_is_open and self.server is None:
            self._set_zone(os.environ.get("TZ") or "UTC")
        for name, value in config["settings"].items():
            self._set(name, value)
        version = self.one("SELECT VERSION()")
        self.name = ("mariadb " if "mariadb" in version.lower() else "mysql ") + version
        for name in [*config["settings"], *(name for name in RECORDED if name not in given)]:
            found = self.rows("SHOW VARIABLES WHERE Variable_name = %s", [name.lower()])
            if found:
                self.settings[name] = str(found[0][1])
        self.readers = 0

    def _connect(self) -> "Any":
        if self.config["connection"] is not None:
            return self._connect_to(self.config["connection"])
        folder = self.config["server"]
        folders = [folder] if folder else folders_on_path("mariadbd", "mysqld")
        programs = Programs("MariaDB", "mariadbd", folders, ["mysql"], HINT)
        self.server = Server("MariaDB", programs, self.config["launcher"], describer(programs))
        target = {"unix_socket": os.path.join(self.server.folder, "socket", "s"), "user": "root", "database": "test"}
        connection = self.server.connect(lambda: self._open(target), (self.module.OperationalError,))
        # The database was made before the server was told its character set, which columns take from it.
        connection.cursor().execute("ALTER DATABASE test CHARACTER SET utf8mb4")
        return connection

    def _open(self, target: "Dict[str, Any]") -> "Any":
        return self.module.connect(charset="utf8mb4", autocommit=True, connect_timeout=10, **target)

    def _connect_to(self, url: str) -> "Any":
        tried, password = "connect to MariaDB", ""
        hint = "look at the variable that `connection` names, and whether the server takes connections"
        try:
            target, password = target_of(url)
            return self._open(target)
        except (self.module.Error, ValueError) as error:
            seen = self.said(error).replace(url, "…")
            raise StartError(tried, seen.replace(password, "…") if password else seen, hint) from None

    def _set_zone(self, zone: str) -> None:
        """Set the zone that is under test; a server without tables of zones knows offsets only."""
        for name in (zone, "+00:00") if zone == "UTC" else (zone,):
            try:
                self.run("SET SESSION time_zone = %s", [name])
                return
            except self.module.Error:
                continue

    def _set(self, name: str, value: str) -> None:
        sql = "SET SESSION %s = %%s" % known_name(name)
        try:
            self.run(sql, [value])
        except self.module.Error as error:
            if not value.lstrip("-").isdigit():
                raise setting_error(name, value, self.said(error)) from error
            try:
                self.run(sql, [int(value)])  # some variables take no text
            except self.module.Error as again:
                raise setting_error(name, value, self.said(again)) from again

    def run(self, sql: str, parameters: "Sequence[Any]" = ()) -> "Any":
        """Run one statement."""
        cursor = self.connection.cursor()
        try:
            cursor.execute(sql, parameters or None)
        except self.module.Error as error:
            self._see_whether_gone(error)
            raise
        return cursor

    def rows(self, sql: str, parameters: "Sequence[Any]" = ()) -> "List[Any]":
        """Give the rows of a statement."""
        found: "List[Any]" = list(self.run(sql, parameters).fetchall())
        return found

    def one(self, sql: str, parameters: "Sequence[Any]" = ()) -> "Any":
        """Give the one value of a statement."""
        return self.rows(sql, parameters)[0][0]

    def warnings(self) -> "List[str]":
        """Give what the last statement warned of."""
        return ["%s %s %s" % tuple(row) for row in self.rows("SHOW WARNINGS")]

    def warned(self) -> str:
        """Say what the last statement warned of, in a text that is the same for the same value anywhere."""
        return "; ".join(dict.fromkeys(without_place(warning) for warning in self.warnings()))

    def said(self, error: BaseException) -> str:
        """Give the engine's own message, with its code."""
        return shortened(without_place(" ".join(str(part) for part in error.args)) or type(error).__name__)

    def is_late(self, error: BaseException) -> bool:
        """Say whether an error is a time-out of the server."""
        return bool(error.args) and error.args[0] in TOO_LATE

    def _see_whether_gone(self, error: BaseException) -> None:
        """Raise where the connection is lost, or the server fails: then no value was refused."""
        text = str(error.args[-1]) if error.args else ""
        if error.args and (error.args[0] in NO_ROOM or (error.args[0] in FILES and ERRNO.search(text))):
            raise no_room(self.name, self.said(error)) from error
        if error.args and error.args[0] in FAILING:
            raise Ended("MariaDB failed: " + self.said(error)) from error
        if isinstance(error, self.module.InterfaceError) or (error.args and error.args[0] in LOST):
            if self.server is not None:
                raise self.server.ended() from error
            raise Ended("the connection to MariaDB was lost: " + self.said(error)) from error

    def stage(self, spelled: "Dict[str, str]") -> "Any":
        """Give the tables in which a model runs."""
        return stage_class("server_stages", "MariaDb")(self, spelled)

    def reader(self, field: str, target: str, kind: str) -> "Any":
        """Give what reads a field."""
        self.readers += 1
        reader = Insert if self.config["statement"] == "insert" else Expression
        return reader(self, field, target, kind, self.readers)

    def canary(self) -> "Dict[str, Any]":
        """Say what the server sees."""
        seen: "Dict[str, Any]" = {"clock": float(self.one("SELECT CAST(UNIX_TIMESTAMP(NOW(6)) AS CHAR)"))}
        if self.zone_is_open:
            # An instant in the session's zone, as if it were one of UTC: what it differs in is the offset.
            asked = "SELECT TIMESTAMPDIFF(SECOND, '1970-01-01' + INTERVAL %s SECOND, FROM_UNIXTIME(%s))"
            seen["offsets"] = [int(self.one(asked, [int(at), int(at)])) for at in self.config["instants"]]
        if self.server is None:
            seen["locale"] = ""
        return seen


def target_of(url: str) -> "tuple[Dict[str, Any], str]":
    """Take a URL such as mysql://user:password@host:3306/database apart; ValueError where it is none."""
    parts = urllib.parse.urlsplit(url)
    if parts.scheme.partition("+")[0] not in ("mysql", "mariadb"):
        raise ValueError("the URL is not of the form mysql://user:password@host:3306/database")
    password = urllib.parse.unquote(parts.password or "")
    target: "Dict[str, Any]" = {
        "user": urllib.parse.unquote(parts.username or "") or None,
        "password": password,
        "database": urllib.parse.unquote(parts.path[1:]) or None,
    }
    socket = urllib.parse.parse_qs(parts.query).get("unix_socket")
    if socket:
        target["unix_socket"] = socket[0]
    else:
        target.update(host=parts.hostname or "localhost", port=parts.port or 3306)
    return target, password


def describer(programs: Programs) -> "Any":
    """Give what describes a server in a folder to its keeper."""
    installs = folders_on_path("mariadb-install-db")
    beside = os.path.join(programs.folder, "mariadb-install-db")
    if not installs and not os.path.isfile(beside):
        raise StartError("start a private MariaDB", "there is no mariadb-install-db", HINT)
    install = beside if os.path.isfile(beside) else os.path.join(installs[0], "mariadb-install-db")

    def describe(folder: str) -> "Dict[str, Any]":
        data, socket = os.path.join(folder, "data"), os.path.join(folder, "socket", "s")
        prepare = [install, "--no-defaults", "--datadir=" + data, "--auth-root-authentication-method=normal"]
        prepare += ["--skip-innodb", "--default-storage-engine=Aria"]
        serve = [programs.path("mariadbd"), "--no-defaults", "--datadir=" + data, "--socket=" + socket]
        serve += ["--pid-file=" + os.path.join(data, "pid"), "--tmpdir=" + data, *OPTIONS]
        variables = {**server_variables(), "TMPDIR": data, "HOME": data}
        return {"prepare": [prepare], "serve": serve, "variables": variables, "stop": None}

    return describe


def open_engine(config: "Dict[str, Any]") -> Engine:
    """Open a session, of a private server where the spec names none that runs."""
    return Engine(config)
