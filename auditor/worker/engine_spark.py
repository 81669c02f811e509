"""Spark: a local session (one thread, no user interface, nothing written beside its temporary folder), or by
`connection` one of a server that speaks Spark Connect.

A cast that raises takes its job with it and costs a tenth of a second. A plain cast is tried first, with the form that
was measured to accept the same strings; its refusals are worded as Spark words them. Any other expression is run as it
is written, over ever fewer values.
"""

from __future__ import annotations

import logging
import os
import re
import tempfile

from .engine_common import Refused, TriedFirst, in_place, known_name, required, setting_error, shortened
from .trouble import Ended, StartError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Optional, Sequence

ZONE = "spark.sql.session.timeZone"

#: What is recorded of a session beside what the consumer sets.
RECORDED = (ZONE, "spark.sql.ansi.enabled", "spark.sql.legacy.timeParserPolicy")

SESSION = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "1",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.structuredLogging.enabled": "false",
}

#: Times that a client asks a server again that does not answer: five seconds.
RETRIES = 4

#: What the client says where no value is to blame, by the codes of gRPC and of Spark.
GONE = re.compile(
    r"StatusCode\.(?:UNAVAILABLE|UNAUTHENTICATED|PERMISSION_DENIED|DEADLINE_EXCEEDED|CANCELLED)|"
    r"^\[(?:INVALID_HANDLE|RETRIES_EXCEEDED)"
)

TAGS = (
    ("timestamp", "datetime"),
    ("date", "date"),
    ("decimal", "decimal"),
    ("boolean", "bool"),
    ("string", "text"),
    ("varchar", "text"),
    ("char", "text"),
    ("double", "float"),
    ("float", "float"),
    *((name, "int") for name in ("bigint", "int", "smallint", "tinyint")),
)

PLAIN_CAST = re.compile(r"\s*cast\s*\(\s*\{value\}\s+as\s+([\w ]+(?:\([\d, ]*\))?)\s*\)\s*", re.IGNORECASE)


class Engine:
    """One session."""

    server = None
    moved: "Optional[Callable[[int], None]]" = None

    def __init__(self, config: "Dict[str, Any]") -> None:
        self.module = required("pyspark.sql", "spark")
        self.errors = required("pyspark.errors", "spark").PySparkException
        self.java_errors = required("py4j.protocol", "spark").Py4JError
        self.arrow = required("pyarrow", "spark")
        self.gone = (ConnectionError, required("py4j.protocol", "spark").Py4JNetworkError)
        self.is_remote = config["connection"] is not None
        self.session = self._connect(config["connection"]) if self.is_remote else self._open()
        given = dict(config["settings"])
        if not any(name.lower() == ZONE.lower() for name in given):
            self._set(ZONE, os.environ.get("TZ") or "UTC")
        for name, value in given.items():
            self._set(name, value)
        self.name = "spark " + str(self.session.version)
        self.settings: "Dict[str, str]" = {}
        if not self.is_remote:
            java = self.session.sparkContext._jvm.java.lang.System.getProperty("java.version")
            self.settings["java"] = str(java)
        for name in [*given, *(name for name in RECORDED if name not in given)]:
            self.settings[name] = str(self.session.conf.get(name))

    def _open(self) -> "Any":
        builder = self.module.SparkSession.builder.master("local[1]").appName("auditor")
        folder = tempfile.gettempdir()
        for name, value in {**SESSION, "spark.local.dir": folder, "spark.sql.warehouse.dir": folder}.items():
            builder = builder.config(name, value)
        try:
            session = builder.getOrCreate()
            session.sparkContext.setLogLevel("OFF")
        except (self.errors, self.java_errors, OSError) as error:
            hint = "Spark needs a Java runtime: apt-get install openjdk-17-jre-headless, or set JAVA_HOME in `env`"
            raise StartError("start a local Spark session", shortened(str(error)), hint) from error
        return session.newSession()  # its settings are its own, whatever another one of this process has set

    def _connect(self, url: str) -> "Any":
        """Give a session of its own on a server; the client would try for ten minutes to reach one that is gone."""
        remote = required("pyspark.sql.connect.session", "spark-connect")
        retries = required("pyspark.sql.connect.client.retries", "spark-connect")
        logging.getLogger("SQLQueryContextLogger").disabled = True  # which tells each refusal, with its stack
        try:
            session = remote.SparkSession.builder.remote(url).create()
            session.client.set_retry_policies([retries.DefaultPolicy(max_retries=RETRIES)])
            str(session.version)  # the first that it asks the server
        except (self.errors, ValueError) as error:
            seen = str(error)
            for secret in [url, *re.findall(r"[;/]\w*(?:token|password)\w*=([^;]+)", url, re.IGNORECASE)]:
                seen = seen.replace(secret, "…")
            hint = "look at the variable that `connection` names, such as sc://host:15002/;token=…, and at the server"
            raise StartError("connect to Spark", shortened(seen), hint) from None
        return session

    def _set(self, name: str, value: str) -> None:
        try:
            self.session.conf.set(known_name(name), value)
        except self.errors as error:
            raise setting_error(name, value, self.said(error)) from error

    def fill(self, rows: "Sequence[int]", values: "Sequence[str]") -> None:
        """Make values the table that expressions read."""
        table = self.arrow.table(
            {"i": self.arrow.array(rows, self.arrow.int64()), "value": self.arrow.array(values, self.arrow.string())}
        )
        try:
            self.session.createDataFrame(table).createOrReplaceTempView("mock")
        except self.errors as error:
            self.see_whether_gone(error)
            raise

    def columns(self, sql: str) -> "List[List[Any]]":
        """Give the columns of a query; Refused where it raises."""
        try:
            found = [column.to_pylist() for column in self.session.sql(sql).toArrow().columns]
        except self.errors as error:
            self.see_whether_gone(error)
            raise Refused(self.said(error)) from error
        if not found:
            raise Ended("Spark gave an answer without columns")
        return found

    def see_whether_gone(self, error: BaseException) -> None:
        """Raise Ended where a server answers nothing, or knows nothing more of the session."""
        if self.is_remote and GONE.search(str(error)):
            raise Ended("the connection to Spark was lost: " + self.said(error)) from error

    def said(self, error: BaseException) -> str:
        """Give the engine's message of an error, without the place in our query and its stack."""
        return shortened(re.split(r"\n== SQL|\n\nJVM stacktrace|\n\tat ", str(error))[0])

    def reader(self, field: str, target: str, kind: str) -> "Expression":
        """Give what reads a field."""
        return Expression(self, field, target)

    def canary(self) -> "Dict[str, Any]":
        """Say what clock the engine itself sees; a virtual machine of its own is not reached by ours."""
        seen: "Dict[str, Any]" = {"locale": ""} if self.is_remote else {}
        now = self.columns("SELECT CAST(unix_micros(current_timestamp()) AS STRING) AS t")[0][0]
        return {**seen, "clock": int(now) / 1e6}


class Expression(TriedFirst):
    """The consumer's expression over a column."""

    def __init__(self, engine: Engine, field: str, target: str) -> None:
        self.shown = target
        tried = "reads.%s = %s on %s" % (field, target, engine.name)
        sql = in_place(target, "`value`", tried)
        query = "SELECT i, CAST(x AS STRING) AS t FROM (SELECT i, %s AS x FROM mock) AS r" % sql
        plain = PLAIN_CAST.fullmatch(target)
        asked = None if plain is None else query.replace(sql, "TRY_CAST(`value` AS %s)" % plain.group(1))
        if engine.settings["spark.sql.ansi.enabled"] != "true":
            asked = None  # without ANSI the cast itself gives NULL
        super().__init__(engine, query, asked)
        try:
            engine.fill([0], [""])
            kinds = [one.dataType.simpleString() for one in engine.session.sql("SELECT %s AS x FROM mock" % sql).schema]
        except engine.errors as error:
            raise StartError(tried, engine.said(error), "correct the expression") from error
        if len(kinds) != 1:
            raise StartError(tried, "it gives %d columns" % len(kinds), "give one expression")
        self.kind = kinds[0]
        self.tag = next((tag for name, tag in TAGS if self.kind.startswith(name)), "other")


def open_engine(config: "Dict[str, Any]") -> Engine:
    """Start a session."""
    return Engine(config)
