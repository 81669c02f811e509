"""GoogleSQL's reference implementation, ZetaSQL: Google's own conversions, in a build that is not BigQuery.

An expression is prepared once, and evaluated for each value as a column of the expression.
"""

from __future__ import annotations

import ctypes
import os

from .engine_common import Column, in_place, required, setting_error, shortened
from .trouble import StartError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Optional

COLUMN = "auditor_value"

TAGS = {
    **dict.fromkeys(("INT32", "INT64", "UINT32", "UINT64"), "int"),
    **dict.fromkeys(("NUMERIC", "BIGNUMERIC"), "decimal"),
    **dict.fromkeys(("FLOAT", "DOUBLE"), "float"),
    **dict.fromkeys(("TIMESTAMP", "DATETIME"), "datetime"),
    "BOOL": "bool",
    "DATE": "date",
    "TIME": "time",
    "STRING": "text",
}

#: BigQuery has microseconds.
NOT_IN_BIGQUERY = ("FEATURE_TIMESTAMP_NANOS",)

SETTINGS = {"default_timezone": "", "product_mode": "EXTERNAL"}


class Engine:
    """The service inside our process."""

    gone = ()
    server = None
    moved: "Optional[Callable[[int], None]]" = None

    def __init__(self, config: "Dict[str, Any]") -> None:
        client = required("zetasql.core.wasm_client", "googlesql")
        if config.get("compiled"):
            client.Module = Compiled(config["compiled"])  # the package knows no other way than to compile again
        self.types = required("zetasql.types", "googlesql")
        self.errors = required("zetasql.core.exceptions", "googlesql").ZetaSQLError
        self.service = required("zetasql.core.local_service", "googlesql").ZetaSqlLocalService.get_instance()
        self.settings = {**SETTINGS, "default_timezone": os.environ.get("TZ") or "UTC"}
        for name, value in config["settings"].items():
            if name not in SETTINGS or (name == "product_mode" and value not in ("EXTERNAL", "INTERNAL")):
                known = "GoogleSQL has default_timezone, and product_mode = EXTERNAL or INTERNAL"
                raise setting_error(name, value, known)
            self.settings[name] = value
        self.name = "googlesql-reference (zetasql %s)" % required("zetasql.__version__", "googlesql").__version__
        self.language = self._language()
        builder = required("zetasql.api", "googlesql").CatalogBuilder("auditor")
        functions = self.types.ZetaSQLBuiltinFunctionOptions(language_options=self.language)
        self.catalog = builder.with_builtin_functions(functions).build()
        self.value = required("zetasql.api.value", "googlesql").Value
        self.messages = required("zetasql.wasi._pb2.zetasql.local_service.local_service_pb2", "googlesql")
        self._speed_up(self.service.wasm_client)

    def _speed_up(self, client: "Any") -> None:
        """Let bytes move at once: the package moves each by itself, which is most of the time of a value."""

        def place(start: int) -> int:
            return (ctypes.cast(client.memory.data_ptr(), ctypes.c_void_p).value or 0) + start

        client.write_bytes = lambda start, data: ctypes.memmove(place(start), data, len(data))
        client.read_bytes = lambda start, size: ctypes.string_at(place(start), size)

    def evaluate(self, number: int, value: str) -> "Optional[str]":
        """Evaluate a prepared expression whose value is a text."""
        request = self.messages.EvaluateRequest(prepared_expression_id=number)
        column = request.columns.add(name=COLUMN)
        column.value.string_value = value
        call = self.service.wasm_client.call_grpc_func
        try:
            response = call("ZetaSqlLocalService_Evaluate", request, self.messages.EvaluateResponse)
        except UnicodeDecodeError as error:  # of the message, which was cut inside a character
            raise self.errors(error.object.decode("utf-8", "replace")) from None
        text: str = response.value.string_value
        return text if response.value.HasField("string_value") else None

    def _language(self) -> "Any":
        language = self.types.LanguageOptions.maximum_features()
        mode = self.types.ProductMode
        language.product_mode = mode["PRODUCT_" + self.settings["product_mode"]]
        absent = {int(self.types.LanguageFeature[name]) for name in NOT_IN_BIGQUERY}
        language.enabled_language_features = [
            feature for feature in language.enabled_language_features if int(feature) not in absent
        ]
        return language

    def prepare(self, sql: str) -> "Any":
        """Prepare an expression over the column; gives its answer, with number and type."""
        column = self.types.AnalyzerOptions.QueryParameter(name=COLUMN, type=self.value.string("").get_type())
        options = self.types.AnalyzerOptions(
            language_options=self.language,
            default_timezone=self.settings["default_timezone"],
            expression_columns=[column],
        )
        return self.service.prepare(sql=sql, options=options, simple_catalog=self.catalog).prepared

    def said(self, error: BaseException) -> str:
        """Give the engine's message of an error."""
        return shortened(str(error))

    def reader(self, field: str, target: str, kind: str) -> "Expression":
        """Give what reads a field."""
        return Expression(self, field, target)

    def canary(self) -> "Dict[str, Any]":
        """Say what clock the engine itself sees."""
        prepared = self.prepare("IF(%s = '', CAST(UNIX_MICROS(CURRENT_TIMESTAMP()) AS STRING), '')" % COLUMN)
        return {"clock": int(self.evaluate(prepared.prepared_expression_id, "") or 0) / 1e6}


class Compiled:
    """Stands for the class that loads WebAssembly, and loads what was compiled of it."""

    def __init__(self, file: str) -> None:
        self.file = file

    def from_file(self, engine: "Any", path: str) -> "Any":
        """Load the module."""
        return required("wasmtime", "googlesql").Module.deserialize_file(engine, self.file)


class Expression:
    """The consumer's expression, prepared; the text of its value is made by the engine's own cast."""

    def __init__(self, engine: Engine, field: str, target: str) -> None:
        self.engine, self.shown = engine, target
        tried = "reads.%s = %s on %s" % (field, target, engine.name)
        sql = in_place(target, COLUMN, tried)
        try:
            kind = engine.prepare(sql).output_type.type_kind.name
            self.kind = kind[len("TYPE_") :] if kind.startswith("TYPE_") else kind
            self.tag = TAGS.get(self.kind, "other")
            text = "TO_JSON_STRING(%s)" if self.tag == "other" else "CAST(%s AS STRING)"
            self.number = engine.prepare(text % sql).prepared_expression_id
        except engine.errors as error:
            raise StartError(tried, engine.said(error), "correct the expression") from error

    def read(self, values: "List[str]") -> Column:
        """Evaluate the expression for each value."""
        column = Column([None] * len(values))
        for index, value in enumerate(values):
            if index % 64 == 0 and self.engine.moved is not None:
                self.engine.moved(index)
            try:
                column.texts[index] = self.engine.evaluate(self.number, value)
            except self.engine.errors as error:
                column.errors[index] = self.engine.said(error)
        return column


def open_engine(config: "Dict[str, Any]") -> Engine:
    """Open the service."""
    return Engine(config)
