"""DuckDB in the consumer's interpreter: opened as the consumer has it, with columns of texts going in and out.

Values go in as one text that the engine splits, and come out as one text that it joins: a third of the time that
lists of bound values cost, and still columns of a table to the expression that reads them.
"""

from __future__ import annotations

import os
import re

from .trouble import LONGEST, StartError, describe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional, Sequence

SEPARATORS = ("\x1e", "\x1f", "\x1c")

#: Bytes of text that one statement takes: a frame of huge strings is read in parts.
LONGEST_STATEMENT = 8 * 1024 * 1024

#: A model or expression reads its own value and nothing else; a spill would leave files in a strange folder.
DEFAULTS = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "temp_directory": "",
}

#: The setting that lets SQL read and write files.
ACCESS = "enable_external_access"

#: Words that may be calls: before a parenthesis, or those of SQL that need none. A cast is none, and needs no look-up.
CALLED = re.compile(r"\b(?!(?:try_)?cast\b)\w+(?=\s*\()|\b(?:current_|local)\w+", re.IGNORECASE)

SURROGATE = "a lone surrogate: no text of the engine can hold it"


def identifier(name: str) -> str:
    """Quote a name."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Quote a text."""
    return "'" + text.replace("'", "''") + "'"


def message_of(error: BaseException) -> str:
    """Give the engine's own message, without the place in our statement, its advice on settings and its stack."""
    own = re.split("\n\nLINE |\n\nPossible solutions|\n+Stack Trace", str(error), maxsplit=1)[0].strip()
    message = own or type(error).__name__
    return message if len(message) <= LONGEST else message[:LONGEST] + "…"


def resident_address_space() -> int:
    """Give the bytes of address space in use, 0 where the platform does not say."""
    try:
        with open("/proc/self/statm") as sizes:
            return int(sizes.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0


class Engine:
    """One in-memory database. `fatal` are the errors after which the engine answers nothing more."""

    def __init__(self, settings: "Dict[str, str]", zone: str, memory: int) -> None:
        try:
            import duckdb
        except BaseException as error:  # an import may raise anything
            raise StartError("import duckdb", describe(error), "install duckdb for this interpreter") from error
        self.module = duckdb
        self.settings, self.zone, self.memory = settings, zone, memory
        self.folder = ""  # whose files may be read all the same
        self.error = duckdb.Error
        self.fatal = (duckdb.FatalException, duckdb.InternalException)
        self.statements: "Dict[str, Any]" = {}
        self.prepared: "Dict[str, bool]" = {}  # names that this connection knows, or refused
        self.connection = self._open()
        self.version = str(self.rows("SELECT version()")[0][0])
        self.name = "duckdb " + self.version
        self.zone_in_force = str(self.rows("SELECT current_setting('TimeZone')")[0][0])

    def _open(self) -> "Any":
        config: "Dict[str, Any]" = {"threads": "1"}
        later = dict(self.settings)
        if ACCESS in later:  # only ever taken back once the database runs
            config[ACCESS] = later.pop(ACCESS)
        connection = self.module.connect(":memory:", config=config)
        for name, value in [*DEFAULTS.items(), ("TimeZone", self.zone)]:
            connection.execute("SET %s = %s" % (identifier(name), literal(value)))
        left = self.memory - resident_address_space()
        connection.execute("SET memory_limit = '%d B'" % max(64 * 1024 * 1024, left * 3 // 4))
        for name, value in later.items():
            try:
                connection.execute("SET %s = %s" % (identifier(name), literal(value)))
            except self.error as error:
                tried = "set %s to %s" % (name, literal(value))
                raise StartError(tried, message_of(error), "correct the consumer's `settings`") from error
        connection.execute("SET threads = 1")  # rows come back in the order in which they went in
        connection.execute("SET preserve_insertion_order = true")
        return connection

    def seal(self) -> None:
        """Bar files and network from now on, unless the consumer's settings open them."""
        if ACCESS in self.settings:
            return
        if self.folder:
            self._leave_open(self.folder)
        self.connection.execute("SET %s = false" % ACCESS)

    def _leave_open(self, folder: str) -> None:
        try:
            self.connection.execute("SET allowed_directories = [%s]" % literal(folder + os.sep))
        except self.error as error:
            tried = "let %s read one folder of files" % self.name
            raise StartError(tried, message_of(error), "use DuckDB 1.2 or newer for this consumer") from error

    def reopen(self) -> None:
        """Start anew after a fatal error."""
        self.statements.clear()
        self.prepared.clear()
        self.connection = self._open()

    def run(self, sql: str, parameters: "Optional[List[Any]]" = None) -> "Any":
        """Run one statement; it is parsed once. MemoryError where the engine's memory does not suffice."""
        try:
            if sql not in self.statements:
                self.statements[sql] = self.parse(sql)[0]
            return self.connection.execute(self.statements[sql], parameters)
        except self.module.OutOfMemoryException as error:
            raise MemoryError(message_of(error)) from error

    def parse(self, sql: str) -> "List[Any]":
        """Split a text into its statements."""
        statements: "List[Any]" = self.connection.extract_statements(sql)
        return statements

    def rows(self, sql: str, parameters: "Optional[List[Any]]" = None) -> "List[Any]":
        """Run a statement and fetch what it gives."""
        found: "List[Any]" = self.run(sql, parameters).fetchall()
        return found

    def stabilities(self, sql: str) -> "Dict[str, str]":
        """Give the engine's own word on the functions that a text calls, for those that are not always CONSISTENT.

        A function with several forms has all their words. Older engines say nothing.
        """
        called = sorted({word.lower() for word in CALLED.findall(sql)})
        if not called:
            return {}
        query = "SELECT DISTINCT function_name, stability FROM duckdb_functions() WHERE stability IS NOT NULL"
        query += " AND function_name IN (SELECT unnest(string_split(?, ' ')))"
        found: "Dict[str, List[str]]" = {}
        try:
            for name, stability in self.rows(query, [" ".join(called)]):
                found.setdefault(name, []).append(stability)
        except self.error:
            return {}
        return {name: " ".join(sorted(words)) for name, words in found.items() if words != ["CONSISTENT"]}

    def columns_of(self, select: str) -> "Dict[str, str]":
        """Give the names and types of the columns that a select gives, in order."""
        found = self.rows("SELECT column_name, column_type FROM (DESCRIBE " + select + "\n)")
        return dict(found)


class Column:
    """Texts as one parameter: joined by a separator that none of them holds."""

    def __init__(self, values: "Sequence[str]") -> None:
        for separator in SEPARATORS:
            self.text, self.separator = separator.join(values), separator
            if self.text.count(separator) == len(values) - 1:
                return
        length = 1
        while "\x1e" * length in self.text:
            length *= 2
        # A run that no value holds, between ends that keep a run at a value's edge apart from it.
        self.separator = "\x1d" + "\x1e" * length + "\x1d"
        self.text = self.separator.join(values)

    @property
    def parameters(self) -> "List[str]":
        """Give the two parameters of a statement."""
        return [self.text, self.separator]


def can_be_sent(value: str) -> bool:
    """Say whether a string is a text at all."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def parts_of(values: "Sequence[str]") -> "List[range]":
    """Give runs of values that one statement takes."""
    if sum(map(len, values)) <= LONGEST_STATEMENT:
        return [range(len(values))] if values else []
    parts, start, size = [], 0, 0
    for index, value in enumerate(values):
        if size + len(value) > LONGEST_STATEMENT and index > start:
            parts.append(range(start, index))
            start, size = index, 0
        size += len(value)
    return [*parts, range(start, len(values))]
